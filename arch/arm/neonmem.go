package arm

import "encoding/binary"

// NEON's loads and stores of elements and structures (Arm ARM DDI 0487, F6.1 VLD1 to VST4). The memory of one
// instruction is always contiguous, so one call transfers it and a fault leaves nothing half done.
//
// In memory, the elements of a structure are adjacent. Each goes to a register of its own, at the same index. An
// address need not be aligned to its elements, as under Linux (SCTLR.A is 0), but must have the alignment that the
// encoding states.

// neonTransfer describes such an instruction: structures of several elements, in registers that are step apart.
type neonTransfer struct {
	e        elem
	elements uint32 // of a structure: the 1 to 4 in the name
	repeats  uint32 // consecutive doubles for every element; VLD1 has up to four, VLD2 with four registers two
	step     uint32 // distance of the doubles of neighbouring elements of a structure
	align    int    // bytes; 1 for none
}

// neonMultiples maps the type field (bits 11:8) to the transfer.
var neonMultiples = [16]struct{ elements, repeats, step uint32 }{
	0b0000: {4, 1, 1}, 0b0001: {4, 1, 2},
	0b0010: {1, 4, 1}, 0b0011: {2, 2, 2},
	0b0100: {3, 1, 1}, 0b0101: {3, 1, 2},
	0b0110: {1, 3, 1}, 0b0111: {1, 1, 1},
	0b1000: {2, 1, 1}, 0b1001: {2, 1, 2},
	0b1010: {1, 2, 1},
}

// neonMultiple returns the transfer of a load or store of whole registers.
func neonMultiple(w uint32) neonTransfer {
	t := neonMultiples[field(w, 8, 4)]
	align := 1
	if a := field(w, 4, 2); a != 0 {
		align = 4 << a // 8, 16 or 32
	}
	return neonTransfer{elem{bits: 8 << field(w, 6, 2)}, t.elements, t.repeats, t.step, align}
}

// neonMultipleRule refuses what the manual's tables leave undefined, registers past the last, and PC as the base.
func neonMultipleRule(w uint32, _ bool) verdict {
	t := neonMultiple(w)
	align := field(w, 4, 2)
	last := doubleD(w) + (t.elements-1)*t.step + t.repeats - 1
	// An alignment greater than the transfer does not exist.
	switch {
	case t.elements == 0,
		t.elements > 1 && t.e.bits == 64,
		t.elements == 1 && t.repeats&1 == 1 && align >= 2,
		t.elements == 3 && align >= 2,
		t.elements == 1 && t.repeats == 2 && align == 3,
		t.elements == 2 && t.repeats == 1 && align == 3:
		return undefined
	}
	return transferRule(w, last)
}

// transferRule refuses PC as the base, and registers past the last.
func transferRule(w, last uint32) verdict {
	if field(w, 16, 4) == 15 {
		return pcOperand
	}
	return pastLast.when(last > 31)
}

// size returns the number of bytes of whole registers.
func (t neonTransfer) size() uint32 { return 8 * t.elements * t.repeats }

// execLoadMultiple executes VLD1 to VLD4 of whole registers.
func execLoadMultiple(c *cpu, w uint32) error {
	t := neonMultiple(w)
	mem, err := c.readVector(c.reg(field(w, 16, 4)), int(t.size()), t.align)
	if err != nil {
		return err
	}
	// From here on nothing can fail.
	t.walk(doubleD(w), func(reg uint32, i uint, at uint32) {
		c.setD(reg, withElement(t.e, [2]uint64{c.d(reg)}, i, getElement(t.e, mem[at:]))[0])
	})
	c.afterVector(w, t.size())
	return nil
}

// execStoreMultiple executes VST1 to VST4 of whole registers. It prepares the bytes in c.buf and writes them at
// once.
func execStoreMultiple(c *cpu, w uint32) error {
	t := neonMultiple(w)
	t.walk(doubleD(w), func(reg uint32, i uint, at uint32) {
		putElement(t.e, c.buf[at:], c.d(reg)>>(i*t.e.bits))
	})
	if err := c.writeVector(c.reg(field(w, 16, 4)), int(t.size()), t.align); err != nil {
		return err
	}
	c.afterVector(w, t.size())
	return nil
}

// walk calls move for every element: its register, its number there, and its offset in memory.
func (t neonTransfer) walk(first uint32, move func(reg uint32, i uint, at uint32)) {
	at := uint32(0)
	for r := uint32(0); r < t.repeats; r++ {
		for i := uint(0); i < 64/t.e.bits; i++ {
			for n := uint32(0); n < t.elements; n++ {
				move(first+r+n*t.step, i, at)
				at += uint32(t.e.bits / 8)
			}
		}
	}
}

// getElement and putElement read and write an element in memory, little-endian.
func getElement(e elem, p []byte) uint64 {
	var b [8]byte
	copy(b[:], p[:e.bits/8])
	return binary.LittleEndian.Uint64(b[:])
}

func putElement(e elem, p []byte, v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	copy(p[:e.bits/8], b[:])
}

