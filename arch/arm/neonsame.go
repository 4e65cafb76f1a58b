package arm

import "math/bits"

// NEON's integer instructions of three registers of the same kind (Arm ARM DDI 0487, F3.1.10 "three registers of
// the same length"). Elements are independent, so a quad is handled as two doubles.

// The operations are functions of single elements; the tables combine them with one of the functions below that
// apply them to all elements. Additions do not depend on signedness; comparisons, right shifts, widening and
// saturation do (elem.unsigned).

// sizeOf returns the element that bits 21:20 and the U bit name.
func sizeOf(w uint32) elem { return elem{8 << field(w, 20, 2), flag(w, 24) == 1} }

// same3 makes the executor of an instruction whose result is a function of two elements.
func same3(op binaryOp) exec {
	return func(c *cpu, w uint32) error {
		d, n, m, e := doubleD(w), doubleN(w), doubleM(w), sizeOf(w)
		for i := uint32(0); i <= flag(w, 6); i++ {
			c.setD(d+i, each2(c, e, op, c.d(n+i), c.d(m+i)))
		}
		return nil
	}
}

// same3acc makes the executor of an instruction whose result also depends on the previous value of the destination.
func same3acc(op ternaryOp) exec {
	return func(c *cpu, w uint32) error {
		d, n, m, e := doubleD(w), doubleN(w), doubleM(w), sizeOf(w)
		for i := uint32(0); i <= flag(w, 6); i++ {
			c.setD(d+i, each3(c, e, op, c.d(d+i), c.d(n+i), c.d(m+i)))
		}
		return nil
	}
}

// bitwise makes the executor of an instruction that works on bits, not elements.
func bitwise(op func(d, n, m uint64) uint64) exec {
	return func(c *cpu, w uint32) error {
		d, n, m := doubleD(w), doubleN(w), doubleM(w)
		for i := uint32(0); i <= flag(w, 6); i++ {
			c.setD(d+i, op(c.d(d+i), c.d(n+i), c.d(m+i)))
		}
		return nil
	}
}

// pairwise3 combines neighbours: the pairs of Dn give the low half of Dd, those of Dm the high half.
func pairwise3(op binaryOp) exec {
	return func(c *cpu, w uint32) error {
		e := sizeOf(w)
		v := [2]uint64{c.d(doubleN(w)), c.d(doubleM(w))}
		c.setD(doubleD(w), joinPairs(c, e, op, v))
		return nil
	}
}

// joinPairs returns a double with the results of op on the neighbours in two doubles.
func joinPairs(c *cpu, e elem, op binaryOp, v [2]uint64) (r uint64) {
	for i := uint(0); i < 64/e.bits; i++ {
		r |= op(c, e, element(e, v, 2*i), element(e, v, 2*i+1)) & e.mask() << (i * e.bits)
	}
	return r
}

// laneAdd, laneSub and laneMul serve signed and unsigned elements: the bits that would differ are cut off.
func laneAdd(_ *cpu, _ elem, a, b uint64) uint64 { return a + b }
func laneSub(_ *cpu, _ elem, a, b uint64) uint64 { return a - b }
func laneMul(_ *cpu, _ elem, a, b uint64) uint64 { return a * b }

// laneMulAdd and laneMulSub accumulate in the destination (VMLA, VMLS).
func laneMulAdd(_ *cpu, _ elem, d, a, b uint64) uint64 { return d + a*b }
func laneMulSub(_ *cpu, _ elem, d, a, b uint64) uint64 { return d - a*b }

// The halving forms have elements of at most 32 bits, whose sums fit.
func laneHalfAdd(_ *cpu, e elem, a, b uint64) uint64 { return uint64((e.value(a) + e.value(b)) >> 1) }
func laneHalfSub(_ *cpu, e elem, a, b uint64) uint64 { return uint64((e.value(a) - e.value(b)) >> 1) }
func laneRoundHalfAdd(_ *cpu, e elem, a, b uint64) uint64 {
	return uint64((e.value(a) + e.value(b) + 1) >> 1)
}

// laneQAdd computes VQADD. Sums of up to 32 bits are exact in 64 bits; the overflow of 64-bit sums follows from
// carry and signs.
func laneQAdd(c *cpu, e elem, a, b uint64) uint64 {
	if e.bits < 64 {
		return c.saturate(e, e.value(a)+e.value(b))
	}
	sum, carry := bits.Add64(a, b, 0)
	overflow := carry == 1
	if !e.unsigned { // the sign differs from that of both operands
		overflow = (sum^a)&(sum^b)>>63 == 1
	}
	return c.clamped(e, sum, overflow, !e.unsigned && int64(a) < 0)
}

// laneQSub computes VQSUB. An unsigned difference can only overflow downwards.
func laneQSub(c *cpu, e elem, a, b uint64) uint64 {
	if e.bits < 64 {
		return c.saturate(e, e.value(a)-e.value(b))
	}
	diff, borrow := bits.Sub64(a, b, 0)
	if e.unsigned {
		return c.clamped(e, diff, borrow == 1, true)
	}
	return c.clamped(e, diff, (a^b)&(a^diff)>>63 == 1, int64(a) < 0)
}

// clamped returns v, or the extreme on its side if it overflowed, and records that in QC.
func (c *vectorUnit) clamped(e elem, v uint64, overflow, negative bool) uint64 {
	if !overflow {
		return v
	}
	c.setQC()
	return e.extreme(negative)
}

// truth returns the result of a comparison: all ones or all zeros.
func truth(yes bool) uint64 {
	if yes {
		return ^uint64(0)
	}
	return 0
}

