package js

import (
	"math"

	"github.com/dop251/goja/token"

	"gotap/compile/diag"
	"gotap/runtime"
)

// Integers of programs have 64 bits, and dividing them gives an integer. Most programs never notice. Where one is written as only
// JavaScript's numbers can mean it, a warning says what happens instead: warnings at every division would soon be read by nobody.

// surprise warns of an operator whose JavaScript meaning is not the one it has on these operands.
func (l *lowering) surprise(op token.Token, at diag.Span, a, b *expr) {
	switch {
	case !isComparison(op) && (isQuotient(a) && b.kind == kindFloat || isQuotient(b) && a.kind == kindFloat):
		l.warnf(at, "divide by a float: x / 2.0", "/ of integers cuts the fraction off before the float is used")
	case !a.kind.integer():
	case isComparison(op) && isQuotient(a) && isFraction(b):
		l.warnf(at, "compare the product with the other side, or divide a float: x / 2.0",
			"/ of integers gives an integer: it is never between two of them")
	case !b.kind.integer():
	case op == token.SLASH && a.isConst() && b.isConst() && b.cmd.V != 0 && int64(a.cmd.V)%int64(b.cmd.V) != 0:
		l.warnf(at, "write one of them with a point for a fraction: 1.0", "/ of integers cuts the fraction off: this is %d", int64(a.cmd.V)/int64(b.cmd.V))
	case op == token.MULTIPLY && isQuotient(a):
		l.warnf(at, "multiply first, then divide", "/ of integers cuts the fraction off before * can use it")
	case op == token.UNSIGNED_SHIFT_RIGHT && b.isConst() && b.cmd.V == 0:
		l.warnf(at, "write x & 0xffffffff for an unsigned word of 32 bits", ">>> 0 changes nothing: integers have 64 bits")
	case op == token.OR && (isZero(a) || isZero(b)):
		l.warnf(at, "write (x << 32) >> 32 for a signed word of 32 bits", "| 0 changes nothing: integers have 64 bits")
	}
}

// surpriseTwice warns of ~~x, which cuts to 32 bits in JavaScript.
func (l *lowering) surpriseTwice(at diag.Span, e *expr) {
	if e.code == codeOp && e.cmd.Op == runtime.OpNot {
		l.warnf(at, "write (x << 32) >> 32 for a signed word of 32 bits", "~~ changes nothing: integers have 64 bits")
	}
}

// isQuotient reports whether a value is what an integer division gives.
func isQuotient(e *expr) bool { return e.code == codeOp && e.cmd.Op == runtime.OpQuo }

func isZero(e *expr) bool { return e.isConst() && e.kind != kindFloat && e.cmd.V == 0 }

// isFraction reports whether a value is a constant that no integer equals.
func isFraction(e *expr) bool {
	return e.isConst() && e.kind == kindFloat && float(e) != math.Trunc(float(e))
}
