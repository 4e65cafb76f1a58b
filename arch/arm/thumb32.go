package arm

// The 32-bit instructions of Thumb: how the fields of their two halfwords, the first above the second, map to
// operations.

// imm12T32 returns the twelve bits of an immediate in three places.
func imm12T32(w uint32) uint32 { return field(w, 26, 1)<<11 | field(w, 12, 3)<<8 | w&0xff }

// imm16T32 returns the immediate of MOVW and MOVT.
func imm16T32(w uint32) uint32 { return field(w, 16, 4)<<12 | imm12T32(w) }

// expandT32 returns a modified immediate and its carry (ThumbExpandImm_C): a byte in one of four patterns, or a
// rotated byte.
func expandT32(w, carry uint32) (v, carryOut uint32) {
	imm := imm12T32(w)
	b := imm & 0xff
	switch imm >> 8 {
	case 0:
		return b, carry
	case 1:
		return b<<16 | b, carry
	case 2:
		return b<<24 | b<<8, carry
	case 3:
		return b<<24 | b<<16 | b<<8 | b, carry
	}
	return shiftBy(imm&0x7f|0x80, ror, imm>>7, carry)
}

// zeroPattern returns the reason to refuse a zero byte in a pattern.
func zeroPattern(w uint32) string {
	imm := imm12T32(w)
	if imm>>8 >= 1 && imm>>8 <= 3 && imm&0xff == 0 {
		return "a pattern of zeros as an immediate"
	}
	return ""
}

// badStackT32 returns the reason to refuse sums into r13 whose first operand is not r13.
func badStackT32(w uint32) string {
	if field(w, 8, 4) == regSP && field(w, 16, 4) != regSP {
		return "r13 as the sum of something else"
	}
	return ""
}

// badShiftedStackT32 does the same for register operands: what is added to r13 may be shifted left by up to 3.
func badShiftedStackT32(w uint32) string {
	if field(w, 8, 4) == regSP && (field(w, 4, 2) != lsl || shiftT32(w) > 3) {
		return "r13 as the sum of a register shifted so"
	}
	return badStackT32(w)
}

// badStackMove returns the reason to refuse moves of registers: only a move without a shift and without flags may
// read or write r13, and not both.
func badStackMove(w uint32) string {
	d, m := field(w, 8, 4) == regSP, w&15 == regSP
	if d && m || (d || m) && (bit(w, 20) || w&0x70f0 != 0) {
		return "r13 as an operand"
	}
	return ""
}

// execImmT32 makes the executor of a data-processing operation with a modified immediate.
func execImmT32(op uint32) exec {
	return func(c *cpu, w uint32) error {
		b, carry := expandT32(w, c.carry())
		return c.data(op, bit(w, 20), field(w, 8, 4), c.reg(field(w, 16, 4)), b, carry)
	}
}

// shiftT32 returns the amount of a shift in two places.
func shiftT32(w uint32) uint32 { return field(w, 12, 3)<<2 | field(w, 6, 2) }

// execRegT32 makes the executor of one with a register shifted by an immediate.
func execRegT32(op uint32) exec {
	return func(c *cpu, w uint32) error {
		b, carry := shiftImm(c.reg(w&15), field(w, 4, 2), shiftT32(w), c.carry())
		return c.data(op, bit(w, 20), field(w, 8, 4), c.reg(field(w, 16, 4)), b, carry)
	}
}

// execShiftT32 makes the executor of a shift by a register.
func execShiftT32(c *cpu, w uint32) error {
	v, carry := shiftBy(c.r[field(w, 16, 4)], field(w, 21, 2), c.r[w&15]&0xff, c.carry())
	return c.data(opMOV, bit(w, 20), field(w, 8, 4), 0, v, carry)
}

// execADDW executes ADDW and, by bit 23, SUBW. With r15 they are ADR.
func execADDW(c *cpu, w uint32) error {
	v, offset := c.reg(field(w, 16, 4)), imm12T32(w)
	if field(w, 16, 4) == 15 {
		v = c.alignedPC()
	}
	if bit(w, 23) {
		offset = -offset
	}
	c.set(field(w, 8, 4), v+offset)
	return nil
}

func execMOVWT32(c *cpu, w uint32) error {
	c.set(field(w, 8, 4), imm16T32(w))
	return nil
}

func execMOVTT32(c *cpu, w uint32) error {
	d := field(w, 8, 4)
	c.set(d, c.r[d]&0xffff|imm16T32(w)<<16)
	return nil
}

func execPKHT32(c *cpu, w uint32) error {
	c.pack(field(w, 8, 4), field(w, 16, 4), w&15, shiftT32(w), bit(w, 5))
	return nil
}

// execSATT32 executes SSAT, and USAT by bit 23, which saturates to one bit less.
func execSATT32(c *cpu, w uint32) error {
	unsigned := bit(w, 23)
	c.saturateWord(field(w, 8, 4), field(w, 16, 4), w&31+ones(!unsigned), shiftT32(w), bit(w, 21), unsigned)
	return nil
}

func execSAT16T32(c *cpu, w uint32) error {
	unsigned := bit(w, 23)
	c.saturateHalves(field(w, 8, 4), field(w, 16, 4), w&15+ones(!unsigned), unsigned)
	return nil
}

// execBFXT32 executes SBFX, and UBFX by bit 23.
func execBFXT32(c *cpu, w uint32) error {
	c.extract(field(w, 8, 4), field(w, 16, 4), shiftT32(w), w&31+1, bit(w, 23))
	return nil
}

func execBFIT32(c *cpu, w uint32) error {
	c.insert(field(w, 8, 4), field(w, 16, 4), shiftT32(w), w&31)
	return nil
}

