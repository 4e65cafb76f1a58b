package js

import (
	"math"

	"gotap/runtime"
)

// unify is the type that values of two types have in common; ok is false when there is none.
func unify(a, b kind) (k kind, ok bool) {
	switch {
	case a == kindBad || b == kindBad:
		return kindBad, true
	case a == b, b == kindNever:
		return a, true
	case a == kindNever:
		return b, true
	case a.integer() && b.integer():
		return kindInt, true
	case a.number() && b.number():
		return kindFloat, true
	}
	return kindBad, false
}

// convert makes e a value of kind k, where that is possible without loss of meaning: an integer becomes a float.
func convert(e *expr, k kind) *expr {
	if e.kind.integer() && k == kindFloat {
		return toFloat(e)
	}
	if e.kind.integer() && k.integer() && e.kind != k && e.code == codeConst {
		same := *e
		same.kind = k
		return &same
	}
	return e
}

// toFloat is an integer as a float.
func toFloat(e *expr) *expr {
	switch {
	case !e.kind.integer():
		return e
	case e.isConst():
		return constant(e.at, kindFloat, math.Float64bits(float64(int64(e.cmd.V))))
	case e.kind == kindUint:
		return apply(e.at, kindFloat, runtime.OpUtof, e)
	}
	return apply(e.at, kindFloat, runtime.OpItof, e)
}

// float is the value of a float constant.
func float(e *expr) float64 { return math.Float64frombits(e.cmd.V) }

// textOf is a value as text; ok is false for what has none in a program.
func textOf(e *expr) (t *expr, ok bool) {
	switch {
	case e.kind == kindText, e.kind.silent():
		return e, true
	case e.isConst() && e.kind != kindFloat:
		return text(e.at, constString(e)), true
	case e.kind.number():
		return (&expr{code: codeTextOf, kind: kindText, at: e.at, args: []*expr{e}}).close(), true
	}
	return e, false
}
