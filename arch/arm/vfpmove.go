package arm

import (
	"encoding/binary"

	"gotap/arch/ieee"
)

// VFP's moves between the register files, and its loads and stores. Moves carry bits: they round nothing, raise nothing, and FPSCR.LEN does
// not repeat them. The addresses of loads and stores have to be aligned to words (to halfwords for halves) under any setting of the
// system, and Linux mends no fault of theirs.

// execMoveSingle is VMOV between Rt and Sn; bit 20 says from Sn.
func execMoveSingle(c *cpu, w uint32) error {
	if flag(w, 20) == 1 {
		c.set(field(w, 12, 4), uint32(c.s(singleN(w))))
	} else {
		c.setS(singleN(w), uint64(c.reg(field(w, 12, 4))))
	}
	return nil
}

// execMoveHalf is VMOV.F16: the upper half of the destination is cleared.
func execMoveHalf(c *cpu, w uint32) error {
	if flag(w, 20) == 1 {
		c.set(field(w, 12, 4), uint32(c.s(singleN(w))&0xffff))
	} else {
		c.setS(singleN(w), uint64(c.reg(field(w, 12, 4))&0xffff))
	}
	return nil
}

// execMoveUpper is VMOVX, execInsertUpper VINS: between the upper half of one single and the lower half of another. They came with the
// arithmetic in half precision, and are as undefined under short vectors.
func execMoveUpper(c *cpu, w uint32) error {
	c.setS(singleD(w), c.s(singleM(w))>>16)
	return c.shortVectors(ieee.Half, false)
}

func execInsertUpper(c *cpu, w uint32) error {
	c.setS(singleD(w), c.s(singleD(w))&0xffff|c.s(singleM(w))<<16)
	return c.shortVectors(ieee.Half, false)
}

