package arm

import "gotap/arch/ieee"

// VFP's conversions. Operand and result may be in different register files of the unit: integers and halves are in
// singles whatever the other side is. Short vectors do not repeat them. Conversions to integers saturate, and give
// 0 for a NaN; package ieee raises the exceptions (Arm ARM DDI 0487, FPToFixed, FixedToFP and FPConvert).

// execConvertSize executes VCVT between single and double; bit 8 says that the operand is the double.
func execConvertSize(c *cpu, w uint32) error {
	c.scalarFloat()
	if flag(w, 8) == 1 {
		c.setS(singleD(w), c.fp.Convert(ieee.Double, ieee.Single, c.d(doubleM(w))))
	} else {
		c.setD(doubleD(w), c.fp.Convert(ieee.Single, ieee.Double, c.s(singleM(w))))
	}
	c.endFloat()
	return nil
}

// Reading a half from a register ignores FZ16, which concerns arithmetic. FPSCR.AHP selects its format.

// execFromHalf executes VCVTB and VCVTT (bit 7) from half precision to the format of bit 8.
func execFromHalf(c *cpu, w uint32) error {
	c.scalarFloat()
	half := c.s(singleM(w)) >> (16 * flag(w, 7)) & 0xffff
	if flag(w, 8) == 1 {
		c.setD(doubleD(w), c.fp.Convert(ieee.Half, ieee.Double, half))
	} else {
		c.setS(singleD(w), c.fp.Convert(ieee.Half, ieee.Single, half))
	}
	c.endFloat()
	return nil
}

// execToHalf executes VCVTB and VCVTT (bit 7) to half precision. The other half of the single stays.
func execToHalf(c *cpu, w uint32) error {
	c.scalarFloat()
	// A double is rounded once, without a single in between.
	var half uint64
	if flag(w, 8) == 1 {
		half = c.fp.Convert(ieee.Double, ieee.Half, c.d(doubleM(w)))
	} else {
		half = c.fp.Convert(ieee.Single, ieee.Half, c.s(singleM(w)))
	}
	c.setHalf(w, half)
	c.endFloat()
	return nil
}

// execToBfloat executes VCVTB and VCVTT to bfloat16.
func execToBfloat(c *cpu, w uint32) error {
	c.scalarFloat()
	c.setHalf(w, c.fp.Convert(ieee.Single, ieee.BFloat16, c.s(singleM(w))))
	c.endFloat()
	return nil
}

// setHalf replaces the half of Sd that bit 7 selects.
func (c *vectorUnit) setHalf(w uint32, half uint64) {
	shift := 16 * flag(w, 7)
	c.setS(singleD(w), c.s(singleD(w))&^(0xffff<<shift)|half&0xffff<<shift)
}

// execFromInt executes VCVT from a 32-bit integer in Sm; bit 7 says signed.
func execFromInt(c *cpu, w uint32) error {
	f := vfpFormat(w)
	c.scalarFloat()
	c.setFloatD(w, f, c.fp.FromFixed(f, c.s(singleM(w)), 0, 32, flag(w, 7) == 1))
	c.endFloat()
	return nil
}

// execToInt executes VCVT, and without bit 7 VCVTR, to a 32-bit integer; bit 16 says signed.
func execToInt(c *cpu, w uint32) error {
	f := vfpFormat(w)
	env := c.scalarFloat()
	r := env.Round
	if flag(w, 7) == 1 {
		r = ieee.Zero
	}
	c.setS(singleD(w), env.ToFixed(f, c.floatM(w, f), 0, 32, flag(w, 16) == 1, r))
	c.endFloat()
	return nil
}

// fixedPoint returns the width of a fixed-point operand (bit 7) and the number of bits below the point, computed
// from imm4:i.
func fixedPoint(w uint32) (width, point int) {
	width = 16 << flag(w, 7)
	return width, width - int(field(w, 0, 4)<<1|flag(w, 5))
}

// fixedRule refuses a point above the number.
func fixedRule(w uint32, _ bool) verdict {
	_, point := fixedPoint(w)
	return pointAbove.when(point < 0)
}

// execToFixed executes VCVT to fixed point, towards zero, within one register. The result is extended to fill the
// register. Bit 16 means unsigned.
func execToFixed(c *cpu, w uint32) error {
	f := vfpFormat(w)
	width, point := fixedPoint(w)
	signed := flag(w, 16) == 0
	c.scalarFloat()
	// The instruction determines the direction of rounding. No form uses that of FPSCR.
	v := c.fp.ToFixed(f, c.floatD(w, f), point, width, signed, ieee.Zero)
	c.setFloatD(w, f, uint64(elem{uint(width), !signed}.value(v)))
	c.endFloat()
	return nil
}

// execFromFixed executes VCVT from fixed point. It rounds to nearest whatever FPSCR says.
func execFromFixed(c *cpu, w uint32) error {
	f := vfpFormat(w)
	width, point := fixedPoint(w)
	c.scalarFloat().Round = ieee.NearestEven
	v := c.float(max(f, ieee.Single), singleD(w), doubleD(w)) // a half's register holds up to 32 bits here
	c.setFloatD(w, f, c.fp.FromFixed(f, v, point, width, flag(w, 16) == 0))
	c.endFloat()
	return nil
}

// execConvertJS executes VJCVT. Z is set if the conversion is exact.
func execConvertJS(c *cpu, w uint32) error {
	c.scalarFloat()
	v, exact := c.fp.ToInt32JS(c.d(doubleM(w)))
	c.setS(singleD(w), uint64(v))
	// In this instruction set, the flag is in FPSCR, as for a comparison.
	c.v.Control = c.v.Control&^fpscrNZCV | uint64(ones(exact))<<30
	c.endFloat()
	return nil
}
