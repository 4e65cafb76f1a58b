package tree

import (
	"math"

	"gotap/runtime/opcode"
)

// IsQuotient reports whether a value is what an integer division gives, unless the script says that it wants the
// integer.
func IsQuotient(e *Expr) bool { return e.Code == CodeOp && e.Cmd.Op == opcode.Quo && !e.Intended }

// QuotientIn returns the integer division whose fraction is missing from a value, or nil.
func QuotientIn(e *Expr) *Expr {
	switch {
	case IsQuotient(e):
		if by := e.Args[1]; by.IsConst() && by.Cmd.V <= 1 { // a trap, or nothing is cut
			return nil
		}
		return e
	case e.Intended || !e.Kind.Integer() && e.Code != CodeTextOf:
		return nil
	case e.Quotient != nil:
		return e.Quotient
	}
	switch e.Code {
	case CodeOp:
		if !keepsFraction[e.Cmd.Op] {
			return nil
		}
	case CodeCond, CodeSeq, CodeSet, CodeStore, CodeAfter, CodeTextOf:
	default:
		return nil
	}
	for _, a := range e.Args {
		if q := QuotientIn(a); q != nil {
			return q
		}
	}
	return nil
}

// keepsFraction are the operations whose result has a fraction if one of their operands has.
var keepsFraction = map[opcode.Op]bool{opcode.Add: true, opcode.Sub: true, opcode.Neg: true, opcode.Abs: true,
	opcode.Min: true, opcode.Max: true}

// FractionHint says how a division keeps its fraction, and how it is written where that is not wanted.
func FractionHint(q *Expr) string {
	with := "x / 2.0"
	if by := q.Args[1]; by.IsConst() {
		with = "/ " + ConstString(by) + ".0"
	}
	return "divide by a float for the fraction (" + with + "), or write Math.trunc(a / b) if the integer is meant"
}

func IsZero(e *Expr) bool { return e.IsConst() && e.Kind != KindFloat && e.Cmd.V == 0 }

// IsFraction reports whether a value is a constant that no integer equals.
func IsFraction(e *Expr) bool {
	return e.IsConst() && e.Kind == KindFloat && FloatValue(e) != math.Trunc(FloatValue(e))
}
