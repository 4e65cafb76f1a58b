package arm

import "math/bits"

// NEON's shifts by an immediate (Arm ARM DDI 0487, F3.1.10 "two registers and shift amount"). The highest set bit
// of L:imm6 gives the element. A left shift's count is the rest of imm6; a right shift's is the difference to twice
// the element's width.

// shiftElem returns the element of L:imm6, whose highest set bit is bit 3 or above.
func shiftElem(w uint32) elem {
	if flag(w, 7) == 1 {
		return elem{64, flag(w, 24) == 1}
	}
	top := bits.Len32(field(w, 16, 6)) - 1
	return elem{1 << top, flag(w, 24) == 1}
}

// leftCount and rightCount return the counts of the two directions.
func leftCount(w uint32, e elem) uint  { return uint(field(w, 16, 6)) & (e.bits - 1) }
func rightCount(w uint32, e elem) uint { return e.bits - leftCount(w, e) }

// shift computes an element from those of the destination and the operand, and the count.
type shift func(c *cpu, e elem, d, a uint64, by uint) uint64

// shiftRightBy and shiftLeftBy apply op to one or two doubles.
func shiftRightBy(op shift) exec { return shiftWith(op, rightCount) }
func shiftLeftBy(op shift) exec  { return shiftWith(op, leftCount) }

// shiftWith makes the executor of a shift of one or two doubles, with the count that the direction decodes from
// imm6.
func shiftWith(op shift, count func(uint32, elem) uint) exec {
	return func(c *cpu, w uint32) error {
		e := shiftElem(w)
		d, m, by := doubleD(w), doubleM(w), count(w, e)
		for i := uint32(0); i <= flag(w, 6); i++ {
			c.setD(d+i, eachShift(c, e, op, c.d(d+i), c.d(m+i), by))
		}
		return nil
	}
}

// eachShift applies op to the elements of a double and of its destination.
func eachShift(c *cpu, e elem, op shift, d, a uint64, by uint) (r uint64) {
	for i := uint(0); i < 64; i += e.bits {
		r |= op(c, e, d>>i&e.mask(), a>>i&e.mask(), by) & e.mask() << i
	}
	return r
}

// shiftPlain computes VSHR, shiftRound VRSHR, shiftAcc VSRA and shiftRoundAcc VRSRA. A shift by the width of the
// element leaves only the sign, or the rounding.
func shiftPlain(_ *cpu, e elem, _, a uint64, by uint) uint64 { return shiftedRight(e, a, by, plain) }
func shiftRound(_ *cpu, e elem, _, a uint64, by uint) uint64 { return shiftedRight(e, a, by, rounding) }
func shiftAcc(_ *cpu, e elem, d, a uint64, by uint) uint64   { return d + shiftedRight(e, a, by, plain) }
func shiftRoundAcc(_ *cpu, e elem, d, a uint64, by uint) uint64 {
	return d + shiftedRight(e, a, by, rounding)
}

// shiftInsertRight and shiftInsertLeft keep the bits of the destination that the shift does not reach.
func shiftInsertRight(_ *cpu, e elem, d, a uint64, by uint) uint64 {
	return a>>by | d&^(e.mask()>>by)
}

// shiftInsertLeft computes VSLI, shiftInsertRight VSRI. Both ignore signs.
func shiftInsertLeft(_ *cpu, e elem, d, a uint64, by uint) uint64 {
	return a<<by | d&^(e.mask()<<by)
}

// shiftUp computes VSHL by an immediate.
func shiftUp(_ *cpu, _ elem, _, a uint64, by uint) uint64 { return a << by }

// shiftUpQ computes VQSHL by an immediate.
func shiftUpQ(c *cpu, e elem, _, a uint64, by uint) uint64 {
	r, over := shifted(e, a, int(by), plain)
	return c.clamped(e, r, over, e.negative(a))
}

// shiftUpQUnsigned computes VQSHLU: signed operands, unsigned results.
func shiftUpQUnsigned(c *cpu, e elem, _, a uint64, by uint) uint64 {
	if e.signed(a) < 0 {
		c.setQC()
		return 0
	}
	return shiftUpQ(c, e, 0, a, by) // U is set in the encoding
}

// narrowShift shifts the elements of a quad right and keeps what fits half their width: by truncation, or by
// saturation to the kind of element that to makes of the wide one.
func narrowShift(v variant, fit func(c *cpu, e elem, wide uint64) uint64) exec {
	return func(c *cpu, w uint32) error {
		e := shiftElem(w)
		m, by := c.q(doubleM(w)), rightCount(w, e)
		r := uint64(0)
		for i := uint(0); i < 64/e.bits; i++ {
			source := elem{2 * e.bits, e.unsigned}
			narrow := fit(c, e, shiftedRight(source, element(source, m, i), by, v))
			r |= narrow & e.mask() << (i * e.bits)
		}
		c.setD(doubleD(w), r)
		return nil
	}
}

// fitTruncated drops the upper half (VSHRN, VRSHRN, VMOVN).
func fitTruncated(_ *cpu, _ elem, v uint64) uint64 { return v }

// fitSame saturates a number into an element of the same kind.
func fitSame(c *cpu, e elem, v uint64) uint64 {
	if e.unsigned {
		return c.clamped(e, v, v > e.mask(), false)
	}
	return c.saturate(e, int64(v))
}

// fitUnsigned saturates a signed number into an unsigned element.
func fitUnsigned(c *cpu, e elem, v uint64) uint64 { return c.saturate(elem{e.bits, true}, int64(v)) }

// narrowShiftUnsigned is narrowShift for encodings whose U bit means unsigned results of signed operands.
func narrowShiftUnsigned(v variant) exec {
	run := narrowShift(v, fitUnsigned)
	return func(c *cpu, w uint32) error { return run(c, w&^(1<<24)) }
}

// execShiftLong executes VSHLL and, with a count of 0, VMOVL.
func execShiftLong(c *cpu, w uint32) error {
	e := shiftElem(w)
	c.shiftLong(w, e, leftCount(w, e))
	return nil
}

// execShiftLongMax executes VSHLL by the width of the element.
func execShiftLongMax(c *cpu, w uint32) error {
	e := elem{bits: 8 << field(w, 18, 2)}
	c.shiftLong(w, e, e.bits)
	return nil
}

// shiftLong extends the elements of a double to twice their width and shifts them up.
func (c *vectorUnit) shiftLong(w uint32, e elem, by uint) {
	m := c.d(doubleM(w))
	var r [2]uint64
	for i := uint(0); i < 64/e.bits; i++ {
		r = withElement(e.wide(), r, i, widened(e, m, i)<<by)
	}
	c.setQ(doubleD(w), r)
}
