package arm

// The 16-bit instructions of Thumb: how the fields of their halfwords map to operations. Those that set flags do so
// only outside IT blocks.

// low3 returns a register number of three bits, from bit lo up.
func low3(w uint32, lo int) uint32 { return field(w, lo, 3) }

// dataT16 executes a data-processing operation on low registers.
func (c *core) dataT16(op, d, a, b, carry uint32) error { return c.data(op, !c.inIT(), d, a, b, carry) }

// execShiftT16 executes LSL, LSR and ASR by an immediate. LSL by 0 is MOVS, which must not be in an IT block.
func execShiftT16(c *cpu, w uint32) error {
	kind, n := field(w, 11, 2), field(w, 6, 5)
	if kind == lsl && n == 0 && c.inIT() {
		return errInITBlock
	}
	v, carry := shiftImm(c.r[low3(w, 3)], kind, n, c.carry())
	return c.dataT16(opMOV, low3(w, 0), 0, v, carry)
}

// execAdd3 executes ADD and SUB of a register or, by bit 10, of a number to 7.
func execAdd3(c *cpu, w uint32) error {
	b := low3(w, 6)
	if !bit(w, 10) {
		b = c.r[b]
	}
	op := uint32(opADD)
	if bit(w, 9) {
		op = opSUB
	}
	return c.dataT16(op, low3(w, 0), c.r[low3(w, 3)], b, 0)
}

// execImm8 makes the executor of MOV, CMP, ADD and SUB with a byte. A comparison also sets flags inside IT blocks.
func execImm8(op uint32) exec {
	return func(c *cpu, w uint32) error {
		d := low3(w, 8)
		return c.data(op, op == opCMP || !c.inIT(), d, c.r[d], w&0xff, c.carry())
	}
}

// execData16 makes the executor of an operation on two low registers, the first of which is also the result.
func execData16(op uint32) exec {
	return func(c *cpu, w uint32) error {
		d := low3(w, 0)
		flags := !c.inIT() || op >= opTST && op <= opCMN
		return c.data(op, flags, d, c.r[d], c.r[low3(w, 3)], c.carry())
	}
}

// execShiftReg16 makes the executor of a shift by a register.
func execShiftReg16(kind uint32) exec {
	return func(c *cpu, w uint32) error {
		d := low3(w, 0)
		v, carry := shiftBy(c.r[d], kind, c.r[low3(w, 3)]&0xff, c.carry())
		return c.dataT16(opMOV, d, 0, v, carry)
	}
}

// execRSB16 executes NEG.
func execRSB16(c *cpu, w uint32) error {
	return c.dataT16(opRSB, low3(w, 0), c.r[low3(w, 3)], 0, 0)
}

func execMUL16(c *cpu, w uint32) error {
	d := low3(w, 0)
	c.r[d] *= c.r[low3(w, 3)]
	if !c.inIT() {
		c.setNZ(c.r[d])
	}
	return nil
}

// high4 returns the register in bits 7 and 2 to 0.
func high4(w uint32) uint32 { return field(w, 7, 1)<<3 | low3(w, 0) }

// execHigh makes the executor of ADD, CMP and MOV of any registers; only CMP sets flags.
func execHigh(op uint32) exec {
	return func(c *cpu, w uint32) error {
		d := high4(w)
		return c.data(op, op == opCMP, d, c.reg(d), c.reg(field(w, 3, 4)), 0)
	}
}

// badHighPair returns the reason to refuse r15 twice, and badCompare also refuses registers that have a shorter
// form.
func badHighPair(w uint32) string {
	if high4(w) == 15 && field(w, 3, 4) == 15 {
		return "r15 as an operand"
	}
	return ""
}

func badCompare(w uint32) string {
	n, m := high4(w), field(w, 3, 4)
	switch {
	case n == 15 || m == 15:
		return "r15 as an operand"
	case n < 8 && m < 8:
		return "low registers"
	}
	return ""
}

