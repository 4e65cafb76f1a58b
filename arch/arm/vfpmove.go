package arm

import (
	"encoding/binary"

	"gotap/arch/ieee"
)

// VFP's moves between the register files, and its loads and stores. Moves copy bits: they do not round or raise
// exceptions, and FPSCR.LEN does not repeat them. Addresses of loads and stores must be aligned to words (to
// halfwords for halves) whatever the system's settings, and Linux does not fix up their faults.

// execMoveSingle executes VMOV between Rt and Sn; bit 20 says from Sn.
func execMoveSingle(c *cpu, w uint32) error {
	if flag(w, 20) == 1 {
		c.set(field(w, 12, 4), uint32(c.s(singleN(w))))
	} else {
		c.setS(singleN(w), uint64(c.reg(field(w, 12, 4))))
	}
	return nil
}

// execMoveHalf executes VMOV.F16. The upper half of the destination is cleared.
func execMoveHalf(c *cpu, w uint32) error {
	if flag(w, 20) == 1 {
		c.set(field(w, 12, 4), uint32(c.s(singleN(w))&0xffff))
	} else {
		c.setS(singleN(w), uint64(c.reg(field(w, 12, 4))&0xffff))
	}
	return nil
}

// execMoveUpper executes VMOVX and execInsertUpper VINS, which copy between the upper half of one single and the
// lower half of another. They came with half-precision arithmetic and are undefined under short vectors, too.
func execMoveUpper(c *cpu, w uint32) error {
	c.setS(singleD(w), c.s(singleM(w))>>16)
	return c.shortVectors(ieee.Half, false)
}

func execInsertUpper(c *cpu, w uint32) error {
	c.setS(singleD(w), c.s(singleD(w))&0xffff|c.s(singleM(w))<<16)
	return c.shortVectors(ieee.Half, false)
}

// execMoveTwoSingles executes VMOV between Rt, Rt2 and Sm, Sm+1; bit 20 says from the singles.
func execMoveTwoSingles(c *cpu, w uint32) error {
	m := singleM(w) // at most s30, by the rule consecutive
	if flag(w, 20) == 1 {
		low, high := uint32(c.s(m)), uint32(c.s(m+1))
		c.set(field(w, 12, 4), low)
		c.set(field(w, 16, 4), high)
		return nil
	}
	c.setS(m, uint64(c.reg(field(w, 12, 4))))
	c.setS(m+1, uint64(c.reg(field(w, 16, 4))))
	return nil
}

// execMoveDouble executes VMOV between Rt, Rt2 and Dm; bit 20 says from Dm.
func execMoveDouble(c *cpu, w uint32) error {
	m := doubleM(w)
	if flag(w, 20) == 1 {
		v := c.d(m)
		c.set(field(w, 12, 4), uint32(v))
		c.set(field(w, 16, 4), uint32(v>>32))
		return nil
	}
	c.setD(m, uint64(c.reg(field(w, 12, 4)))|uint64(c.reg(field(w, 16, 4)))<<32)
	return nil
}

// scalarField returns the element that bits 22:21 and 6:5 select. The highest set bit gives its width, the bits
// below it its number.
func scalarField(w uint32) (e elem, index uint) {
	opc := uint(field(w, 21, 2)<<2 | field(w, 5, 2))
	switch {
	case opc&8 != 0:
		return elem{bits: 8}, opc & 7
	case opc&1 != 0:
		return elem{bits: 16}, opc >> 1 & 3
	}
	return elem{bits: 32}, opc >> 2
}

// scalarRule refuses 0x10, which selects no element, and unsigned words.
func scalarRule(w uint32, _ bool) verdict {
	e, _ := scalarField(w)
	if e.bits < 32 {
		return fine
	}
	return undefinedUnless(field(w, 5, 2) == 0 && flag(w, 23)&flag(w, 20) == 0)
}

// execToScalar executes VMOV of Rt to an element of Dn.
func execToScalar(c *cpu, w uint32) error {
	e, i := scalarField(w)
	n := doubleN(w)
	c.setD(n, withElement(e, [2]uint64{c.d(n)}, i, uint64(c.reg(field(w, 12, 4))))[0])
	return nil
}

// execFromScalar executes VMOV of an element of Dn to Rt; bit 23 says unsigned.
func execFromScalar(c *cpu, w uint32) error {
	e, i := scalarField(w)
	e.unsigned = flag(w, 23) == 1
	c.set(field(w, 12, 4), uint32(widened(e, c.d(doubleN(w)), i)))
	return nil
}

// execDupCore executes VDUP of Rt. Bits 22 and 5 give the width: 32, 16 or 8; bit 21 is Q.
func execDupCore(c *cpu, w uint32) error {
	v := replicate(elem{bits: 32 >> (flag(w, 22)<<1 | flag(w, 5))}, uint64(c.reg(field(w, 12, 4))))
	n := doubleN(w)
	c.setD(n, v)
	if flag(w, 21) == 1 {
		c.setD(n+1, v)
	}
	return nil
}

// dupCoreRule refuses the fourth width, and a quad with an odd register.
func dupCoreRule(w uint32, _ bool) verdict {
	return undefinedUnless(flag(w, 22)&flag(w, 5) == 0 && (flag(w, 21) == 0 || !oddRegister(w, lowN)))
}

// execReadStatus executes VMRS of FPSCR. If the destination is R15, the flags move to CPSR.
func execReadStatus(c *cpu, w uint32) error {
	s := uint32(c.v.Control)
	if t := field(w, 12, 4); t != 15 {
		c.set(t, s)
	} else {
		c.cpsr = c.cpsr&^(flagN|flagZ|flagC|flagV) | s&fpscrNZCV
	}
	return nil
}

