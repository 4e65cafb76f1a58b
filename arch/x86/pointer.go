package x86

import "encoding/binary"

// The x87 unit records the address, the operand address and the opcode of the last instruction that was not a
// control instruction (Intel SDM vol. 1, 8.1.8 and 8.1.9). Programs read them with fnstenv, fnsave, fxsave and
// xsave, and in the frame of a signal handler. After the step of a copy, the recorded address is that of the copy.
//
// Intel's processors record it for every such instruction. AMD's do so too, but save and restore it only while an
// unmasked exception is pending, so a switch to another thread may clear it.

// Offsets in the image that fxsave64 writes. The kernel uses this layout for 64-bit and 32-bit threads.
const (
	imageFOP = 6
	imageFIP = 8
)

// LeavesAddress implements arch.FloatSite. It reports all x87 instructions except the control instructions.
func (s *site) LeavesAddress() bool {
	in := s.in
	return in.enc == legacy && in.opmap == mapLegacy && in.opcode>>3 == 0xd8>>3 && !in.controlsFloat()
}

// controlsFloat reports the control instructions among the x87 opcodes: those that load and store the environment,
// the whole state, the control word and the status word, and fnclex, fninit and similar ones.
func (in *inst) controlsFloat() bool {
	op, reg := in.opcode, in.regField()
	if in.memory() {
		return op == 0xd9 && reg >= 4 || op == 0xdd && (reg == 4 || reg >= 6)
	}
	return op == 0xdb && reg == 4 || op == 0xdf && in.modrm == 0xe0
}

// RepairAddress implements arch.FloatSite. If the copy borrows a register, its ModRM byte differs, and that is part
// of the recorded opcode.
//
// An address of zero comes from an AMD processor, which reports the address only while an exception is pending: the
// unit may still hold the copy's. Writing the state back clears it, as a switch to another thread would.
//
// An address of 64-bit mode may have lost its upper half. That was seen on a virtual machine with a busy processor of
// AMD: something below the kernel saves and restores the unit in the 32-bit form.
func (s *site) RepairAddress(image []byte, slot uint64) (changed bool) {
	at := binary.LittleEndian.Uint64(image[imageFIP:])
	off := uint64(uint32(at) - uint32(slot))
	whole := s.isa.long && at>>32 == slot>>32
	if s.isa.long && !whole && !isNarrow(at) {
		return false
	}
	if slot == s.insn.Addr || off >= uint64(s.insn.Len) {
		return at == 0
	}
	if home := s.insn.Addr + off; whole {
		binary.LittleEndian.PutUint64(image[imageFIP:], home)
	} else {
		binary.LittleEndian.PutUint32(image[imageFIP:], uint32(home))
	}
	if s.at(slot).borrows() && image[imageFOP] == s.rebased() {
		image[imageFOP] = s.in.modrm
	}
	return true
}

// isNarrow reports whether a recorded address may be one of the 32-bit form, which has the selector of the code segment
// above 32 bits of the address. Newer processors store a selector of 0; the others are those that Linux gives programs.
func isNarrow(at uint64) bool {
	const user64, user32 = 0x33, 0x23
	selector := at >> 32
	return selector == 0 || selector == user64 || selector == user32
}