// The comparisons VCGT, VCGE, VCEQ and VTST. The first two depend on signedness and have elements of at most 32
// bits.
func laneGreater(_ *cpu, e elem, a, b uint64) uint64 { return truth(e.value(a) > e.value(b)) }
func laneNotLess(_ *cpu, e elem, a, b uint64) uint64 { return truth(e.value(a) >= e.value(b)) }
func laneEqual(_ *cpu, _ elem, a, b uint64) uint64   { return truth(a == b) }
func laneTest(_ *cpu, _ elem, a, b uint64) uint64    { return truth(a&b != 0) }

// laneMax and laneMin are VMAX and VMIN, and by pairs VPMAX and VPMIN.
func laneMax(_ *cpu, e elem, a, b uint64) uint64 { return uint64(max(e.value(a), e.value(b))) }
func laneMin(_ *cpu, e elem, a, b uint64) uint64 { return uint64(min(e.value(a), e.value(b))) }

// laneDiff computes VABD, laneDiffAcc VABA: the distance of two numbers always fits an unsigned element.
func laneDiff(_ *cpu, e elem, a, b uint64) uint64 {
	x, y := e.value(a), e.value(b)
	return uint64(max(x, y) - min(x, y))
}

func laneDiffAcc(c *cpu, e elem, d, a, b uint64) uint64 { return d + laneDiff(c, e, a, b) }

// carryless returns the product of polynomials over {0,1} of up to 32 bits.
func carryless(a, b uint64) (r uint64) {
	for ; b != 0; b >>= 1 {
		r ^= a & -(b & 1)
		a <<= 1
	}
	return r
}

// lanePolyMul computes VMUL.P8, the low half of the product.
func lanePolyMul(_ *cpu, _ elem, a, b uint64) uint64 { return carryless(a, b) }

// doubledHigh returns the high half of 2ab plus round, before saturation. It exceeds an element only if both are
// the smallest number.
func doubledHigh(e elem, a, b uint64, addend, round int64) int64 {
	x, y := e.signed(a), e.signed(b)
	// 2xy may need 64 bits and the addend one more, so all values are halved.
	return (addend<<(e.bits-1) + x*y + round<<(e.bits-2)) >> (e.bits - 1)
}

// laneQDMulHigh computes VQDMULH. It is signed, although U means something else in its encodings.
func laneQDMulHigh(c *cpu, e elem, a, b uint64) uint64 {
	return c.saturate(elem{bits: e.bits}, doubledHigh(e, a, b, 0, 0))
}

// laneQRDMulHigh computes VQRDMULH.
func laneQRDMulHigh(c *cpu, e elem, a, b uint64) uint64 {
	return c.saturate(elem{bits: e.bits}, doubledHigh(e, a, b, 0, 1))
}

// laneQRDMulAddHigh computes VQRDMLAH: it saturates once, after the sum.
func laneQRDMulAddHigh(c *cpu, e elem, d, a, b uint64) uint64 {
	return c.saturate(elem{bits: e.bits}, doubledHigh(e, a, b, e.signed(d), 1))
}

// The product is negated before it is added. Negating an operand would give another result for the smallest number.
func laneQRDMulSubHigh(c *cpu, e elem, d, a, b uint64) uint64 {
	x := -(e.signed(a) * e.signed(b))
	sum := (e.signed(d)<<(e.bits-1) + x + 1<<(e.bits-2)) >> (e.bits - 1)
	return c.saturate(elem{bits: e.bits}, sum)
}

// The shifts by a register take the count from the low byte of the second operand, signed: negative is to the right.
// In the encoding the operand that is shifted is Vm, the counts are in Vn.
func laneShift(_ *cpu, e elem, n, m uint64) uint64 {
	r, _ := shifted(e, m, int(int8(n)), plain)
	return r
}

// laneRoundShift computes VRSHL.
func laneRoundShift(_ *cpu, e elem, n, m uint64) uint64 {
	r, _ := shifted(e, m, int(int8(n)), rounding)
	return r
}

// laneQShift computes VQSHL by a register, and laneQRoundShift VQRSHL. Rounding matters only for right shifts,
// which do not saturate.
func laneQShift(c *cpu, e elem, n, m uint64) uint64 {
	r, over := shifted(e, m, int(int8(n)), plain)
	return c.clamped(e, r, over, e.negative(m))
}

func laneQRoundShift(c *cpu, e elem, n, m uint64) uint64 {
	r, over := shifted(e, m, int(int8(n)), rounding)
	return c.clamped(e, r, over, e.negative(m))
}

// negative reports a number below 0. An unsigned element is never negative.
func (e elem) negative(a uint64) bool { return !e.unsigned && a>>(e.bits-1)&1 == 1 }

// shifted shifts an element by a count of either sign, and reports whether a left shift lost bits.
func shifted(e elem, a uint64, by int, v variant) (r uint64, lost bool) {
	switch {
	case by < 0:
		return shiftedRight(e, a, uint(-by), v) & e.mask(), false
	case by >= int(e.bits):
		return 0, a != 0
	default:
		r = a << by & e.mask()
		if e.unsigned {
			return r, r>>by != a
		}
		return r, e.signed(r)>>by != e.signed(a)
	}
}

// shiftedRight shifts an element, extended by its sign or zeros, to the right by any count of 1 or more. Rounding
// adds the last bit shifted out.
func shiftedRight(e elem, a uint64, by uint, v variant) uint64 {
	// Go's shifts by 64 and more give 0, or the sign, as required.
	last := uint64(0)
	if e.unsigned {
		if v.has(rounding) {
			last = a >> (by - 1) & 1
		}
		return a>>by + last
	}
	x := e.signed(a)
	if v.has(rounding) {
		last = uint64(x >> (by - 1) & 1)
	}
	return uint64(x>>by) + last
}
