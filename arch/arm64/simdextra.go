package arm64

import (
	"sync"

	"gotap/arch/ieee"
)

// Dot products, matrix products, complex arithmetic and BFloat16, by vector and by element (Arm ARM DDI 0487,
// C4.1.95, "Advanced SIMD three same extra" and "vector x indexed element").

var extraRows = sync.OnceValue(extraTable)

// extraTable lists the dot and matrix products by the signs of their operands.
func extraTable() (out []row) {
	for _, k := range []struct {
		u, opcode, name string
		x, y            variant
	}{
		{"0", "0010", "sdot", signed, signed}, {"1", "0010", "udot", unsigned, unsigned}, {"0", "0011", "usdot", unsigned, signed},
	} {
		out = append(out, vrow("0x"+k.u+" 01110 10 0 xxxxx 1 "+k.opcode+" 1 xxxxx xxxxx", k.name, dot(k.x, k.y, sameLane)))
	}
	for _, k := range []struct {
		u, size, opcode, name string
		x, y                  variant
	}{
		{"0", "10", "1110", "sdot", signed, signed}, {"1", "10", "1110", "udot", unsigned, unsigned},
		{"0", "10", "1111", "usdot", unsigned, signed}, {"0", "00", "1111", "sudot", signed, unsigned},
	} {
		out = append(out, elementRow("0x"+k.u+" 01111", k.size, k.opcode, k.name, dot(k.x, k.y, oneElement)))
	}
	for _, k := range []struct {
		u, opcode, name string
		x, y            variant
	}{
		{"0", "0100", "smmla", signed, signed}, {"1", "0100", "ummla", unsigned, unsigned}, {"0", "0101", "usmmla", unsigned, signed},
	} {
		out = append(out, vrow("01"+k.u+" 01110 10 0 xxxxx 1 "+k.opcode+" 1 xxxxx xxxxx", k.name, matrix(k.x, k.y)))
	}
	return append(out,
		vrow("0x1 01110 xx 0 xxxxx 1 10xx 1 xxxxx xxxxx", "fcmla", withFP(complexVector), noComplex),
		vrow("0x1 01110 xx 0 xxxxx 1 11x0 1 xxxxx xxxxx", "fcadd", withFP(complexAdd), noComplex),
		elementRow("0x1 01111", "01", "0xx1", "fcmla (half)", withFP(complexElement), func(w uint32) bool { return !q(w) && w>>11&1 == 1 }),
		elementRow("0x1 01111", "10", "0xx1", "fcmla", withFP(complexElement), func(w uint32) bool { return !q(w) || w>>21&1 == 1 }),
		vrow("0x1 01110 01 0 xxxxx 1 1111 1 xxxxx xxxxx", "bfdot", standardBrain(brainDotVector)),
		elementRow("0x0 01111", "01", "1111", "bfdot", standardBrain(brainDotElement)),
		vrow("011 01110 01 0 xxxxx 1 1101 1 xxxxx xxxxx", "bfmmla", standardBrain(brainMatrix)),
		vrow("0x1 01110 11 0 xxxxx 1 1111 1 xxxxx xxxxx", "bfmlalb, bfmlalt", withFP(brainWidenVector)),
		elementRow("0x0 01111", "11", "1111", "bfmlalb, bfmlalt", withFP(brainWidenElement)))
}

// extendByte extends a byte of an operand.
func (v variant) extendByte(x uint64) uint64 {
	if v.has(signed) {
		return uint64(signedLane(x, 0))
	}
	return x
}

// sameLane and oneElement select the lane of 32 bits of Rm that belongs to lane i of Rn.
func sameLane(_ uint32, i uint) uint { return i }

func oneElement(w uint32, _ uint) uint {
	_, index := element(w, 2)
	return index
}

