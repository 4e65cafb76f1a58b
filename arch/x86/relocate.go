package x86

import (
	"encoding/binary"
	"math"

	"gotap/arch"
)

// The copy of an instruction in a slot, and its operand that is relative to the program counter.
//
// If the operand is within reach of the slot, the copy has a corrected displacement. Otherwise its addressing form
// is changed from [rip + disp32] to [register + disp32], which has the same length, and the register is lent the
// value that rip would have had. This works at any distance.

// candidates are the registers that may be borrowed. None needs an extension bit. Three suffice: an instruction
// names at most two others, and no instruction with a ModRM byte uses rsi or rdi without naming it.
var candidates = [...]uint8{6, 7, 3} // rsi, rdi, rbx

// scratchRegister returns the register to borrow, which neither the reg field nor the extra register of a vector
// encoding names.
func (in *inst) scratchRegister() uint8 {
	if !in.ripRel {
		return none
	}
	for _, r := range candidates {
		if r != in.reg() && (in.enc == legacy || r != in.vvvv) {
			return gpr[r]
		}
	}
	return none // not reached: three candidates, two excluded at most
}

// copyAt is a copy of an instruction that runs at an address, mostly that of a slot.
type copyAt struct {
	*site
	slot uint64
}

// at returns the copy at an address.
func (s *site) at(slot uint64) copyAt { return copyAt{s, slot} }

// displacement returns the displacement that a RIP-relative operand needs there, and whether it is possible. With
// an address-size prefix, the processor truncates the sum to 32 bits, which no displacement can compensate.
func (c copyAt) displacement() (disp int64, ok bool) {
	delta := int64(c.insn.Addr - c.slot)
	disp = c.in.disp + delta
	far := delta > math.MaxInt32 || delta < math.MinInt32
	return disp, !far && disp == int64(int32(disp)) && !c.in.addrsize
}

// borrows reports whether the copy borrows a register.
func (c copyAt) borrows() bool {
	if !c.in.ripRel || c.slot == c.insn.Addr {
		return false
	}
	_, ok := c.displacement()
	return !ok
}

// nop follows a copy that borrows a register, because a jump back could not return the register. It serves steps
// that execute one instruction more: after mov ss and pop ss, and after instructions that the kernel emulates (sgdt
// and others, under UMIP).
const nop = 0x90

// OutOfLine returns the copy to run at slot. If the instruction continues with the next one, a jump back follows
// it. A step rarely reaches the jump (see nop); it serves a thread whose tracer died, and an untraced child of a
// fork that was stepped.
func (s *site) OutOfLine(slot uint64) ([]byte, error) {
	c := s.at(slot)
	if err := c.checkSlot(); err != nil {
		return nil, err
	}
	code := make([]byte, s.insn.Len, slotSize)
	copy(code, s.in.bytes())
	if c.borrows() {
		s.rebase(code)
		return append(code, nop), nil
	}
	if c.direct() {
		return c.redirect(), nil
	}
	if s.in.ripRel {
		disp, _ := c.displacement()
		binary.LittleEndian.PutUint32(code[s.in.dispOff:], uint32(disp))
	}
	switch s.insn.Control {
	case arch.Plain, arch.Syscall, arch.IndirCall:
		code = c.appendJump(code)
	}
	return code, nil
}

// direct reports whether the copy of a direct branch goes to the real target, not to where the original
// displacement leads from there.
func (c copyAt) direct() bool {
	if c.in.relLen == 0 || c.slot == c.insn.Addr || c.in.relLen == 1 && c.in.length+growth > maxLen {
		return false // redundant prefixes leave too little room
	}
	if !c.isa.long {
		return true
	}
	const reach = math.MaxInt32 - slotSize
	rel := int64(c.insn.Target - c.slot)
	home := int64(c.next() - c.slot)
	return rel < reach && rel > -reach && home < reach && home > -reach
}

// redirect returns the copy of a direct branch with a displacement of 32 bits. A short jump is widened. Loops and
// jrcxz cannot be widened: they skip the jump back and reach a second jump, to the target. So does xbegin: a step of it
// also executes the first instruction of the abort handler, which has to be one of the copy.
func (c copyAt) redirect() []byte {
	if in := c.in; in.skips() {
		code := append(make([]byte, 0, slotSize), in.bytes()[:in.immOff]...)
		code = append(append(code, jumpLen), make([]byte, in.relLen-1)...)
		return c.appendTarget(append(c.appendJump(code), 0xe9))
	}
	return c.appendJump(c.widened())
}

