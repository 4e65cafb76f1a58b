package place

import (
	"fmt"
	"path/filepath"

	"gotap/engine/module"
)

// Target is one place that a specification means, in every process that maps the file.
type Target struct {
	File   *module.File
	Vaddr  uint64       // in the file; for IFunc the resolver
	Func   *module.Func // that Vaddr belongs to; nil when nothing tells
	Offset uint64       // from the start of Func
	Var    *module.Var  // of a watchpoint on a variable
	Mark   *module.Mark // of a static mark
	Symbol string       // function or variable, by the name it was found by; "" when it has none
	Name   string       // for people: "libc.so.6:malloc+0x10", "usdt:acc:hello"
	// IFunc says that the place is a function that the loader chooses by calling the code at Vaddr, the resolver. The chosen
	// implementation is known only in a process whose loader has done so; see Chosen.
	IFunc bool
}

// Entry reports whether the target is the first instruction of a function, where arguments are where the calling
// convention puts them.
func (t Target) Entry() bool { return t.Func != nil && t.Offset == 0 && !t.IFunc && t.Mark == nil }

// Chosen lists where a process may keep the address of the implementation that was chosen for an indirect function:
// pointers in the function's own file, and in other files that call it by name. A pointer holds it once the loader has
// relocated its file, and for lazily bound calls once the first was made; until then it holds an address in a
// PLT, or of the file before relocation.
type Chosen struct {
	File *module.File
	Slot uint64 // address of the pointer, in File
}

// Chosen lists the pointers for an IFunc target in the given files of a process.
func (t Target) Chosen(files []*module.File) []Chosen {
	if !t.IFunc {
		return nil
	}
	var slots []Chosen
	for _, r := range t.File.IRelative() {
		if r.Resolver == t.Vaddr {
			slots = append(slots, Chosen{t.File, r.Slot})
		}
	}
	// Other modules, and this one when its calls may be interposed, ask for it by any of its names.
	for _, f := range files {
		for _, name := range append([]string{t.Func.Name}, t.Func.Aliases...) {
			for _, slot := range f.Slots(name) {
				slots = append(slots, Chosen{f, slot})
			}
		}
	}
	return slots
}

// named gives a target its name for people.
func (t Target) named() Target {
	t.Name = filepath.Base(t.File.Path) + ":" + t.local()
	return t
}

// local is the target's name inside its module: "malloc+0x10", or an address where there is no name.
func (t Target) local() string {
	switch {
	case t.Symbol == "":
		return fmt.Sprintf("0x%x", t.Vaddr)
	case t.Offset != 0:
		return fmt.Sprintf("%s+0x%x", t.Symbol, t.Offset)
	}
	return t.Symbol
}

// At is the target of an address in a file, whatever is there. It checks nothing.
func At(f *module.File, vaddr uint64) Target {
	t := Target{File: f, Vaddr: vaddr}
	if fn, ok := f.FuncAt(vaddr); ok {
		t.Func, t.Offset, t.Symbol = fn, vaddr-fn.Addr, fn.Demangled()
	}
	return t.named()
}
