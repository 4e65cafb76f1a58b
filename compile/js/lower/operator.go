package lower

import (
	"math"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"gotap/compile/js"
	"gotap/compile/js/builtin"
	"gotap/compile/js/operand"
	"gotap/compile/js/operator"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

// number is a number of the text. Its digits decide, not what JavaScript makes of them: all 64 bits of an integer
// count, and a number with a point or an exponent is a float.
func (l *lowering) number(n *ast.NumberLiteral) *tree.Expr {
	at := l.At(n)
	v, f, isFloat, ok := js.ParseNumber(n.Literal)
	switch {
	case !ok:
		l.Errorf(at, "integers have 64 bits", "the number %s does not fit", n.Literal)
		return tree.Poison(at)
	case isFloat:
		return tree.Constant(at, tree.KindFloat, math.Float64bits(f))
	case v > 1<<63 && n.Literal[0] != '0': // 2^63 itself is what a minus stands before
		l.Warnf(at, "ult(a, b) compares unsigned values; bits are written as 0x…", "integers have 64 bits and a sign: this is %d", int64(v))
	}
	return tree.Constant(at, tree.KindInt, v)
}

// binary is an operator between two expressions.
func (l *lowering) binary(e *ast.BinaryExpression) *tree.Expr {
	at := l.At(e)
	switch e.Operator {
	case token.LOGICAL_AND, token.LOGICAL_OR:
		return l.logicalValue(e)
	case token.COALESCE:
		return l.coalesce(e)
	case token.EXPONENT, token.INSTANCEOF, token.IN:
		return l.refuse(e)
	}
	if operator.IsEquality(e.Operator) && (isNothing(e.Left) || isNothing(e.Right)) {
		return l.compareNothing(e)
	}
	left, right := l.Value(e.Left), l.Value(e.Right)
	l.ops.WarnOperator(e.Operator, at, left, right)
	if operator.IsComparison(e.Operator) {
		return l.ops.Compare(e.Operator, at, left, right)
	}
	return l.ops.Arithmetic(e.Operator, at, left, right)
}

// logicalValue is && or || for its value.
func (l *lowering) logicalValue(e *ast.BinaryExpression) *tree.Expr {
	at, and := l.At(e), e.Operator == token.LOGICAL_AND
	left := l.ops.Scalar(l.Value(e.Left))
	if l.decides(left) && left.Kind.Integer() && (left.Cmd.V != 0) != and {
		return left
	}
	right := l.Any(e.Right)
	if right.Kind == tree.KindVoid { // x && log(…): an effect with a condition
		test := l.ops.Truth(left)
		if !and {
			test = l.ops.Not(test)
		}
		return l.ops.Choose(at, test, right, tree.Sequence(at, nil, nil))
	}
	right = l.ops.Scalar(right)
	k, ok := tree.Unify(left.Kind, right.Kind)
	if !ok {
		l.Errorf(at, "compare with 0 or \"\" to get true or false", "one side is %s, the other %s", left.Kind, right.Kind)
		return tree.Poison(at)
	}
	left, right = tree.Convert(left, k), tree.Convert(right, k)
	if left.IsConst() || left.Code == tree.CodeText {
		if t := l.ops.Truth(left); t.IsConst() {
			if (t.Cmd.V != 0) == and {
				return right
			}
			return left
		}
	}
	return tree.Logical(and, at, left, right, k)
}

// coalesce is a ?? b. Only what a map gives can be missing; everything else is always there.
func (l *lowering) coalesce(e *ast.BinaryExpression) *tree.Expr {
	if isNothing(e.Left) {
		return l.Value(e.Right)
	}
	if get, ok := l.mapGet(e.Left); ok {
		return get.OrElse(l.At(e), e.Right)
	}
	left := l.Any(e.Left)
	l.Value(e.Right)
	return l.some(left, l.At(e.Left))
}

// isNothing reports whether an expression is written as null or undefined.
func isNothing(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.NullLiteral:
		return true
	case *ast.Identifier:
		return e.Name == "undefined"
	}
	return false
}

// compareNothing compares with undefined or null: a question that makes sense of a map only.
func (l *lowering) compareNothing(e *ast.BinaryExpression) *tree.Expr {
	at, other := l.At(e), e.Left
	if isNothing(other) {
		other = e.Right
	}
	if get, ok := l.mapGet(other); ok {
		has := get.Has(at)
		if e.Operator == token.EQUAL || e.Operator == token.STRICT_EQUAL {
			return l.ops.Not(has)
		}
		return has
	}
	l.Errorf(at, "an unset field of this reads 0, a missing key of a map too: compare with 0", "nothing in a program is ever undefined or null")
	return tree.Poison(at)
}

// unary is an operator before an expression, or ++ and --.
func (l *lowering) unary(e *ast.UnaryExpression) *tree.Expr {
	at := l.At(e)
	switch e.Operator {
	case token.INCREMENT, token.DECREMENT:
		return l.step(e, true)
	case token.NOT:
		return l.ops.Not(l.test(e.Operand))
	case token.MINUS:
		return l.ops.Sign(at, l.Value(e.Operand), opcode.Neg, opcode.Fneg)
	case token.BITWISE_NOT:
		operand := l.Value(e.Operand)
		l.ops.WarnDoubleNot(at, operand)
		return l.ops.Sign(at, operand, opcode.Not, opcode.Nop)
	case token.PLUS:
		return l.ops.Sign(at, l.Value(e.Operand), opcode.Nop, opcode.Nop)
	}
	return l.refuse(e)
}

// mapGet recognises m.get(key…): of all expressions it alone may find nothing.
func (l *lowering) mapGet(e ast.Expression) (*builtin.Lookup, bool) {
	call, ok := e.(*ast.CallExpression)
	if !ok || len(call.ArgumentList) == 0 {
		return nil, false
	}
	dot, ok := call.Callee.(*ast.DotExpression)
	if !ok || dot.Identifier.Name != "get" {
		return nil, false
	}
	id, ok := dot.Left.(*ast.Identifier)
	if !ok {
		return nil, false
	}
	t, ok := l.names.identifier(id).(operand.Map)
	if !ok {
		return nil, false
	}
	s := l.site(call)
	s.Name = "get"
	return s.Lookup(t), true
}
