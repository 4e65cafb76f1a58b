package arm64

import (
	"sync"

	"gotap/arch/ieee"
)

// Scalar floating point that is not a conversion (Arm ARM DDI 0487, C4.1.96, "Floating-point …").

// ptype is the field that names the format: 0 single, 1 double, 3 half; 2 is invalid.
var ptypes = [4]ieee.Format{ieee.Single, ieee.Double, ieee.Single, ieee.Half}

func ptype(w uint32) ieee.Format { return ptypes[w>>22&3] }
func noPtype(w uint32) bool      { return w>>22&3 == 2 }

// scalar returns the low element of a register. Package ieee ignores the bits above a format.
func (c *vectorUnit) scalar(n uint32) uint64 { return c.v.V[n][0] }

// setScalar writes an element and clears the rest of the register.
func (c *vectorUnit) setScalar(n uint32, v uint64) { c.v.V[n] = vec{v} }

type (
	fpUnary  func(e *ieee.Env, f ieee.Format, a uint64) uint64
	fpBinary func(e *ieee.Env, f ieee.Format, a, b uint64) uint64
)

var scalarRows = sync.OnceValue(scalarTable)

// scalarTable has two operands, one, three, and the rest.
func scalarTable() (out []row) {
	for opcode, k := range []struct {
		name string
		op   fpBinary
	}{
		{"fmul", (*ieee.Env).Mul}, {"fdiv", (*ieee.Env).Div}, {"fadd", (*ieee.Env).Add}, {"fsub", (*ieee.Env).Sub},
		{"fmax", (*ieee.Env).Max}, {"fmin", (*ieee.Env).Min}, {"fmaxnm", (*ieee.Env).MaxNum}, {"fminnm", (*ieee.Env).MinNum},
		{"fnmul", negatedMul},
	} {
		out = append(out, vrow("000 11110 xx 1 xxxxx "+bitsText(opcode, 4)+" 10 xxxxx xxxxx", k.name, scalar2(k.op), noPtype))
	}
	for _, k := range []struct {
		opcode, name string
		op           fpUnary
	}{
		{"000000", "fmov", trim}, {"000001", "fabs", absolute}, {"000010", "fneg", negate}, {"000011", "fsqrt", (*ieee.Env).Sqrt},
		{"001000", "frintn", rounder(ieee.NearestEven)}, {"001001", "frintp", rounder(ieee.Up)},
		{"001010", "frintm", rounder(ieee.Down)}, {"001011", "frintz", rounder(ieee.Zero)},
		{"001100", "frinta", rounder(ieee.NearestAway)}, {"001110", "frintx", roundExact}, {"001111", "frinti", roundCurrent},
	} {
		out = append(out, vrow("000 11110 xx 1 "+k.opcode+" 10000 xxxxx xxxxx", k.name, scalar1(k.op), noPtype))
	}
	for opcode, k := range sizedRounders {
		out = append(out, vrow("000 11110 0x 1 0100"+bitsText(opcode, 2)+" 10000 xxxxx xxxxx", k.name, scalar1(k.op)))
	}
	out = append(out,
		vrow("000 11111 xx x xxxxx x xxxxx xxxxx xxxxx", "fmadd, fmsub, fnmadd, fnmsub", withFP(scalar3), noPtype),
		vrow("000 11110 xx 1 xxxxx 00 1000 xxxxx xx000", "fcmp, fcmpe", withFP(compare), noPtype),
		vrow("000 11110 xx 1 xxxxxxxx 100 00000 xxxxx", "fmov (immediate)", scalarImmediate, noPtype),
		vrow("000 11110 xx 1 xxxxx xxxx 01 xxxxx xxxxx", "fccmp, fccmpe", withFP(conditionalCompare), noPtype),
		vrow("000 11110 xx 1 xxxxx xxxx 11 xxxxx xxxxx", "fcsel", conditionalSelect, noPtype))
	return out
}

// bitsText returns the low n bits of v for a pattern.
func bitsText(v, n int) string {
	out := ""
	for i := n - 1; i >= 0; i-- {
		out += bitText(v >> i)
	}
	return out
}

func trim(_ *ieee.Env, f ieee.Format, a uint64) uint64     { return f.Trim(a) }
func absolute(_ *ieee.Env, f ieee.Format, a uint64) uint64 { return f.Abs(a) }
func negate(_ *ieee.Env, f ieee.Format, a uint64) uint64   { return f.Neg(a) }

// negatedMul changes the sign after rounding, of a NaN too.
func negatedMul(e *ieee.Env, f ieee.Format, a, b uint64) uint64 { return f.Neg(e.Mul(f, a, b)) }

// rounder rounds as the instruction says. Of the rounding instructions, only frintx raises inexact.
func rounder(r ieee.Rounding) fpUnary {
	return func(e *ieee.Env, f ieee.Format, a uint64) uint64 { return e.RoundToInt(f, a, r, false) }
}

