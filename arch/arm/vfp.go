package arm

import "gotap/arch/ieee"

// VFP's arithmetic. An operand is a single or a double, or, with the extension for it, a half in the low bits of a single; bits 9:8
// say which. All of it obeys FPSCR: rounding, flushing, default NaNs; and FPSCR.LEN, which repeated instructions over registers
// before NEON did and which no compiler sets any more.
//
// Where the manual negates an operand or a result, so does the code, rather than subtract: the two differ in the sign of NaNs.

// vfpFormat is the format of bits 9:8: 1 for half, 2 for single, 3 for double.
func vfpFormat(w uint32) ieee.Format {
	return [...]ieee.Format{ieee.Half, ieee.Half, ieee.Single, ieee.Double}[field(w, 8, 2)]
}

// floatD, floatN and floatM are the operands, setFloatD the result. Of a half only the low bits of its register are read, and
// the others are cleared.
func (c *cpu) floatD(w uint32, f ieee.Format) uint64 { return c.float(f, singleD(w), doubleD(w)) }
func (c *cpu) floatN(w uint32, f ieee.Format) uint64 { return c.float(f, singleN(w), doubleN(w)) }
func (c *cpu) floatM(w uint32, f ieee.Format) uint64 { return c.float(f, singleM(w), doubleM(w)) }

// float is an operand by either number of its register. The other half of a single that holds a half is of no interest.
func (c *cpu) float(f ieee.Format, s, d uint32) uint64 {
	switch f {
	case ieee.Double:
		return c.d(d)
	case ieee.Half:
		return c.s(s) & 0xffff
	}
	return c.s(s)
}

// setFloatD writes a result. One of half precision clears the rest of its single (v8.2: "S[d] = Zeros(16) : result").
func (c *cpu) setFloatD(w uint32, f ieee.Format, v uint64) {
	if f == ieee.Double {
		c.setD(doubleD(w), v)
		return
	}
	c.setS(singleD(w), v)
}

// shortVectors refuses what FPSCR.LEN would make an instruction on several registers. Half precision and the fused operations are
// younger than short vectors: they are undefined as long as LEN or STRIDE is set.
func (c *cpu) shortVectors(f ieee.Format, fused bool) error {
	set := uint64(fpscrLen)
	if f == ieee.Half || fused {
		set |= fpscrStride
	}
	if c.v.Control&set != 0 {
		return errShortVector
	}
	return nil
}

// vfp1, vfp2 and vfp3 are the arithmetic on one operand, on two, and on two and the destination.
func vfp1(op float1) exec {
	return vfpOf(false, func(c *cpu, w uint32, f ieee.Format) uint64 { return op(&c.fp, f, c.floatM(w, f)) })
}

// vfp2 is vfp1 for two operands, Vn and Vm.
func vfp2(op float2) exec {
	return vfpOf(false, func(c *cpu, w uint32, f ieee.Format) uint64 {
		return op(&c.fp, f, c.floatN(w, f), c.floatM(w, f))
	})
}

// vfp3 is vfp1 for the operands Vd, Vn and Vm: the multiplications that accumulate.
func vfp3(op float3) exec { return vfpThree(false, op) }

// vfpFused is vfp3 for operations that round once.
func vfpFused(op float3) exec { return vfpThree(true, op) }

func vfpThree(fused bool, op float3) exec {
	return vfpOf(fused, func(c *cpu, w uint32, f ieee.Format) uint64 {
		return op(&c.fp, f, c.floatD(w, f), c.floatN(w, f), c.floatM(w, f))
	})
}

// vfpOf is what all arithmetic shares: the refusal of short vectors, the modes before it and the exceptions after it. An operation
// reads all its operands before the result is written, as the destination may be one of them.
func vfpOf(fused bool, op func(c *cpu, w uint32, f ieee.Format) uint64) exec {
	return func(c *cpu, w uint32) error {
		f := vfpFormat(w)
		if err := c.shortVectors(f, fused); err != nil {
			return err
		}
		c.scalarFloat()
		c.setFloatD(w, f, op(c, w, f))
		c.endFloat()
		return nil
	}
}

// negatedMulAdd is VNMLA: what the destination held is negated, and the product too.
func negatedMulAdd(e *ieee.Env, f ieee.Format, d, a, b uint64) uint64 {
	return e.Add(f, f.Neg(d), f.Neg(e.Mul(f, a, b)))
}

// negatedMulSub is VNMLS: only what the destination held is negated.
func negatedMulSub(e *ieee.Env, f ieee.Format, d, a, b uint64) uint64 {
	return e.Add(f, f.Neg(d), e.Mul(f, a, b))
}

