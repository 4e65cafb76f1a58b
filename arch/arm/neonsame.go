package arm

import "math/bits"

// NEON's integer instructions of three registers of the same kind (Arm ARM DDI 0487, F3.1.10 "three registers of the
// same length"). Elements do not mix, so a quad is two doubles one after the other.

// The operations are functions of single elements, named after what they do; the tables join them with one of the walks below. Addition
// and its kin need not know whether elements have signs, what compares, shifts right, widens or saturates does (elem.unsigned).

// sizeOf is the element that bits 21:20 and the U bit name.
func sizeOf(w uint32) elem { return elem{8 << field(w, 20, 2), flag(w, 24) == 1} }

// same3 is an instruction whose result is a function of two elements.
func same3(op binaryOp) exec {
	return func(c *cpu, w uint32) error {
		d, n, m, e := doubleD(w), doubleN(w), doubleM(w), sizeOf(w)
		for i := uint32(0); i <= flag(w, 6); i++ {
			c.setD(d+i, each2(c, e, op, c.d(n+i), c.d(m+i)))
		}
		return nil
	}
}

// same3acc is an instruction whose result also depends on what the destination held.
func same3acc(op ternaryOp) exec {
	return func(c *cpu, w uint32) error {
		d, n, m, e := doubleD(w), doubleN(w), doubleM(w), sizeOf(w)
		for i := uint32(0); i <= flag(w, 6); i++ {
			c.setD(d+i, each3(c, e, op, c.d(d+i), c.d(n+i), c.d(m+i)))
		}
		return nil
	}
}

// bitwise is an instruction without elements.
func bitwise(op func(d, n, m uint64) uint64) exec {
	return func(c *cpu, w uint32) error {
		d, n, m := doubleD(w), doubleN(w), doubleM(w)
		for i := uint32(0); i <= flag(w, 6); i++ {
			c.setD(d+i, op(c.d(d+i), c.d(n+i), c.d(m+i)))
		}
		return nil
	}
}

// pairwise3 joins neighbours: the pairs of Dn give the low half of Dd, those of Dm the high half.
func pairwise3(op binaryOp) exec {
	return func(c *cpu, w uint32) error {
		e := sizeOf(w)
		v := [2]uint64{c.d(doubleN(w)), c.d(doubleM(w))}
		c.setD(doubleD(w), joinPairs(c, e, op, v))
		return nil
	}
}

// joinPairs is a double of the results of op over the neighbours in two.
func joinPairs(c *cpu, e elem, op binaryOp, v [2]uint64) (r uint64) {
	for i := uint(0); i < 64/e.bits; i++ {
		r |= op(c, e, element(e, v, 2*i), element(e, v, 2*i+1)) & e.mask() << (i * e.bits)
	}
	return r
}

// laneAdd, laneSub and laneMul are the same for both kinds of elements: the bits that would differ are cut off.
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

// laneQAdd is VQADD. Sums of up to 32 bits are exact in 64; those of 64 bits tell of their overflow by carry and signs.
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

// laneQSub is VQSUB. An unsigned difference can only leave its range downwards.
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

// clamped is v, or the extreme of its side if it overflowed, which QC then notes.
func (c *cpu) clamped(e elem, v uint64, overflow, negative bool) uint64 {
	if !overflow {
		return v
	}
	c.setQC()
	return e.extreme(negative)
}

// truth is a comparison's result: all ones or all zeros.
func truth(yes bool) uint64 {
	if yes {
		return ^uint64(0)
	}
	return 0
}

// The comparisons, VCGT, VCGE, VCEQ and VTST. The first two look at signs, and have elements of at most 32 bits.
func laneGreater(_ *cpu, e elem, a, b uint64) uint64 { return truth(e.value(a) > e.value(b)) }
func laneNotLess(_ *cpu, e elem, a, b uint64) uint64 { return truth(e.value(a) >= e.value(b)) }
func laneEqual(_ *cpu, _ elem, a, b uint64) uint64   { return truth(a == b) }
func laneTest(_ *cpu, _ elem, a, b uint64) uint64    { return truth(a&b != 0) }

