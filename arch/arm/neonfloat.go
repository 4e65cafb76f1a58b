package arm

import "gotap/arch/ieee"

// NEON's floating point. Whatever FPSCR says, it rounds to nearest, flushes subnormal numbers and returns the
// default NaN. It does record exceptions in FPSCR.

// float1, float2 and float3 are operations on one element of each operand. The first operand of float3 is the
// previous value of the destination.
type (
	float1 func(e *ieee.Env, f ieee.Format, a uint64) uint64
	float2 func(e *ieee.Env, f ieee.Format, a, b uint64) uint64
	float3 func(e *ieee.Env, f ieee.Format, d, a, b uint64) uint64
)

// sameFormat returns the format that bit 20 names, and its element.
func sameFormat(w uint32) (ieee.Format, elem) { return formatOf(flag(w, 20) == 1) }

// miscFormat returns the format that bits 19:18 name: 1 or 2.
func miscFormat(w uint32) (ieee.Format, elem) { return formatOf(field(w, 18, 2) == 1) }

// scalarFormat returns the format that bits 21:20 name: 1 or 2.
func scalarFormat(w uint32) (ieee.Format, elem) { return formatOf(field(w, 20, 2) == 1) }

// formatOf returns the format and element of encodings that have one bit to select them.
func formatOf(half bool) (ieee.Format, elem) {
	if half {
		return ieee.Half, elem{bits: 16}
	}
	return ieee.Single, elem{bits: 32}
}

// same3float makes the executor of an instruction of two operands.
func same3float(op float2) exec {
	return sameFloat(func(e *ieee.Env, f ieee.Format, _, a, b uint64) uint64 { return op(e, f, a, b) })
}

// sameFloat makes the executor of an instruction of two operands and the destination.
func sameFloat(op float3) exec {
	return func(c *cpu, w uint32) error {
		f, e := sameFormat(w)
		d, n, m := doubleD(w), doubleN(w), doubleM(w)
		c.vectorFloat()
		for i := uint32(0); i <= flag(w, 6); i++ {
			c.setD(d+i, c.eachFloat(f, e, op, c.d(d+i), c.d(n+i), c.d(m+i)))
		}
		c.endFloat()
		return nil
	}
}

// eachFloat applies op to the elements of three doubles.
func (c *vectorUnit) eachFloat(f ieee.Format, e elem, op float3, d, a, b uint64) (r uint64) {
	for i := uint(0); i < 64; i += e.bits {
		r |= op(&c.fp, f, d>>i&e.mask(), a>>i&e.mask(), b>>i&e.mask()) & e.mask() << i
	}
	return r
}

// pairFloat combines neighbours, like pairwise3.
func pairFloat(op float2) exec {
	return func(c *cpu, w uint32) error {
		f, e := sameFormat(w)
		v := [2]uint64{c.d(doubleN(w)), c.d(doubleM(w))}
		c.vectorFloat()
		r := uint64(0)
		for i := uint(0); i < 64/e.bits; i++ {
			r |= op(&c.fp, f, element(e, v, 2*i), element(e, v, 2*i+1)) << (i * e.bits)
		}
		c.setD(doubleD(w), r)
		c.endFloat()
		return nil
	}
}

// scalarFloatBy makes the executor of an instruction of a vector and an element; bit 24 is Q.
func scalarFloatBy(op float3) exec {
	return func(c *cpu, w uint32) error {
		f, e := scalarFormat(w)
		m := replicate(e, c.scalarOperand(w, e))
		d, n := doubleD(w), doubleN(w)
		c.vectorFloat()
		for i := uint32(0); i <= flag(w, 24); i++ {
			c.setD(d+i, c.eachFloat(f, e, op, c.d(d+i), c.d(n+i), m))
		}
		c.endFloat()
		return nil
	}
}

// misc2float makes the executor of an instruction of one operand.
func misc2float(op float1) exec {
	return func(c *cpu, w uint32) error {
		f, e := miscFormat(w)
		c.vectorFloat()
		c.eachMisc(w, f, e, op)
		c.endFloat()
		return nil
	}
}

// eachMisc applies op to one or two doubles, in the environment that is set.
func (c *vectorUnit) eachMisc(w uint32, f ieee.Format, e elem, op float1) {
	d, m := doubleD(w), doubleM(w)
	for i := uint32(0); i <= flag(w, 6); i++ {
		v, r := c.d(m+i), uint64(0)
		for at := uint(0); at < 64; at += e.bits {
			r |= op(&c.fp, f, v>>at&e.mask()) & e.mask() << at
		}
		c.setD(d+i, r)
	}
}

// floatMulAdd and floatMulSub are VMLA and VMLS of NEON and VFP: the product is rounded before the sum.
func floatMulAdd(e *ieee.Env, f ieee.Format, d, a, b uint64) uint64 {
	return e.Add(f, d, e.Mul(f, a, b))
}

// floatMulSub negates the product and adds it. A subtraction would give a NaN another sign.
func floatMulSub(e *ieee.Env, f ieee.Format, d, a, b uint64) uint64 {
	return e.Add(f, d, f.Neg(e.Mul(f, a, b)))
}

// floatMul computes VMUL, with the signature that multiplications by an element share.
func floatMul(e *ieee.Env, f ieee.Format, _, a, b uint64) uint64 { return e.Mul(f, a, b) }

// floatFused and floatFusedSub are VFMA and VFMS: one rounding, and the first factor negated.
func floatFused(e *ieee.Env, f ieee.Format, d, a, b uint64) uint64 { return e.MulAdd(f, d, a, b) }

