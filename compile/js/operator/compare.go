package operator

import (
	"strings"

	"github.com/dop251/goja/token"

	"gotap/compile/diag"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

func IsComparison(t token.Token) bool {
	return t >= token.EQUAL && t <= token.GREATER || t >= token.NOT_EQUAL && t <= token.GREATER_OR_EQUAL
}

func IsEquality(t token.Token) bool {
	return t == token.EQUAL || t == token.STRICT_EQUAL || t == token.NOT_EQUAL || t == token.STRICT_NOT_EQUAL
}

// Compare is a comparison of two values: of numbers by size, of text by content.
func (o *Operators) Compare(op token.Token, at diag.Span, a, b *tree.Expr) *tree.Expr {
	ops := operations[op]
	a, b = o.Scalar(a), o.Scalar(b)
	switch {
	case a.Kind == tree.KindBad || b.Kind == tree.KindBad:
		return tree.Poison(at)
	case a.Kind == tree.KindText && b.Kind == tree.KindText:
		return compareText(op, at, a, b)
	case a.Kind == b.Kind && (a.Kind == tree.KindBytes || a.Kind == tree.KindStack) && IsEquality(op):
		return compareText(op, at, a, b)
	case a.Kind.Silent() || b.Kind.Silent():
		return tree.Apply(at, tree.KindBool, ops.int, a, b)
	case o.State.MeantText(a, b) || o.State.MeantText(b, a):
		return tree.Poison(at)
	case !a.Kind.Number() || !b.Kind.Number():
		o.Errorf(at, compareHint(a, b), "cannot compare %s with %s", a.Kind, b.Kind)
		return tree.Poison(at)
	}
	if x, y, ok := tree.BothWhole(a, b); ok {
		return tree.Fold(tree.Apply(at, tree.KindBool, ops.int, x, y))
	}
	a, b = tree.ToFloat(a), tree.ToFloat(b)
	if a.IsConst() && b.IsConst() {
		return tree.Boolean(at, compareFloats(op, tree.FloatValue(a), tree.FloatValue(b)))
	}
	if op == token.GREATER || op == token.GREATER_OR_EQUAL {
		return o.swapped(at, ops.float, a, b)
	}
	return tree.Apply(at, tree.KindBool, ops.float, a, b)
}

// swapped is op on b and a, which are computed in the order they were written in.
func (o *Operators) swapped(at diag.Span, op opcode.Op, a, b *tree.Expr) *tree.Expr {
	if o.State.Repeatable(a) || o.State.Repeatable(b) {
		return tree.Apply(at, tree.KindBool, op, b, a)
	}
	return tree.Apply(at, tree.KindBool, op, (&tree.Expr{Code: tree.CodeSwap, Kind: tree.KindFloat, At: at, Args: []*tree.Expr{a, b}}).Complete())
}

func compareHint(a, b *tree.Expr) string {
	if a.Kind == tree.KindText || b.Kind == tree.KindText {
		return "read text from a pointer with str(p), a number from text is not possible"
	}
	return "compare values of one type"
}

// compareText compares by content.
func compareText(op token.Token, at diag.Span, a, b *tree.Expr) *tree.Expr {
	if a.Code == tree.CodeText && b.Code == tree.CodeText {
		return tree.Boolean(at, tree.Folds[operations[op].int](int64(strings.Compare(a.Text, b.Text)), 0) != 0)
	}
	switch op {
	case token.EQUAL, token.STRICT_EQUAL:
		return tree.Apply(at, tree.KindBool, opcode.Seq, a, b)
	case token.NOT_EQUAL, token.STRICT_NOT_EQUAL:
		return tree.Apply(at, tree.KindBool, opcode.Lnot, tree.Apply(at, tree.KindBool, opcode.Seq, a, b))
	}
	return tree.Apply(at, tree.KindBool, operations[op].int, tree.Apply(at, tree.KindInt, opcode.Scmp, a, b), tree.Integer(at, 0))
}

func compareFloats(op token.Token, a, b float64) bool {
	switch op {
	case token.LESS:
		return a < b
	case token.LESS_OR_EQUAL:
		return a <= b
	case token.GREATER:
		return a > b
	case token.GREATER_OR_EQUAL:
		return a >= b
	case token.NOT_EQUAL, token.STRICT_NOT_EQUAL:
		return a != b
	}
	return a == b
}
