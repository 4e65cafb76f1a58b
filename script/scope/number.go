package scope

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// maxConstants limits how many constants are followed to evaluate a number: each may use other constants twice.
const maxConstants = 100

// arithmetic contains the operators whose result is a float if an operand is one.
var arithmetic = map[token.Token]bool{token.PLUS: true, token.MINUS: true, token.MULTIPLY: true, token.SLASH: true, token.REMAINDER: true,
	token.EXPONENT: true}

// Fractional reports whether the initial value of a variable is a number written as a float, or computed from such
// numbers: 2.0 and 1e6 * 5. JavaScript does not distinguish 2.0 from 2, so the text decides. isFloat judges the text of
// one number.
func (v *Variable) Fractional(isFloat func(literal string) bool) bool {
	left := maxConstants
	return v.Init != nil && v.scope.fractional(v.Init, isFloat, &left)
}

// fractional judges an expression in scope s; left is the number of constants that may still be followed.
func (s *Scope) fractional(e ast.Expression, isFloat func(string) bool, left *int) bool {
	switch e := e.(type) {
	case *ast.NumberLiteral:
		return isFloat(e.Literal)
	case *ast.UnaryExpression:
		return (e.Operator == token.MINUS || e.Operator == token.PLUS) && s.fractional(e.Operand, isFloat, left)
	case *ast.BinaryExpression:
		return arithmetic[e.Operator] && (s.fractional(e.Left, isFloat, left) || s.fractional(e.Right, isFloat, left))
	case *ast.ConditionalExpression:
		return s.fractional(e.Consequent, isFloat, left) || s.fractional(e.Alternate, isFloat, left)
	case *ast.Identifier, *ast.DotExpression:
		*left--
		v := s.constant(e)
		return v != nil && v.Init != nil && *left >= 0 && v.scope.fractional(v.Init, isFloat, left)
	}
	return false
}

// constant returns the constant variable behind a name or a member of a constant object, or nil if there is none.
func (s *Scope) constant(e ast.Expression) *Variable {
	switch e := e.(type) {
	case *ast.Identifier:
		if v := s.Lookup(e.Name.String()); v != nil && v.Assigned == 0 && !v.Mutated {
			return v
		}
	case *ast.DotExpression:
		if v := s.constant(e.Left); v != nil {
			return v.Member(e.Identifier.Name.String())
		}
	}
	return nil
}

// Member returns a property of a variable's initial object as a variable, or nil if the text does not show the
// property.
func (v *Variable) Member(name string) *Variable {
	object, ok := v.Init.(*ast.ObjectLiteral)
	if !ok {
		return nil
	}
	var found *Variable
	for _, p := range object.Value {
		if p, ok := p.(*ast.PropertyKeyed); ok && p.Kind == ast.PropertyKindValue {
			if key, ok := p.Key.(*ast.StringLiteral); ok && key.Value.String() == name && !p.Computed {
				found = &Variable{Name: name, Kind: v.Kind, Init: p.Value, Slot: -1, scope: v.scope}
			}
		}
	}
	return found
}