// neonSingle returns the transfer of one element of every register. Bits 9:8 are the number of elements of the
// structure minus one. The number of the element, the step and the alignment share bits 7:4.
func neonSingle(w uint32) (t neonTransfer, index uint, v verdict) {
	size, low := field(w, 10, 2), field(w, 4, 4)
	t = neonTransfer{e: elem{bits: 8 << size}, elements: field(w, 8, 2) + 1, repeats: 1, step: 1, align: 1}
	index = uint(low >> (size + 1))
	// Below the number of the element are the step, if there is room for one, and the alignment.
	if size > 0 && t.elements > 1 {
		t.step += low >> size & 1
		low &= 1<<size - 1
	} else {
		low &= 2<<size - 1
	}
	t.align, v = singleAlign(size, t.elements, low)
	return t, index, v
}

// singleAlign returns the alignment of a load or store of one element of every register, from the bits that remain
// for it.
func singleAlign(size, elements, low uint32) (int, verdict) {
	whole := int(elements << size) // of the structure, in bytes
	switch {
	case low == 0:
		return 1, fine
	case elements == 1: // all bits of the field are set, or none
		return whole, undefinedUnless(size > 0 && low == 1<<size-1)
	case elements == 3: // three elements are never aligned
		return 1, undefined
	case elements == 4 && size == 2: // four words can be aligned to half of their length, too
		return 4 << low, undefinedUnless(low < 3)
	}
	return whole, undefinedUnless(low == 1)
}

// neonSingleRule refuses registers past the last and PC as the base, and what singleAlign refuses.
func neonSingleRule(w uint32, _ bool) verdict {
	t, _, v := neonSingle(w)
	if v != fine {
		return v
	}
	return transferRule(w, doubleD(w)+(t.elements-1)*t.step)
}

// execLoadSingle keeps the other elements of its registers.
func execLoadSingle(c *cpu, w uint32) error {
	t, index, _ := neonSingle(w)
	bytes := uint32(t.e.bits / 8)
	mem, err := c.readVector(c.reg(field(w, 16, 4)), int(t.elements*bytes), t.align)
	if err != nil {
		return err
	}
	for n := uint32(0); n < t.elements; n++ {
		reg := doubleD(w) + n*t.step
		c.setD(reg, withElement(t.e, [2]uint64{c.d(reg)}, index, getElement(t.e, mem[n*bytes:]))[0])
	}
	c.afterVector(w, t.elements*bytes)
	return nil
}

// execStoreSingle executes VST1 to VST4 of one element of every register.
func execStoreSingle(c *cpu, w uint32) error {
	t, index, _ := neonSingle(w)
	bytes := uint32(t.e.bits / 8)
	for n := uint32(0); n < t.elements; n++ {
		putElement(t.e, c.buf[n*bytes:], c.d(doubleD(w)+n*t.step)>>(index*t.e.bits))
	}
	if err := c.writeVector(c.reg(field(w, 16, 4)), int(t.elements*bytes), t.align); err != nil {
		return err
	}
	c.afterVector(w, t.elements*bytes)
	return nil
}

// neonEvery returns the transfer that loads one structure into all elements of its registers.
func neonEvery(w uint32) (t neonTransfer, v verdict) {
	size, aligned := field(w, 6, 2), flag(w, 4)
	t = neonTransfer{e: elem{bits: 8 << size}, elements: field(w, 8, 2) + 1, repeats: 1, step: 1 + flag(w, 5), align: 1}
	switch t.elements {
	case 1:
		t.repeats, t.step = t.step, 1 // the T bit is a second register here
		if size == 3 || size == 0 && aligned == 1 {
			return t, undefined
		}
	case 3:
		if size == 3 || aligned == 1 {
			return t, undefined
		}
	case 4:
		if size == 3 { // words aligned to 16 bytes
			t.e, t.align = elem{bits: 32}, 16
			return t, undefinedUnless(aligned == 1)
		}
		if size == 2 && aligned == 1 {
			t.align = 8
			return t, fine
		}
	}
	if aligned == 1 {
		t.align = int(t.elements << size)
	}
	return t, undefinedUnless(size != 3)
}

// undefinedUnless returns the verdict of a rule that has one condition.
func undefinedUnless(ok bool) verdict { return undefined.when(!ok) }

// neonEveryRule refuses registers past the last and PC as the base, and what neonEvery refuses.
func neonEveryRule(w uint32, _ bool) verdict {
	t, v := neonEvery(w)
	if v != fine {
		return v
	}
	return transferRule(w, doubleD(w)+(t.elements-1)*t.step+t.repeats-1)
}

// execLoadEvery reads one structure and fills a register, or two for some forms of VLD1, with each of its elements.
func execLoadEvery(c *cpu, w uint32) error {
	t, _ := neonEvery(w)
	bytes := uint32(t.e.bits / 8)
	mem, err := c.readVector(c.reg(field(w, 16, 4)), int(t.elements*bytes), t.align)
	if err != nil {
		return err
	}
	for n := uint32(0); n < t.elements; n++ {
		for r := uint32(0); r < t.repeats; r++ {
			c.setD(doubleD(w)+n*t.step+r, replicate(t.e, getElement(t.e, mem[n*bytes:])))
		}
	}
	c.afterVector(w, t.elements*bytes)
	return nil
}

// afterVector updates the base: not at all if Rm is PC, by the size of the transfer if it is SP, else by Rm.
func (c *core) afterVector(w uint32, moved uint32) {
	n, m := field(w, 16, 4), field(w, 0, 4)
	switch m {
	case 15:
	case 13:
		c.set(n, c.reg(n)+moved)
	default:
		c.set(n, c.reg(n)+c.reg(m))
	}
}