// execWriteStatus executes VMSR of FPSCR. The enable bits of trapped exceptions stay 0, as on processors without
// them.
func execWriteStatus(c *cpu, w uint32) error {
	c.v.Control = uint64(c.reg(field(w, 12, 4)) & fpscrWritten)
	return nil
}

// execLoad and execStore execute VLDR and VSTR. The offset counts words, or halfwords for a half. PC as the base is
// rounded down to a word.
func execLoad(c *cpu, w uint32) error {
	addr, size := c.vfpAddress(w)
	p, err := c.readVector(addr, size, min(size, 4))
	if err != nil {
		return err
	}
	if size == 8 {
		c.setD(doubleD(w), binary.LittleEndian.Uint64(p))
	} else {
		c.setS(singleD(w), getElement(elem{bits: uint(8 * size)}, p))
	}
	return nil
}

// execStore executes VSTR. A single uses the first four of the eight bytes that are prepared, a half the first two.
func execStore(c *cpu, w uint32) error {
	addr, size := c.vfpAddress(w)
	v := c.s(singleD(w))
	if size == 8 {
		v = c.d(doubleD(w))
	}
	binary.LittleEndian.PutUint64(c.buf[:], v)
	return c.writeVector(addr, size, min(size, 4))
}

// vfpAddress returns the address of VLDR and VSTR, and the number of bytes.
func (c *core) vfpAddress(w uint32) (addr uint32, size int) {
	size = 1 << field(w, 8, 2)
	base := c.reg(field(w, 16, 4))
	if field(w, 16, 4) == 15 {
		base = c.alignedPC()
	}
	offset := field(w, 0, 8) << min(field(w, 8, 2), 2) // doubles have offsets in words, too
	if flag(w, 23) == 0 {
		offset = -offset
	}
	return base + offset, size
}

// vfpRun describes the registers of a VLDM or VSTM: the bytes in memory, the bytes by which the base changes, and
// whether they are doubles. An odd number of words is the form of FLDMX and FSTMX, which ignores the last word.
func vfpRun(w uint32) (size, step uint32, doubles bool) {
	// The immediate counts words. An odd count, of which only pairs are transferred, remains from a format word
	// that FSTMX once wrote.
	step, doubles = field(w, 0, 8)*4, flag(w, 8) == 1
	if doubles {
		return step &^ 7, step, true
	}
	return step, step, false
}

// vfpRunRule refuses empty and too long runs, and PC as a base that changes or that of Thumb.
func vfpRunRule(w uint32, thumb bool) verdict {
	size, step, doubles := vfpRun(w)
	last := singleD(w) + size/4
	if doubles {
		last = doubleD(w) + size/8
	}
	if size != step { // FLDMX and FSTMX, which are older than d16
		last += 16
	}
	switch {
	case size == 0:
		return emptyRun
	case field(w, 16, 4) == 15 && (thumb || flag(w, 21) == 1):
		return pcOperand
	}
	return pastLast.when(size > 128 || last > 32)
}

// runAddress returns the start of the run and the new base register. Going down, the base changes first.
func (c *core) runAddress(w, step uint32) (addr, moved uint32) {
	base := c.reg(field(w, 16, 4))
	if flag(w, 23) == 0 {
		return base - step, base - step
	}
	return base, base + step
}

// execLoadRun executes VLDM and VPOP, and execStoreRun VSTM and VPUSH. Bit 21 means that the base changes.
func execLoadRun(c *cpu, w uint32) error {
	size, step, doubles := vfpRun(w)
	addr, moved := c.runAddress(w, step)
	p, err := c.readVector(addr, int(size), 4)
	if err != nil {
		return err
	}
	for i := uint32(0); i < size/4; i++ {
		v := uint64(binary.LittleEndian.Uint32(p[4*i:]))
		if doubles {
			c.setWord(doubleD(w)+i/2, i&1, v)
		} else {
			c.setS(singleD(w)+i, v)
		}
	}
	c.moveBase(w, moved)
	return nil
}

// execStoreRun prepares all registers in c.buf: the whole run is one write, so a fault leaves memory unchanged.
func execStoreRun(c *cpu, w uint32) error {
	size, step, doubles := vfpRun(w)
	addr, moved := c.runAddress(w, step)
	for i := uint32(0); i < size/4; i++ {
		v := uint32(c.s(singleD(w) + i&31))
		if doubles {
			v = uint32(c.d(doubleD(w)+i/2) >> (32 * (i & 1)))
		}
		binary.LittleEndian.PutUint32(c.buf[4*i:], v)
	}
	if err := c.writeVector(addr, int(size), 4); err != nil {
		return err
	}
	c.moveBase(w, moved)
	return nil
}

// moveBase updates the base register if bit 21 is set. It does so after the transfer, which may fault.
func (c *core) moveBase(w, to uint32) {
	if flag(w, 21) == 1 {
		c.set(field(w, 16, 4), to)
	}
}

// setWord replaces one word of a double.
func (c *vectorUnit) setWord(d, word uint32, v uint64) {
	shift := 32 * word
	c.setD(d, c.d(d)&^(0xffffffff<<shift)|v<<shift)
}

// readVector reads memory at an address that must be aligned; writeVector writes the bytes in buf.
func (b *bus) readVector(addr uint32, size, align int) ([]byte, error) {
	if err := aligned(addr, align, false); err != nil {
		return nil, err
	}
	return b.read(addr, size)
}

// writeVector writes the first bytes of buf to an address that must be aligned.
func (b *bus) writeVector(addr uint32, size, align int) error {
	if err := aligned(addr, align, true); err != nil {
		return err
	}
	return b.write(addr, b.buf[:size])
}
