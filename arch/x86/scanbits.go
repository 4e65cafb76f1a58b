package x86

import "math/bits"

// bitTest emulates bt, bts, btr and btc. A bit number in a register may reach beyond an operand in memory; that of
// an immediate does not.
func bitTest(x *execution) error {
	size := x.form.size
	n, op := x.form.imm, x.in.regField()&3
	if x.in.opcode != 0xba {
		n, op = signExtend(x.regs[x.reg().index], size), x.in.opcode>>3&3
		if x.in.memory() {
			x.form.mem.disp += uint64(int64(n) >> (bits.Len8(size) + 2) * int64(size))
		}
	}
	mask := uint64(1) << (n & (8*uint64(size) - 1))
	v, err := x.read(x.rm())
	if err != nil {
		if op != 0 {
			err = ofWrite(err)
		}
		return err
	}
	set := v&mask != 0
	if op != 0 {
		if err := x.write(x.rm(), [4]uint64{0, v | mask, v &^ mask, v ^ mask}[op]); err != nil {
			return err
		}
	}
	x.setFlags(flagCF, bit(set, flagCF))
	return nil
}

// scanBits emulates bsf and bsr. With a source of zero they keep the destination, which AMD guarantees and Intel's
// processors do. The flags other than ZF are undefined.
func scanBits(x *execution) error {
	v, err := x.read(x.rm())
	if err != nil {
		return err
	}
	if v == 0 {
		setStatus(x.regs, flagZF|flagPF)
		return nil
	}
	n := bits.TrailingZeros64(v)
	if x.in.opcode == 0xbd {
		n = 63 - bits.LeadingZeros64(v)
	}
	x.setGPR(x.reg().index, uint64(n))
	setStatus(x.regs, resultFlags(uint64(n), 8)&flagPF)
	return nil
}

// countZeros emulates tzcnt and lzcnt.
func countZeros(x *execution) error {
	v, err := x.read(x.rm())
	if err != nil {
		return err
	}
	width := 8 * int(x.form.size)
	n := bits.LeadingZeros64(v) - (64 - width)
	if x.in.opcode == 0xbc {
		n = min(bits.TrailingZeros64(v), width)
	}
	x.setGPR(x.reg().index, uint64(n))
	x.setFlags(flagsStatus&^flagOF, bit(v == 0, flagCF)|bit(n == 0, flagZF))
	return nil
}

// countOnes emulates popcnt.
func countOnes(x *execution) error {
	v, err := x.read(x.rm())
	if err != nil {
		return err
	}
	x.setGPR(x.reg().index, uint64(bits.OnesCount64(v)))
	setStatus(x.regs, bit(v == 0, flagZF))
	return nil
}

// bitFlags sets the flags of BMI's bit operations: SF and ZF of the result, PF (which is undefined) and CF.
func (x *execution) bitFlags(r uint64, carry bool) {
	setStatus(x.regs, resultFlags(r, x.form.size)|bit(carry, flagCF))
}

// andNot emulates andn.
func andNot(x *execution) error {
	x.vexSize()
	v, err := x.read(x.rm())
	if err != nil {
		return err
	}
	r := ^x.gpr(x.extra()) & v
	x.setGPR(x.reg().index, r)
	x.bitFlags(r, false)
	return nil
}

// lowestBit emulates blsr, blsmsk and blsi, by the reg field.
func lowestBit(x *execution) error {
	x.vexSize()
	v, err := x.read(x.rm())
	if err != nil {
		return err
	}
	var r uint64
	switch x.in.regField() {
	case 1:
		r = v & (v - 1)
	case 2:
		r = v ^ (v - 1)
	default:
		r = v & -v
	}
	x.setGPR(x.extra(), r)
	x.bitFlags(r, v == 0 != (x.in.regField() == 3))
	return nil
}

// zeroHigh emulates bzhi. CF reports that the index is beyond the operand.
func zeroHigh(x *execution) error {
	x.vexSize()
	v, err := x.read(x.rm())
	if err != nil {
		return err
	}
	n, width := uint(x.regs[x.extra()]&0xff), 8*uint(x.form.size)
	if n < width {
		v &= 1<<n - 1
	}
	x.setGPR(x.reg().index, v)
	x.bitFlags(v, n >= width)
	return nil
}

// extractBits emulates bextr: start in the low byte of the control operand, length in the next. SF, AF and PF are
// undefined.
func extractBits(x *execution) error {
	x.vexSize()
	v, err := x.read(x.rm())
	if err != nil {
		return err
	}
	start, length := uint(x.regs[x.extra()]&0xff), uint(x.regs[x.extra()]>>8&0xff)
	v >>= start
	if length < 64 {
		v &= 1<<length - 1
	}
	x.setGPR(x.reg().index, v)
	setStatus(x.regs, resultFlags(v, 8)&(flagZF|flagPF)|flagAF)
	return nil
}

// spreadBits emulates pdep and pext.
func spreadBits(x *execution) error {
	x.vexSize()
	mask, err := x.read(x.rm())
	if err != nil {
		return err
	}
	from, r := x.gpr(x.extra()), uint64(0)
	for n := uint(0); mask != 0; n++ {
		low := mask & -mask
		switch {
		case x.in.rep == 0xf2 && from>>n&1 != 0:
			r |= low
		case x.in.rep == 0xf3 && from&low != 0:
			r |= 1 << n
		}
		mask &^= low
	}
	x.setGPR(x.reg().index, r)
	return nil
}
