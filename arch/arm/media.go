package arm

import (
	"hash/crc32"
	"math/bits"
)

// saturate returns v limited to lo … hi, and whether that changed it.
func saturate(v, lo, hi int64) (int64, bool) {
	switch {
	case v < lo:
		return lo, true
	case v > hi:
		return hi, true
	}
	return v, false
}

// saturate32 returns v as a signed word. It sets Q if v does not fit.
func (c *core) saturate32(v int64) int64 {
	v, changed := saturate(v, -1<<31, 1<<31-1)
	if changed {
		c.saturated()
	}
	return v
}

// qadd computes QADD, QSUB and, doubling n first, QDADD and QDSUB.
func qadd(v variant) operation {
	return func(c *cpu, o operands) {
		n := int64(int32(c.r[o.n]))
		if v.has(doubling) {
			n = c.saturate32(2 * n)
		}
		if v.has(subtracting) {
			n = -n
		}
		c.r[o.d] = uint32(c.saturate32(int64(int32(c.r[o.m])) + n))
	}
}

// parallel describes an addition or subtraction of halves or bytes in parallel.
type parallel struct {
	size     int  // bits of an element: 8 or 16
	exchange bool // the halves of m are exchanged
	subtract uint // a bit for each element that is subtracted
	kind     uint // wraps, saturates or halves
	unsigned bool
}

// The kinds of parallel operations.
const (
	wraps = iota
	saturates
	halves
)

// element returns the bits of v from lo up as a number.
func (p parallel) element(v uint32, lo int) int64 {
	switch {
	case p.unsigned:
		return int64(v >> lo & (1<<p.size - 1))
	case p.size == 8:
		return int64(int8(v >> lo))
	}
	return int64(int16(v >> lo))
}

// limit returns the range of an element.
func (p parallel) limit() (lo, hi int64) {
	if p.unsigned {
		return 0, 1<<p.size - 1
	}
	return -1 << (p.size - 1), 1<<(p.size-1) - 1
}

// greater returns the GE flag of an element: no borrow, or the sign of a difference or of a signed sum, or the
// carry of an unsigned sum.
func (p parallel) greater(v int64, subtracted bool) bool {
	if p.unsigned && !subtracted {
		return v >= 1<<p.size
	}
	return v >= 0
}

// run computes the operation on n and m, with the GE flags.
func (p parallel) run(n, m uint32) (out, ge uint32) {
	if p.exchange {
		m = bits.RotateLeft32(m, 16)
	}
	lo, hi := p.limit()
	mask := uint32(1)<<p.size - 1
	for i := 0; i < 32/p.size; i++ {
		at := i * p.size
		a, b := p.element(n, at), p.element(m, at)
		subtracted := p.subtract>>i&1 == 1
		if subtracted {
			b = -b
		}
		v := a + b
		if p.greater(v, subtracted) {
			ge |= mask >> (p.size - p.size/8) << (at / 8)
		}
		switch p.kind {
		case saturates:
			v, _ = saturate(v, lo, hi)
		case halves:
			v >>= 1
		}
		out |= uint32(v) & mask << at
	}
	return out, ge
}

// operation applies p to registers. Only the wrapping kind sets GE flags.
func (p parallel) operation() operation {
	return func(c *cpu, o operands) {
		v, ge := p.run(c.r[o.n], c.r[o.m])
		c.r[o.d] = v
		if p.kind == wraps {
			c.cpsr = c.cpsr&^maskGE | ge<<16
		}
	}
}

// sel takes each byte from n or m, by the GE flags.
func sel(c *cpu, o operands) {
	var mask uint32
	for i := range 4 {
		if c.cpsr>>(16+i)&1 == 1 {
			mask |= 255 << (8 * i)
		}
	}
	c.r[o.d] = c.r[o.n]&mask | c.r[o.m]&^mask
}

// extension extends m, rotated by 8*x, and adds n unless n is r15.
func extension(extend func(v uint32) uint32, add func(n, v uint32) uint32) operation {
	return func(c *cpu, o operands) {
		v := extend(bits.RotateLeft32(c.r[o.m], -int(8*o.x)))
		if o.n != 15 {
			v = add(c.r[o.n], v)
		}
		c.r[o.d] = v
	}
}

