package module

import (
	"cmp"
	"debug/elf"
	"hash/maphash"
	"slices"
	"sort"
	"strings"
)

// Func is one place where a function starts, with all its names. It is immutable.
type Func struct {
	Name    string // the preferred name, as the symbol table has it
	Addr    uint64 // in the file; for KindIFunc the resolver
	Size    uint64 // bytes; filled in where symbols leave it out; 0 when nothing tells
	Kind    Kind
	Bind    Bind
	Thumb   bool     // ARM: code in the Thumb set
	Aliases []string // other names of the same address

	loose bool // Size is a guess, not the symbol's
}

// End is the address behind the function's last byte.
func (fn *Func) End() uint64 { return fn.Addr + fn.Size }

// Var is a variable in a file.
type Var struct {
	Name string
	Addr uint64 // in the file; for Thread an offset in the thread's block
	Size uint64
	Bind Bind
	TLS  bool // thread-local: there is no one address
}

// named is one name with what it stands for: an index into funcs, or, from len(funcs) on, into vars.
type named struct {
	name string
	of   int32
}

// symbols is everything that a file's symbol tables say, ordered for questions. It is immutable once made.
type symbols struct {
	funcs  []Func   // by address; an IFUNC and its resolver are two entries of one address
	maxEnd []uint64 // maxEnd[i]: largest end of funcs[0..i], which ends searches for nested functions
	vars   []Var
	names  []named // functions' names, by address
	data   []named // variables' names
	byName nameIndex
	byData nameIndex
}

// table reads the symbols once.
func (f *File) table() *symbols {
	f.symOnce.Do(func() { f.syms = f.readTable() })
	return f.syms
}

// readTable merges the tables of the file and its debug file.
func (f *File) readTable() *symbols {
	all := readSymbols(f, elf.SHT_SYMTAB)
	if len(all) == 0 { // stripped: all but the exported names may be in the debug file
		if d := f.Debug(); d != nil {
			all = readSymbols(d, elf.SHT_SYMTAB)
		}
	}
	all = append(all, readSymbols(f, elf.SHT_DYNSYM)...)
	all = append(all, f.goSymbols(all)...)
	// In order, the same name of the same address from two tables, or in two versions, stands side by side.
	s := &symbols{}
	var last *symbol
	for _, i := range ordered(all) {
		a := &all[i]
		if last == nil || a.name != last.name || a.addr != last.addr || a.kind != last.kind {
			s.add(a)
		}
		last = a
	}
	s.fillSizes(f)
	s.byName, s.byData = indexNames(s.names), indexNames(s.data)
	return s
}

// ordered is the stable order of symbols, as indices: a table of Go's is in order already, which costs one look at each, and what is moved
// otherwise is small.
func ordered(all []symbol) []int32 {
	order := make([]int32, len(all))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		switch a, b := &all[i], &all[j]; {
		case a.addr != b.addr: // the usual case, without a look at anything else
			return cmp.Compare(a.addr, b.addr)
		case a.before(b):
			return -1
		case b.before(a):
			return 1
		}
		return cmp.Compare(i, j)
	})
	return order
}

// before orders symbols by address, functions before indirect ones before data, the preferred name first.
func (a *symbol) before(b *symbol) bool {
	switch {
	case a.addr != b.addr:
		return a.addr < b.addr
	case a.kind != b.kind:
		return a.kind < b.kind
	case a.rank() != b.rank():
		return a.rank() < b.rank()
	case len(a.name) != len(b.name):
		return len(a.name) < len(b.name)
	}
	return a.name < b.name
}

// rank says how good a name is among several of one address; small is good. What has a size is a function rather than a
// mark in the code; parts of functions come last; then the fewest leading underscores and the most
// visible name win.
func (a *symbol) rank() int {
	rank := int(a.bind) // below 4, so that one underscore outweighs any binding
	for i := 0; i < len(a.name) && a.name[i] == '_'; i++ {
		rank += 4
	}
	if clone := cloneSuffix(a.name); clone != "" {
		rank += 1 << 16
	}
	if a.label || a.size == 0 {
		rank += 1 << 17
	}
	return rank
}

// add takes the next symbol in order.
func (s *symbols) add(a *symbol) {
	if a.kind == KindObject || a.kind == KindTLS {
		s.data = append(s.data, named{a.name, int32(len(s.vars))})
		s.vars = append(s.vars, Var{a.name, a.addr, a.size, a.bind, a.kind == KindTLS})
		return
	}
	last := len(s.funcs) - 1
	if last >= 0 && s.funcs[last].Addr == a.addr && s.funcs[last].Kind == a.kind {
		fn := &s.funcs[last]
		if fn.Name != a.name {
			fn.Aliases = append(fn.Aliases, a.name)
		}
		fn.Size = max(fn.Size, a.size) // aliases made in assembly have none
	} else {
		s.funcs = append(s.funcs, Func{Name: a.name, Addr: a.addr, Size: a.size, Kind: a.kind, Bind: a.bind, Thumb: a.thumb})
		last++
	}
	s.names = append(s.names, named{a.name, int32(last)})
}

// fillSizes gives functions without a size the end that call-frame information or the next function tells.
func (s *symbols) fillSizes(f *File) {
	s.maxEnd = make([]uint64, len(s.funcs))
	var end uint64
	for i := range s.funcs {
		fn := &s.funcs[i]
		if fn.Size == 0 {
			fn.Size, fn.loose = s.sizeOf(f, i), true
		}
		end = max(end, fn.End())
		s.maxEnd[i] = end
	}
}