// execMoveTwoSingles is VMOV between Rt, Rt2 and Sm, Sm+1; bit 20 says from the singles.
func execMoveTwoSingles(c *cpu, w uint32) error {
	m := singleM(w) // at most s30; consecutive has seen to that
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

// execMoveDouble is VMOV between Rt, Rt2 and Dm; bit 20 says from Dm.
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

// scalarField is the element that bits 22:21 and 6:5 name: the highest one tells the width, what is below it the number.
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

// scalarRule refuses 0x10, which names no element, and words that are said to be unsigned.
func scalarRule(w uint32, _ bool) verdict {
	e, _ := scalarField(w)
	if e.bits < 32 {
		return fine
	}
	return undefinedUnless(field(w, 5, 2) == 0 && flag(w, 23)&flag(w, 20) == 0)
}

// execToScalar is VMOV of Rt to an element of Dn.
func execToScalar(c *cpu, w uint32) error {
	e, i := scalarField(w)
	n := doubleN(w)
	c.setD(n, withElement(e, [2]uint64{c.d(n)}, i, uint64(c.reg(field(w, 12, 4))))[0])
	return nil
}

// execFromScalar is VMOV of an element of Dn to Rt; bit 23 says unsigned.
func execFromScalar(c *cpu, w uint32) error {
	e, i := scalarField(w)
	e.unsigned = flag(w, 23) == 1
	c.set(field(w, 12, 4), uint32(widened(e, c.d(doubleN(w)), i)))
	return nil
}

// execDupCore is VDUP of Rt. Bits 22 and 5 give the width: 32, 16 or 8; bit 21 is Q.
func execDupCore(c *cpu, w uint32) error {
	v := replicate(elem{bits: 32 >> (flag(w, 22)<<1 | flag(w, 5))}, uint64(c.reg(field(w, 12, 4))))
	n := doubleN(w)
	c.setD(n, v)
	if flag(w, 21) == 1 {
		c.setD(n+1, v)
	}
	return nil
}

// dupCoreRule refuses the width that would be none of the three, and a quad of an odd register.
func dupCoreRule(w uint32, _ bool) verdict {
	return undefinedUnless(flag(w, 22)&flag(w, 5) == 0 && (flag(w, 21) == 0 || !oddRegister(w, lowN)))
}

// execReadStatus is VMRS of FPSCR; to R15 it is the flags that move to CPSR.
func execReadStatus(c *cpu, w uint32) error {
	s := uint32(c.v.Control)
	if t := field(w, 12, 4); t != 15 {
		c.set(t, s)
	} else {
		c.cpsr = c.cpsr&^(flagN|flagZ|flagC|flagV) | s&fpscrNZCV
	}
	return nil
}

// execWriteStatus is VMSR of FPSCR. The enable bits of trapped exceptions stay 0, as on every processor without those.
func execWriteStatus(c *cpu, w uint32) error {
	c.v.Control = uint64(c.reg(field(w, 12, 4)) & fpscrWritten)
	return nil
}

// execLoad and execStore are VLDR and VSTR. The offset counts words, of a half half-words; PC as a base is rounded down to a word.
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

// execStore is VSTR. A single takes the first four of the eight bytes that are laid out, a half the first two.
func execStore(c *cpu, w uint32) error {
	addr, size := c.vfpAddress(w)
	v := c.s(singleD(w))
	if size == 8 {
		v = c.d(doubleD(w))
	}
	binary.LittleEndian.PutUint64(c.buf[:], v)
	return c.writeVector(addr, size, min(size, 4))
}

// vfpAddress is the address of VLDR and VSTR, and how many bytes they move.
func (c *cpu) vfpAddress(w uint32) (addr uint32, size int) {
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

// vfpRun is the registers of a VLDM or VSTM: bytes from the first on in memory, all that the base moves, and whether they are
// doubles. An odd number of words is the form of FLDMX and FSTMX, which leaves the last one out.
func vfpRun(w uint32) (size, step uint32, doubles bool) {
	// The immediate counts words. That the base moves by an odd number of them while only pairs are transferred is what is left of a
	// format word that FSTMX once wrote.
	step, doubles = field(w, 0, 8)*4, flag(w, 8) == 1
	if doubles {
		return step &^ 7, step, true
	}
	return step, step, false
}

// vfpRunRule refuses empty and too long runs, and PC as a base that moves or that of Thumb.
func vfpRunRule(w uint32, thumb bool) verdict {
	size, step, doubles := vfpRun(w)
	last := singleD(w) + size/4
	if doubles {
		last = doubleD(w) + size/8
	}
	if size != step { // of FLDMX and FSTMX, which are older than d16
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

// runAddress is where the run begins and what the base register becomes. Going down the base moves first.
func (c *cpu) runAddress(w, step uint32) (addr, moved uint32) {
	base := c.reg(field(w, 16, 4))
	if flag(w, 23) == 0 {
		return base - step, base - step
	}
	return base, base + step
}

// execLoadRun is VLDM and VPOP, execStoreRun VSTM and VPUSH; bit 21 says that the base moves.
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

// execStoreRun lays all registers out in c.buf first: the whole run is one write, so that a fault leaves memory as it was.
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

// moveBase gives the base register its new value, if bit 21 asks for it; after the transfer, as that may fault.
func (c *cpu) moveBase(w, to uint32) {
	if flag(w, 21) == 1 {
		c.set(field(w, 16, 4), to)
	}
}

// setWord replaces one word of a double.
func (c *cpu) setWord(d, word uint32, v uint64) {
	shift := 32 * word
	c.setD(d, c.d(d)&^(0xffffffff<<shift)|v<<shift)
}

// readVector is memory at an address that has to be aligned; writeVector writes what lies in c.buf.
func (c *cpu) readVector(addr uint32, size, align int) ([]byte, error) {
	if err := aligned(addr, align, false); err != nil {
		return nil, err
	}
	return c.read(addr, size)
}

// writeVector writes the first bytes of c.buf to an address that has to be aligned.
func (c *cpu) writeVector(addr uint32, size, align int) error {
	if err := aligned(addr, align, true); err != nil {
		return err
	}
	return c.write(addr, c.buf[:size])
}
