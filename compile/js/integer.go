package js

import (
	"github.com/dop251/goja/ast"

	"gotap/compile"
)

// asInteger is integer(x, other): x where its type is that of an integer or a pointer, and other where it is not. One program
// serves functions of all types so: what a type has no integer of is no error here.
func asInteger(s *site) *expr {
	other := s.optional(1, 0)
	if s.l.isResult(s.node.ArgumentList[0]) && !s.l.resultIsInteger() {
		return other
	}
	e := s.arg(0)
	if e.kind.integer() || e.kind.silent() {
		return e
	}
	return other
}

// isResult reports whether an expression is c.ret itself.
func (l *lowering) isResult(e ast.Expression) bool {
	dot, ok := e.(*ast.DotExpression)
	if !ok || dot.Identifier.Name != "ret" || !l.returning() {
		return false
	}
	name, ok := dot.Left.(*ast.Identifier)
	if !ok {
		return false
	}
	_, ok = l.identifier(name).(context)
	return ok
}

// resultIsInteger reports whether c.ret is an integer or a pointer, by the type of the function. It is one as well where the type
// is not known: then it is the register.
func (l *lowering) resultIsInteger() bool {
	l.compiler.result.UsesPlace = true
	if l.unit.Place == nil {
		return true
	}
	a, ok, err := l.unit.Place.ReturnType()
	switch {
	case err != nil:
		return false
	case ok:
		return a.Type == compile.TypeInt || a.Type == compile.TypeBool
	}
	return a.Shape == nil // a shape without a value is a struct, an array or the like
}
