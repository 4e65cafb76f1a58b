package tree

import (
	"math"
	"strconv"

	"gotap/compile/diag"
	"gotap/runtime/opcode"
)

// Convert makes e a value of kind k, where that is possible without loss of meaning: an integer becomes a float.
func Convert(e *Expr, k Kind) *Expr {
	if e.Kind.Integer() && k == KindFloat {
		return ToFloat(e)
	}
	if e.Kind.Integer() && k.Integer() && e.Kind != k && e.Code == CodeConst {
		same := *e
		same.Kind = k
		return &same
	}
	return e
}

// ToFloat is an integer as a float.
func ToFloat(e *Expr) *Expr {
	switch {
	case !e.Kind.Integer():
		return e
	case e.IsConst():
		return Constant(e.At, KindFloat, math.Float64bits(float64(int64(e.Cmd.V))))
	case e.Kind == KindUint:
		return Apply(e.At, KindFloat, opcode.Utof, e)
	}
	return Apply(e.At, KindFloat, opcode.Itof, e)
}

// FloatValue is the value of a float constant.
func FloatValue(e *Expr) float64 { return math.Float64frombits(e.Cmd.V) }

// TextOf is a value as text; ok is false for what has none in a program.
func TextOf(e *Expr) (t *Expr, ok bool) {
	switch {
	case e.Kind == KindText, e.Kind.Silent():
		return e, true
	case e.IsConst() && e.Kind != KindFloat:
		return Text(e.At, ConstString(e)), true
	case e.Kind.Number():
		return (&Expr{Code: CodeTextOf, Kind: KindText, At: e.At, Args: []*Expr{e}}).Complete(), true
	}
	return e, false
}

// ConstString is how a constant that is not a float prints.
func ConstString(e *Expr) string {
	switch e.Kind {
	case KindBool:
		return strconv.FormatBool(e.Cmd.V != 0)
	case KindUint:
		return strconv.FormatUint(e.Cmd.V, 10)
	}
	return strconv.FormatInt(int64(e.Cmd.V), 10)
}

// Floor is the largest integer that is not above a float; the machine has one that cuts towards zero.
func Floor(at diag.Span, v *Expr) *Expr {
	cut := ToFloat(Apply(at, KindInt, opcode.Ftoi, v))
	over := ToFloat(Apply(at, KindBool, opcode.Flt, v, cut)) // 1 where cutting a negative value went up
	return Apply(at, KindInt, opcode.Ftoi, Apply(at, KindFloat, opcode.Fsub, v, over))
}