// badCallee returns the reason to refuse BLX of r15.
func badCallee(w uint32) string {
	if field(w, 3, 4) == 15 {
		return "r15 as an operand"
	}
	return ""
}

// execLiteral16 executes LDR of a word near the program counter.
func execLiteral16(c *cpu, w uint32) error {
	return c.transfer(access{size: 4, load: true}, low3(w, 8), address{at: c.alignedPC() + w&0xff*4})
}

func execReg16(k access) exec {
	return func(c *cpu, w uint32) error {
		return c.transfer(k, low3(w, 0), address{at: c.r[low3(w, 3)] + c.r[low3(w, 6)]})
	}
}

// execOffset16 handles an offset of five bits, in units of the access size.
func execOffset16(k access) exec {
	return func(c *cpu, w uint32) error {
		return c.transfer(k, low3(w, 0), address{at: c.r[low3(w, 3)] + field(w, 6, 5)*uint32(k.size)})
	}
}

func execStack16(k access) exec {
	return func(c *cpu, w uint32) error {
		return c.transfer(k, low3(w, 8), address{at: c.r[regSP] + w&0xff*4})
	}
}

func execADR16(c *cpu, w uint32) error {
	c.set(low3(w, 8), c.alignedPC()+w&0xff*4)
	return nil
}

func execAddSP16(c *cpu, w uint32) error {
	c.set(low3(w, 8), c.r[regSP]+w&0xff*4)
	return nil
}

// execMoveSP executes ADD and, by bit 7, SUB to the stack pointer itself.
func execMoveSP(c *cpu, w uint32) error {
	offset := w & 0x7f * 4
	if bit(w, 7) {
		offset = -offset
	}
	c.r[regSP] += offset
	return nil
}

// unary16 extracts the operands of the extensions and reversals.
func unary16(f operation) exec {
	return func(c *cpu, w uint32) error {
		f(c, operands{d: low3(w, 0), m: low3(w, 3), n: 15})
		return nil
	}
}

// listPUSH and listPOP return the registers of PUSH and POP: bit 8 adds lr or r15.
func listPUSH(w uint32) uint32 { return w&0xff | field(w, 8, 1)<<14 }
func listPOP(w uint32) uint32  { return w&0xff | field(w, 8, 1)<<15 }

func execPUSH16(c *cpu, w uint32) error {
	return c.storeBlock(block{n: regSP, list: listPUSH(w), before: true, writeBack: true})
}

func execPOP16(c *cpu, w uint32) error {
	return c.loadBlock(block{n: regSP, list: listPOP(w), up: true, writeBack: true})
}

func execSTM16(c *cpu, w uint32) error {
	return c.storeBlock(block{n: low3(w, 8), list: w & 0xff, up: true, writeBack: true})
}

// execLDM16 writes its base back unless it loads it.
func execLDM16(c *cpu, w uint32) error {
	n := low3(w, 8)
	return c.loadBlock(block{n: n, list: w & 0xff, up: true, writeBack: !bit(w, int(n))})
}

// emptyList returns the reason to refuse transfers of no register. noneOf9 also counts bit 8.
func emptyList(w uint32) string {
	if w&0xff == 0 {
		return "no registers"
	}
	return ""
}

func emptyList9(w uint32) string {
	if w&0x1ff == 0 {
		return "no registers"
	}
	return ""
}

func badStore16(w uint32) string {
	n := low3(w, 8)
	if bit(w, int(n)) && w&(1<<n-1) != 0 {
		return "write-back to a stored register that is not the lowest"
	}
	return emptyList(w)
}

// badIT returns the reason to refuse conditions that blocks cannot have.
func badIT(w uint32) string {
	cond, mask := field(w, 4, 4), w&15
	if cond == 15 || cond == 14 && mask&(mask-1) != 0 {
		return "an IT block under no condition"
	}
	return ""
}
