package symtab

import (
	"cmp"
	"debug/elf"
	"slices"
	"sync"

	"gotap/engine/image/symname"
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

	Estimated bool // Size is an estimate
}

// Demangled returns the readable form of the preferred name, without parameters.
func (fn *Func) Demangled() string { return symname.Demangle(fn.Name, false) }

// IsPiece reports whether the function is a piece that a compiler split off another one, by its name.
func (fn *Func) IsPiece() bool { return symname.IsPart(fn.Name) }

// IsEntry reports whether the function's address is certainly where it is called. A label without a size may be in the
// middle of a function. A range of call-frame information without a name, and a symbol of a compiler's, may be a piece
// that another one jumps to.
func (fn *Func) IsEntry() bool { return fn.Name != "" && !fn.Estimated && !fn.IsPiece() }

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

// symbols are the contents of a file's symbol tables, indexed. It is immutable once built.
type symbols struct {
	funcs  []Func   // by address; an IFUNC and its resolver are two entries of one address
	maxEnd []uint64 // maxEnd[i]: largest end of funcs[0..i], which ends searches for nested functions
	vars   []Var
	names  []named // functions' names, by address
	data   []named // variables' names
	byName nameIndex
	byData nameIndex
}

// Origin is the file whose symbols a Table has. It must be safe for concurrent use.
type Origin interface {
	// Own returns the file itself.
	Own() *Image
	// Debug returns the separate debug file, and Mini the file in .gnu_debugdata, or nil. Both may take long the first
	// time.
	Debug() *Image
	Mini() *Image
	// GoMain returns the address of a function that every Go program has, by Go's own table. ok is false for other
	// files.
	GoMain() (addr uint64, ok bool)
	// GoFuncs returns the functions in Go's own table.
	GoFuncs() []Symbol
	// TextEnd returns the end of the executable section that an address is in, or 0.
	TextEnd(vaddr uint64) uint64
	// InPLT reports whether an address is in a procedure linkage stub.
	InPLT(vaddr uint64) bool
	// FrameAt returns the entry of call-frame information that covers an address, FrameAfter the start of the first one
	// behind it.
	FrameAt(vaddr uint64) (start, end uint64, ok bool)
	FrameAfter(vaddr uint64) (start uint64, ok bool)
}

// Table is the symbols of a file, which are read when they are first wanted. It is safe for concurrent use.
type Table struct {
	origin    Origin
	subsets   subsets                   // until symbols is called
	symbols   func() *symbols           // of all tables
	exported  func() map[exportKey]bool // functions
	versions  func() versions           // of exported functions
	demangled symname.Cache
}

// New returns the symbols of a file.
func New(o Origin) *Table {
	t := &Table{origin: o}
	t.subsets.tables, t.symbols, t.exported = sync.OnceValue(t.readRaw), sync.OnceValue(t.read), sync.OnceValue(t.readExports)
	t.versions = sync.OnceValue(t.readVersions)
	return t
}

// readRaw reads the tables of the file and its debug file, or .gnu_debugdata.
func (t *Table) readRaw() (found rawTables) {
	// Stripped: names that are not exported may be in the debug file or in .gnu_debugdata.
	for _, from := range []func() *Image{t.origin.Own, t.origin.Debug, t.origin.Mini} {
		if m := from(); m != nil {
			found.list = m.Tables(elf.SHT_SYMTAB)
		}
		if slices.ContainsFunc(found.list, Raw.defines) {
			break
		}
	}
	found.list = append(found.list, t.origin.Own().Tables(elf.SHT_DYNSYM)...)
	// Symbol tables are stripped completely or not at all, so one of the runtime's functions decides.
	main, isGo := t.origin.GoMain()
	found.complete = !isGo || at(found.list, []uint64{main}).hasAny()
	return found
}

// read makes the symbols of all tables, and of Go's own when they lack its functions: in stripped programs and those
// linked with -s. C functions that are exported remain.
func (t *Table) read() *symbols {
	raw := t.subsets.tables()
	var all []Symbol
	for i := range raw.list {
		all = raw.list[i].appendTo(all)
	}
	if !raw.complete {
		all = append(all, t.origin.GoFuncs()...)
	}
	s := merged(all)
	s.fillSizes(t.origin)
	s.index()
	t.subsets.all.Store(true)
	return s
}

