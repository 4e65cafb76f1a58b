package arm

// NEON's integer instructions whose operands differ in length (Arm ARM DDI 0487, F3.1.10 "three registers of
// different lengths"), and those that multiply by one element of a register.

// widened returns element i of a double as a number of twice the width.
func widened(e elem, v uint64, i uint) uint64 { return uint64(e.value(v >> (i * e.bits))) }

// longOp makes the executor of an instruction that makes wide elements of two doubles: Qd, Dn, Dm. op gets the
// operands extended, and the previous value of the destination.
func longOp(op ternaryOp) exec {
	return func(c *cpu, w uint32) error {
		n, m := c.d(doubleN(w)), c.d(doubleM(w))
		c.longOf(w, op, n, m)
		return nil
	}
}

// longOf completes a long instruction on two doubles.
func (c *cpu) longOf(w uint32, op ternaryOp, n, m uint64) {
	e := sizeOf(w)
	d := c.q(doubleD(w))
	for i := uint(0); i < 64/e.bits; i++ {
		v := op(c, e.wide(), element(e.wide(), d, i), widened(e, n, i), widened(e, m, i))
		d = withElement(e.wide(), d, i, v)
	}
	c.setQ(doubleD(w), d)
}

// wideOp makes the executor of an instruction that combines wide elements with narrow ones: Qd, Qn, Dm.
func wideOp(op binaryOp) exec {
	return func(c *cpu, w uint32) error {
		e := sizeOf(w)
		n, m := c.q(doubleN(w)), c.d(doubleM(w))
		for i := uint(0); i < 64/e.bits; i++ {
			v := op(c, e.wide(), element(e.wide(), n, i), widened(e, m, i))
			n = withElement(e.wide(), n, i, v)
		}
		c.setQ(doubleD(w), n)
		return nil
	}
}

// narrowHigh makes the executor of an instruction that keeps the high halves of wide results: Dd, Qn, Qm. round
// adds half of the last place.
func narrowHigh(op binaryOp, round uint64) exec {
	return func(c *cpu, w uint32) error {
		e := sizeOf(w)
		n, m := c.q(doubleN(w)), c.q(doubleM(w))
		r := uint64(0)
		for i := uint(0); i < 64/e.bits; i++ {
			v := op(c, e.wide(), element(e.wide(), n, i), element(e.wide(), m, i))
			v += round << (e.bits - 1) // a carry out of the wide element is dropped
			r |= v >> e.bits & e.mask() << (i * e.bits)
		}
		c.setD(doubleD(w), r)
		return nil
	}
}

// The operations of long instructions. Operands are already extended, so their signedness no longer matters.
func longAdd(_ *cpu, _ elem, _, a, b uint64) uint64     { return a + b }
func longSub(_ *cpu, _ elem, _, a, b uint64) uint64     { return a - b }
func longMul(_ *cpu, _ elem, _, a, b uint64) uint64     { return a * b }
func longMulAdd(_ *cpu, _ elem, d, a, b uint64) uint64  { return d + a*b }
func longMulSub(_ *cpu, _ elem, d, a, b uint64) uint64  { return d - a*b }
func longDiff(_ *cpu, _ elem, _, a, b uint64) uint64    { return distance(a, b) }
func longDiffAcc(_ *cpu, _ elem, d, a, b uint64) uint64 { return d + distance(a, b) }

// distance returns |a-b| of numbers that were extended from fewer bits.
func distance(a, b uint64) uint64 { return uint64(max(int64(a)-int64(b), int64(b)-int64(a))) }

// longPoly multiplies polynomials of 8 bits, which arrive sign-extended although they have no sign.
func longPoly(_ *cpu, e elem, _, a, b uint64) uint64 {
	return carryless(a&e.half().mask(), b&e.half().mask())
}

// longQDMul computes VQDMULL.
func longQDMul(c *cpu, e elem, _, a, b uint64) uint64 { return c.doubled(e, a, b) }

// longQDMulAdd computes VQDMLAL, longQDMulSub VQDMLSL: the doubled product saturates, and then the sum does.
func longQDMulAdd(c *cpu, e elem, d, a, b uint64) uint64 {
	return laneQAdd(c, elem{bits: e.bits}, d, c.doubled(e, a, b)&e.mask())
}

func longQDMulSub(c *cpu, e elem, d, a, b uint64) uint64 {
	return laneQSub(c, elem{bits: e.bits}, d, c.doubled(e, a, b)&e.mask())
}

// doubled returns 2ab, saturated: only the square of the smallest number does not fit.
func (c *vectorUnit) doubled(e elem, a, b uint64) uint64 {
	product := a * b // operands are half as wide as e, so this is exact
	return c.clamped(elem{bits: e.bits}, product*2, product == 1<<(e.bits-2) && int64(a) < 0, false)
}

// execPolyLong64 executes VMULL.P64.
func execPolyLong64(c *cpu, w uint32) error {
	n, m := c.d(doubleN(w)), c.d(doubleM(w))
	var r [2]uint64
	for i := uint(0); i < 64; i++ {
		if m>>i&1 == 1 {
			r[0] ^= n << i
			r[1] ^= n >> (64 - i) // nothing for i = 0: Go shifts by 64 to 0
		}
	}
	c.setQ(doubleD(w), r)
	return nil
}

// scalarOperand returns the element by which the by-scalar instructions multiply. Its number takes bits from that
// of the register.
func (c *vectorUnit) scalarOperand(w uint32, e elem) uint64 {
	if e.bits == 16 {
		return c.d(field(w, 0, 3)) >> (16 * (flag(w, 5)<<1 | flag(w, 3))) & 0xffff
	}
	return c.d(field(w, 0, 4)) >> (32 * flag(w, 5)) & 0xffffffff
}

// byScalar makes the executor of an instruction of a vector and an element; bit 24 is Q.
func byScalar(op ternaryOp) exec {
	return func(c *cpu, w uint32) error {
		e := elem{bits: 8 << field(w, 20, 2)}
		m := replicate(e, c.scalarOperand(w, e))
		d, n := doubleD(w), doubleN(w)
		for i := uint32(0); i <= flag(w, 24); i++ {
			c.setD(d+i, each3(c, e, op, c.d(d+i), c.d(n+i), m))
		}
		return nil
	}
}

// longByScalar makes the executor of a long instruction of a vector and an element; bit 24 is U.
func longByScalar(op ternaryOp) exec {
	return func(c *cpu, w uint32) error {
		e := sizeOf(w)
		c.longOf(w, op, c.d(doubleN(w)), replicate(e, c.scalarOperand(w, e)))
		return nil
	}
}

// dropped turns a function of two elements into one of three that ignores the destination.
func dropped(op binaryOp) ternaryOp {
	return func(c *cpu, e elem, _, a, b uint64) uint64 { return op(c, e, a, b) }
}
