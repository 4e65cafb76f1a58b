package arm

import "gotap/arch/ieee"

// VFP's arithmetic. An operand is a single, a double, or (with the extension) a half in the low bits of a single;
// bits 9:8 say which. It obeys FPSCR: rounding, flushing, default NaNs, and LEN, which made instructions repeat
// over registers before NEON and which compilers no longer set.
//
// Where the manual negates an operand or a result, the code does too. A subtraction would differ in the sign of
// NaNs.

// vfpFormat returns the format of bits 9:8: 1 for half, 2 for single, 3 for double.
func vfpFormat(w uint32) ieee.Format {
	return [...]ieee.Format{ieee.Half, ieee.Half, ieee.Single, ieee.Double}[field(w, 8, 2)]
}

// floatD, floatN and floatM return the operands, setFloatD writes the result. Only the low bits of a half's
// register are read; the others are cleared on writing.
func (c *vectorUnit) floatD(w uint32, f ieee.Format) uint64 {
	return c.float(f, singleD(w), doubleD(w))
}
func (c *vectorUnit) floatN(w uint32, f ieee.Format) uint64 {
	return c.float(f, singleN(w), doubleN(w))
}
func (c *vectorUnit) floatM(w uint32, f ieee.Format) uint64 {
	return c.float(f, singleM(w), doubleM(w))
}

// float returns an operand by the number of its register as a single and as a double.
func (c *vectorUnit) float(f ieee.Format, s, d uint32) uint64 {
	switch f {
	case ieee.Double:
		return c.d(d)
	case ieee.Half:
		return c.s(s) & 0xffff
	}
	return c.s(s)
}

// setFloatD writes a result. One of half precision clears the rest of its single (v8.2: "S[d] = Zeros(16) : result").
func (c *vectorUnit) setFloatD(w uint32, f ieee.Format, v uint64) {
	if f == ieee.Double {
		c.setD(doubleD(w), v)
		return
	}
	c.setS(singleD(w), v)
}

// shortVectors refuses instructions that FPSCR.LEN would apply to several registers. Half precision and fused
// operations are newer than short vectors: they are undefined if LEN or STRIDE is set.
func (c *vectorUnit) shortVectors(f ieee.Format, fused bool) error {
	set := uint64(fpscrLen)
	if f == ieee.Half || fused {
		set |= fpscrStride
	}
	if c.v.Control&set != 0 {
		return errShortVector
	}
	return nil
}

// vfp1, vfp2 and vfp3 make the executors of arithmetic on one operand, on two, and on two and the destination.
func vfp1(op float1) exec {
	return vfpOf(false, func(c *cpu, w uint32, f ieee.Format) uint64 { return op(&c.fp, f, c.floatM(w, f)) })
}

// vfp2 is vfp1 for two operands, Vn and Vm.
func vfp2(op float2) exec {
	return vfpOf(false, func(c *cpu, w uint32, f ieee.Format) uint64 {
		return op(&c.fp, f, c.floatN(w, f), c.floatM(w, f))
	})
}

// vfp3 is vfp1 for the operands Vd, Vn and Vm: multiplications that accumulate.
func vfp3(op float3) exec { return vfpThree(false, op) }

// vfpFused is vfp3 for operations that round once.
func vfpFused(op float3) exec { return vfpThree(true, op) }

func vfpThree(fused bool, op float3) exec {
	return vfpOf(fused, func(c *cpu, w uint32, f ieee.Format) uint64 {
		return op(&c.fp, f, c.floatD(w, f), c.floatN(w, f), c.floatM(w, f))
	})
}

// vfpOf is the frame of all arithmetic: it refuses short vectors, sets the modes before and records the exceptions
// after. op reads all operands before the result is written, because the destination may be one of them.
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

// negatedMulAdd computes VNMLA: it negates the destination and the product.
func negatedMulAdd(e *ieee.Env, f ieee.Format, d, a, b uint64) uint64 {
	return e.Add(f, f.Neg(d), f.Neg(e.Mul(f, a, b)))
}

// negatedMulSub computes VNMLS: it negates only the destination.
func negatedMulSub(e *ieee.Env, f ieee.Format, d, a, b uint64) uint64 {
	return e.Add(f, f.Neg(d), e.Mul(f, a, b))
}

// negatedMul computes VNMUL. It changes the sign of a NaN too, like all negations in this file.
func negatedMul(e *ieee.Env, f ieee.Format, a, b uint64) uint64 { return f.Neg(e.Mul(f, a, b)) }

