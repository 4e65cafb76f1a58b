package scope

import (
	"math/big"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// ** and shifts can compute a BigInt of any size in one step, which the JavaScript engine cannot interrupt. They are
// replaced by calls of host functions that refuse a result that is too large.

// boundBinary bounds an operator between two operands.
func (a *analyzer) boundBinary(n *ast.BinaryExpression, slot *ast.Expression) {
	if !unbounded(n.Right) {
		return
	}
	switch n.Operator {
	case token.EXPONENT:
		a.later(func() { *slot = call(NamePower, n.Idx0(), n.Idx0(), n.Left, n.Right) })
	case token.SHIFT_LEFT, token.SHIFT_RIGHT:
		a.later(func() { n.Right = boundShift(n.Right) })
	}
}

// boundAssign bounds a compound assignment. For a member of an object the right side is evaluated before the member is
// read.
func (a *analyzer) boundAssign(n *ast.AssignExpression, slot *ast.Expression) {
	if !unbounded(n.Right) {
		return
	}
	switch n.Operator {
	case token.SHIFT_LEFT, token.SHIFT_RIGHT:
		a.later(func() { n.Right = boundShift(n.Right) })
	case token.EXPONENT:
		a.later(func() { boundPower(n, slot) })
	}
}

// boundPower replaces x **= y. It does not replace members that cannot be named from outside (super.x, this.#x).
func boundPower(n *ast.AssignExpression, slot *ast.Expression) {
	at := n.Idx0()
	switch left := n.Left.(type) {
	case *ast.Identifier:
		n.Operator, n.Right = token.ASSIGN, call(NamePower, at, at, name(left.Name.String(), left.Idx), n.Right)
	case *ast.DotExpression:
		if !isSuper(left.Left) {
			key := &ast.StringLiteral{Idx: left.Identifier.Idx, Literal: left.Identifier.Name.String(), Value: left.Identifier.Name}
			*slot = call(NamePowerAt, at, at, left.Left, key, n.Right)
		}
	case *ast.BracketExpression:
		if !isSuper(left.Left) {
			*slot = call(NamePowerAt, at, at, left.Left, left.Member, n.Right)
		}
	}
}

func isSuper(e ast.Expression) bool {
	_, ok := e.(*ast.SuperExpression)
	return ok
}

func boundShift(by ast.Expression) ast.Expression { return call(NameShift, by.Idx0(), by.Idx0(), by) }

// unbounded reports whether the right side of ** or a shift may be a large BigInt: it is neither a Number nor a small
// BigInt.
func unbounded(right ast.Expression) bool {
	n, ok := right.(*ast.NumberLiteral)
	if !ok {
		return true
	}
	v, isBig := n.Value.(*big.Int)
	return isBig && (!v.IsInt64() || v.Int64() > 4)
}
