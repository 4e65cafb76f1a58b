package arm

import "gotap/arch/ieee"

// The extensions of NEON that are encoded as unconditional coprocessor instructions: complex arithmetic, dot
// products, matrix products and widening multiplications (Arm ARM DDI 0487, F4.1.9 to F4.1.11).

// dot multiplies the bytes of every word of Vn by those of Vm and adds the four products to the word of Vd.
func dot(n, m elem) exec {
	return func(c *cpu, w uint32) error {
		for i := uint32(0); i <= flag(w, 6); i++ {
			c.setD(doubleD(w)+i, dotWords(c.d(doubleD(w)+i), n, c.d(doubleN(w)+i), m, c.d(doubleM(w)+i)))
		}
		return nil
	}
}

// dotBy is dot with one word of Dm, selected by bit 5, for all words of Vn.
func dotBy(n, m elem) exec {
	return func(c *cpu, w uint32) error {
		// The number of the word takes M, so only d0 to d15 can be the operand.
		word := replicate(elem{bits: 32}, c.d(field(w, 0, 4))>>(32*flag(w, 5)))
		for i := uint32(0); i <= flag(w, 6); i++ {
			c.setD(doubleD(w)+i, dotWords(c.d(doubleD(w)+i), n, c.d(doubleN(w)+i), m, word))
		}
		return nil
	}
}

// dotWords computes one double of a dot product. Bytes 0 to 3 belong to the low word. Sums wrap around.
func dotWords(d uint64, n elem, a uint64, m elem, b uint64) uint64 {
	low, high := uint32(d), uint32(d>>32)
	for i := uint(0); i < 4; i++ {
		low += uint32(widened(n, a, i) * widened(m, b, i))
		high += uint32(widened(n, a, i+4) * widened(m, b, i+4))
	}
	return uint64(low) | uint64(high)<<32
}

// matrix multiplies the 2×8 bytes of Qn by those of Qm, transposed, and adds that to the 2×2 words of Qd.
func matrix(n, m elem) exec {
	return func(c *cpu, w uint32) error {
		d, a, b := wordsOf(c.q(doubleD(w))), c.q(doubleN(w)), c.q(doubleM(w))
		for i := range 4 {
			for k := uint(0); k < 8; k++ {
				d[i] += uint32(widened(n, a[i/2], k) * widened(m, b[i%2], k))
			}
		}
		c.setQ(doubleD(w), quadOf(d))
		return nil
	}
}

var (
	signedByte   = elem{bits: 8}
	unsignedByte = elem{bits: 8, unsigned: true}
)

// execComplexAdd executes VCADD. Pairs of numbers are real and imaginary parts. Vm is rotated by 90 degrees, or by
// 270 if bit 24 is set.
func execComplexAdd(c *cpu, w uint32) error {
	f, e := formatOf(flag(w, 20) == 0)
	env := c.vectorFloat()
	for i := uint32(0); i <= flag(w, 6); i++ {
		n, m := c.d(doubleN(w)+i), c.d(doubleM(w)+i)
		r := uint64(0)
		for at := uint(0); at < 64; at += 2 * e.bits {
			// i(a+bi) is -b+ai; three quarters of a rotation give the opposite.
			re, im := f.Neg(m>>(at+e.bits)&e.mask()), m>>at&e.mask()
			if flag(w, 24) == 1 {
				re, im = f.Neg(re), f.Neg(im)
			}
			r |= env.Add(f, n>>at&e.mask(), re) << at
			r |= env.Add(f, n>>(at+e.bits)&e.mask(), im) << (at + e.bits)
		}
		c.setD(doubleD(w)+i, r)
	}
	c.endFloat()
	return nil
}

// execComplexMul executes VCMLA; the rotation is in bits 24:23.
func execComplexMul(c *cpu, w uint32) error {
	f, e := formatOf(flag(w, 20) == 0)
	c.vectorFloat()
	for i := uint32(0); i <= flag(w, 6); i++ {
		c.complexMul(f, e, field(w, 23, 2), doubleD(w)+i, c.d(doubleN(w)+i), c.d(doubleM(w)+i))
	}
	c.endFloat()
	return nil
}

