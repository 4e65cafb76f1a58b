package js

import (
	"math"

	"gotap/compile/diag"
	"gotap/runtime"
)

// A number written with a point or an exponent is a float, as its reader expects: x / 1e6 has a fraction. Where only an integer makes
// sense, the same number is one: n > 1e9, mask & 1e3, h.add(1e6), total += 1e3 count in 64 bits.

// wholeOps are the operations of integers that compute what these operations of floats do, with all 64 bits.
var wholeOps = map[runtime.Op]runtime.Op{
	runtime.OpFadd: runtime.OpAdd, runtime.OpFsub: runtime.OpSub, runtime.OpFmul: runtime.OpMul, runtime.OpFrem: runtime.OpRem,
	runtime.OpFneg: runtime.OpNeg,
}

// whole computes a value in integers if it is made of integers and of numbers without a fraction alone, by + - * and %. ok is false for
// every other float: its value may have a fraction.
func whole(e *expr) (n *expr, ok bool) {
	switch {
	case e.kind.integer():
		return e, true
	case e.kind != kindFloat:
		return nil, false
	case e.isConst():
		return wholeConst(e)
	case e.code == codeCond:
		a, okA := whole(e.args[1])
		b, okB := whole(e.args[2])
		if !okA || !okB {
			return nil, false
		}
		return (&expr{code: codeCond, kind: kindInt, at: e.at, args: []*expr{e.args[0], a, b}}).close(), true
	case e.code != codeOp:
		return nil, false
	case e.cmd.Op == runtime.OpItof:
		return e.args[0], true
	}
	op, known := wholeOps[e.cmd.Op]
	if !known {
		return nil, false
	}
	args := make([]*expr, len(e.args))
	for i, a := range e.args {
		if args[i], ok = whole(a); !ok {
			return nil, false
		}
	}
	if op == runtime.OpRem && (!args[1].isConst() || args[1].cmd.V == 0) { // a float has a rest here, an integer a trap
		return nil, false
	}
	return fold(apply(e.at, kindInt, op, args...)), true
}

// wholeConst is a float constant as an integer. The zero with a sign is no integer.
func wholeConst(e *expr) (n *expr, ok bool) {
	f := float(e)
	if f != math.Trunc(f) || math.Abs(f) >= 1<<63 || f == 0 && math.Signbit(f) {
		return nil, false
	}
	return integer(e.at, int64(f)), true
}

// asWhole is whole(e) where that is possible, and e otherwise.
func asWhole(e *expr) *expr {
	if n, ok := whole(e); ok {
		return n
	}
	return e
}

// bothWhole computes two numbers, of which one may be a float, in integers if both are whole.
func bothWhole(a, b *expr) (x, y *expr, ok bool) {
	x, okX := whole(a)
	y, okY := whole(b)
	if !okX || !okY {
		return a, b, false
	}
	return x, y, true
}

// bucketed is a value for a histogram, whose buckets begin at integers: that of a float is where its largest integer below it is.
func (s *site) bucketed(a aggregate, v *expr) *expr {
	if v.kind != kindFloat || !s.isHistogram(a) {
		return s.integerOf(0, v)
	}
	return s.keep([]*expr{v}, func(kept []*expr) *expr { return floor(s.at, kept[0]) })
}

// isHistogram reports whether values are counted in buckets.
func (s *site) isHistogram(a aggregate) bool {
	if s.l.unit.Arena == nil {
		return false
	}
	o, _ := s.l.unit.Arena.Lookup(a.object)
	return o.Kind == runtime.KindHist || o.Kind == runtime.KindLhist
}

// floor is the largest integer that is not above a float; the machine has one that cuts towards zero.
func floor(at diag.Span, v *expr) *expr {
	cut := toFloat(apply(at, kindInt, runtime.OpFtoi, v))
	over := toFloat(apply(at, kindBool, runtime.OpFlt, v, cut)) // 1 where cutting a negative value went up
	return apply(at, kindInt, runtime.OpFtoi, apply(at, kindFloat, runtime.OpFsub, v, over))
}
