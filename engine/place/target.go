package place

import (
	"fmt"
	"path/filepath"

	"gotap/engine/image/module"
	"gotap/engine/image/symtab"
)

// Target is one place that a specification stands for, in every process that maps the file.
type Target struct {
	File   *module.File
	Vaddr  uint64       // in the file; for IFunc the resolver
	Func   *symtab.Func // that Vaddr belongs to; nil when unknown
	Offset uint64       // from the start of Func
	Var    *symtab.Var  // of a watchpoint on a variable
	Mark   *module.Mark // of a static mark
	Copy   *Copy        // of an inlined copy, which Vaddr begins; Func is the function around it
	Symbol string       // function or variable, by the name that matched; "" when it has none
	Name   string       // for display: "libc.so.6:malloc+0x10", "usdt:acc:hello"
	// IFunc is set for a function that the loader chooses by calling the code at Vaddr, the resolver. The chosen
	// implementation is known only in a process whose loader has done so; see Chosen.
	IFunc bool
}

// Entry reports whether the target is the first instruction of a function, where the calling convention determines the
// places of arguments.
func (t Target) Entry() bool {
	return t.Func != nil && t.Offset == 0 && !t.IFunc && t.Mark == nil && t.Copy == nil
}

// Copy identifies an inlined copy of a function in debug information.
type Copy struct {
	Off    uint64 // of its entry
	Caller string // the function that contains the call
	File   string // of the call, without its folder; "" when unknown
	Line   int
}

// Copied returns the target for an inlined copy at an address of a file, of the function that a specification names.
func Copied(f *module.File, vaddr uint64, symbol string, c Copy) Target {
	t := At(f, vaddr)
	t.Symbol, t.Copy = symbol, &c
	t.Name = filepath.Base(f.Path) + ":" + symbol
	return t
}

// Chosen is a pointer in which a process may keep the address of the implementation that was chosen for an indirect
// function: in the function's own file, and in other files that call it by name. It has the address after the loader
// has relocated its file, and for lazily bound calls after the first call. Until then it has an address in a PLT, or of
// the file before relocation.
type Chosen struct {
	File *module.File
	Slot uint64 // address of the pointer, in File
}

// Chosen returns the pointers for an IFunc target in the given files of a process.
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
	// Other modules, and this one when its calls may be interposed, refer to it by any of its names.
	for _, f := range files {
		for _, name := range append([]string{t.Func.Name}, t.Func.Aliases...) {
			for _, slot := range f.Slots(name) {
				slots = append(slots, Chosen{f, slot})
			}
		}
	}
	return slots
}

// named sets the name for display.
func (t Target) named() Target {
	t.Name = filepath.Base(t.File.Path) + ":" + t.local()
	return t
}

// local returns the target's name inside its module: "malloc+0x10", or an address when it has no name.
func (t Target) local() string {
	switch {
	case t.Symbol == "":
		return fmt.Sprintf("0x%x", t.Vaddr)
	case t.Offset != 0:
		return fmt.Sprintf("%s+0x%x", t.Symbol, t.Offset)
	}
	return t.Symbol
}

// At returns the target at an address of a file. It checks nothing.
func At(f *module.File, vaddr uint64) Target {
	t := Target{File: f, Vaddr: vaddr}
	if fn, ok := f.FuncAt(vaddr); ok {
		t.Func, t.Offset, t.Symbol = fn, vaddr-fn.Addr, fn.Demangled()
	}
	return t.named()
}
