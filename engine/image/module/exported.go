package module

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

// Exports are the functions that a file exports: those that its dynamic symbol table defines for other files. It is immutable and
// safe for concurrent use.
type Exports struct {
	file *File
	keys map[exportKey]bool
}

// Exports returns the functions that the file exports, which the first call reads.
func (f *File) Exports() Exports {
	return Exports{f, f.table().exports.get(func() map[exportKey]bool {
		found := map[exportKey]bool{}
		for _, s := range readSymbols(f, elf.SHT_DYNSYM) {
			if (s.kind == KindFunc || s.kind == KindIFunc) && s.bind != BindLocal {
				found[exportKey{s.name, s.addr}] = true
			}
		}
		return found
	})}
}

// has is a filter.
func (e Exports) has(name string, fn *Func) bool { return e.keys[exportKey{name, fn.Addr}] }

// Empty reports whether the file exports no function, as static programs do.
func (e Exports) Empty() bool { return len(e.keys) == 0 }

// Lookup is File.Lookup among the names that are exported.
func (e Exports) Lookup(pattern string) []Match { return e.file.table().lookup(e.file, pattern, e.has) }

// Names is File.Names among the names that are exported.
func (e Exports) Names(pattern string) []Match { return e.file.table().list(e.file, pattern, e.has) }

// Of returns the functions that are exported by exactly this name of the symbol table, by which other files call them. There are
// several when the symbol has versions.
func (e Exports) Of(symbol string) []Match {
	var found []Match
	s := e.file.table()
	for _, n := range s.byName.find(symbol) {
		if fn := &s.funcs[n.of]; e.has(n.name, fn) {
			found = append(found, Match{Func: fn, Name: n.name})
		}
	}
	return eachOnce(found)
}

// IsPiece reports whether the function is a piece that a compiler split off another one, by its name.
func (fn *Func) IsPiece() bool { return isPart(fn.Name) }

// WithPieces returns the functions of matches, and the pieces that a compiler split off them, such as "f.cold" of "f".
func WithPieces(f *File, matches []Match) []*Func {
	var found []*Func
	whole := map[string]bool{}
	for _, m := range matches {
		found = append(found, m.Func)
		whole[m.Func.Name] = true
	}
	s := f.table()
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
