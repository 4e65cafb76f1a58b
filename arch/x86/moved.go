package x86

import (
	"encoding/binary"
	"math"

	"gotap/arch"
)

// The copy of one instruction of a window. It runs at full speed, with nothing in front of it and nothing behind.

// moved returns the copy. ok is false if an operand or a target is out of reach.
func (c copyAt) moved() (code []byte, ok bool) {
	switch c.insn.Control {
	case arch.Jump, arch.CondJump:
		return c.movedBranch()
	case arch.Call, arch.IndirCall:
		return c.movedCall()
	}
	code = append(code, c.in.bytes()...)
	return code, c.relocate(code)
}

// relocate corrects a RIP-relative operand of a copy of the same length.
func (c copyAt) relocate(code []byte) (ok bool) {
	if !c.in.ripRel {
		return true
	}
	disp, ok := c.displacement()
	binary.LittleEndian.PutUint32(code[c.in.dispOff:], uint32(disp))
	return ok
}

// movedBranch returns a direct branch with a displacement of 32 bits. Loops and jrcxz, which have short ones only, skip
// a jump over a jump to the target.
func (c copyAt) movedBranch() (code []byte, ok bool) {
	if !c.in.counts() {
		code = c.widened()
	} else {
		const overJump = 0xeb
		code = append(code, c.in.bytes()[:c.in.opOff]...)
		code = append(code, c.in.opcode, shortLen, overJump, jumpLen, 0xe9)
		code = c.appendTarget(code)
	}
	return code, reaches(c.slot+uint64(len(code)), c.insn.Target)
}

// The parts of a copied call: push of a word relative to the program counter, a jump, and the word.
const (
	pushLen = 6 // push disp32(%rip)
	wordLen = 8
)

// movedCall returns the copy of a call: the original return address is pushed, and a jump follows. The address is a
// word behind the jump, so that one instruction pushes it: a signal handler finds either all of it on the stack or
// nothing.
func (c copyAt) movedCall() (code []byte, ok bool) {
	jump, ok := c.site.at(c.slot + pushLen).jumpOfCall()
	if !ok {
		return nil, false
	}
	code = binary.LittleEndian.AppendUint32(append(code, 0xff, 0x35), uint32(len(jump)))
	code = append(code, jump...)
	return binary.LittleEndian.AppendUint64(code, c.next()), true
}

// jumpOfCall returns a jump to the function that a call calls, where the return address is already pushed.
func (c copyAt) jumpOfCall() (code []byte, ok bool) {
	in := c.in
	if c.insn.Control == arch.Call {
		return jumpTo(nil, c.slot, c.insn.Target), reaches(c.slot+jumpLen, c.insn.Target)
	}
	code = append(code, in.bytes()...)
	code[in.rmOff] = in.modrm&^0x38 | 4<<3
	if in.memory() && in.address(c.insn.Addr).base == RSP {
		return in.shifted(code)
	}
	return code, c.relocate(code)
}

// shifted adds the size of the pushed address to the displacement of an operand relative to the stack pointer, in code,
// which is a copy of the instruction. A short displacement becomes one of 32 bits if necessary.
func (in *inst) shifted(code []byte) ([]byte, bool) {
	disp := in.disp + wordLen
	if disp > math.MaxInt32 {
		return nil, false
	}
	code = code[:in.dispOff]
	code[in.rmOff] &= 0x3f
	if disp <= math.MaxInt8 {
		code[in.rmOff] |= 1 << 6
		return append(code, byte(disp)), true
	}
	code[in.rmOff] |= 2 << 6
	return binary.LittleEndian.AppendUint32(code, uint32(disp)), true
}
