package x86

// Decimal arithmetic of 32-bit mode. Flags that the architecture leaves undefined are those of the additions and
// subtractions that the instruction consists of.

// setAL sets al and flags.
func (x *execution) setAL(v, flags uint64) {
	setReg(x.regs, operand{inRegister, RAX}, v, 1)
	setStatus(x.regs, flags)
}

// decimalAdjust emulates daa and das.
func decimalAdjust(x *execution) error {
	al, flags, by := x.regs[RAX]&0xff, x.regs[EFLAGS], uint64(0)
	if al&0xf > 9 || flags&flagAF != 0 {
		by = 6
	}
	carries := bit(by != 0, flagAF)
	if al > 0x99 || flags&flagCF != 0 {
		by += 0x60
		carries |= flagCF
	}
	op := uint8(aluADD)
	if x.in.opcode == 0x2f {
		op = aluSUB
		carries |= bit(al < by, flagCF)
	}
	r, status := alu(op, al, by, 1, 0)
	x.setAL(r, status&^(flagCF|flagAF)|carries)
	return nil
}

// asciiAdjust emulates aaa and aas.
func asciiAdjust(x *execution) error {
	ax, by, op := x.regs[RAX]&0xffff, uint64(0), uint8(aluADD)
	if ax&0xf > 9 || x.regs[EFLAGS]&flagAF != 0 {
		by = 0x106
	}
	if x.in.opcode == 0x3f {
		op = aluSUB
	}
	r, status := alu(op, ax, by, 2, 0)
	setReg(x.regs, operand{inRegister, RAX}, r&0xff0f, 2)
	setStatus(x.regs, status&^(flagCF|flagAF)|bit(by != 0, flagCF|flagAF))
	return nil
}

// asciiMultiply emulates aam with any base but zero.
func asciiMultiply(x *execution) error {
	base, al := x.form.imm&0xff, x.regs[RAX]&0xff
	if base == 0 {
		return errDivide
	}
	setReg(x.regs, operand{inRegister, RAX}, al/base<<8|al%base, 2)
	setStatus(x.regs, resultFlags(al%base, 1))
	return nil
}

// asciiDivide emulates aad.
func asciiDivide(x *execution) error {
	r, flags := alu(aluADD, x.regs[RAX]&0xff, x.regs[RAX]>>8*(x.form.imm&0xff)&0xff, 1, 0)
	setReg(x.regs, operand{inRegister, RAX}, r&0xff, 2)
	setStatus(x.regs, flags)
	return nil
}

// carryToAL emulates salc, which Intel's manuals did not document for a long time.
func carryToAL(x *execution) error {
	setReg(x.regs, operand{inRegister, RAX}, -(x.regs[EFLAGS] & flagCF), 1)
	return nil
}
