package tree

import (
	"math"

	"gotap/runtime/opcode"
)

// A number written with a point or an exponent is a float, as its reader expects: x / 1e6 has a fraction. Where only an
// integer makes sense, the same number is one: n > 1e9, mask & 1e3, h.add(1e6), total += 1e3 count in 64 bits.

// wholeOps are the operations of integers that compute what these operations of floats do, with all 64 bits.
var wholeOps = map[opcode.Op]opcode.Op{
	opcode.Fadd: opcode.Add, opcode.Fsub: opcode.Sub, opcode.Fmul: opcode.Mul, opcode.Frem: opcode.Rem,
	opcode.Fneg: opcode.Neg,
}

// Whole computes a value in integers if it is made of integers and of numbers without a fraction alone, by + - * and %.
// ok is false for every other float: its value may have a fraction.
func Whole(e *Expr) (n *Expr, ok bool) {
	switch {
	case e.Kind.Integer():
		return e, true
	case e.Kind != KindFloat:
		return nil, false
	case e.IsConst():
		return wholeConst(e)
	case e.Code == CodeCond:
		a, okA := Whole(e.Args[1])
		b, okB := Whole(e.Args[2])
		if !okA || !okB {
			return nil, false
		}
		return (&Expr{Code: CodeCond, Kind: KindInt, At: e.At, Args: []*Expr{e.Args[0], a, b}}).Complete(), true
	case e.Code != CodeOp:
		return nil, false
	case e.Cmd.Op == opcode.Itof:
		return e.Args[0], true
	}
	op, known := wholeOps[e.Cmd.Op]
	if !known {
		return nil, false
	}
	args := make([]*Expr, len(e.Args))
	for i, a := range e.Args {
		if args[i], ok = Whole(a); !ok {
			return nil, false
		}
	}
	if op == opcode.Rem && (!args[1].IsConst() || args[1].Cmd.V == 0) { // a float has a rest here, an integer a trap
		return nil, false
	}
	return Fold(Apply(e.At, KindInt, op, args...)), true
}

// wholeConst is a float constant as an integer. Negative zero is not an integer.
func wholeConst(e *Expr) (n *Expr, ok bool) {
	f := FloatValue(e)
	if f != math.Trunc(f) || math.Abs(f) >= 1<<63 || f == 0 && math.Signbit(f) {
		return nil, false
	}
	return Integer(e.At, int64(f)), true
}

// AsWhole is whole(e) where that is possible, and e otherwise.
func AsWhole(e *Expr) *Expr {
	if n, ok := Whole(e); ok {
		return n
	}
	return e
}

// BothWhole computes two numbers, of which one may be a float, in integers if both are whole.
func BothWhole(a, b *Expr) (x, y *Expr, ok bool) {
	x, okX := Whole(a)
	y, okY := Whole(b)
	if !okX || !okY {
		return a, b, false
	}
	return x, y, true
}
