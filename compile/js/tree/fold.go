package tree

import (
	"math"
	"math/bits"

	"gotap/runtime/opcode"
)

// Folds compute operations on two integer constants as the machine does. A division by zero is left to trap.
var Folds = map[opcode.Op]func(a, b int64) int64{
	opcode.Add: func(a, b int64) int64 { return a + b },
	opcode.Sub: func(a, b int64) int64 { return a - b },
	opcode.Mul: func(a, b int64) int64 { return a * b },
	opcode.Quo: quotient,
	opcode.Rem: remainder,
	opcode.And: func(a, b int64) int64 { return a & b },
	opcode.Or:  func(a, b int64) int64 { return a | b },
	opcode.Xor: func(a, b int64) int64 { return a ^ b },
	opcode.Shl: func(a, b int64) int64 { return a << (b & 63) },
	opcode.Sar: func(a, b int64) int64 { return a >> (b & 63) },
	opcode.Shr: func(a, b int64) int64 { return int64(uint64(a) >> (b & 63)) },
	opcode.Eq:  func(a, b int64) int64 { return truthInt(a == b) },
	opcode.Ne:  func(a, b int64) int64 { return truthInt(a != b) },
	opcode.Lt:  func(a, b int64) int64 { return truthInt(a < b) },
	opcode.Le:  func(a, b int64) int64 { return truthInt(a <= b) },
	opcode.Gt:  func(a, b int64) int64 { return truthInt(a > b) },
	opcode.Ge:  func(a, b int64) int64 { return truthInt(a >= b) },
	opcode.Ult: func(a, b int64) int64 { return truthInt(uint64(a) < uint64(b)) },
	opcode.Min: func(a, b int64) int64 { return min(a, b) },
	opcode.Max: func(a, b int64) int64 { return max(a, b) },
}

// quotient divides toward zero. The one quotient that does not fit wraps, and Go divides so too.
func quotient(a, b int64) int64 { return a / b }

func remainder(a, b int64) int64 { return a % b }

// unaryFolds compute operations on one integer constant.
var unaryFolds = map[opcode.Op]func(a int64) int64{
	opcode.Neg:    func(a int64) int64 { return -a },
	opcode.Not:    func(a int64) int64 { return ^a },
	opcode.Lnot:   func(a int64) int64 { return truthInt(a == 0) },
	opcode.Abs:    func(a int64) int64 { return max(a, -a) },
	opcode.Clz:    func(a int64) int64 { return int64(bits.LeadingZeros64(uint64(a))) },
	opcode.Popcnt: func(a int64) int64 { return int64(bits.OnesCount64(uint64(a))) },
}

// floatFolds compute operations on two float constants.
var floatFolds = map[opcode.Op]func(a, b float64) float64{
	opcode.Fadd: func(a, b float64) float64 { return a + b },
	opcode.Fsub: func(a, b float64) float64 { return a - b },
	opcode.Fmul: func(a, b float64) float64 { return a * b },
	opcode.Fdiv: func(a, b float64) float64 { return a / b },
	opcode.Frem: math.Mod,
}

func truthInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Fold replaces an operation on constants by its value.
func Fold(e *Expr) *Expr {
	if e.Code != CodeOp || e.Kind == KindBad {
		return e
	}
	for _, a := range e.Args {
		if a.Code != CodeConst {
			return e
		}
	}
	switch len(e.Args) {
	case 1:
		return foldUnary(e, e.Args[0])
	case 2:
		return foldBinary(e, e.Args[0], e.Args[1])
	}
	return e
}

func foldUnary(e, a *Expr) *Expr {
	if f := unaryFolds[e.Cmd.Op]; f != nil {
		return Constant(e.At, e.Kind, uint64(f(int64(a.Cmd.V))))
	}
	if e.Cmd.Op == opcode.Fneg {
		return Constant(e.At, e.Kind, math.Float64bits(-FloatValue(a)))
	}
	return e
}

func foldBinary(e, a, b *Expr) *Expr {
	op := e.Cmd.Op
	if f := Folds[op]; f != nil && (b.Cmd.V != 0 || op != opcode.Quo && op != opcode.Rem) {
		return Constant(e.At, e.Kind, uint64(f(int64(a.Cmd.V), int64(b.Cmd.V))))
	}
	if f := floatFolds[op]; f != nil {
		return Constant(e.At, e.Kind, math.Float64bits(f(FloatValue(a), FloatValue(b))))
	}
	return e
}

// Opposite are the comparisons that negate each other. Floats have none: NaN is on neither side.
var Opposite = map[opcode.Op]opcode.Op{
	opcode.Eq: opcode.Ne, opcode.Ne: opcode.Eq, opcode.Lt: opcode.Ge, opcode.Ge: opcode.Lt,
	opcode.Gt: opcode.Le, opcode.Le: opcode.Gt, opcode.Feq: opcode.Fne, opcode.Fne: opcode.Feq,
}
