package arm

import (
	"math/bits"

	"gotap/arch/ieee"
)

// NEON's integer instructions of two registers (Arm ARM DDI 0487, F3.1.10 "two registers, miscellaneous"); the
// element is in bits 19:18.

// miscElem returns the element of bits 19:18. Its signedness is encoded elsewhere.
func miscElem(w uint32) elem { return elem{bits: 8 << field(w, 18, 2)} }

// misc2 makes the executor of an instruction whose result is a function of one element.
func misc2(op unaryOp) exec {
	return func(c *cpu, w uint32) error {
		d, m, e := doubleD(w), doubleM(w), miscElem(w)
		for i := uint32(0); i <= flag(w, 6); i++ {
			c.setD(d+i, each1(c, e, op, c.d(m+i)))
		}
		return nil
	}
}

// laneLeadingSign computes VCLS, the number of bits below the sign that equal it. The exclusive or has a one where
// two neighbours differ; the lowest bit has no neighbour.
func laneLeadingSign(_ *cpu, e elem, a uint64) uint64 {
	x := uint64(e.signed(a))
	return min(leading(e, x^x<<1), uint64(e.bits-1))
}

// laneLeadingZeros computes VCLZ, laneOnes VCNT, laneNot VMVN and laneNegate VNEG.
func laneLeadingZeros(_ *cpu, e elem, a uint64) uint64 { return leading(e, a) }
func laneOnes(_ *cpu, _ elem, a uint64) uint64         { return uint64(bits.OnesCount64(a)) }
func laneNot(_ *cpu, _ elem, a uint64) uint64          { return ^a }
func laneNegate(_ *cpu, _ elem, a uint64) uint64       { return -a }

// laneAbs computes VABS. The smallest number stays the same.
func laneAbs(_ *cpu, e elem, a uint64) uint64 {
	x := e.signed(a)
	return uint64(max(x, -x))
}

// laneQAbs computes VQABS and laneQNegate VQNEG, which return the largest number for the smallest.
func laneQAbs(c *cpu, e elem, a uint64) uint64 {
	x := e.signed(a)
	return c.saturate(e, max(x, -x))
}

func laneQNegate(c *cpu, e elem, a uint64) uint64 { return c.saturate(e, -e.signed(a)) }

// zeroTest is a comparison with 0.
func zeroTest(yes func(x int64) bool) exec {
	return misc2(func(_ *cpu, e elem, a uint64) uint64 { return truth(yes(e.signed(a))) })
}

// reverseIn reverses the order of the elements in every group of so many bits.
func reverseIn(group uint) exec {
	return func(c *cpu, w uint32) error {
		d, m, e := doubleD(w), doubleM(w), miscElem(w)
		for i := uint32(0); i <= flag(w, 6); i++ {
			c.setD(d+i, reversed(e, group, c.d(m+i)))
		}
		return nil
	}
}

// reversed moves each element to the mirrored place of its group, whose size is a power of two.
func reversed(e elem, group uint, a uint64) (r uint64) {
	for i := uint(0); i < 64; i += e.bits {
		to := i&^(group-1) + (group - e.bits - i&(group-1))
		r |= a >> i & e.mask() << to
	}
	return r
}

// addPairsLong adds neighbours into elements of twice the width. Bit 7 means unsigned.
func addPairsLong(v variant) exec {
	return func(c *cpu, w uint32) error {
		d, m := doubleD(w), doubleM(w)
		e := elem{miscElem(w).bits, flag(w, 7) == 1}
		for i := uint32(0); i <= flag(w, 6); i++ {
			base := uint64(0)
			if v.has(accumulating) {
				base = c.d(d + i)
			}
			c.setD(d+i, pairsLong(e, base, c.d(m+i)))
		}
		return nil
	}
}

// pairsLong computes one double of addPairsLong.
func pairsLong(e elem, base, m uint64) (r uint64) {
	to := e.wide()
	for i := uint(0); i < 64/to.bits; i++ {
		v := base>>(i*to.bits) + widened(e, m, 2*i) + widened(e, m, 2*i+1)
		r |= v & to.mask() << (i * to.bits)
	}
	return r
}

// narrowMisc keeps the half of a quad's elements that fits half their width.
func narrowMisc(unsigned bool, fit func(c *cpu, e elem, wide uint64) uint64) exec {
	return func(c *cpu, w uint32) error {
		e := elem{miscElem(w).bits, unsigned}
		m := c.q(doubleM(w))
		r := uint64(0)
		for i := uint(0); i < 64/e.bits; i++ {
			v := fit(c, e, uint64(e.wide().value(element(e.wide(), m, i))))
			r |= v & e.mask() << (i * e.bits)
		}
		c.setD(doubleD(w), r)
		return nil
	}
}

// exchangeOp makes the executor of an instruction that changes both of its registers.
func exchangeOp(op func(e elem, count uint, d, m [2]uint64) (newD, newM [2]uint64)) exec {
	return func(c *cpu, w uint32) error {
		e := miscElem(w)
		// The rule distinct guarantees two different registers; otherwise it would be open which result remains.
		d, m := op(e, (64<<flag(w, 6))/e.bits, c.dq(w, doubleD(w)), c.dq(w, doubleM(w)))
		c.setDQ(w, doubleD(w), d)
		c.setDQ(w, doubleM(w), m)
		return nil
	}
}

// swapAll exchanges its operands: VSWP.
func swapAll(_ elem, _ uint, d, m [2]uint64) ([2]uint64, [2]uint64) { return m, d }

// transpose exchanges the odd elements of d with the even ones of m.
func transpose(e elem, count uint, d, m [2]uint64) ([2]uint64, [2]uint64) {
	r, s := d, m
	for i := uint(0); i < count; i += 2 {
		r = withElement(e, r, i+1, element(e, m, i))
		s = withElement(e, s, i, element(e, d, i+1))
	}
	return r, s
}

// unzip puts the even elements of m:d in d and the odd ones in m.
func unzip(e elem, count uint, d, m [2]uint64) (r, s [2]uint64) {
	for i := uint(0); i < count/2; i++ {
		r = withElement(e, r, i, element(e, d, 2*i))
		r = withElement(e, r, count/2+i, element(e, m, 2*i))
		s = withElement(e, s, i, element(e, d, 2*i+1))
		s = withElement(e, s, count/2+i, element(e, m, 2*i+1))
	}
	return r, s
}

// zip alternates the elements of d and m.
func zip(e elem, count uint, d, m [2]uint64) (r, s [2]uint64) {
	for i := uint(0); i < count/2; i++ {
		r = withElement(e, r, 2*i, element(e, d, i))
		r = withElement(e, r, 2*i+1, element(e, m, i))
		s = withElement(e, s, 2*i, element(e, d, count/2+i))
		s = withElement(e, s, 2*i+1, element(e, m, count/2+i))
	}
	return r, s
}

// laneRecipEstimate and laneRootEstimate are VRECPE.U32 and VRSQRTE.U32, on fractions without a sign.
func laneRecipEstimate(_ *cpu, _ elem, a uint64) uint64 {
	return uint64(ieee.RecipEstimateFixed(uint32(a)))
}
func laneRootEstimate(_ *cpu, _ elem, a uint64) uint64 {
	return uint64(ieee.RsqrtEstimateFixed(uint32(a)))
}