// execComplexMulBy executes VCMLA by an element, which is a pair: all of Dm for singles, the pair that bit 5
// selects for halves. The rotation is in bits 21:20.
func execComplexMulBy(c *cpu, w uint32) error {
	f, e := formatOf(flag(w, 23) == 0)
	m := c.d(doubleM(w))
	if f == ieee.Half {
		m = replicate(elem{bits: 32}, c.d(field(w, 0, 4))>>(32*flag(w, 5)))
	}
	c.vectorFloat()
	for i := uint32(0); i <= flag(w, 6); i++ {
		c.complexMul(f, e, field(w, 20, 2), doubleD(w)+i, c.d(doubleN(w)+i), m)
	}
	c.endFloat()
	return nil
}

// complexMul adds half of a complex product to the pairs of a double: n times m, rotated, for the real or the
// imaginary parts of n.
func (c *vectorUnit) complexMul(f ieee.Format, e elem, turn, d uint32, n, m uint64) {
	// Two instructions, a quarter rotation apart, make a whole product: one uses the real parts of n, the other the
	// imaginary parts.
	acc, r := c.d(d), uint64(0)
	for at := uint(0); at < 64; at += 2 * e.bits {
		re, im := m>>at&e.mask(), m>>(at+e.bits)&e.mask()
		part := n >> at & e.mask()
		if turn&1 == 1 {
			part = n >> (at + e.bits) & e.mask()
			re, im = im, re
		}
		if turn == 1 || turn == 2 {
			re = f.Neg(re)
		}
		if turn >= 2 {
			im = f.Neg(im)
		}
		r |= c.fp.MulAdd(f, acc>>at&e.mask(), part, re) << at
		r |= c.fp.MulAdd(f, acc>>(at+e.bits)&e.mask(), part, im) << (at + e.bits)
	}
	c.setD(d, r)
}

// execWidenMul executes VFMAL and VFMSL, which multiply halves into singles. Without Q, the operands are as wide as
// singles. Bit 23 subtracts.
func execWidenMul(c *cpu, w uint32) error {
	var n, m uint64
	if flag(w, 6) == 0 {
		n, m = c.s(singleN(w)), c.s(singleM(w))
	} else {
		n, m = c.d(doubleN(w)), c.d(doubleM(w))
	}
	return c.widenMul(w, flag(w, 23) == 1, n, m)
}

// execWidenMulBy multiplies by an element, whose number takes bits from that of the register. Bit 20 subtracts.
func execWidenMulBy(c *cpu, w uint32) error {
	var n, m uint64
	if flag(w, 6) == 0 {
		n, m = c.s(singleN(w)), c.s(field(w, 0, 3)<<1|flag(w, 5))>>(16*flag(w, 3))
	} else {
		n, m = c.d(doubleN(w)), c.d(field(w, 0, 3))>>(16*(flag(w, 5)<<1|flag(w, 3)))
	}
	return c.widenMul(w, flag(w, 20) == 1, n, replicate(elem{bits: 16}, m))
}

// widenMul multiplies the low two or all four halves of n and m into the singles of Vd.
func (c *vectorUnit) widenMul(w uint32, subtract bool, n, m uint64) error {
	half, word := elem{bits: 16}, elem{bits: 32}
	env := c.vectorFloat()
	d := c.dq(w, doubleD(w))
	for i := uint(0); i < 2<<flag(w, 6); i++ {
		a := element(half, [2]uint64{n}, i)
		if subtract { // before the operand is widened, which preserves a NaN
			a = ieee.Half.Neg(a)
		}
		a, b := env.Widen(a), env.Widen(element(half, [2]uint64{m}, i))
		d = withElement(word, d, i, env.MulAdd(ieee.Single, element(word, d, i), a, b))
	}
	c.setDQ(w, doubleD(w), d)
	c.endFloat()
	return nil
}

// The arithmetic on bfloat16, whose numbers are the upper halves of singles.

