package scope

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// maxConstants bounds how many constants a number is followed through: each may be made of others, twice.
const maxConstants = 100

// arithmetic are the operators that give a float where one operand is one.
var arithmetic = map[token.Token]bool{token.PLUS: true, token.MINUS: true, token.MULTIPLY: true, token.SLASH: true, token.REMAINDER: true,
	token.EXPONENT: true}

// Fractional reports whether a variable begins with a number that is written as a float, or computed from such numbers: 2.0 and 1e6 * 5.
// JavaScript does not distinguish 2.0 from 2, so the text decides. isFloat judges the text of one number.
func (v *Variable) Fractional(isFloat func(literal string) bool) bool {
	left := maxConstants
	return v.Init != nil && v.scope.fractional(v.Init, isFloat, &left)
}

// fractional judges an expression that stands in scope s; left is how many constants may still be followed.
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

// constant finds what a name, or a member of a constant object, begins with; nil when that is not known.
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

// Member is a property of a variable that begins with an object, as a variable; nil when the text does not show the property.
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
