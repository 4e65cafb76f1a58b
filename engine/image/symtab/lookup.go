package symtab

import (
	"iter"
	"sort"

	"gotap/engine/image/symname"
)

// Match is a function that a pattern matches, with the name that matched.
type Match struct {
	Func *Func
	Name string // the symbol's name, or for C++ and Rust the readable one without parameters
	Part bool   // the symbol is a piece of a function, not its entry
}

// Lookup returns the functions that a name or pattern matches, by address, each once.
//
// A plain name matches every function of that name, and the compiler's variants of it ("f.constprop.0"). Names with
// "::", and names that no symbol has, are compared with readable C++ and Rust names: without parameters
// ("geo::Shape::area", all overloads) or with them ("geo::grow(int)"), and with or without template arguments. Generic
// functions of Go match with and without their type arguments. A pattern with wildcards is compared with both kinds of
// names. Pieces such as "f.cold" match only their full name.
func (t *Table) Lookup(pattern string) []Match {
	return t.named(pattern, hasExact(pattern, anyName)).lookup(&t.demangled, pattern, anyName)
}

// lookup is Table.Lookup among some names.
func (s *symbols) lookup(c *symname.Cache, pattern string, among filter) []Match {
	return eachOnce(s.matches(c, pattern, among, func(_, matched string) string { return matched }))
}

// list is Table.Names among some names.
func (s *symbols) list(c *symname.Cache, pattern string, among filter) []Match {
	return s.matches(c, pattern, among, func(symbol, matched string) string {
		if matched == symbol {
			return symbol
		}
		return symname.Signature(symbol)
	})
}

// matches returns every name among some that a pattern matches, by address. shown makes the name of a match from the
// symbol's and that which matched.
func (s *symbols) matches(c *symname.Cache, pattern string, among filter, shown func(symbol, matched string) string) []Match {
	// Exact names come first: they are the common case, and Go's names may look like patterns.
	if exact := s.exact(pattern, among); len(exact) > 0 {
		return exact
	}
	q := symname.NewQuery(pattern)
	var found []Match
	for _, n := range s.names {
		if !among(n.name, &s.funcs[n.of]) {
			continue
		}
		if name, ok := q.Match(c, n.name); ok {
			found = append(found, Match{Func: &s.funcs[n.of], Name: shown(n.name, name)})
		}
	}
	return found
}

// exact returns the functions that have exactly this name, and the compiler's variants of them.
func (s *symbols) exact(name string, among filter) []Match {
	var found []Match
	for _, n := range s.byName.find(name) {
		if among(n.name, &s.funcs[n.of]) {
			found = append(found, Match{Func: &s.funcs[n.of], Name: n.name, Part: symname.IsPart(n.name)})
		}
	}
	if name == "" || symname.IsMangled(name) && len(found) == 0 {
		return found
	}
	// A static function that the compiler specialised is called by both names, or only by that of the variant.
	for _, n := range s.names {
		if len(n.name) > len(name) && n.name[len(name)] == '.' && n.name[:len(name)] == name &&
			symname.CloneSuffix(n.name) == n.name[len(name):] && !symname.IsPart(n.name) && among(n.name, &s.funcs[n.of]) {
			found = append(found, Match{Func: &s.funcs[n.of], Name: n.name})
		}
	}
	return eachOnce(found)
}

// eachOnce sorts matches by address and keeps the first of each function. A function that matches by several names
// keeps the preferred one.
func eachOnce(found []Match) []Match {
	sort.SliceStable(found, func(i, j int) bool { return found[i].Func.Addr < found[j].Func.Addr })
	kept := found[:0]
	for _, m := range found {
		if len(kept) == 0 || kept[len(kept)-1].Func != m.Func {
			kept = append(kept, m)
		}
	}
	return kept
}

// LookupVar returns the variables that a name or pattern matches, by the rules of Lookup.
func (t *Table) LookupVar(pattern string) []*Var {
	s := t.named(pattern, func(s *symbols) bool { return len(s.byData.find(pattern)) > 0 })
	var found []*Var
	for _, n := range s.byData.find(pattern) {
		found = append(found, &s.vars[n.of])
	}
	if len(found) > 0 {
		return found
	}
	q := symname.NewQuery(pattern)
	for _, n := range s.data {
		if _, ok := q.Match(&t.demangled, n.name); ok {
			found = append(found, &s.vars[n.of])
		}
	}
	return found
}

// Names returns every name of functions that a pattern matches, including aliases, for listings. C++ and Rust names
// have parameters.
func (t *Table) Names(pattern string) []Match {
	return t.named(pattern, hasExact(pattern, anyName)).list(&t.demangled, pattern, anyName)
}

// AddrOf returns the address of the variable, or else of the function, that has exactly a name. tls is set for a
// thread-local variable, whose address is an offset in each thread's block.
func (t *Table) AddrOf(name string) (addr uint64, tls, ok bool) {
	s := t.symbols()
	if found := s.byData.find(name); len(found) > 0 {
		v := s.vars[found[0].of]
		return v.Addr, v.TLS, true
	}
	if found := s.byName.find(name); len(found) > 0 {
		return s.funcs[found[0].of].Addr, false, true
	}
	return 0, false, false
}

// Suggest returns up to three functions, nearest first, whose names resemble one that was not found: other spellings,
// and qualified names with that last part.
func (t *Table) Suggest(name string) []string {
	return t.demangled.Suggest(texts(t.symbols().names), name)
}

// SuggestVar does the same for variables.
func (t *Table) SuggestVar(name string) []string {
	return t.demangled.Suggest(texts(t.symbols().data), name)
}

// texts iterates over the texts of names.
func texts(names []named) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range names {
			if !yield(names[i].name) {
				return
			}
		}
	}
}
