package arm

import "math/bits"

// operands are the registers of an instruction by role: d is the result (the high half of a long one), a the addend
// (the low half of a long one), x anything else that the instruction encodes.
type operands struct{ d, n, m, a, x uint32 }

// operation executes an instruction of three or four registers, of either instruction set. It cannot fail.
type operation func(c *cpu, o operands)

// The places of operands: multiplications of A32, other instructions of A32, and 32-bit Thumb.

func mulA32(f operation) exec {
	return func(c *cpu, w uint32) error {
		f(c, operands{d: field(w, 16, 4), a: field(w, 12, 4), m: field(w, 8, 4), n: w & 15})
		return nil
	}
}

func regA32(f operation) exec {
	return func(c *cpu, w uint32) error {
		f(c, operands{n: field(w, 16, 4), d: field(w, 12, 4), m: w & 15, x: field(w, 10, 2)})
		return nil
	}
}

func regT32(f operation) exec {
	return func(c *cpu, w uint32) error {
		f(c, operands{n: field(w, 16, 4), a: field(w, 12, 4), d: field(w, 8, 4), m: w & 15, x: field(w, 4, 2)})
		return nil
	}
}

// flagged sets N and Z by the result if bit 20 is set; flaggedLong does so by a result of 64 bits.
func flagged(f operation) exec {
	run := mulA32(f)
	return func(c *cpu, w uint32) error {
		err := run(c, w)
		if bit(w, 20) {
			c.setNZ(c.r[field(w, 16, 4)])
		}
		return err
	}
}

func flaggedLong(f operation) exec {
	run := mulA32(f)
	return func(c *cpu, w uint32) error {
		err := run(c, w)
		if bit(w, 20) {
			hi, lo := c.r[field(w, 16, 4)], c.r[field(w, 12, 4)]
			c.setNZ(hi)
			if lo != 0 {
				c.cpsr &^= flagZ
			}
		}
		return err
	}
}

func mul(c *cpu, o operands) { c.r[o.d] = c.r[o.n] * c.r[o.m] }
func mla(c *cpu, o operands) { c.r[o.d] = c.r[o.n]*c.r[o.m] + c.r[o.a] }
func mls(c *cpu, o operands) { c.r[o.d] = c.r[o.a] - c.r[o.n]*c.r[o.m] }

// long returns the value of a pair of result registers.
func (c *core) long(o operands) uint64 { return uint64(c.r[o.d])<<32 | uint64(c.r[o.a]) }

func (c *core) setLong(o operands, v uint64) { c.r[o.d], c.r[o.a] = uint32(v>>32), uint32(v) }

// signedProduct and unsignedProduct multiply whole registers.
func (c *core) signedProduct(o operands) int64 {
	return int64(int32(c.r[o.n])) * int64(int32(c.r[o.m]))
}

func (c *core) unsignedProduct(o operands) uint64 { return uint64(c.r[o.n]) * uint64(c.r[o.m]) }

func umull(c *cpu, o operands) { c.setLong(o, c.unsignedProduct(o)) }
func umlal(c *cpu, o operands) { c.setLong(o, c.unsignedProduct(o)+c.long(o)) }
func smull(c *cpu, o operands) { c.setLong(o, uint64(c.signedProduct(o))) }
func smlal(c *cpu, o operands) { c.setLong(o, uint64(c.signedProduct(o))+c.long(o)) }
func umaal(c *cpu, o operands) {
	c.setLong(o, c.unsignedProduct(o)+uint64(c.r[o.d])+uint64(c.r[o.a]))
}

// half returns one half of a register as a signed number: the top one if top is 1.
func half(v, top uint32) int64 { return int64(int16(v >> (16 * top))) }

// accumulate writes a sum, and sets Q if it does not fit.
func (c *core) accumulate(d uint32, v int64) {
	if v != int64(int32(v)) {
		c.saturated()
	}
	c.r[d] = uint32(v)
}