// laneMax and laneMin are VMAX and VMIN, and by pairs VPMAX and VPMIN.
func laneMax(_ *cpu, e elem, a, b uint64) uint64 { return uint64(max(e.value(a), e.value(b))) }
func laneMin(_ *cpu, e elem, a, b uint64) uint64 { return uint64(min(e.value(a), e.value(b))) }

// laneDiff is VABD, laneDiffAcc VABA: the distance of two numbers always fits an unsigned element.
func laneDiff(_ *cpu, e elem, a, b uint64) uint64 {
	x, y := e.value(a), e.value(b)
	return uint64(max(x, y) - min(x, y))
}

func laneDiffAcc(c *cpu, e elem, d, a, b uint64) uint64 { return d + laneDiff(c, e, a, b) }

// carryless is the product of polynomials over {0,1} of up to 32 bits.
func carryless(a, b uint64) (r uint64) {
	for ; b != 0; b >>= 1 {
		r ^= a & -(b & 1)
		a <<= 1
	}
	return r
}

// lanePolyMul is VMUL.P8, the low half of the product.
func lanePolyMul(_ *cpu, _ elem, a, b uint64) uint64 { return carryless(a, b) }

// doubledHigh is the high half of 2ab plus round, before saturation. It only leaves an element if both are the
// smallest number.
func doubledHigh(e elem, a, b uint64, addend, round int64) int64 {
	x, y := e.signed(a), e.signed(b)
	// 2xy may need 64 bits and the addend one more, so everything is halved.
	return (addend<<(e.bits-1) + x*y + round<<(e.bits-2)) >> (e.bits - 1)
}

// laneQDMulHigh is VQDMULH, which is signed though its encodings have U for other things.
func laneQDMulHigh(c *cpu, e elem, a, b uint64) uint64 {
	return c.saturate(elem{bits: e.bits}, doubledHigh(e, a, b, 0, 0))
}

// laneQRDMulHigh is VQRDMULH.
func laneQRDMulHigh(c *cpu, e elem, a, b uint64) uint64 {
	return c.saturate(elem{bits: e.bits}, doubledHigh(e, a, b, 0, 1))
}

// laneQRDMulAddHigh is VQRDMLAH: it saturates once, after the sum.
func laneQRDMulAddHigh(c *cpu, e elem, d, a, b uint64) uint64 {
	return c.saturate(elem{bits: e.bits}, doubledHigh(e, a, b, e.signed(d), 1))
}

// The product is negated before it is added, which differs from negating an operand for the smallest number.
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

// laneRoundShift is VRSHL.
func laneRoundShift(_ *cpu, e elem, n, m uint64) uint64 {
	r, _ := shifted(e, m, int(int8(n)), rounding)
	return r
}

// laneQShift is VQSHL by a register; laneQRoundShift VQRSHL, whose rounding matters to the right only, where nothing saturates.
func laneQShift(c *cpu, e elem, n, m uint64) uint64 {
	r, over := shifted(e, m, int(int8(n)), plain)
	return c.clamped(e, r, over, e.negative(m))
}

func laneQRoundShift(c *cpu, e elem, n, m uint64) uint64 {
	r, over := shifted(e, m, int(int8(n)), rounding)
	return c.clamped(e, r, over, e.negative(m))
}

// negative reports a number below 0, which an unsigned element has none of.
func (e elem) negative(a uint64) bool { return !e.unsigned && a>>(e.bits-1)&1 == 1 }

// shifted is an element moved by a count of either sign, and whether a move to the left lost something.
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

// shiftedRight is an element, extended without end by its sign or zeros, moved to the right by any count of 1 or more.
// Rounding adds the last bit that falls out.
func shiftedRight(e elem, a uint64, by uint, v variant) uint64 {
	// Go shifts by 64 and more to 0, or to the sign, which is what is wanted here.
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