// skips reports direct branches whose copies skip the jump back to reach a second jump, to the target.
func (in *inst) skips() bool { return in.counts() || in.begins() }

// counts reports loop, loope, loopne and jrcxz, which have short displacements only.
func (in *inst) counts() bool {
	return in.enc == legacy && in.opmap == mapLegacy && in.opcode >= 0xe0 && in.opcode <= 0xe3
}

// widened returns a direct branch with a displacement of 32 bits.
func (c copyAt) widened() []byte {
	in := c.in
	code := append(make([]byte, 0, slotSize), in.bytes()[:in.immOff]...)
	if in.relLen == 1 {
		code = append(code[:in.opOff], 0xe9)
		if in.opcode != 0xeb {
			code = append(code[:in.opOff], 0x0f, 0x80|in.opcode&0xf)
		}
	}
	return c.appendTarget(code)
}

// jumpLen is the length of the relative jump back, shortLen that of a jump with a displacement of one byte, growth that
// of a conditional jump's long displacement and second opcode byte less that of the short one.
const (
	jumpLen  = 5
	shortLen = 2
	growth   = 4
)

// appendTarget appends the displacement of 32 bits to the target, the last part of a branch.
func (c copyAt) appendTarget(code []byte) []byte {
	end := c.slot + uint64(len(code)) + 4
	return binary.LittleEndian.AppendUint32(code, uint32(c.insn.Target-end))
}

// checkSlot refuses addresses of slots from which a direct branch would go to an address that is not canonical: the
// processor would fault before the branch.
func (c copyAt) checkSlot() error {
	if !c.isa.long && c.slot+slotSize > 1<<32 || c.isa.long && !canonical(c.slot+slotSize) {
		return &arch.RefusedError{Addr: c.insn.Addr, Reason: "the slot is outside the address space"}
	}
	if c.in.relLen == 0 || !c.isa.long || c.direct() {
		return nil
	}
	if c.in.begins() {
		return &arch.RefusedError{Addr: c.insn.Addr, Reason: "the abort handler is out of reach from the slot"}
	}
	if top := int64(c.landing()) >> 47; top != 0 && top != -1 {
		return &arch.RefusedError{Addr: c.insn.Addr, Reason: "the branch leaves the address space from the slot"}
	}
	return nil
}

// landing returns the target of a direct branch whose displacement is that of the original.
func (c copyAt) landing() uint64 {
	return c.isa.wrap(c.slot + uint64(c.insn.Len) + uint64(c.in.imm))
}

// rebase changes [rip + disp32] to [scratch + disp32] in place. The extension bit of the base had no meaning and
// must now be clear; VEX, EVEX and XOP store it inverted.
func (s *site) rebase(code []byte) {
	in := s.in
	code[in.rmOff] = s.rebased()
	switch in.enc {
	case legacy:
		if in.rex != 0 {
			code[in.prefix] &^= rexB
		}
	case vex3, evex, xop:
		code[in.prefix+1] |= 0x20
	}
}

// rebased returns the ModRM byte of a copy that borrows a register.
func (s *site) rebased() uint8 { return 0x80 | s.in.modrm&0x38 | s.scratchNumber() }

// scratchNumber returns the borrowed register's number in the encoding.
func (s *site) scratchNumber() uint8 {
	for _, r := range candidates {
		if gpr[r] == s.scratch {
			return r
		}
	}
	return 0
}

// appendJump appends a jump to the next instruction: a relative one if it reaches, otherwise one through an address
// that follows it.
func (c copyAt) appendJump(code []byte) []byte {
	end := c.slot + uint64(len(code)) + 5
	rel := int64(c.next() - end)
	if !c.isa.long || rel == int64(int32(rel)) {
		return binary.LittleEndian.AppendUint32(append(code, 0xe9), uint32(rel))
	}
	code = append(code, 0xff, 0x25, 0, 0, 0, 0) // jmp *0(%rip)
	return binary.LittleEndian.AppendUint64(code, c.next())
}
