package module

import (
	"cmp"
	"debug/elf"
	"hash/maphash"
	"slices"
	"sort"
	"strings"
)

// Func is the entry of a function, with all its names. It is immutable.
type Func struct {
	Name    string // the preferred name in the symbol table
	Addr    uint64 // in the file; for KindIFunc the resolver
	Size    uint64 // in bytes; estimated where symbols lack it; 0 when unknown
	Kind    Kind
	Bind    Bind
	Thumb   bool     // ARM: code in the Thumb set
	Aliases []string // other names of the same address

	loose bool // Size is an estimate
}

// End returns the address behind the function's last byte.
func (fn *Func) End() uint64 { return fn.Addr + fn.Size }

// Var is a variable in a file.
type Var struct {
	Name string
	Addr uint64 // in the file; for Thread an offset in the thread's block
	Size uint64
	Bind Bind
	TLS  bool // thread-local: each thread has its own address
}

// named is a name and the index in funcs or vars that it stands for.
type named struct {
	name string
	of   int32
}

// symbols are the contents of a file's symbol tables, indexed. It is immutable once built, but for what is read when it is first
// wanted.
type symbols struct {
	funcs  []Func   // by address; an IFUNC and its resolver are two entries of one address
	maxEnd []uint64 // maxEnd[i]: largest end of funcs[0..i], which ends searches for nested functions
	vars   []Var
	names  []named // functions' names, by address
	data   []named // variables' names
	byName nameIndex
	byData nameIndex

	exports lazy[map[exportKey]bool]
}

// table returns the symbols, which the first call reads.
func (f *File) table() *symbols {
	return f.symbols.get(f.readTable)
}

// readTable merges the tables of the file and its debug file, or .gnu_debugdata.
func (f *File) readTable() *symbols {
	all := readSymbols(f, elf.SHT_SYMTAB)
	// Stripped: names that are not exported may be in the debug file or in .gnu_debugdata.
	for _, from := range []func() *File{f.Debug, f.mini} {
		if len(all) > 0 {
			break
		}
		if d := from(); d != nil {
			all = readSymbols(d, elf.SHT_SYMTAB)
		}
	}
	all = append(all, readSymbols(f, elf.SHT_DYNSYM)...)
	all = append(all, f.goSymbols(all)...)
	// In order, duplicates from two tables or of two versions are adjacent.
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

// ordered returns the indices of symbols in their stable order. Go's table is already in order, which takes one
// comparison each.
func ordered(all []symbol) []int32 {
	order := make([]int32, len(all))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		switch a, b := &all[i], &all[j]; {
		case a.addr != b.addr: // the common case
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

// before orders symbols by address; at one address functions come before indirect ones and data, and the preferred name
// first.
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

// rank orders the names of one address; the lowest is preferred. A symbol with a size is a function, not a label; parts
// of functions come last; then names with the fewest leading underscores and the most visible binding win.
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

// add adds the next symbol in order.
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
		fn.Size = max(fn.Size, a.size) // aliases in assembly have none
	} else {
		s.funcs = append(s.funcs, Func{Name: a.name, Addr: a.addr, Size: a.size, Kind: a.kind, Bind: a.bind, Thumb: a.thumb})
		last++
	}
	s.names = append(s.names, named{a.name, int32(last)})
}

// fillSizes sets the sizes of functions without one, from call-frame information or the next function.
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

// sizeOf returns the distance from function i to the end of its frame entry, to the next function, or to the end of the
// section. A frame entry marks another function, even when that has no name.
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
	// The entry may cover a whole file of assembly, and the next symbol may follow padding, so the nearer end is
	// right.
	if r, ok := f.frameAt(fn.Addr); ok {
		end = min(end, r.End)
	} else if start, ok := f.frameAfter(fn.Addr); ok {
		end = min(end, start)
	}
	return max(end, fn.Addr) - fn.Addr
}

// Funcs returns all functions by address. The list must not be changed.
func (f *File) Funcs() []Func { return f.table().funcs }

// Vars returns all variables. The list must not be changed.
func (f *File) Vars() []Var { return f.table().vars }

// FuncAt returns the function that contains an address, the innermost when functions overlap. Labels inside a function
// do not count. When no symbol covers the address but call-frame information does, as in stripped files, the Func has
// bounds and no name. ok is false when the address belongs to no known function.
func (f *File) FuncAt(vaddr uint64) (fn *Func, ok bool) {
	s := f.table()
	i := sort.Search(len(s.funcs), func(i int) bool { return s.funcs[i].Addr > vaddr }) - 1
	// From the last start below the address downwards, the first function that covers it is the innermost. maxEnd ends the
	// search, in most files after one step.
	var found *Func
	for ; i >= 0 && s.maxEnd[i] > vaddr; i-- {
		if found != nil && !found.loose && s.funcs[i].Addr != found.Addr {
			break
		}
		if found != nil && s.funcs[i].loose {
			continue // of two estimates the nearer one counts
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

// VarAt returns the variable that contains an address.
func (f *File) VarAt(vaddr uint64) (v *Var, ok bool) {
	vars := f.table().vars
	i := sort.Search(len(vars), func(i int) bool { return vars[i].Addr > vaddr }) - 1
	// Variables rarely nest; the bound limits the search in a large gap.
	for ; i >= 0 && vaddr-vars[i].Addr < 1<<20; i-- {
		if !vars[i].TLS && vaddr-vars[i].Addr < max(vars[i].Size, 1) {
			return &vars[i], true
		}
	}
	return nil, false
}

// nameIndex finds names by hash. heads are the starts of chains, next continues them; both count names from 1. It takes
// eight bytes for each name, a map about fifty.
type nameIndex struct {
	seed        maphash.Seed
	names       []named
	heads, next []int32
}

// indexNames returns an index of names, which it keeps.
func indexNames(names []named) nameIndex {
	n := 1
	for n < len(names) {
		n *= 2
	}
	x := nameIndex{seed: maphash.MakeSeed(), names: names, heads: make([]int32, n), next: make([]int32, len(names))}
	for i := len(names) - 1; i >= 0; i-- { // so that chains are in the order of addresses
		h := maphash.String(x.seed, names[i].name) & uint64(n-1)
		x.next[i], x.heads[h] = x.heads[h], int32(i+1)
	}
	return x
}

// find returns the entries of a name by address.
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

// cloneMarks start the suffixes that compilers add to the names of functions that they changed or split.
var cloneMarks = []string{".cold", ".part.", ".constprop.", ".isra.", ".lto_priv.", ".llvm.", ".localalias", ".clone.",
	".abi0"}

// cloneSuffix returns the suffix that a compiler added to a name (".constprop.0.cold"), or "".
func cloneSuffix(name string) string {
	if strings.IndexByte(name, '.') <= 0 {
		return "" // most names; one that starts with a dot has no suffix
	}
	at := len(name)
	for _, mark := range cloneMarks {
		if i := strings.Index(name, mark); i > 0 && i < at {
			at = i
		}
	}
	return name[at:]
}

// isPart reports whether a symbol is a piece of a function, not its entry.
func isPart(name string) bool {
	suffix := cloneSuffix(name)
	return strings.Contains(suffix, ".cold") || strings.Contains(suffix, ".part.")
}

// isCold reports whether a symbol is the cold piece of a function, which is never called.
func isCold(name string) bool { return strings.Contains(cloneSuffix(name), ".cold") }
