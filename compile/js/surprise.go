package js

import (
	"math"
	"slices"

	"github.com/dop251/goja/token"

	"gotap/compile/diag"
	"gotap/runtime"
)

// Integers of programs have 64 bits, and dividing them gives an integer. Most programs never notice. Where one is written as only
// JavaScript's numbers can mean it, a warning says what happens instead: a quotient that is shown, or added up, would have its fraction
// there. One that is compared, a key, or counted by a histogram is as good without, and Math.trunc(a / b) says that the integer is meant.

// surprise warns of an operator whose JavaScript meaning is not the one it has on these operands.
func (l *lowering) surprise(op token.Token, at diag.Span, a, b *expr) {
	switch {
	case !isComparison(op) && (isQuotient(a) && b.kind == kindFloat || isQuotient(b) && a.kind == kindFloat):
		l.warnCut(at, "divide by a float: x / 2.0", "/ of integers cuts the fraction off before the float is used")
	case !a.kind.integer():
	case isComparison(op) && isQuotient(a) && isFraction(b):
		l.warnCut(at, "compare the product with the other side, or divide a float: x / 2.0",
			"/ of integers gives an integer: it is never between two of them")
	case !b.kind.integer():
	case op == token.SLASH && a.isConst() && b.isConst() && b.cmd.V != 0 && int64(a.cmd.V)%int64(b.cmd.V) != 0:
		l.warnf(at, "write one of them with a point for a fraction: 1.0", "/ of integers cuts the fraction off: this is %d", int64(a.cmd.V)/int64(b.cmd.V))
	case op == token.MULTIPLY && isQuotient(a):
		l.warnCut(at, "multiply first, then divide", "/ of integers cuts the fraction off before * can use it")
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

// isQuotient reports whether a value is what an integer division gives, unless the script says that it wants the integer.
func isQuotient(e *expr) bool { return e.code == codeOp && e.cmd.Op == runtime.OpQuo && !e.meant }

// quotientIn finds the integer division whose cut fraction a value lacks; nil when there is none.
func quotientIn(e *expr) *expr {
	switch {
	case isQuotient(e):
		if by := e.args[1]; by.isConst() && by.cmd.V <= 1 { // a trap, or nothing is cut
			return nil
		}
		return e
	case e.meant || !e.kind.integer() && e.code != codeTextOf:
		return nil
	case e.quotient != nil:
		return e.quotient
	}
	switch e.code {
	case codeOp:
		if !keepsFraction[e.cmd.Op] {
			return nil
		}
	case codeCond, codeSeq, codeSet, codeStore, codeAfter, codeTextOf:
	default:
		return nil
	}
	for _, a := range e.args {
		if q := quotientIn(a); q != nil {
			return q
		}
	}
	return nil
}

// keepsFraction are the operations whose result has a fraction if one of their operands has.
var keepsFraction = map[runtime.Op]bool{runtime.OpAdd: true, runtime.OpSub: true, runtime.OpNeg: true, runtime.OpAbs: true,
	runtime.OpMin: true, runtime.OpMax: true}

// shown is a value as it is printed or handed to a callback. One that is whole has all the digits of an integer.
func (l *lowering) shown(e *expr) *expr {
	l.cutBefore(e, "it is shown")
	if e.isConst() {
		return e
	}
	return asWhole(e)
}

// cutBefore warns of an integer division whose result is used as if it had its fraction.
func (l *lowering) cutBefore(e *expr, used string) {
	if q := quotientIn(e); q != nil {
		l.cut(q, fractionHint(q), used)
	}
}

// cut warns of an integer division, once.
func (l *lowering) cut(q *expr, hint, used string) {
	l.warnCut(q.at, hint, "/ of integers cuts the fraction off before %s", used)
	q.meant = true
}

// warnCut warns of a division unless its operands may be floats: without a place, an integer stands for every argument and result.
func (l *lowering) warnCut(at diag.Span, hint, format string, args ...any) {
	said := len(l.diags)
	l.warnf(at, hint, format, args...)
	for i := said; i < len(l.diags); i++ {
		l.cuts = append(l.cuts, i)
	}
}

// withoutCuts takes back the warnings of divisions when a place has yet to tell what is divided.
func (c *compiler) withoutCuts() {
	if c.unit.Place != nil || !c.result.UsesPlace {
		return
	}
	for _, i := range slices.Backward(c.cuts) {
		c.diags = slices.Delete(c.diags, i, i+1)
	}
}

// fractionHint says how a division keeps its fraction, and how it is written where that is not wanted.
func fractionHint(q *expr) string {
	with := "x / 2.0"
	if by := q.args[1]; by.isConst() {
		with = "/ " + constString(by) + ".0"
	}
	return "divide by a float for the fraction (" + with + "), or write Math.trunc(a / b) if the integer is meant"
}

// summed warns where values are added up that have lost their fractions.
func (s *site) summed(a aggregate, v *expr) {
	if s.l.unit.Arena == nil {
		return
	}
	switch o, _ := s.l.unit.Arena.Lookup(a.object); o.Kind {
	case runtime.KindSum, runtime.KindAvg, runtime.KindStats:
		if q := quotientIn(v); q != nil {
			s.l.cut(q, "add the value itself and divide the result, or write Math.trunc(a / b) if the integer is meant", "it is added up")
		}
	}
}

func isZero(e *expr) bool { return e.isConst() && e.kind != kindFloat && e.cmd.V == 0 }

// isFraction reports whether a value is a constant that no integer equals.
func isFraction(e *expr) bool {
	return e.isConst() && e.kind == kindFloat && float(e) != math.Trunc(float(e))
}