func roundExact(e *ieee.Env, f ieee.Format, a uint64) uint64 {
	return e.RoundToInt(f, a, e.Round, true)
}
func roundCurrent(e *ieee.Env, f ieee.Format, a uint64) uint64 {
	return e.RoundToInt(f, a, e.Round, false)
}

// sizedRounders are FRINT32Z, FRINT32X, FRINT64Z and FRINT64X.
var sizedRounders = [4]struct {
	name string
	op   fpUnary
}{
	{"frint32z", func(e *ieee.Env, f ieee.Format, a uint64) uint64 { return e.RoundToSized(f, a, ieee.Zero, 32) }},
	{"frint32x", func(e *ieee.Env, f ieee.Format, a uint64) uint64 { return e.RoundToSized(f, a, e.Round, 32) }},
	{"frint64z", func(e *ieee.Env, f ieee.Format, a uint64) uint64 { return e.RoundToSized(f, a, ieee.Zero, 64) }},
	{"frint64x", func(e *ieee.Env, f ieee.Format, a uint64) uint64 { return e.RoundToSized(f, a, e.Round, 64) }},
}

// scalar1 makes the executor of an operation on one scalar.
func scalar1(op fpUnary) exec {
	return withFP(func(c *cpu, w uint32) error {
		c.setScalar(rd(w), op(&c.fp, ptype(w), c.scalar(rn(w))))
		return nil
	})
}

// scalar2 makes the executor of an operation on two scalars.
func scalar2(op fpBinary) exec {
	return withFP(func(c *cpu, w uint32) error {
		c.setScalar(rd(w), op(&c.fp, ptype(w), c.scalar(rn(w)), c.scalar(rm(w))))
		return nil
	})
}

// scalar3 makes the executor of Ra ± Rn×Rm. o1 (bit 21) negates the sum, and o0 (bit 15) different from o1 negates
// the product. Both negate operands.
func scalar3(c *cpu, w uint32) error {
	f := ptype(w)
	addend, a := c.scalar(ra(w)), c.scalar(rn(w))
	if w>>21&1 == 1 {
		addend = f.Neg(addend)
	}
	if w>>21&1 != w>>15&1 {
		a = f.Neg(a)
	}
	c.setScalar(rd(w), c.fp.MulAdd(f, addend, a, c.scalar(rm(w))))
	return nil
}

// relationFlags are NZCV of a comparison, by ieee.Relation.
var relationFlags = [4]uint32{ieee.Less: 8, ieee.Equal: 6, ieee.Greater: 2, ieee.Unordered: 3}

// compareFlags compares Rn with a register or with zero.
func (c *vectorUnit) compareFlags(w, m uint32, withZero, signal bool) uint32 {
	b := uint64(0)
	if !withZero {
		b = c.scalar(m)
	}
	return relationFlags[c.fp.Compare(ptype(w), c.scalar(rn(w)), b, signal)]
}

// compare compares Rn with Rm, or with zero, in which case the field of Rm is ignored.
func compare(c *cpu, w uint32) error {
	c.setFlags(c.compareFlags(w, rm(w), w>>3&1 == 1, w>>4&1 == 1))
	return nil
}

// conditionalCompare takes the flags from the instruction if the condition fails.
func conditionalCompare(c *cpu, w uint32) error {
	flags := w & 15
	if c.holds(field(w, 12, 4)) {
		flags = c.compareFlags(w, rm(w), false, w>>4&1 == 1)
	}
	c.setFlags(flags)
	return nil
}

// conditionalSelect copies one of two registers. It raises no exception, even for NaNs.
func conditionalSelect(c *cpu, w uint32) error {
	from := rm(w)
	if c.holds(field(w, 12, 4)) {
		from = rn(w)
	}
	c.setScalar(rd(w), ptype(w).Trim(c.scalar(from)))
	return nil
}

// scalarImmediate is fmov of an 8-bit immediate.
func scalarImmediate(c *cpu, w uint32) error {
	c.setScalar(rd(w), expandFP(ptype(w), uint64(field(w, 13, 8))))
	return nil
}

// expandFP returns the number with sign a, exponent B b…b cd and fraction efgh from the bits abcdefgh, where B is
// the complement of b (VFPExpandImm).
func expandFP(f ieee.Format, imm uint64) uint64 {
	fracBits, expBits := 10, 5
	switch f {
	case ieee.Single:
		fracBits, expBits = 23, 8
	case ieee.Double:
		fracBits, expBits = 52, 11
	}
	exp := uint64(1) << (expBits - 1)
	if imm>>6&1 == 1 {
		exp -= 4
	}
	exp |= imm >> 4 & 3
	return imm>>7<<(f.Bits()-1) | exp<<fracBits | imm&15<<(fracBits-4)
}