// The multiplications of halves. n and m select the halves.

func smlaHalf(n, m uint32) operation {
	return func(c *cpu, o operands) {
		c.accumulate(o.d, half(c.r[o.n], n)*half(c.r[o.m], m)+int64(int32(c.r[o.a])))
	}
}

func smulHalf(n, m uint32) operation {
	return func(c *cpu, o operands) { c.r[o.d] = uint32(half(c.r[o.n], n) * half(c.r[o.m], m)) }
}

func smlalHalf(n, m uint32) operation {
	return func(c *cpu, o operands) { c.setLong(o, c.long(o)+uint64(half(c.r[o.n], n)*half(c.r[o.m], m))) }
}

func smlaw(m uint32) operation {
	return func(c *cpu, o operands) {
		c.accumulate(o.d, (int64(int32(c.r[o.n]))*half(c.r[o.m], m)+int64(int32(c.r[o.a]))<<16)>>16)
	}
}

func smulw(m uint32) operation {
	return func(c *cpu, o operands) { c.r[o.d] = uint32(int64(int32(c.r[o.n])) * half(c.r[o.m], m) >> 16) }
}

// dual returns the sum or difference of the products of both pairs of halves.
func (c *core) dual(o operands, v variant) int64 {
	m := c.r[o.m]
	if v.has(crossed) {
		m = bits.RotateLeft32(m, 16)
	}
	low, high := half(c.r[o.n], 0)*half(m, 0), half(c.r[o.n], 1)*half(m, 1)
	if v.has(subtracting) {
		return low - high
	}
	return low + high
}

// dualMul computes SMUAD, SMUSD and, with an addend, SMLAD and SMLSD.
func dualMul(v variant) operation {
	return func(c *cpu, o operands) {
		sum := c.dual(o, v)
		if v.has(accumulating) {
			sum += int64(int32(c.r[o.a]))
		}
		c.accumulate(o.d, sum)
	}
}

// dualLong computes SMLALD and SMLSLD.
func dualLong(v variant) operation {
	return func(c *cpu, o operands) { c.setLong(o, c.long(o)+uint64(c.dual(o, v))) }
}

// The multiplications that keep the high word; round is 0 or 1.

func smmul(round uint32) operation {
	return func(c *cpu, o operands) { c.r[o.d] = uint32((c.signedProduct(o) + int64(round)<<31) >> 32) }
}

func smmla(round uint32) operation {
	return func(c *cpu, o operands) {
		c.r[o.d] = uint32((int64(c.r[o.a])<<32 + c.signedProduct(o) + int64(round)<<31) >> 32)
	}
}

func smmls(round uint32) operation {
	return func(c *cpu, o operands) {
		c.r[o.d] = uint32((int64(c.r[o.a])<<32 - c.signedProduct(o) + int64(round)<<31) >> 32)
	}
}

// Division by zero gives zero; the smallest number divided by -1 gives itself.

func sdiv(c *cpu, o operands) {
	if c.r[o.m] == 0 {
		c.r[o.d] = 0
		return
	}
	c.r[o.d] = uint32(int64(int32(c.r[o.n])) / int64(int32(c.r[o.m])))
}

func udiv(c *cpu, o operands) {
	if c.r[o.m] == 0 {
		c.r[o.d] = 0
		return
	}
	c.r[o.d] = c.r[o.n] / c.r[o.m]
}

// absolute returns the sum of the absolute differences of bytes.
func absolute(n, m uint32) (sum uint32) {
	for i := 0; i < 32; i += 8 {
		a, b := n>>i&255, m>>i&255
		sum += max(a, b) - min(a, b)
	}
	return sum
}

func usad8(c *cpu, o operands)  { c.r[o.d] = absolute(c.r[o.n], c.r[o.m]) }
func usada8(c *cpu, o operands) { c.r[o.d] = c.r[o.a] + absolute(c.r[o.n], c.r[o.m]) }