// sizeOf is the distance from function i to the end of its frame entry, the next function or its section. What has a frame
// entry of its own is another function, though it may have no name.
func (s *symbols) sizeOf(f *File, i int) uint64 {
	fn := &s.funcs[i]
	var end uint64
	for _, r := range f.text {
		if r.Contains(fn.Addr) {
			end = r.End
		}
	}
	for _, next := range s.funcs[i+1:] {
		if next.Addr > fn.Addr {
			end = min(end, next.Addr)
			break
		}
	}
	// The entry may be wider than the function (one for a whole file of assembly), the next symbol may come after padding:
	// the nearer end is right.
	if r, ok := f.frameAt(fn.Addr); ok {
		end = min(end, r.End)
	} else if start, ok := f.frameAfter(fn.Addr); ok {
		end = min(end, start)
	}
	return max(end, fn.Addr) - fn.Addr
}

// Funcs lists all functions by address. The list must not be changed.
func (f *File) Funcs() []Func { return f.table().funcs }

// Vars lists all variables. The list must not be changed.
func (f *File) Vars() []Var { return f.table().vars }

// FuncAt finds the function that an address belongs to, the innermost when functions overlap; marks inside the code of
// a function are none. Where no symbol covers the address but call-frame information does, as in stripped files, the Func
// has bounds and no name. ok is false when nothing tells.
func (f *File) FuncAt(vaddr uint64) (fn *Func, ok bool) {
	s := f.table()
	i := sort.Search(len(s.funcs), func(i int) bool { return s.funcs[i].Addr > vaddr }) - 1
	// Going down from the last start below the address, the first function that covers it is the innermost. maxEnd says when
	// nothing further down can reach so far, which in ordinary files is after one step.
	var found *Func
	for ; i >= 0 && s.maxEnd[i] > vaddr; i-- {
		if found != nil && !found.loose && s.funcs[i].Addr != found.Addr {
			break
		}
		if found != nil && s.funcs[i].loose {
			continue // of two guesses the nearer one
		}
		if s.funcs[i].End() > vaddr {
			found = &s.funcs[i]
		}
	}
	if found != nil {
		return found, true
	}
	if r, ok := f.frameAt(vaddr); ok && !f.InPLT(vaddr) {
		return &Func{Addr: r.Start, Size: r.End - r.Start}, true
	}
	return nil, false
}

// VarAt finds the variable that an address belongs to.
func (f *File) VarAt(vaddr uint64) (v *Var, ok bool) {
	vars := f.table().vars
	i := sort.Search(len(vars), func(i int) bool { return vars[i].Addr > vaddr }) - 1
	// Variables hardly nest; the bound keeps a miss in a large gap from walking through all of them.
	for ; i >= 0 && vaddr-vars[i].Addr < 1<<20; i-- {
		if !vars[i].TLS && vaddr-vars[i].Addr < max(vars[i].Size, 1) {
			return &vars[i], true
		}
	}
	return nil, false
}

// nameIndex finds names by hash: heads starts the chains, next goes on in them; both count names from 1. It takes eight
// bytes a name where a map would take fifty.
type nameIndex struct {
	seed        maphash.Seed
	names       []named
	heads, next []int32
}

// indexNames makes the index of a list, which it keeps.
func indexNames(names []named) nameIndex {
	n := 1
	for n < len(names) {
		n *= 2
	}
	x := nameIndex{seed: maphash.MakeSeed(), names: names, heads: make([]int32, n), next: make([]int32, len(names))}
	for i := len(names) - 1; i >= 0; i-- { // chains come out in the order of addresses
		h := maphash.String(x.seed, names[i].name) & uint64(n-1)
		x.next[i], x.heads[h] = x.heads[h], int32(i+1)
	}
	return x
}

// find lists what a name stands for, by address.
func (x *nameIndex) find(name string) []named {
	if len(x.names) == 0 {
		return nil
	}
	var found []named
	h := maphash.String(x.seed, name) & uint64(len(x.heads)-1)
	for i := x.heads[h]; i != 0; i = x.next[i-1] {
		if x.names[i-1].name == name {
			found = append(found, x.names[i-1])
		}
	}
	return found
}

// cloneMarks begin what compilers add to the name of a function they changed or took a part of.
var cloneMarks = []string{".cold", ".part.", ".constprop.", ".isra.", ".lto_priv.", ".llvm.", ".localalias", ".clone.",
	".abi0"}

// cloneSuffix is what a compiler added to a name (".constprop.0.cold"), empty for plain names.
func cloneSuffix(name string) string {
	if strings.IndexByte(name, '.') <= 0 {
		return "" // nearly all names; a name that is all suffix is none
	}
	at := len(name)
	for _, mark := range cloneMarks {
		if i := strings.Index(name, mark); i > 0 && i < at {
			at = i
		}
	}
	return name[at:]
}

// isPart reports whether a symbol is a piece cut out of a function: no entry of it.
func isPart(name string) bool {
	suffix := cloneSuffix(name)
	return strings.Contains(suffix, ".cold") || strings.Contains(suffix, ".part.")
}

// isCold reports whether a symbol is the cold piece of a function, which is never called.
func isCold(name string) bool { return strings.Contains(cloneSuffix(name), ".cold") }