// negatedMul is VNMUL. The sign of a NaN changes too, as for all negations of this file.
func negatedMul(e *ieee.Env, f ieee.Format, a, b uint64) uint64 { return f.Neg(e.Mul(f, a, b)) }

// negatedFused is VFNMA: addend and product negated, one rounding.
func negatedFused(e *ieee.Env, f ieee.Format, d, a, b uint64) uint64 {
	return e.MulAdd(f, f.Neg(d), f.Neg(a), b)
}

// negatedFusedSub is VFNMS: the addend negated, one rounding.
func negatedFusedSub(e *ieee.Env, f ieee.Format, d, a, b uint64) uint64 {
	return e.MulAdd(f, f.Neg(d), a, b)
}

// floatSame is VMOV between registers: no bit changes, not even of a signalling NaN.
func floatSame(_ *ieee.Env, _ ieee.Format, a uint64) uint64 { return a }

// execFloatImmediate is VMOV of an immediate.
func execFloatImmediate(c *cpu, w uint32) error {
	f := vfpFormat(w)
	if err := c.shortVectors(f, false); err != nil {
		return err
	}
	c.setFloatD(w, f, expandFloat(f, uint64(field(w, 16, 4)<<4|field(w, 0, 4))))
	return nil
}

// roundCurrent is VRINTR and VRINTX: by FPSCR, the second noting a change.
func roundCurrent(exact bool) float1 {
	return func(e *ieee.Env, f ieee.Format, a uint64) uint64 { return e.RoundToInt(f, a, e.Round, exact) }
}

// directions is what bits 17:16 of the directed roundings stand for.
var directions = [4]ieee.Rounding{ieee.NearestAway, ieee.NearestEven, ieee.Up, ieee.Down}

// execRoundDirected is VRINTA, VRINTN, VRINTP and VRINTM.
func execRoundDirected(c *cpu, w uint32) error {
	f := vfpFormat(w)
	c.scalarFloat()
	c.setFloatD(w, f, c.fp.RoundToInt(f, c.floatM(w, f), directions[field(w, 16, 2)], false))
	c.endFloat()
	return nil
}

// execConvertDirected is VCVTA, VCVTN, VCVTP and VCVTM; bit 7 says signed.
func execConvertDirected(c *cpu, w uint32) error {
	f := vfpFormat(w)
	c.scalarFloat()
	r := directions[field(w, 16, 2)]
	c.setS(singleD(w), c.fp.ToFixed(f, c.floatM(w, f), 0, 32, flag(w, 7) == 1, r))
	c.endFloat()
	return nil
}

// vfpPlain is an instruction of one operand that FPSCR.LEN does not multiply.
func vfpPlain(op float1) exec {
	return func(c *cpu, w uint32) error {
		f := vfpFormat(w)
		c.scalarFloat()
		c.setFloatD(w, f, op(&c.fp, f, c.floatM(w, f)))
		c.endFloat()
		return nil
	}
}

// execSelect is VSEL: Vn if a condition of CPSR holds (EQ, VS, GE or GT by bits 21:20), else Vm.
func execSelect(c *cpu, w uint32) error {
	f := vfpFormat(w)
	v := c.floatM(w, f)
	if holds([4]uint32{0, 6, 10, 12}[field(w, 20, 2)], c.cpsr) {
		v = c.floatN(w, f)
	}
	c.setFloatD(w, f, v)
	return nil
}

// compareFlags is what a comparison leaves in N, Z, C and V (Arm ARM DDI 0487, FPCompare).
var compareFlags = [...]uint64{ieee.Less: 8, ieee.Equal: 6, ieee.Greater: 2, ieee.Unordered: 3}

// execCompare is VCMP and, with bit 7, VCMPE, of Vd and Vm.
func execCompare(c *cpu, w uint32) error {
	f := vfpFormat(w)
	return c.compare(w, f, c.floatM(w, f))
}

// execCompareZero compares with zero.
func execCompareZero(c *cpu, w uint32) error { return c.compare(w, vfpFormat(w), 0) }

// compare compares Vd with b. With bit 7 (VCMPE) quiet NaNs are invalid operands, too.
func (c *cpu) compare(w uint32, f ieee.Format, b uint64) error {
	c.scalarFloat()
	r := c.fp.Compare(f, c.floatD(w, f), b, flag(w, 7) == 1)
	c.v.Control = c.v.Control&^fpscrNZCV | compareFlags[r]<<28
	c.endFloat()
	return nil
}
