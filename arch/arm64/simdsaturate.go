package arm64

import "math/bits"

// Saturating arithmetic. Sums of 64-bit lanes need 65 bits and more, so values have 128 bits.

// big is a signed number of 128 bits.
type big struct {
	hi int64
	lo uint64
}

// widen returns the value of a lane.
func widen(x uint64, s uint, signed bool) big {
	if !signed {
		return big{0, x}
	}
	v := signedLane(x, s)
	return big{v >> 63, uint64(v)}
}

func (a big) add(b big) big {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return big{a.hi + b.hi + int64(carry), lo}
}

func (a big) sub(b big) big {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	return big{a.hi - b.hi - int64(borrow), lo}
}

// saturate limits a value to a lane, and records in FPSR.QC if that changed it.
func (c *vectorUnit) saturate(a big, s uint, signed bool) uint64 {
	top := ones(s)
	low := uint64(0)
	if signed {
		top >>= 1
		low = ^top
	}
	switch {
	case a.hi < 0 && (!signed || a.hi < -1 || a.lo < low):
		c.saturated()
		return low & ones(s)
	case a.hi > 0 || a.hi == 0 && a.lo > top:
		c.saturated()
		return top
	}
	return a.lo & ones(s)
}

// clamp limits a signed value of 64 bits to a signed lane.
func (c *vectorUnit) clamp(v int64, s uint) uint64 {
	return c.saturate(big{v >> 63, uint64(v)}, s, true)
}

// satAdd and satSub work on signed or unsigned lanes.
func satAdd(v variant) laneOp {
	isSigned := v.has(signed)
	return func(c *cpu, s uint, _, x, y uint64) uint64 {
		return c.saturate(widen(x, s, isSigned).add(widen(y, s, isSigned)), s, isSigned)
	}
}

func satSub(v variant) laneOp {
	isSigned := v.has(signed)
	return func(c *cpu, s uint, _, x, y uint64) uint64 {
		return c.saturate(widen(x, s, isSigned).sub(widen(y, s, isSigned)), s, isSigned)
	}
}

// satMixed adds x to the destination, of which one is signed: suqadd has a signed destination, usqadd an unsigned one.
func satMixed(destination variant) laneOp {
	signedResult := destination.has(signed)
	return func(c *cpu, s uint, d, x, _ uint64) uint64 {
		return c.saturate(widen(d, s, signedResult).add(widen(x, s, !signedResult)), s, signedResult)
	}
}

// sqneg and sqabs saturate the smallest number, which has no opposite.
func sqneg(c *cpu, s uint, _, x, _ uint64) uint64 {
	return c.saturate(big{}.sub(widen(x, s, true)), s, true)
}

func sqabs(c *cpu, s uint, _, x, _ uint64) uint64 {
	if signedLane(x, s) < 0 {
		return sqneg(c, s, 0, x, 0)
	}
	return x
}

// shiftLane shifts x by the signed low byte of y: left if it is positive.
func shiftLane(v variant) laneOp {
	return func(c *cpu, s uint, _, x, y uint64) uint64 {
		n := int(int8(y))
		if n < 0 {
			return shiftDown(x, s, uint(-n), v)
		}
		if v.has(saturating) {
			return c.shiftUp(x, s, uint(n), v)
		}
		return x << n
	}
}

// shiftDown returns x >> n, n from 1 up. Rounding adds the last bit shifted out.
func shiftDown(x uint64, s, n uint, v variant) uint64 {
	if v.has(signed) {
		x := signedLane(x, s)
		out := uint64(x >> n)
		if v.has(rounded) {
			out += uint64(x >> (n - 1) & 1)
		}
		return out
	}
	out := x >> n
	if v.has(rounded) {
		out += x >> (n - 1) & 1
	}
	return out
}

// shiftUp returns x << n, saturated to a lane that is signed or not.
func (c *vectorUnit) shiftUp(x uint64, s, n uint, v variant) uint64 {
	a := widen(x, s, v.has(signed))
	switch {
	case x == 0:
		return 0
	case n >= 64: // far out of any lane, in the direction of its sign
		a = big{a.hi | 1, 0}
	default:
		a = big{a.hi<<n | int64(a.lo>>(64-n)), a.lo << n}
	}
	return c.saturate(a, s, v.signedResult())
}
