package x86

import (
	"encoding/binary"
	"unsafe"

	"gotap/arch"
)

// How emulation accesses registers and memory.
//
// Bytes to and from memory pass through a word of arch.Regs behind the last register. A buffer on the stack would
// escape to the heap, because it is passed to an interface, and a pooled one would need a lock. The register file
// already exists and belongs to the caller for the duration of the call. The cast below is sound: the word is 8
// bytes of an array that outlives the call, byte slices need no alignment, and the Go memory model treats both
// views as one variable. The word is restored, so the register file compares equal afterwards.

const bufferWord = NumRegs

// buffer returns the spare word as bytes.
func buffer(regs *arch.Regs, size uint8) []byte {
	return (*[8]byte)(unsafe.Pointer(&regs[bufferWord]))[:size]
}

// load reads a little-endian number of 1, 2, 4 or 8 bytes.
func load(regs *arch.Regs, mem arch.Memory, addr uint64, size uint8) (uint64, error) {
	saved := regs[bufferWord]
	regs[bufferWord] = 0
	err := mem.ReadMemory(addr, buffer(regs, size))
	v := binary.LittleEndian.Uint64(buffer(regs, 8))
	regs[bufferWord] = saved
	return v, err
}

// store writes a little-endian number of 1, 2, 4 or 8 bytes.
func store(regs *arch.Regs, mem arch.Memory, addr, v uint64, size uint8) error {
	saved := regs[bufferWord]
	binary.LittleEndian.PutUint64(buffer(regs, 8), v)
	err := mem.WriteMemory(addr, buffer(regs, size))
	regs[bufferWord] = saved
	return err
}

// setReg writes a register as a processor does: 32 bits clear the upper half, 8 and 16 keep the rest.
func setReg(regs *arch.Regs, o operand, v uint64, size uint8) {
	r := &regs[o.index]
	switch {
	case o.kind == inHighByte:
		*r = *r&^0xff00 | v&0xff<<8
	case size == 8:
		*r = v
	case size == 4:
		*r = v & 0xffffffff
	default:
		*r = *r&^sizeMask(size) | v&sizeMask(size)
	}
}

// effective returns the address without the segment base, as lea does.
func (a *address) effective(regs *arch.Regs) uint64 {
	ea := a.disp
	if a.base != none {
		ea += regs[a.base]
	}
	if a.index != none {
		ea += regs[a.index] << a.scale
	}
	return ea & a.mask
}

// linear returns the address with the segment base.
func (s *site) linear(regs *arch.Regs) (uint64, error) {
	a := &s.form.mem
	ea := a.effective(regs)
	if a.segment != none {
		ea += regs[a.segment]
	}
	if a.selector != none && !a.usable(regs[a.selector]) {
		return 0, errSegment
	}
	return s.isa.wrap(ea), nil
}

// usable reports whether the base of a segment is known in 32-bit mode. The register file has the bases of fs and
// gs, if they are loaded. The others are flat unless the program created segments of its own.
func (a *address) usable(selector uint64) bool {
	if a.segment != none {
		return selector&^3 != 0
	}
	return !ownSegment(selector)
}

// ownSegment reports whether a selector names a segment that the program created: in the local descriptor table, or
// in one of the three thread-local entries of the global table.
func ownSegment(selector uint64) bool {
	return selector&4 != 0 || selector >= 0x60 && selector <= 0x73
}

// get returns the value of an operand. Bits beyond size are undefined.
func (s *site) get(o operand, size uint8, regs *arch.Regs, mem arch.Memory) (uint64, error) {
	switch o.kind {
	case inRegister:
		return regs[o.index], nil
	case inHighByte:
		return regs[o.index] >> 8, nil
	case immediate:
		return s.form.imm, nil
	}
	addr, err := s.linear(regs)
	if err != nil {
		return 0, err
	}
	return load(regs, mem, addr, size)
}

// put writes an operand of the form's size.
func (s *site) put(o operand, v uint64, regs *arch.Regs, mem arch.Memory) error {
	if o.kind != inMemory {
		setReg(regs, o, v, s.form.size)
		return nil
	}
	addr, err := s.linear(regs)
	if err != nil {
		return err
	}
	return store(regs, mem, addr, v, s.form.size)
}