// bfloatEnv sets the environment of bfloat16 dot products, which round to odd and keep no flags (BFDotAdd).
func (c *vectorUnit) bfloatEnv() {
	c.fp = ieee.Env{Round: ieee.OddInf, FlushToZero: true, DefaultNaN: true}
}

// bfloatDot adds the products of two pairs to a single; it computes their sum first.
func (c *vectorUnit) bfloatDot(d, a, b uint64) uint64 {
	const f = ieee.Single
	// Products are rounded (to odd) as singles, and so is each of the two sums.
	low := c.fp.Mul(f, a<<16&0xffff0000, b<<16&0xffff0000)
	high := c.fp.Mul(f, a&0xffff0000, b&0xffff0000)
	return c.fp.Add(f, d, c.fp.Add(f, low, high))
}

// execBfloatDot executes VDOT, and execBfloatDotBy VDOT by a pair of Dm that bit 5 selects.
func execBfloatDot(c *cpu, w uint32) error {
	return c.bfloatDots(w, c.dq(w, doubleM(w)))
}

// execBfloatDotBy uses one pair of numbers for all.
func execBfloatDotBy(c *cpu, w uint32) error {
	pair := replicate(elem{bits: 32}, c.d(field(w, 0, 4))>>(32*flag(w, 5)))
	return c.bfloatDots(w, [2]uint64{pair, pair})
}

// bfloatDots adds to every single of Vd the dot product of two pairs.
func (c *vectorUnit) bfloatDots(w uint32, m [2]uint64) error {
	e := elem{bits: 32}
	d, n := c.dq(w, doubleD(w)), c.dq(w, doubleN(w))
	c.bfloatEnv()
	for i := uint(0); i < 2<<flag(w, 6); i++ {
		d = withElement(e, d, i, c.bfloatDot(element(e, d, i), element(e, n, i), element(e, m, i)))
	}
	c.setDQ(w, doubleD(w), d)
	return nil
}

// execBfloatMatrix executes VMMLA: 2×4 by 4×2 numbers.
func execBfloatMatrix(c *cpu, w uint32) error {
	d, n, m := wordsOf(c.q(doubleD(w))), c.q(doubleN(w)), c.q(doubleM(w))
	c.bfloatEnv()
	for i := range 4 {
		a, b := n[i/2], m[i%2]
		v := c.bfloatDot(uint64(d[i]), a&0xffffffff, b&0xffffffff)
		d[i] = uint32(c.bfloatDot(v, a>>32, b>>32))
	}
	c.setQ(doubleD(w), quadOf(d))
	return nil
}

// execBfloatMulAdd executes VFMAB and VFMAT (bit 6): the even or the odd numbers multiplied into singles.
func execBfloatMulAdd(c *cpu, w uint32) error {
	return c.bfloatMulAdd(w, c.q(doubleM(w)), 16*uint(flag(w, 6)))
}

// execBfloatMulAddBy multiplies by one number of a double, whose index takes bits from that of the register.
func execBfloatMulAddBy(c *cpu, w uint32) error {
	m := replicate(elem{bits: 16}, c.d(field(w, 0, 3))>>(16*(flag(w, 5)<<1|flag(w, 3))))
	return c.bfloatMulAdd(w, [2]uint64{m, m}, 0)
}

// bfloatMulAdd widens by shifting: a bfloat16 is the upper half of a single. mAt is 16 for the odd numbers of m.
func (c *vectorUnit) bfloatMulAdd(w uint32, m [2]uint64, mAt uint) error {
	e, nAt := elem{bits: 32}, 16*uint(flag(w, 6))
	d, n := c.q(doubleD(w)), c.q(doubleN(w))
	env := c.vectorFloat()
	for i := uint(0); i < 4; i++ {
		a := element(e, n, i) >> nAt << 16 & 0xffffffff
		b := element(e, m, i) >> mAt << 16 & 0xffffffff
		d = withElement(e, d, i, env.MulAdd(ieee.Single, element(e, d, i), a, b))
	}
	c.setQ(doubleD(w), d)
	c.endFloat()
	return nil
}
