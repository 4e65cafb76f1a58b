package js

import (
	"github.com/dop251/goja/ast"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
)

// scope is a block, or the root of a function: names that the text declares. Free names of a root are the script's.
type scope struct {
	outer *scope
	names map[string]*symbol
	fn    *Function // set at the root of a function: resolves its free names
}

// symbol is a declared name.
type symbol struct {
	name    string
	at      diag.Span
	pending bool                 // its declaration has not been reached
	fixed   bool                 // const, or a parameter that stands for something without a value
	what    operand              // what it stands for, when it is not a variable
	slot    *slot                // a variable
	enum    []compile.Enumerator // names of the values it has
	path    *arguments           // it is a constant with the value of this argument, and has its members too
}

// open starts a block.
func (l *lowering) open() *scope {
	l.scope = &scope{outer: l.scope, names: map[string]*symbol{}}
	return l.scope
}

// close ends it; its variables' words can be used again.
func (l *lowering) close(s *scope) {
	for _, sym := range s.names {
		if sym.slot != nil {
			l.slots.free(sym.slot)
		}
	}
	l.scope = s.outer
}

// declare adds a name to the innermost scope.
func (l *lowering) declare(name string, at diag.Span) *symbol {
	sym := &symbol{name: name, at: at}
	l.scope.names[name] = sym
	return sym
}

// find looks a declared name up, to the root of the function it is in, and that function's own surroundings.
func (s *scope) find(name string) (sym *symbol, root *scope) {
	for ; s != nil; s = s.outer {
		if sym := s.names[name]; sym != nil {
			return sym, nil
		}
		if s.outer == nil {
			root = s
		}
	}
	return nil, root
}

// visible calls f for each name declared around s.
func (s *scope) visible(f func(string)) {
	for ; s != nil; s = s.outer {
		for name := range s.names {
			f(name)
		}
	}
}

// slots hands out the scratch words of a hit. A word that is free again is used again: the lowest first, so that
// listings stay readable.
type slots struct {
	taken [runtime.MaxTemps]bool
	most  int
}

func (s *slots) free(x *slot) {
	if x.index < len(s.taken) {
		s.taken[x.index] = false
	}
}

// take gives a word. When there is none left its index is one too many, which the emitter reports.
func (s *slots) take(k kind) *slot {
	for i := range s.taken {
		if !s.taken[i] {
			s.taken[i] = true
			s.most = max(s.most, i+1)
			return &slot{index: i, kind: k}
		}
	}
	s.most = len(s.taken) + 1
	return &slot{index: len(s.taken), kind: k}
}

// fresh gives a word that nothing read so far uses, not even inside an expression that is finished but will be
// computed later. Whoever keeps one value while such an expression is computed needs it.
func (s *slots) fresh(k kind) *slot {
	x := &slot{index: s.most, kind: k}
	if s.most < len(s.taken) {
		s.taken[s.most] = true
	}
	s.most = min(s.most, len(s.taken)) + 1
	return x
}

// identifier is what a name stands for.
func (l *lowering) identifier(id *ast.Identifier) operand {
	name, at := id.Name.String(), l.at(id)
	sym, root := l.scope.find(name)
	if sym != nil {
		return l.symbol(sym, at)
	}
	if b, ok := lookup(root.fn.Scope, name); ok {
		return l.binding(name, b, at)
	}
	return l.builtinName(name, at)
}

// symbol is what a declared name stands for.
func (l *lowering) symbol(sym *symbol, at diag.Span) operand {
	switch {
	case sym.pending:
		l.errorf(at, "move the declaration up", "%s is used before it is declared", sym.name)
		return bad{}
	case sym.path != nil:
		return argument{sym}
	}
	if v, ok := sym.what.(value); ok {
		return value{v.e.usedAt(at)}
	}
	return sym.meaning()
}

// usedAt is a leaf with the position of its use: that of its origin would send the reader of a listing to and fro.
func (e *expr) usedAt(at diag.Span) *expr {
	here := *e
	here.at, here.cmd.Pos = at, at
	return &here
}

// meaning is the thing a name stands for, or the variable it is.
func (sym *symbol) meaning() operand {
	if sym.what != nil {
		return sym.what
	}
	return variable{sym}
}

// lookup asks a Scope, which may be nil.
func lookup(s Scope, name string) (Binding, bool) {
	if s == nil {
		return Binding{}, false
	}
	b, ok := s.Lookup(name)
	return b, ok && b.Kind != BindUndefined
}
