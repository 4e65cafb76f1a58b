package operand

import (
	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/fetch"
	"gotap/compile/js/tree"
)

// Scope is a block, or the root of a function: names that the text declares. Free names of a root are the script's.
type Scope struct {
	Outer *Scope
	Names map[string]*Symbol
	Fn    *js.Function // set at the root of a function: resolves its free names
}

// Symbol is a declared name.
type Symbol struct {
	Name    string
	At      diag.Span
	Pending bool                 // its declaration has not been reached
	Fixed   bool                 // const, or a parameter that stands for something without a value
	Meaning Operand              // what it stands for, when it is not a variable
	Slot    *tree.Slot           // a variable
	Enum    []compile.Enumerator // names of the values it has
	Path    *fetch.Path          // it is a constant with the value of this argument, and has its members too
}

// Find looks a declared name up, to the root of the function it is in, and that function's own surroundings.
func (s *Scope) Find(name string) (sym *Symbol, root *Scope) {
	for ; s != nil; s = s.Outer {
		if sym := s.Names[name]; sym != nil {
			return sym, nil
		}
		if s.Outer == nil {
			root = s
		}
	}
	return nil, root
}

// EachVisible calls f for each name declared around s.
func (s *Scope) EachVisible(f func(string)) {
	for ; s != nil; s = s.Outer {
		for name := range s.Names {
			f(name)
		}
	}
}

// Denotes is the thing a name stands for, or the variable it is.
func (sym *Symbol) Denotes() Operand {
	if sym.Meaning != nil {
		return sym.Meaning
	}
	return Variable{sym}
}
