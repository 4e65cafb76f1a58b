package arm

// The instructions of A32: how the fields of their words map to operations.

// expandA32 returns a rotated immediate and its carry (A32ExpandImm_C).
func expandA32(w, carry uint32) (v, carryOut uint32) {
	n := field(w, 8, 4) * 2
	return shiftBy(w&0xff, ror, n, carry)
}

// operation4 returns bits 24 to 21: the number of a data-processing operation.
func operation4(w uint32) uint32 { return field(w, 21, 4) }

func execDataImm(c *cpu, w uint32) error {
	b, carry := expandA32(w, c.carry())
	return c.dataA32(w, b, carry)
}

func execDataReg(c *cpu, w uint32) error {
	b, carry := shiftImm(c.reg(w&15), field(w, 5, 2), field(w, 7, 5), c.carry())
	return c.dataA32(w, b, carry)
}

func execDataShift(c *cpu, w uint32) error {
	b, carry := shiftBy(c.reg(w&15), field(w, 5, 2), c.reg(field(w, 8, 4))&0xff, c.carry())
	return c.dataA32(w, b, carry)
}

func (c *core) dataA32(w, b, carry uint32) error {
	return c.data(operation4(w), bit(w, 20), field(w, 12, 4), c.reg(field(w, 16, 4)), b, carry)
}

// imm16A32 returns the immediate of MOVW and MOVT.
func imm16A32(w uint32) uint32 { return field(w, 16, 4)<<12 | w&0xfff }

func execMOVW(c *cpu, w uint32) error {
	c.set(field(w, 12, 4), imm16A32(w))
	return nil
}

func execMOVT(c *cpu, w uint32) error {
	d := field(w, 12, 4)
	c.set(d, c.r[d]&0xffff|imm16A32(w)<<16)
	return nil
}

func execPKHA32(c *cpu, w uint32) error {
	c.pack(field(w, 12, 4), field(w, 16, 4), w&15, field(w, 7, 5), bit(w, 6))
	return nil
}

// execSATA32 executes SSAT, and USAT by bit 22, which saturates to one bit less.
func execSATA32(c *cpu, w uint32) error {
	unsigned := bit(w, 22)
	c.saturateWord(field(w, 12, 4), w&15, field(w, 16, 5)+ones(!unsigned), field(w, 7, 5), bit(w, 6), unsigned)
	return nil
}

func execSAT16A32(c *cpu, w uint32) error {
	unsigned := bit(w, 22)
	c.saturateHalves(field(w, 12, 4), w&15, field(w, 16, 4)+ones(!unsigned), unsigned)
	return nil
}

// execBFXA32 executes SBFX, and UBFX by bit 22.
func execBFXA32(c *cpu, w uint32) error {
	c.extract(field(w, 12, 4), w&15, field(w, 7, 5), field(w, 16, 5)+1, bit(w, 22))
	return nil
}

func execBFIA32(c *cpu, w uint32) error {
	c.insert(field(w, 12, 4), w&15, field(w, 7, 5), field(w, 16, 5))
	return nil
}

// addressA32 reads the bits P, U and W and the base register. An access after which the base changes is always a
// write-back.
func (c *core) addressA32(w, offset uint32) address {
	before := bit(w, 24)
	return c.indexed(field(w, 16, 4), offset, indexing{add: bit(w, 23), before: before, writeBack: !before || bit(w, 21)})
}

// wordOrByte returns the access of LDR, STR and their byte forms.
func wordOrByte(w uint32) access {
	if bit(w, 22) {
		return access{size: 1, load: bit(w, 20)}
	}
	return access{size: 4, load: bit(w, 20)}
}

func execLDRImm(c *cpu, w uint32) error {
	return c.transfer(wordOrByte(w), field(w, 12, 4), c.addressA32(w, w&0xfff))
}

func execLDRReg(c *cpu, w uint32) error {
	offset, _ := shiftImm(c.reg(w&15), field(w, 5, 2), field(w, 7, 5), c.carry())
	return c.transfer(wordOrByte(w), field(w, 12, 4), c.addressA32(w, offset))
}

// extraOffset returns the offset of the halfword, signed and doubleword transfers. By bit 22 it is an immediate in
// two parts, or a register.
func (c *core) extraOffset(w uint32) uint32 {
	if bit(w, 22) {
		return field(w, 8, 4)<<4 | w&15
	}
	return c.reg(w & 15)
}

func execExtra(k access) exec {
	return func(c *cpu, w uint32) error {
		return c.transfer(k, field(w, 12, 4), c.addressA32(w, c.extraOffset(w)))
	}
}

// execDouble executes STRD, and LDRD where bit 5 is clear.
func execDouble(c *cpu, w uint32) error {
	t := field(w, 12, 4)
	return c.transferPair(!bit(w, 5), t, t+1, c.addressA32(w, c.extraOffset(w)))
}

// blockA32 reads the bits of LDM and STM.
func blockA32(w uint32) block {
	return block{n: field(w, 16, 4), list: w & 0xffff, up: bit(w, 23), before: bit(w, 24), writeBack: bit(w, 21)}
}

func execLDMA32(c *cpu, w uint32) error { return c.loadBlock(blockA32(w)) }
func execSTMA32(c *cpu, w uint32) error { return c.storeBlock(blockA32(w)) }

func execSWP(c *cpu, w uint32) error {
	size := 4
	if bit(w, 22) {
		size = 1
	}
	return c.swap(field(w, 12, 4), w&15, c.reg(field(w, 16, 4)), size)
}

func execLDREXA32(size int) exec {
	return func(c *cpu, w uint32) error {
		t := field(w, 12, 4)
		return c.loadExclusive(t, t+1, c.reg(field(w, 16, 4)), size)
	}
}

func execSTREXA32(c *cpu, w uint32) error { return c.storeExclusive(field(w, 12, 4)) }

func execLDAA32(size int) exec {
	return func(c *cpu, w uint32) error {
		return c.ordered(access{size: size, load: true}, field(w, 12, 4), c.reg(field(w, 16, 4)))
	}
}

func execSTLA32(size int) exec {
	return func(c *cpu, w uint32) error { return c.ordered(access{size: size}, w&15, c.reg(field(w, 16, 4))) }
}
