package js

import (
	"math"
	"math/bits"
	"strconv"

	"gotap/runtime"
)

// folds compute operations on two integer constants as the machine does. A division by zero is left to trap.
var folds = map[runtime.Op]func(a, b int64) int64{
	runtime.OpAdd: func(a, b int64) int64 { return a + b },
	runtime.OpSub: func(a, b int64) int64 { return a - b },
	runtime.OpMul: func(a, b int64) int64 { return a * b },
	runtime.OpQuo: quotient,
	runtime.OpRem: remainder,
	runtime.OpAnd: func(a, b int64) int64 { return a & b },
	runtime.OpOr:  func(a, b int64) int64 { return a | b },
	runtime.OpXor: func(a, b int64) int64 { return a ^ b },
	runtime.OpShl: func(a, b int64) int64 { return a << (b & 63) },
	runtime.OpSar: func(a, b int64) int64 { return a >> (b & 63) },
	runtime.OpShr: func(a, b int64) int64 { return int64(uint64(a) >> (b & 63)) },
	runtime.OpEq:  func(a, b int64) int64 { return truthInt(a == b) },
	runtime.OpNe:  func(a, b int64) int64 { return truthInt(a != b) },
	runtime.OpLt:  func(a, b int64) int64 { return truthInt(a < b) },
	runtime.OpLe:  func(a, b int64) int64 { return truthInt(a <= b) },
	runtime.OpGt:  func(a, b int64) int64 { return truthInt(a > b) },
	runtime.OpGe:  func(a, b int64) int64 { return truthInt(a >= b) },
	runtime.OpUlt: func(a, b int64) int64 { return truthInt(uint64(a) < uint64(b)) },
	runtime.OpMin: func(a, b int64) int64 { return min(a, b) },
	runtime.OpMax: func(a, b int64) int64 { return max(a, b) },
}

// quotient divides toward zero. The one quotient that does not fit wraps, and Go divides so too.
func quotient(a, b int64) int64 { return a / b }

func remainder(a, b int64) int64 { return a % b }

// unaryFolds compute operations on one integer constant.
var unaryFolds = map[runtime.Op]func(a int64) int64{
	runtime.OpNeg:    func(a int64) int64 { return -a },
	runtime.OpNot:    func(a int64) int64 { return ^a },
	runtime.OpLnot:   func(a int64) int64 { return truthInt(a == 0) },
	runtime.OpAbs:    func(a int64) int64 { return max(a, -a) },
	runtime.OpClz:    func(a int64) int64 { return int64(bits.LeadingZeros64(uint64(a))) },
	runtime.OpPopcnt: func(a int64) int64 { return int64(bits.OnesCount64(uint64(a))) },
}

// floatFolds compute operations on two float constants.
var floatFolds = map[runtime.Op]func(a, b float64) float64{
	runtime.OpFadd: func(a, b float64) float64 { return a + b },
	runtime.OpFsub: func(a, b float64) float64 { return a - b },
	runtime.OpFmul: func(a, b float64) float64 { return a * b },
	runtime.OpFdiv: func(a, b float64) float64 { return a / b },
	runtime.OpFrem: math.Mod,
}

func truthInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// fold replaces an operation on constants by its value.
func fold(e *expr) *expr {
	if e.code != codeOp || e.kind == kindBad {
		return e
	}
	for _, a := range e.args {
		if a.code != codeConst {
			return e
		}
	}
	switch len(e.args) {
	case 1:
		return foldUnary(e, e.args[0])
	case 2:
		return foldBinary(e, e.args[0], e.args[1])
	}
	return e
}

func foldUnary(e, a *expr) *expr {
	if f := unaryFolds[e.cmd.Op]; f != nil {
		return constant(e.at, e.kind, uint64(f(int64(a.cmd.V))))
	}
	if e.cmd.Op == runtime.OpFneg {
		return constant(e.at, e.kind, math.Float64bits(-float(a)))
	}
	return e
}

func foldBinary(e, a, b *expr) *expr {
	op := e.cmd.Op
	if f := folds[op]; f != nil && (b.cmd.V != 0 || op != runtime.OpQuo && op != runtime.OpRem) {
		return constant(e.at, e.kind, uint64(f(int64(a.cmd.V), int64(b.cmd.V))))
	}
	if f := floatFolds[op]; f != nil {
		return constant(e.at, e.kind, math.Float64bits(f(float(a), float(b))))
	}
	return e
}

// constString is how a constant that is not a float prints.
func constString(e *expr) string {
	switch e.kind {
	case kindBool:
		return strconv.FormatBool(e.cmd.V != 0)
	case kindUint:
		return strconv.FormatUint(e.cmd.V, 10)
	}
	return strconv.FormatInt(int64(e.cmd.V), 10)
}