// merged returns symbols in order. Duplicates from two tables or of two versions are adjacent then.
func merged(all []Symbol) *symbols {
	s := &symbols{}
	var last *Symbol
	for _, i := range ordered(all) {
		a := &all[i]
		if last == nil || a.Name != last.Name || a.Addr != last.Addr || a.Kind != last.Kind {
			s.add(a)
		}
		last = a
	}
	return s
}

// index indexes the names.
func (s *symbols) index() { s.byName, s.byData = indexNames(s.names), indexNames(s.data) }

// hasAny reports whether there is a symbol.
func (s *symbols) hasAny() bool { return len(s.funcs)+len(s.vars) > 0 }

// definitions returns the definitions in all symbol tables of one type.
func definitions(m *Image, typ elf.SectionType) (all []Symbol) {
	for _, raw := range m.Tables(typ) {
		all = raw.appendTo(all)
	}
	return all
}

// ordered returns the indices of symbols in their stable order. Go's table is already in order, which takes one
// comparison each.
func ordered(all []Symbol) []int32 {
	order := make([]int32, len(all))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		switch a, b := &all[i], &all[j]; {
		case a.Addr != b.Addr: // the common case
			return cmp.Compare(a.Addr, b.Addr)
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
func (a *Symbol) before(b *Symbol) bool {
	switch {
	case a.Addr != b.Addr:
		return a.Addr < b.Addr
	case a.Kind != b.Kind:
		return a.Kind < b.Kind
	case a.rank() != b.rank():
		return a.rank() < b.rank()
	case len(a.Name) != len(b.Name):
		return len(a.Name) < len(b.Name)
	}
	return a.Name < b.Name
}

// rank orders the names of one address; the lowest is preferred. A symbol with a size is a function, not a label; parts
// of functions come last; then names with the fewest leading underscores and the most visible binding win.
func (a *Symbol) rank() int {
	rank := int(a.Bind) // below 4, so that one underscore outweighs any binding
	for i := 0; i < len(a.Name) && a.Name[i] == '_'; i++ {
		rank += 4
	}
	if clone := symname.CloneSuffix(a.Name); clone != "" {
		rank += 1 << 16
	}
	if a.label || a.Size == 0 {
		rank += 1 << 17
	}
	return rank
}

// add adds the next symbol in order.
func (s *symbols) add(a *Symbol) {
	if a.Kind == KindObject || a.Kind == KindTLS {
		s.data = append(s.data, named{a.Name, int32(len(s.vars))})
		s.vars = append(s.vars, Var{a.Name, a.Addr, a.Size, a.Bind, a.Kind == KindTLS})
		return
	}
	last := len(s.funcs) - 1
	if last >= 0 && s.funcs[last].Addr == a.Addr && s.funcs[last].Kind == a.Kind {
		fn := &s.funcs[last]
		if fn.Name != a.Name {
			fn.Aliases = append(fn.Aliases, a.Name)
		}
		fn.Size = max(fn.Size, a.Size) // aliases in assembly have none
	} else {
		s.funcs = append(s.funcs, Func{Name: a.Name, Addr: a.Addr, Size: a.Size, Kind: a.Kind, Bind: a.Bind, Thumb: a.thumb})
		last++
	}
	s.names = append(s.names, named{a.Name, int32(last)})
}

// fillSizes sets the sizes of functions without one, from call-frame information or the next function.
func (s *symbols) fillSizes(o Origin) {
	s.maxEnd = make([]uint64, len(s.funcs))
	var end uint64
	for i := range s.funcs {
		fn := &s.funcs[i]
		if fn.Size == 0 {
			fn.Size, fn.Estimated = s.sizeOf(o, i), true
		}
		end = max(end, fn.End())
		s.maxEnd[i] = end
	}
}

// sizeOf returns the distance from function i to the end of its frame entry, to the next function, or to the end of the
// section. A frame entry marks another function, even when that has no name.
func (s *symbols) sizeOf(o Origin, i int) uint64 {
	fn := &s.funcs[i]
	end := o.TextEnd(fn.Addr)
	for _, next := range s.funcs[i+1:] {
		if next.Addr > fn.Addr {
			end = min(end, next.Addr)
			break
		}
	}
	// The entry may cover a whole file of assembly, and the next symbol may follow padding, so the nearer end is
	// right.
	if _, frameEnd, ok := o.FrameAt(fn.Addr); ok {
		end = min(end, frameEnd)
	} else if start, ok := o.FrameAfter(fn.Addr); ok {
		end = min(end, start)
	}
	return max(end, fn.Addr) - fn.Addr
}