// negatedFused computes VFNMA: addend and product negated, one rounding.
func negatedFused(e *ieee.Env, f ieee.Format, d, a, b uint64) uint64 {
	return e.MulAdd(f, f.Neg(d), f.Neg(a), b)
}

// negatedFusedSub computes VFNMS: the addend negated, one rounding.
func negatedFusedSub(e *ieee.Env, f ieee.Format, d, a, b uint64) uint64 {
	return e.MulAdd(f, f.Neg(d), a, b)
}

// floatSame computes VMOV between registers. It changes no bit, not even of a signalling NaN.
func floatSame(_ *ieee.Env, _ ieee.Format, a uint64) uint64 { return a }

// execFloatImmediate executes VMOV of an immediate.
func execFloatImmediate(c *cpu, w uint32) error {
	f := vfpFormat(w)
	if err := c.shortVectors(f, false); err != nil {
		return err
	}
	c.setFloatD(w, f, expandFloat(f, uint64(field(w, 16, 4)<<4|field(w, 0, 4))))
	return nil
}

// roundCurrent makes the executor of VRINTR and VRINTX, which round by FPSCR. VRINTX raises inexact.
func roundCurrent(exact bool) float1 {
	return func(e *ieee.Env, f ieee.Format, a uint64) uint64 { return e.RoundToInt(f, a, e.Round, exact) }
}

// directions maps bits 17:16 of the directed roundings.
var directions = [4]ieee.Rounding{ieee.NearestAway, ieee.NearestEven, ieee.Up, ieee.Down}

// execRoundDirected executes VRINTA, VRINTN, VRINTP and VRINTM.
func execRoundDirected(c *cpu, w uint32) error {
	f := vfpFormat(w)
	c.scalarFloat()
	c.setFloatD(w, f, c.fp.RoundToInt(f, c.floatM(w, f), directions[field(w, 16, 2)], false))
	c.endFloat()
	return nil
}

// execConvertDirected executes VCVTA, VCVTN, VCVTP and VCVTM; bit 7 says signed.
func execConvertDirected(c *cpu, w uint32) error {
	f := vfpFormat(w)
	c.scalarFloat()
	r := directions[field(w, 16, 2)]
	c.setS(singleD(w), c.fp.ToFixed(f, c.floatM(w, f), 0, 32, flag(w, 7) == 1, r))
	c.endFloat()
	return nil
}

// vfpPlain makes the executor of an instruction of one operand that FPSCR.LEN does not repeat.
func vfpPlain(op float1) exec {
	return func(c *cpu, w uint32) error {
		f := vfpFormat(w)
		c.scalarFloat()
		c.setFloatD(w, f, op(&c.fp, f, c.floatM(w, f)))
		c.endFloat()
		return nil
	}
}

// execSelect executes VSEL: Vn if a condition of CPSR holds (EQ, VS, GE or GT by bits 21:20), else Vm.
func execSelect(c *cpu, w uint32) error {
	f := vfpFormat(w)
	v := c.floatM(w, f)
	if holds([4]uint32{0, 6, 10, 12}[field(w, 20, 2)], c.cpsr) {
		v = c.floatN(w, f)
	}
	c.setFloatD(w, f, v)
	return nil
}

// compareFlags are N, Z, C and V after a comparison (Arm ARM DDI 0487, FPCompare).
var compareFlags = [...]uint64{ieee.Less: 8, ieee.Equal: 6, ieee.Greater: 2, ieee.Unordered: 3}

// execCompare executes VCMP and, with bit 7, VCMPE, of Vd and Vm.
func execCompare(c *cpu, w uint32) error {
	f := vfpFormat(w)
	return c.compare(w, f, c.floatM(w, f))
}

// execCompareZero compares with zero.
func execCompareZero(c *cpu, w uint32) error { return c.compare(w, vfpFormat(w), 0) }

// compare compares Vd with b. With bit 7 (VCMPE), quiet NaNs are invalid operands too.
func (c *vectorUnit) compare(w uint32, f ieee.Format, b uint64) error {
	c.scalarFloat()
	r := c.fp.Compare(f, c.floatD(w, f), b, flag(w, 7) == 1)
	c.v.Control = c.v.Control&^fpscrNZCV | compareFlags[r]<<28
	c.endFloat()
	return nil
}
