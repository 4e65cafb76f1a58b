package arm

// Branches. Linked ones leave the return address in lr, with bit 0 set in Thumb.
func (c *core) link() { c.r[regLR] = c.next | ones(c.thumb) }

// call branches to a register's value, which is read before lr is written.
func (c *core) call(m uint32) error {
	target := c.reg(m)
	c.link()
	return c.exchangeTo(target)
}

// jump is a branch relative to r15.
func (c *core) jump(offset uint32) { c.branchTo(c.reg(15) + offset) }

// callOther branches to the other instruction set, relative to r15.
func (c *core) callOther(offset uint32) error {
	c.link()
	return c.exchangeTo(c.alignedPC() + offset | ones(!c.thumb))
}

// signed returns the low n bits of v as a signed number.
func signed(v uint32, n int) uint32 { return uint32(int32(v<<(32-n)) >> (32 - n)) }

func execBA32(c *cpu, w uint32) error {
	c.jump(offsetA32(w))
	return nil
}

func execBLA32(c *cpu, w uint32) error {
	c.link()
	c.jump(offsetA32(w))
	return nil
}

// execBLXA32 has one more bit of offset, because its target is Thumb code.
func execBLXA32(c *cpu, w uint32) error { return c.callOther(offsetA32(w) + field(w, 24, 1)*2) }

func offsetA32(w uint32) uint32 { return signed(w<<2, 26) }

func execBXA32(c *cpu, w uint32) error  { return c.exchangeTo(c.reg(w & 15)) }
func execBLXReg(c *cpu, w uint32) error { return c.call(w & 15) }

func execBXT16(c *cpu, w uint32) error  { return c.exchangeTo(c.reg(field(w, 3, 4))) }
func execBLXT16(c *cpu, w uint32) error { return c.call(field(w, 3, 4)) }
func execBXJT32(c *cpu, w uint32) error { return c.exchangeTo(c.reg(field(w, 16, 4))) }

func execBT16(c *cpu, w uint32) error {
	c.jump(signed(w<<1, 12))
	return nil
}

// execBCondT16 and execBCondT32 have a condition of their own, so they cannot be in an IT block.
func execBCondT16(c *cpu, w uint32) error {
	c.jump(signed(w<<1, 9))
	return nil
}

func execBCondT32(c *cpu, w uint32) error {
	c.jump(offsetCondT32(w))
	return nil
}

func execBT32(c *cpu, w uint32) error {
	c.jump(offsetT32(w))
	return nil
}

func execBLT32(c *cpu, w uint32) error {
	c.link()
	c.jump(offsetT32(w))
	return nil
}

func execBLXT32(c *cpu, w uint32) error { return c.callOther(offsetT32(w)) }

// offsetT32 returns the offset of B, BL and BLX. J1 and J2 are stored as complements of the sign.
func offsetT32(w uint32) uint32 {
	s := field(w, 26, 1)
	i1, i2 := ^(w>>13^s)&1, ^(w>>11^s)&1
	return signed(s<<24|i1<<23|i2<<22|field(w, 16, 10)<<12|field(w, 0, 11)<<1, 25)
}

// offsetCondT32 returns the offset of the conditional branch.
func offsetCondT32(w uint32) uint32 {
	return signed(field(w, 26, 1)<<20|field(w, 11, 1)<<19|field(w, 13, 1)<<18|field(w, 16, 6)<<12|field(w, 0, 11)<<1, 21)
}

// execCBZ executes CBZ, and CBNZ by bit 11.
func execCBZ(c *cpu, w uint32) error {
	if (c.r[w&7] == 0) != bit(w, 11) {
		c.jump(offsetCBZ(w))
	}
	return nil
}

func offsetCBZ(w uint32) uint32 { return field(w, 9, 1)<<6 | field(w, 3, 5)<<1 }

// execTB executes TBB, and TBH by bit 4: a branch forward by an element of a table.
func execTB(c *cpu, w uint32) error {
	size := 1 + int(field(w, 4, 1))
	v, err := c.load(c.reg(field(w, 16, 4))+c.reg(w&15)*uint32(size), size)
	if err != nil {
		return err
	}
	c.jump(2 * v)
	return nil
}

// execIT begins a block.
func execIT(c *cpu, w uint32) error {
	c.cpsr, c.newIT = withIT(c.cpsr, w&0xff), true
	return nil
}

// condT16 and condT32 return the condition in the encoding of a conditional branch of Thumb.
func condT16(w uint32) uint32 {
	if w>>12 == 13 && w>>8&15 < 14 {
		return w >> 8 & 15
	}
	return 14
}

func condT32(w uint32) uint32 {
	if w&0xf800d000 == 0xf0008000 && w>>23&7 != 7 {
		return w >> 22 & 15
	}
	return 14
}