func signByte(v uint32) uint32  { return uint32(int32(int8(v))) }
func signHalf(v uint32) uint32  { return uint32(int32(int16(v))) }
func zeroByte(v uint32) uint32  { return v & 0xff }
func zeroHalf(v uint32) uint32  { return v & 0xffff }
func signBytes(v uint32) uint32 { return signByte(v)&0xffff | signByte(v>>16)<<16 }
func zeroBytes(v uint32) uint32 { return v & 0xff00ff }

func addWords(a, b uint32) uint32 { return a + b }
func addHalves(a, b uint32) uint32 {
	return (a+b)&0xffff | (a>>16+b>>16)<<16
}

func rev(c *cpu, o operands)  { c.r[o.d] = bits.ReverseBytes32(c.r[o.m]) }
func rbit(c *cpu, o operands) { c.r[o.d] = bits.Reverse32(c.r[o.m]) }
func clz(c *cpu, o operands)  { c.r[o.d] = uint32(bits.LeadingZeros32(c.r[o.m])) }
func rev16(c *cpu, o operands) {
	c.r[o.d] = bits.RotateLeft32(bits.ReverseBytes32(c.r[o.m]), 16)
}
func revsh(c *cpu, o operands) { c.r[o.d] = signHalf(uint32(bits.ReverseBytes16(uint16(c.r[o.m])))) }

// pack executes PKHBT and PKHTB: one half of n, the other of m, shifted.
func (c *core) pack(d, n, m, shift uint32, top bool) {
	kind := uint32(lsl)
	if top {
		kind = asr
	}
	v, _ := shiftImm(c.r[m], kind, shift, 0)
	if top {
		c.r[d] = c.r[n]&^0xffff | v&0xffff
		return
	}
	c.r[d] = c.r[n]&0xffff | v&^0xffff
}

// saturateTo computes SSAT and USAT: v limited to a signed or unsigned number of n bits.
func (c *core) saturateTo(v int64, n uint32, unsigned bool) uint32 {
	lo, hi := int64(-1)<<(n-1), int64(1)<<(n-1)-1
	if unsigned {
		lo, hi = 0, int64(1)<<n-1
	}
	v, changed := saturate(v, lo, hi)
	if changed {
		c.saturated()
	}
	return uint32(v)
}

// saturateWord shifts n left, or arithmetically right if right is set, and saturates to sat bits.
func (c *core) saturateWord(d, n, sat, shift uint32, right, unsigned bool) {
	kind := uint32(lsl)
	if right {
		kind = asr
	}
	v, _ := shiftImm(c.r[n], kind, shift, 0)
	c.r[d] = c.saturateTo(int64(int32(v)), sat, unsigned)
}

// saturateHalves executes SSAT16 and USAT16.
func (c *core) saturateHalves(d, n, sat uint32, unsigned bool) {
	low := c.saturateTo(half(c.r[n], 0), sat, unsigned)
	high := c.saturateTo(half(c.r[n], 1), sat, unsigned)
	c.r[d] = low&0xffff | high<<16
}

// extract executes SBFX and UBFX.
func (c *core) extract(d, n, lsb, width uint32, unsigned bool) {
	v := c.r[n] << (32 - lsb - width)
	if unsigned {
		c.r[d] = v >> (32 - width)
		return
	}
	c.r[d] = uint32(int32(v) >> (32 - width))
}

// insert executes BFI, and with r15 for n BFC.
func (c *core) insert(d, n, lsb, msb uint32) {
	mask := uint32(2)<<msb - 1<<lsb
	var v uint32
	if n != 15 {
		v = c.r[n] << lsb
	}
	c.r[d] = c.r[d]&^mask | v&mask
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum computes CRC32 and CRC32C of the low size bytes of m. Unlike the usual functions, they do not invert the
// checksum.
func checksum(table *crc32.Table, size int) operation {
	return func(c *cpu, o operands) {
		sum, v := c.r[o.n], c.r[o.m]
		for range size {
			sum = table[byte(sum)^byte(v)] ^ sum>>8
			v >>= 8
		}
		c.r[o.d] = sum
	}
}
