package symtab

import (
	"debug/elf"
	"slices"
	"sync/atomic"

	"gotap/engine/image/symname"
)

// A question about one name or address does not need the symbols of the whole file in order. It is answered from a
// subset: all symbols at the addresses that the answer may concern, made into symbols as those of the whole file are.
// Where a subset may not answer, or after some questions, all symbols are read.

const (
	maxSubsets    = 32   // questions that are answered from subsets; more cost more than reading all symbols
	maxCandidates = 4096 // symbols that a question may concern
)

// subsets are what the first questions are answered from.
type subsets struct {
	tables func() rawTables
	asked  atomic.Int32 // questions that were to be answered from a subset
	all    atomic.Bool  // all symbols have been read
}

// rawTables are the tables that have a file's symbols.
type rawTables struct {
	list     []Raw
	complete bool // Go's own table has no more names
}

// askable returns the tables if a subset of them can answer a question.
func (t *Table) askable() (tables []Raw, ok bool) {
	if t.subsets.all.Load() || t.subsets.asked.Add(1) > maxSubsets {
		return nil, false
	}
	raw := t.subsets.tables()
	return raw.list, raw.complete
}

// named returns symbols among which a plain name or a pattern finds the same as among all symbols. exact reports
// whether some have exactly the name, which makes others irrelevant.
func (t *Table) named(pattern string, exact func(*symbols) bool) *symbols {
	tables, ok := t.askable()
	if !ok || pattern == "" {
		return t.symbols()
	}
	s, ok := subset(tables, exactNames(tables, pattern))
	if !ok {
		return t.symbols()
	}
	if exact(s) {
		return s
	}
	if addrs, ok := candidates(tables, symname.NewQuery(pattern)); ok {
		if s, ok := subset(tables, addrs); ok {
			return s
		}
	}
	return t.symbols()
}

// hasExact returns a function that reports whether some functions have exactly a name.
func hasExact(name string, among filter) func(*symbols) bool {
	return func(s *symbols) bool { return len(s.exact(name, among)) > 0 }
}

// nearest returns the function that starts last in front of an address, or at it, if it contains the address: no other
// is nearer. ok is false if something must be known of others.
func (t *Table) nearest(vaddr uint64) (fn *Func, ok bool) {
	tables, ok := t.askable()
	if !ok {
		return nil, false
	}
	var last uint64
	for i := range tables {
		tables[i].each(func(_ int, _ uint32, addr uint64, info byte) {
			if addr <= vaddr && addr > last && mayBeFunc(info) {
				last = addr
			}
		})
	}
	s, ok := subset(tables, []uint64{last})
	if !ok {
		return nil, false
	}
	for i := range s.funcs {
		if s.funcs[i].Addr <= vaddr && s.funcs[i].End() > vaddr {
			return &s.funcs[i], true
		}
	}
	return nil, false
}

// mayBeFunc reports whether a symbol of this type and binding may be a function.
func mayBeFunc(info byte) bool {
	switch elf.ST_TYPE(info) {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		return true
	case elf.STT_NOTYPE:
		return elf.ST_BIND(info) != elf.STB_LOCAL
	}
	return false
}

// subset returns the symbols at addresses, which it sorts. ok is false if some have sizes that depend on others.
func subset(tables []Raw, addrs []uint64) (s *symbols, ok bool) {
	s = at(tables, addrs)
	if slices.ContainsFunc(s.funcs, func(fn Func) bool { return fn.Size == 0 }) {
		return nil, false
	}
	s.index()
	return s, true
}

// at returns all symbols at addresses, without sizes that they lack and not indexed. It sorts the addresses.
func at(tables []Raw, addrs []uint64) *symbols {
	var all []Symbol
	wanted := newAddressSet(addrs)
	for i := range tables {
		t := &tables[i]
		t.each(func(n int, _ uint32, addr uint64, _ byte) {
			if !wanted.has(addr) {
				return
			}
			if s, ok := t.symbol(n); ok {
				all = append(all, s)
			}
		})
	}
	return merged(all)
}

// addressSet is a set of numbers, such as addresses.
type addressSet struct {
	sorted []uint64
	maybe  [64]uint64 // a bit for some of them each: most numbers are not in the set
}

// newAddressSet returns the set of numbers, which it sorts.
func newAddressSet(numbers []uint64) *addressSet {
	slices.Sort(numbers)
	s := &addressSet{sorted: numbers}
	for _, a := range numbers {
		s.maybe[a>>6%64] |= 1 << (a % 64)
	}
	return s
}

func (s *addressSet) has(number uint64) bool {
	if s.maybe[number>>6%64]>>(number%64)&1 == 0 {
		return false
	}
	_, found := slices.BinarySearch(s.sorted, number)
	return found
}