func wideFieldT32(w uint32) string {
	if shiftT32(w)+w&31 > 31 {
		return "a field beyond bit 31"
	}
	return ""
}

func emptyFieldT32(w uint32) string {
	if w&31 < shiftT32(w) {
		return "a field that ends before it begins"
	}
	return ""
}

// sameTwice returns the reason to refuse instructions that name one register in two places.
func sameTwice(w uint32) string {
	if field(w, 16, 4) != w&15 {
		return "one register named as two"
	}
	return ""
}

// oneLongT32 returns the reason to refuse long multiplications whose two results are one register.
func oneLongT32(w uint32) string {
	if field(w, 12, 4) == field(w, 8, 4) {
		return "two results in one register"
	}
	return ""
}

// execLongOffset handles an offset of twelve bits.
func execLongOffset(k access) exec {
	return func(c *cpu, w uint32) error {
		return c.transfer(k, field(w, 12, 4), c.indexed(field(w, 16, 4), w&0xfff, indexing{add: true, before: true}))
	}
}

// execLiteralT32 handles offsets relative to r15, up or down by bit 23.
func execLiteralT32(k access) exec {
	return func(c *cpu, w uint32) error {
		return c.transfer(k, field(w, 12, 4), c.indexed(15, w&0xfff, indexing{add: bit(w, 23), before: true}))
	}
}

// execShortOffset handles an offset of eight bits, and the bits P, U and W.
func execShortOffset(k access) exec {
	return func(c *cpu, w uint32) error {
		return c.transfer(k, field(w, 12, 4), c.indexed(field(w, 16, 4), w&0xff, indexing{bit(w, 9), bit(w, 10), bit(w, 8)}))
	}
}

// execRegOffset handles a register as the offset, shifted left by up to 3.
func execRegOffset(k access) exec {
	return func(c *cpu, w uint32) error {
		offset := c.r[w&15] << field(w, 4, 2)
		return c.transfer(k, field(w, 12, 4), c.indexed(field(w, 16, 4), offset, indexing{add: true, before: true}))
	}
}

// badShort returns the reason to refuse write-backs to the transferred register.
func badShort(w uint32) string {
	if bit(w, 8) {
		return sameBase(w)
	}
	return ""
}

// execDoubleT32 executes LDRD and, where bit 20 is clear, STRD.
func execDoubleT32(c *cpu, w uint32) error {
	a := c.indexed(field(w, 16, 4), w&0xff*4, indexing{bit(w, 23), bit(w, 24), bit(w, 21)})
	return c.transferPair(bit(w, 20), field(w, 12, 4), field(w, 8, 4), a)
}

func badDoubleT32(w uint32) string {
	t, t2, n := field(w, 12, 4), field(w, 8, 4), field(w, 16, 4)
	switch {
	case bit(w, 20) && t == t2:
		return "one register loaded twice"
	case n == 15 && (!bit(w, 20) || bit(w, 21)):
		return "r15 as a base"
	case bit(w, 21) && (n == t || n == t2):
		return "write-back to the register transferred"
	}
	return ""
}

// blockT32 decodes LDM and STM: the base is the low end of the memory, or the high end below it.
func blockT32(w uint32) block {
	down := bit(w, 24)
	return block{n: field(w, 16, 4), list: w & 0xffff, up: !down, before: down, writeBack: bit(w, 21)}
}

func execLDMT32(c *cpu, w uint32) error { return c.loadBlock(blockT32(w)) }
func execSTMT32(c *cpu, w uint32) error { return c.storeBlock(blockT32(w)) }

func badBlockT32(w uint32) string {
	list := w & 0xffff
	switch {
	case list&(list-1) == 0:
		return "fewer than two registers"
	case bit(w, 15) && (bit(w, 14) || !bit(w, 20)):
		return "r15 in the list"
	case bit(w, 21) && bit(w, int(field(w, 16, 4))):
		return "write-back to the register transferred"
	}
	return ""
}

func execLDREXT32(size int) exec {
	return func(c *cpu, w uint32) error {
		return c.loadExclusive(field(w, 12, 4), field(w, 8, 4), c.reg(field(w, 16, 4)), size)
	}
}

func execSTREXT32(c *cpu, w uint32) error { return c.storeExclusive(w & 15) }

// The word forms have an offset, and another field for the status register.

func execLDREXWord(c *cpu, w uint32) error {
	return c.loadExclusive(field(w, 12, 4), 0, c.reg(field(w, 16, 4))+w&0xff*4, 4)
}

func execSTREXWord(c *cpu, w uint32) error {
	return c.storeExclusive(field(w, 8, 4))
}

func badSTREXWord(w uint32) string {
	if d := field(w, 8, 4); d == field(w, 12, 4) || d == field(w, 16, 4) {
		return "a status in a register that the instruction reads"
	}
	return ""
}

func badSTREXT32(w uint32) string {
	if d := w & 15; d == field(w, 12, 4) || d == field(w, 16, 4) {
		return "a status in a register that the instruction reads"
	}
	return ""
}

func badSTREXDT32(w uint32) string {
	if w&15 == field(w, 8, 4) {
		return "a status in a register that the instruction reads"
	}
	return badSTREXT32(w)
}

func badLDREXDT32(w uint32) string {
	if field(w, 12, 4) == field(w, 8, 4) {
		return "one register loaded twice"
	}
	return ""
}

func execOrderedT32(k access) exec {
	return func(c *cpu, w uint32) error { return c.ordered(k, field(w, 12, 4), c.reg(field(w, 16, 4))) }
}

func noFieldsT32(w uint32) string {
	if field(w, 8, 4) == 0 {
		return "no field to write"
	}
	return ""
}