func floatFusedSub(e *ieee.Env, f ieee.Format, d, a, b uint64) uint64 {
	return e.MulAdd(f, d, f.Neg(a), b)
}

// floatDiff computes VABD.
func floatDiff(e *ieee.Env, f ieee.Format, a, b uint64) uint64 { return f.Abs(e.Sub(f, a, b)) }

// floatNeg and floatAbs change only the sign bit; they raise no exception and do not change NaNs.
func floatNeg(_ *ieee.Env, f ieee.Format, a uint64) uint64 { return f.Neg(a) }
func floatAbs(_ *ieee.Env, f ieee.Format, a uint64) uint64 { return f.Abs(a) }

// Only the test for equality accepts quiet NaNs without an exception.
func floatEqual(e *ieee.Env, f ieee.Format, a, b uint64) uint64 {
	return truth(e.Compare(f, a, b, false) == ieee.Equal)
}

// floatGreater computes VCGT, and with exchanged operands VCLT.
func floatGreater(e *ieee.Env, f ieee.Format, a, b uint64) uint64 {
	return truth(e.Compare(f, a, b, true) == ieee.Greater)
}

// floatNotLess computes VCGE, and with exchanged operands VCLE. Both are false for unordered numbers.
func floatNotLess(e *ieee.Env, f ieee.Format, a, b uint64) uint64 {
	r := e.Compare(f, a, b, true)
	return truth(r == ieee.Greater || r == ieee.Equal)
}

// floatAbsGreater computes VACGT.
func floatAbsGreater(e *ieee.Env, f ieee.Format, a, b uint64) uint64 {
	return floatGreater(e, f, f.Abs(a), f.Abs(b))
}

// floatAbsNotLess computes VACGE.
func floatAbsNotLess(e *ieee.Env, f ieee.Format, a, b uint64) uint64 {
	return floatNotLess(e, f, f.Abs(a), f.Abs(b))
}

// againstZero compares the operand with 0, reversed compares 0 with the operand.
func againstZero(op float2) exec {
	return misc2float(func(e *ieee.Env, f ieee.Format, a uint64) uint64 { return op(e, f, a, 0) })
}

// reversedZero turns "greater" and "not less" into "less" and "not greater".
func reversedZero(op float2) exec {
	return misc2float(func(e *ieee.Env, f ieee.Format, a uint64) uint64 { return op(e, f, 0, a) })
}

// rounded rounds to an integral number. If exact is set, it raises inexact.
func rounded(r ieee.Rounding, exact bool) float1 {
	return func(e *ieee.Env, f ieee.Format, a uint64) uint64 { return e.RoundToInt(f, a, r, exact) }
}

// toInteger converts to integers of the same width; bit 7 says unsigned.
func toInteger(r ieee.Rounding) exec {
	return func(c *cpu, w uint32) error {
		f, e := miscFormat(w)
		c.vectorFloat()
		c.convertEach(w, e, func(v uint64) uint64 {
			return c.fp.ToFixed(f, v, 0, int(e.bits), flag(w, 7) == 0, r)
		})
		return nil
	}
}

// execFromInteger converts integers of the same width; bit 7 says unsigned.
func execFromInteger(c *cpu, w uint32) error {
	f, e := miscFormat(w)
	c.vectorFloat()
	c.convertEach(w, e, func(v uint64) uint64 {
		return c.fp.FromFixed(f, v, 0, int(e.bits), flag(w, 7) == 0)
	})
	return nil
}

// execFixed executes VCVT between floating and fixed point: bit 24 says unsigned, bit 8 to fixed point, bit 9 which
// format.
func execFixed(c *cpu, w uint32) error {
	f, e := formatOf(flag(w, 9) == 0)
	point, signed := 64-int(field(w, 16, 6)), flag(w, 24) == 0
	c.vectorFloat()
	c.convertEach(w, e, func(v uint64) uint64 {
		if flag(w, 8) == 1 {
			return c.fp.ToFixed(f, v, point, int(e.bits), signed, ieee.Zero)
		}
		return c.fp.FromFixed(f, v, point, int(e.bits), signed)
	})
	return nil
}

// convertEach replaces the elements of one or two doubles and ends the floating-point operation.
func (c *vectorUnit) convertEach(w uint32, e elem, op func(v uint64) uint64) {
	d, m := doubleD(w), doubleM(w)
	for i := uint32(0); i <= flag(w, 6); i++ {
		v, r := c.d(m+i), uint64(0)
		for at := uint(0); at < 64; at += e.bits {
			r |= op(v>>at&e.mask()) & e.mask() << at
		}
		c.setD(d+i, r)
	}
	c.endFloat()
}

// narrowFloat converts the four singles of a quad to 16 bits each.
func narrowFloat(to ieee.Format) exec {
	return func(c *cpu, w uint32) error {
		m, r := c.q(doubleM(w)), uint64(0)
		c.vectorFloat()
		for i := uint(0); i < 4; i++ {
			r |= c.fp.Convert(ieee.Single, to, element(elem{bits: 32}, m, i)) << (16 * i)
		}
		c.setD(doubleD(w), r)
		c.endFloat()
		return nil
	}
}

// execWidenFloat converts four halves to singles.
func execWidenFloat(c *cpu, w uint32) error {
	m := c.d(doubleM(w))
	c.vectorFloat()
	var r [2]uint64
	for i := uint(0); i < 4; i++ {
		r = withElement(elem{bits: 32}, r, i, c.fp.Convert(ieee.Half, ieee.Single, m>>(16*i)&0xffff))
	}
	c.setQ(doubleD(w), r)
	c.endFloat()
	return nil
}
