package arm

import "math/bits"

// Elements, the parts of NEON's registers. They are passed as uint64, zero-extended, whatever their kind; an elem
// says how to interpret them.

// elem is a kind of element: its width in bits, and whether it counts as unsigned.
type elem struct {
	bits     uint
	unsigned bool
}

// mask returns a mask of the bits of an element.
func (e elem) mask() uint64 { return ^uint64(0) >> (64 - e.bits) }

// wide returns the element of twice the width.
func (e elem) wide() elem { return elem{2 * e.bits, e.unsigned} }

// half returns the element of half the width.
func (e elem) half() elem { return elem{e.bits / 2, e.unsigned} }

// value returns an element as a number, sign-extended if it is signed.
func (e elem) value(a uint64) int64 {
	if e.unsigned {
		return int64(a & e.mask())
	}
	return e.signed(a)
}

// signed returns an element as a signed number, whatever its kind.
func (e elem) signed(a uint64) int64 { return int64(a<<(64-e.bits)) >> (64 - e.bits) }

// saturate limits a number of fewer than 64 bits to an element, and sets QC if that changed it.
func (c *vectorUnit) saturate(e elem, v int64) uint64 {
	low, high := int64(0), int64(e.mask())
	if !e.unsigned {
		high >>= 1
		low = ^high
	}
	switch {
	case v < low:
		v = low
	case v > high:
		v = high
	default:
		return uint64(v) & e.mask()
	}
	c.setQC()
	return uint64(v) & e.mask()
}

// setQC records a saturation. Only VMSR clears the flag.
func (c *vectorUnit) setQC() { c.v.Control |= fpscrQC }

// extreme returns the largest or the smallest number of an element.
func (e elem) extreme(negative bool) uint64 {
	switch {
	case e.unsigned && negative:
		return 0
	case e.unsigned:
		return e.mask()
	case negative:
		return 1 << (e.bits - 1)
	default:
		return e.mask() >> 1
	}
}

// unaryOp, binaryOp and ternaryOp compute one element of the result from one element of each operand. Operands are
// zero-extended; only the low bits of the result count.
type (
	unaryOp   func(c *cpu, e elem, a uint64) uint64
	binaryOp  func(c *cpu, e elem, a, b uint64) uint64
	ternaryOp func(c *cpu, e elem, d, a, b uint64) uint64
)

// each1 applies op to the elements of a.
func each1(c *cpu, e elem, op unaryOp, a uint64) (r uint64) {
	for i := uint(0); i < 64; i += e.bits {
		r |= op(c, e, a>>i&e.mask()) & e.mask() << i
	}
	return r
}

// each2 applies op to the pairs of elements of a and b.
func each2(c *cpu, e elem, op binaryOp, a, b uint64) (r uint64) {
	for i := uint(0); i < 64; i += e.bits {
		r |= op(c, e, a>>i&e.mask(), b>>i&e.mask()) & e.mask() << i
	}
	return r
}

// each3 applies op to the triples of elements of d, a and b.
func each3(c *cpu, e elem, op ternaryOp, d, a, b uint64) (r uint64) {
	for i := uint(0); i < 64; i += e.bits {
		r |= op(c, e, d>>i&e.mask(), a>>i&e.mask(), b>>i&e.mask()) & e.mask() << i
	}
	return r
}

// element returns element i of a vector of up to two doubles.
func element(e elem, v [2]uint64, i uint) uint64 {
	at := i * e.bits
	return v[at/64] >> (at % 64) & e.mask()
}

// withElement returns v with element i replaced.
func withElement(e elem, v [2]uint64, i uint, x uint64) [2]uint64 {
	at := i * e.bits
	v[at/64] = v[at/64]&^(e.mask()<<(at%64)) | x&e.mask()<<(at%64)
	return v
}

// replicate fills 64 bits with an element.
func replicate(e elem, x uint64) uint64 {
	x &= e.mask()
	for n := e.bits; n < 64; n *= 2 {
		x |= x << n
	}
	return x
}

// leading counts the zeros before the first one of an element.
func leading(e elem, a uint64) uint64 {
	return uint64(bits.LeadingZeros64(a&e.mask())) - uint64(64-e.bits)
}
