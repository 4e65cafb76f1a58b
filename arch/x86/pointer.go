package x86

import "encoding/binary"

// The x87 unit keeps the address, the operand's address and the opcode of the last instruction that was not one of its control
// instructions (Intel SDM vol. 1, 8.1.8 and 8.1.9). Programs see them by fnstenv, fnsave, fxsave, xsave, and in the frame of a signal
// handler. After the step of a copy the address is the copy's.
//
// Intel's processors write it for every such instruction. AMD's do too, but save and restore it only while an unmasked exception is
// pending, so that a switch to another thread clears it otherwise.

// Offsets in the image that fxsave64 writes, in which the kernel gives the state of 64-bit and 32-bit threads alike.
const (
	imageFOP = 6
	imageFIP = 8
)

// LeavesAddress implements arch.FloatSite: all x87 instructions but the control instructions.
func (s *site) LeavesAddress() bool {
	in := s.in
	return in.enc == legacy && in.opmap == mapLegacy && in.opcode>>3 == 0xd8>>3 && !in.controlsFloat()
}

// controlsFloat reports the control instructions among the x87 opcodes: those that load and store the environment, the whole state, the
// control word and the status word, and fnclex, fninit and kin.
func (in *inst) controlsFloat() bool {
	op, reg := in.opcode, in.regField()
	if in.memory() {
		return op == 0xd9 && reg >= 4 || op == 0xdd && (reg == 4 || reg >= 6)
	}
	return op == 0xdb && reg == 4 || op == 0xdf && in.modrm == 0xe0
}

// RepairAddress implements arch.FloatSite. A copy that borrows a register has another ModRM byte, which is part of the opcode that the
// unit keeps.
//
// An address of zero is that of an AMD processor, which tells of it only while an exception is pending: the unit may still hold the
// copy's. Writing the state back replaces it, by what a switch to another thread would have left.
func (s *site) RepairAddress(image []byte, slot uint64) (changed bool) {
	at := binary.LittleEndian.Uint64(image[imageFIP:])
	if !s.isa.long { // the selector of the code segment may stand above it
		at &= 0xffffffff
	}
	off := s.isa.wrap(at - slot)
	if slot == s.insn.Addr || off >= uint64(s.insn.Len) {
		return at == 0
	}
	home := s.isa.wrap(s.insn.Addr + off)
	if s.isa.long {
		binary.LittleEndian.PutUint64(image[imageFIP:], home)
	} else {
		binary.LittleEndian.PutUint32(image[imageFIP:], uint32(home))
	}
	if s.borrows(slot) && image[imageFOP] == s.rebased() {
		image[imageFOP] = s.in.modrm
	}
	return true
}
