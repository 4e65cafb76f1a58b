package symtab

import (
	"debug/elf"
	"strings"
)

// filter reports whether a name of a function counts.
type filter func(name string, fn *Func) bool

// anyName is the filter of every name.
func anyName(string, *Func) bool { return true }

// exportKey is a function that a file exports. A name may be exported for several functions, as versions of a symbol.
type exportKey struct {
	name string
	addr uint64
}

// Exports are the functions that a file exports: those that its dynamic symbol table defines for other files. It is
// immutable and safe for concurrent use.
type Exports struct {
	table *Table
	keys  map[exportKey]bool
}

// Exports returns the functions that the file exports, which the first call reads.
func (t *Table) Exports() Exports { return Exports{t, t.exported()} }

// readExports reads the dynamic symbol table.
func (t *Table) readExports() map[exportKey]bool {
	found := map[exportKey]bool{}
	for _, s := range definitions(t.origin.Own(), elf.SHT_DYNSYM) {
		if (s.Kind == KindFunc || s.Kind == KindIFunc) && s.Bind != BindLocal {
			found[exportKey{s.Name, s.Addr}] = true
		}
	}
	return found
}

// has is a filter.
func (e Exports) has(name string, fn *Func) bool { return e.keys[exportKey{name, fn.Addr}] }

// Empty reports whether the file exports no function, as static programs do.
func (e Exports) Empty() bool { return len(e.keys) == 0 }

// Lookup is Table.Lookup among the names that are exported.
func (e Exports) Lookup(pattern string) []Match {
	return e.table.named(pattern, hasExact(pattern, e.has)).lookup(&e.table.demangled, pattern, e.has)
}

// Names is Table.Names among the names that are exported.
func (e Exports) Names(pattern string) []Match {
	return e.table.named(pattern, hasExact(pattern, e.has)).list(&e.table.demangled, pattern, e.has)
}

// Of returns the functions that are exported by exactly this name of the symbol table, by which other files call them.
// There are several when the symbol has versions.
func (e Exports) Of(symbol string) []Match {
	var found []Match
	s := e.table.named(symbol, hasExact(symbol, e.has))
	for _, n := range s.byName.find(symbol) {
		if fn := &s.funcs[n.of]; e.has(n.name, fn) {
			found = append(found, Match{Func: fn, Name: n.name})
		}
	}
	return eachOnce(found)
}

// WithPieces returns the functions of matches, and the pieces that a compiler split off them, such as "f.cold" of "f".
func (t *Table) WithPieces(matches []Match) []*Func {
	var found []*Func
	whole := map[string]bool{}
	for _, m := range matches {
		found = append(found, m.Func)
		whole[m.Func.Name] = true
	}
	s := t.symbols()
	for i := range s.funcs {
		piece := &s.funcs[i]
		at := strings.LastIndex(piece.Name, ".cold") // behind the name of a variant, too: "f.constprop.0.cold"
		if at < 0 {
			at = strings.LastIndex(piece.Name, ".part.")
		}
		if at > 0 && whole[piece.Name[:at]] {
			found = append(found, piece)
		}
	}
	return found
}
