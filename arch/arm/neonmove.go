package arm

import "gotap/arch/ieee"

// NEON's immediates, extraction, tables and copies of elements.

// immediate returns the operand of an instruction with a modified immediate (Arm ARM DDI 0487, AdvSIMDExpandImm): 8
// bits, placed by cmode.
func immediate(w uint32) uint64 {
	imm := uint64(flag(w, 24)<<7 | field(w, 16, 3)<<4 | field(w, 0, 4))
	cmode := field(w, 8, 4)
	// The lowest bit of cmode distinguishes moves from logical operations, except where ones follow the byte.
	switch cmode >> 1 {
	case 0, 1, 2, 3: // a byte of each word
		return replicate(elem{bits: 32}, imm<<(8*(cmode>>1)))
	case 4, 5: // a byte of each halfword
		return replicate(elem{bits: 16}, imm<<(8*(cmode>>1&1)))
	case 6: // a byte of each word, with ones below it
		ones := uint32(8) << (cmode & 1)
		return replicate(elem{bits: 32}, imm<<ones|(1<<ones-1))
	}
	switch {
	case cmode == 0b1111:
		return replicate(elem{bits: 32}, expandFloat(ieee.Single, imm))
	case flag(w, 5) == 0:
		return replicate(elem{bits: 8}, imm)
	default:
		return spread(imm)
	}
}

// spread makes a byte of every bit.
func spread(imm uint64) (r uint64) {
	for i := uint(0); i < 8; i++ {
		r |= imm >> i & 1 * 0xff << (8 * i)
	}
	return r
}

// expandFloat is the manual's VFPExpandImm: a sign, an exponent of 3 bits, whose first is the complement of the
// sign of the unbiased exponent, and a fraction of 4 bits.
func expandFloat(f ieee.Format, imm uint64) uint64 {
	width := uint(f.Bits())
	exponent := [...]uint{ieee.Half: 5, ieee.Single: 8, ieee.Double: 11}[f]
	fraction := width - 1 - exponent
	// Biased, the exponents 1 to 4 are a one followed by zeros and two bits; those from -3 to 0 are ones followed
	// by two bits.
	e := uint64(1)<<(exponent-1) + imm>>4&3
	if imm&0x40 != 0 {
		e -= 4
	}
	return imm>>7<<(width-1) | e<<fraction | imm&0xf<<(fraction-4)
}

// withImmediate makes the executor of an instruction of a register and an immediate.
func withImmediate(op func(d, imm uint64) uint64) exec {
	return func(c *cpu, w uint32) error {
		imm, d := immediate(w), doubleD(w)
		for i := uint32(0); i <= flag(w, 6); i++ {
			c.setD(d+i, op(c.d(d+i), imm))
		}
		return nil
	}
}

// execExtract executes VEXT, which extracts bytes from the middle of m:n.
func execExtract(c *cpu, w uint32) error {
	// Both operands are read before the destination is written, because it may be either of them.
	n, m := c.dq(w, doubleN(w)), c.dq(w, doubleM(w))
	e, size := elem{bits: 8}, uint(8)<<flag(w, 6)
	from := uint(field(w, 8, 4))
	var r [2]uint64
	for i := uint(0); i < size; i++ {
		if at := from + i; at < size {
			r = withElement(e, r, i, element(e, n, at))
		} else {
			r = withElement(e, r, i, element(e, m, at-size))
		}
	}
	c.setDQ(w, doubleD(w), r)
	return nil
}

// execTable executes VTBL and VTBX, which look up bytes in one to four doubles. For an index outside the table,
// VTBL gives 0 and VTBX (bit 6) keeps the byte.
func execTable(c *cpu, w uint32) error {
	// The table may include the destination, so the result is collected separately.
	n, size := doubleN(w), 8*(uint64(field(w, 8, 2))+1)
	index, d := c.d(doubleM(w)), c.d(doubleD(w))
	r := uint64(0)
	for i := 0; i < 64; i += 8 {
		v, at := uint64(0), index>>i&0xff
		switch {
		case at < size:
			v = c.d(n+uint32(at/8)) >> (8 * (at % 8)) & 0xff
		case flag(w, 6) == 1:
			v = d >> i & 0xff
		}
		r |= v << i
	}
	c.setD(doubleD(w), r)
	return nil
}

// execDupElement executes VDUP of an element. The lowest set bit of imm4 gives its width, the bits above it its
// number.
func execDupElement(c *cpu, w uint32) error {
	imm := field(w, 16, 4)
	// xxx1 is a byte, xx10 a halfword, x100 a word; 0 was refused.
	e, shift := elem{bits: 8}, uint32(1)
	for ; imm>>(shift-1)&1 == 0; shift++ {
		e = e.wide()
	}
	v := replicate(e, c.d(doubleM(w))>>(uint(imm>>shift)*e.bits))
	c.setDQ(w, doubleD(w), [2]uint64{v, v})
	return nil
}