// dot adds the four products of bytes in a lane of 32 bits. For the form by element, Rm has all five bits.
func dot(xKind, yKind variant, other func(w uint32, i uint) uint) exec {
	return func(c *cpu, w uint32) error {
		x, y, d := &c.v.V[rn(w)], &c.v.V[rm(w)], &c.v.V[rd(w)]
		var out vec
		for i := range lanes(w, 2) {
			at, sum := other(w, i), get(d, 2, i)
			for b := range uint(4) {
				sum += xKind.extendByte(get(x, 0, 4*i+b)) * yKind.extendByte(get(y, 0, 4*at+b))
			}
			put(&out, 2, i, sum)
		}
		c.v.V[rd(w)] = out
		return nil
	}
}

// matrix adds the product of a 2×8 matrix of bytes with the transpose of another.
func matrix(xKind, yKind variant) exec {
	return func(c *cpu, w uint32) error {
		x, y, d := &c.v.V[rn(w)], &c.v.V[rm(w)], &c.v.V[rd(w)]
		var out vec
		for i := range uint(4) {
			sum := get(d, 2, i)
			for b := range uint(8) {
				sum += xKind.extendByte(get(x, 0, i>>1*8+b)) * yKind.extendByte(get(y, 0, i&1*8+b))
			}
			put(&out, 2, i, sum)
		}
		c.v.V[rd(w)] = out
		return nil
	}
}

// noComplex reports the sizes that are not a pair of numbers.
func noComplex(w uint32) bool { return size(w) == 0 || oneDouble(w) }

// complexMul adds half of the product of two complex numbers. A rotation by a multiple of 90 degrees selects the
// half: the real or the imaginary part of x, times y rotated.
func (c *vectorUnit) complexMul(f ieee.Format, rot uint32, d, x, y [2]uint64) [2]uint64 {
	part := x[rot&1]
	re, im := y[0], y[1]
	if rot&1 == 1 {
		re, im = im, re
	}
	if rot == 1 || rot == 2 {
		re = f.Neg(re)
	}
	if rot >= 2 {
		im = f.Neg(im)
	}
	return [2]uint64{c.fp.MulAdd(f, d[0], part, re), c.fp.MulAdd(f, d[1], part, im)}
}

// getPair returns complex number i of a register.
func getPair(v *vec, s, i uint) [2]uint64 { return [2]uint64{get(v, s, 2*i), get(v, s, 2*i+1)} }

// putPair writes complex number i of a register.
func putPair(v *vec, s, i uint, p [2]uint64) {
	put(v, s, 2*i, p[0])
	put(v, s, 2*i+1, p[1])
}

// complexVector multiplies pairs with pairs.
func complexVector(c *cpu, w uint32) error {
	s := size(w)
	x, y, d := &c.v.V[rn(w)], &c.v.V[rm(w)], &c.v.V[rd(w)]
	var out vec
	for i := range lanes(w, s) / 2 {
		putPair(&out, s, i, c.complexMul(format(s), field(w, 11, 2), getPair(d, s, i), getPair(x, s, i), getPair(y, s, i)))
	}
	c.v.V[rd(w)] = out
	return nil
}

// complexElement multiplies pairs by one pair. Its index is one bit shorter; the register has all five bits.
func complexElement(c *cpu, w uint32) error {
	s := size(w)
	_, index := element(w, s+1)
	x, y, d := &c.v.V[rn(w)], getPair(&c.v.V[rm(w)], s, index), &c.v.V[rd(w)]
	var out vec
	for i := range lanes(w, s) / 2 {
		putPair(&out, s, i, c.complexMul(format(s), field(w, 13, 2), getPair(d, s, i), getPair(x, s, i), y))
	}
	c.v.V[rd(w)] = out
	return nil
}

