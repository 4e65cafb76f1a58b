package x86

import "math/bits"

// product returns the 2n-bit product of two n-bit numbers. overflow reports that the upper half holds more than the
// sign, or zeros.
func product(a, b uint64, size uint8, signed bool) (hi, lo uint64, overflow bool) {
	width := 8 * uint(size)
	if signed {
		a, b = signExtend(a, size), signExtend(b, size)
	}
	hi, lo = bits.Mul64(a, b)
	if signed { // the product so far is that of unsigned numbers
		hi -= b&uint64(int64(a)>>63) + a&uint64(int64(b)>>63)
	}
	if size < 8 {
		hi, lo = lo>>width&sizeMask(size), lo&sizeMask(size)
	}
	fill := uint64(0)
	if signed {
		fill = uint64(int64(signExtend(lo, size))>>63) & sizeMask(size)
	}
	return hi, lo, hi != fill
}

// multiplyFlags sets CF and OF and keeps the others, which are undefined, as AMD's processors do.
func (x *execution) multiplyFlags(overflow bool) {
	x.setFlags(flagCF|flagOF, bit(overflow, flagCF|flagOF))
}

// multiplyA emulates mul and imul of the accumulator, whose result is twice as wide.
func multiplyA(x *execution) error {
	x.resize()
	b, err := x.read(x.rm())
	if err != nil {
		return err
	}
	hi, lo, overflow := product(x.gpr(RAX), b, x.form.size, x.in.regField() == 5)
	x.setDouble(hi, lo)
	x.multiplyFlags(overflow)
	return nil
}

// setDouble sets the accumulator and its extension: dx, edx, rdx, or ah.
func (x *execution) setDouble(hi, lo uint64) {
	if x.form.size == 1 {
		setReg(x.regs, operand{inRegister, RAX}, hi<<8|lo&0xff, 2)
		return
	}
	x.setGPR(RAX, lo)
	x.setGPR(RDX, hi)
}

// double returns the accumulator and its extension.
func (x *execution) double() (hi, lo uint64) {
	if x.form.size == 1 {
		return x.regs[RAX] >> 8 & 0xff, x.regs[RAX] & 0xff
	}
	return x.gpr(RDX), x.gpr(RAX)
}

// multiply emulates imul of two operands.
func multiply(x *execution) error { return x.multiplyInto(x.gpr(x.reg().index)) }

// multiplyBy emulates imul with an immediate.
func multiplyBy(x *execution) error { return x.multiplyInto(x.form.imm) }

func (x *execution) multiplyInto(b uint64) error {
	a, err := x.read(x.rm())
	if err != nil {
		return err
	}
	_, lo, overflow := product(a, b&sizeMask(x.form.size), x.form.size, true)
	x.setGPR(x.reg().index, lo)
	x.multiplyFlags(overflow)
	return nil
}

// multiplyTo emulates mulx. It writes two registers and no flags. If both are the same, it holds the upper half.
func multiplyTo(x *execution) error {
	x.vexSize()
	b, err := x.read(x.rm())
	if err != nil {
		return err
	}
	hi, lo, _ := product(x.gpr(RDX), b, x.form.size, false)
	x.setGPR(x.extra(), lo)
	x.setGPR(x.reg().index, hi)
	return nil
}

// extra returns the index of the register that a VEX prefix names.
func (x *execution) extra() uint8 { return gpr[x.in.vvvv&15] }

// quotient divides a number of two words. ok is false if the quotient does not fit or the divisor is zero.
func quotient(hi, lo, by uint64, size uint8) (q, r uint64, ok bool) {
	if size < 8 {
		lo |= hi << (8 * uint(size))
		hi = 0
	}
	if by == 0 || hi >= by {
		return 0, 0, false
	}
	q, r = bits.Div64(hi, lo, by)
	return q, r, q <= sizeMask(size)
}

// divideFlags sets the undefined flags as AMD's processors do: CF and OF are kept, AF is set, the others are
// cleared.
func (x *execution) divideFlags() { x.setFlags(flagsStatus&^(flagCF|flagOF), flagAF) }

// divide emulates div.
func divide(x *execution) error {
	x.resize()
	by, err := x.read(x.rm())
	if err != nil {
		return err
	}
	hi, lo := x.double()
	q, r, ok := quotient(hi, lo, by, x.form.size)
	if !ok {
		return errDivide
	}
	x.setDouble(r, q)
	x.divideFlags()
	return nil
}

// divideSigned emulates idiv. It divides absolute values; the remainder has the sign of the dividend.
func divideSigned(x *execution) error {
	x.resize()
	by, err := x.read(x.rm())
	if err != nil {
		return err
	}
	size := x.form.size
	hi, lo := x.double()
	top := 8*uint(size) - 1
	negative, opposite := hi>>top != 0, by>>top != 0
	if negative {
		lo = -lo & sizeMask(size)
		hi = ^hi & sizeMask(size)
		if lo == 0 {
			hi = (hi + 1) & sizeMask(size)
		}
	}
	if opposite {
		by = -by & sizeMask(size)
	}
	q, r, ok := quotient(hi, lo, by, size)
	limit := uint64(1)<<top - 1
	if negative != opposite {
		limit++
	}
	if !ok || q > limit {
		return errDivide
	}
	if negative != opposite {
		q = -q
	}
	if negative {
		r = -r
	}
	x.setDouble(r, q)
	x.divideFlags()
	return nil
}

// addWithFlag emulates adcx, which uses and sets only CF, and adox, which uses and sets only OF.
func addWithFlag(x *execution) error {
	carry := uint64(flagCF)
	if x.in.rep == 0xf3 {
		carry = flagOF
	}
	x.form.size = 4
	if x.in.rex&rexW != 0 {
		x.form.size = 8
	}
	b, err := x.read(x.rm())
	if err != nil {
		return err
	}
	a, in := x.gpr(x.reg().index), bit(x.regs[EFLAGS]&carry != 0, 1)
	sum, out := bits.Add64(a, b, in)
	if x.form.size == 4 {
		out = sum >> 32
	}
	x.setGPR(x.reg().index, sum)
	x.setFlags(carry, bit(out != 0, carry))
	return nil
}
