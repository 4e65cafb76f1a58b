package state

import (
	"gotap/compile/diag"
	"gotap/compile/js/report"
	"gotap/compile/js/tree"
	"gotap/runtime/arena"
)

// storage lays out the fields that the handlers of a probe keep for a call: `this`.
//
// A field is a word, or room for a text. Its type is that of the first assignment the compiler sees; the
// handlers are compiled in the order enter, post, leave, fault, so that is what the programmer expects.
type storage struct {
	Fields map[string]*Field
	order  []*Field
	next   int
}

// Field is a member of `this`.
type Field struct {
	name   string
	Kind   tree.Kind
	Offset int       // in bytes
	Set    bool      // is assigned to somewhere
	Read   diag.Span // where it was read first

	Held     tree.Holding
	Quotient *tree.Expr // the integer division that it has a value from
}

func newStorage() storage { return storage{Fields: map[string]*Field{}} }

// Size is the bytes of a call's storage.
func (s *storage) Size() int { return s.next }

// Field finds or makes a field. k is its type when it is new.
func (s *storage) Field(name string, k tree.Kind) *Field {
	f := s.Fields[name]
	if f == nil {
		f = &Field{name: name, Kind: k, Offset: s.next}
		s.Fields[name] = f
		s.order = append(s.order, f)
		if k == tree.KindText {
			s.next += arena.TextCell
		} else {
			s.next += 8
		}
	}
	return f
}

// UnsetFields warns about fields that are read and never written: most often a name that is misspelt.
func (st *State) UnsetFields() {
	for _, f := range st.Storage.order {
		if f.Set || f.Read.Source == nil {
			continue
		}
		var names []string
		for _, other := range st.Storage.order {
			if other.Set {
				names = append(names, other.name)
			}
		}
		st.Warnf(f.Read, report.Suggestion(f.name, names, "assign to it in enter"), "this.%s is never set: it reads 0", f.name)
	}
}