// complexAdd adds y rotated by 90 or 270 degrees.
func complexAdd(c *cpu, w uint32) error {
	s := size(w)
	f := format(s)
	x, y := &c.v.V[rn(w)], &c.v.V[rm(w)]
	var out vec
	for i := range lanes(w, s) / 2 {
		a, b := getPair(x, s, i), getPair(y, s, i)
		re, im := f.Neg(b[1]), b[0]
		if w>>12&1 == 1 {
			re, im = b[1], f.Neg(b[0])
		}
		putPair(&out, s, i, [2]uint64{c.fp.Add(f, a[0], re), c.fp.Add(f, a[1], im)})
	}
	c.v.V[rd(w)] = out
	return nil
}

// brainDot adds the products of two pairs of BFloat16 numbers to a sum, in a mode of its own that raises no
// exceptions (BFDotAdd).
func brainDot(sum, x, y uint64) uint64 {
	e := ieee.Env{Round: ieee.OddInf, FlushToZero: true, DefaultNaN: true}
	const high = 0xffff0000
	low := e.Mul(ieee.Single, x<<16&high, y<<16&high)
	return e.Add(ieee.Single, sum, e.Add(ieee.Single, low, e.Mul(ieee.Single, x&high, y&high)))
}

// standardBrain makes an executor that refuses the extended arithmetic, which rounds products and sums differently.
func standardBrain(x exec) exec {
	return func(c *cpu, w uint32) error {
		if c.v.Control&fpcrEBF != 0 {
			return errExtendedBrain
		}
		return x(c, w)
	}
}

// brainDotVector uses both operands lane by lane.
func brainDotVector(c *cpu, w uint32) error {
	x, y, d := &c.v.V[rn(w)], &c.v.V[rm(w)], &c.v.V[rd(w)]
	var out vec
	for i := range lanes(w, 2) {
		put(&out, 2, i, brainDot(get(d, 2, i), get(x, 2, i), get(y, 2, i)))
	}
	c.v.V[rd(w)] = out
	return nil
}

// brainDotElement uses one pair of Rm for all lanes.
func brainDotElement(c *cpu, w uint32) error {
	m, index := element(w, 2)
	x, y, d := &c.v.V[rn(w)], get(&c.v.V[m], 2, index), &c.v.V[rd(w)]
	var out vec
	for i := range lanes(w, 2) {
		put(&out, 2, i, brainDot(get(d, 2, i), get(x, 2, i), y))
	}
	c.v.V[rd(w)] = out
	return nil
}

// brainMatrix adds the product of a 2×4 matrix with the transpose of another.
func brainMatrix(c *cpu, w uint32) error {
	x, y, d := &c.v.V[rn(w)], &c.v.V[rm(w)], &c.v.V[rd(w)]
	var out vec
	for i := range uint(4) {
		sum := get(d, 2, i)
		for pair := range uint(2) {
			sum = brainDot(sum, get(x, 2, i>>1*2+pair), get(y, 2, i&1*2+pair))
		}
		put(&out, 2, i, sum)
	}
	c.v.V[rd(w)] = out
	return nil
}

// brainWiden multiplies the even or, with Q set, the odd BFloat16 lanes and accumulates in single precision.
func (c *vectorUnit) brainWiden(w uint32, y func(lane uint) uint64) {
	x, d := &c.v.V[rn(w)], &c.v.V[rd(w)]
	top := uint(w >> 30 & 1)
	var out vec
	for i := range uint(4) {
		put(&out, 2, i, c.fp.MulAdd(ieee.Single, get(d, 2, i), get(x, 1, 2*i+top)<<16, y(2*i+top)<<16))
	}
	c.v.V[rd(w)] = out
}

// brainWidenVector uses both operands lane by lane.
func brainWidenVector(c *cpu, w uint32) error {
	y := c.v.V[rm(w)]
	c.brainWiden(w, func(lane uint) uint64 { return get(&y, 1, lane) })
	return nil
}

// brainWidenElement uses one lane of Rm for all.
func brainWidenElement(c *cpu, w uint32) error {
	m, index := element(w, 1)
	y := get(&c.v.V[m], 1, index)
	c.brainWiden(w, func(uint) uint64 { return y })
	return nil
}
