package operator

import (
	"github.com/dop251/goja/token"

	"gotap/compile/diag"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

// Integers of programs have 64 bits, and dividing them gives an integer. Most programs never notice. Where one is
// written as only JavaScript's numbers can mean it, a warning says what happens instead: a quotient that is shown, or
// added up, would have its fraction there. One that is compared, a key, or counted by a histogram is as good without,
// and Math.trunc(a / b) says that the integer is meant.

// WarnOperator warns of an operator whose JavaScript meaning is not the one it has on these operands.
func (o *Operators) WarnOperator(op token.Token, at diag.Span, a, b *tree.Expr) {
	switch {
	case !IsComparison(op) && (tree.IsQuotient(a) && b.Kind == tree.KindFloat || tree.IsQuotient(b) && a.Kind == tree.KindFloat):
		o.WarnProvisionally(at, "divide by a float: x / 2.0", "/ of integers cuts the fraction off before the float is used")
	case !a.Kind.Integer():
	case IsComparison(op) && tree.IsQuotient(a) && tree.IsFraction(b):
		o.WarnProvisionally(at, "compare the product with the other side, or divide a float: x / 2.0",
			"/ of integers gives an integer: it is never between two of them")
	case !b.Kind.Integer():
	case op == token.SLASH && a.IsConst() && b.IsConst() && b.Cmd.V != 0 && int64(a.Cmd.V)%int64(b.Cmd.V) != 0:
		o.Warnf(at, "write one of them with a point for a fraction: 1.0", "/ of integers cuts the fraction off: this is %d", int64(a.Cmd.V)/int64(b.Cmd.V))
	case op == token.MULTIPLY && tree.IsQuotient(a):
		o.WarnProvisionally(at, "multiply first, then divide", "/ of integers cuts the fraction off before * can use it")
	case op == token.UNSIGNED_SHIFT_RIGHT && b.IsConst() && b.Cmd.V == 0:
		o.Warnf(at, "write x & 0xffffffff for an unsigned word of 32 bits", ">>> 0 changes nothing: integers have 64 bits")
	case op == token.OR && (tree.IsZero(a) || tree.IsZero(b)):
		o.Warnf(at, "write (x << 32) >> 32 for a signed word of 32 bits", "| 0 changes nothing: integers have 64 bits")
	}
}

// WarnDoubleNot warns of ~~x, which cuts to 32 bits in JavaScript.
func (o *Operators) WarnDoubleNot(at diag.Span, e *tree.Expr) {
	if e.Code == tree.CodeOp && e.Cmd.Op == opcode.Not {
		o.Warnf(at, "write (x << 32) >> 32 for a signed word of 32 bits", "~~ changes nothing: integers have 64 bits")
	}
}

// Shown is a value as it is printed or handed to a callback. One that is whole has all the digits of an integer.
func (o *Operators) Shown(e *tree.Expr) *tree.Expr {
	o.WarnCutBefore(e, "it is shown")
	if e.IsConst() {
		return e
	}
	return tree.AsWhole(e)
}

// WarnCutBefore warns of an integer division whose result is used as if it had its fraction.
func (o *Operators) WarnCutBefore(e *tree.Expr, used string) {
	if q := tree.QuotientIn(e); q != nil {
		o.WarnCut(q, tree.FractionHint(q), used)
	}
}

// WarnCut warns of an integer division, once.
func (o *Operators) WarnCut(q *tree.Expr, hint, used string) {
	o.WarnProvisionally(q.At, hint, "/ of integers cuts the fraction off before %s", used)
	q.Intended = true
}
