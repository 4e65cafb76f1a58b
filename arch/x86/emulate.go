package x86

import (
	"errors"

	"gotap/arch"
)

// Reasons to leave an instruction to the processor.
const (
	errNoEmulation = arch.Refusal("the instruction is not emulated")
	errOwnStep     = arch.Refusal("the program single-steps itself, or checks alignment")
	errSegment     = arch.Refusal("a segment whose base is not known")
	errCanonical   = arch.Refusal("a branch to an address that is not canonical")
)

// Emulate completes the instruction. Every routine does what can fail before it changes a register, and writes
// memory at most once, so an error leaves everything unchanged. Errors other than those of mem match
// arch.ErrUnsupported: the instruction has to be stepped.
func (s *site) Emulate(regs *arch.Regs, mem arch.Memory) error {
	if regs[EFLAGS]&(flagTF|flagAC) != 0 && s.form.do != doBegin {
		return errOwnStep
	}
	return s.complete(regs, mem)
}

// complete is Emulate without the check of the flags.
func (s *site) complete(regs *arch.Regs, mem arch.Memory) error {
	if s.form.do == doBegin {
		return s.begin(regs)
	}
	if s.form.do >= doPush {
		if !s.isa.long && ownSegment(regs[SS]) {
			return errSegment
		}
		return s.emulateStack(regs, mem)
	}
	if err := s.emulateData(regs, mem); err != nil {
		return err
	}
	regs[RIP] = s.form.next
	return nil
}

// emulateData emulates the instructions that continue with the next one and do not use the stack.
func (s *site) emulateData(regs *arch.Regs, mem arch.Memory) error {
	f := &s.form
	switch f.do {
	case doNop:
	case doMove:
		return s.move(regs, mem)
	case doExtend:
		return s.extend(regs, mem)
	case doLea:
		setReg(regs, f.dst, f.mem.effective(regs), f.size)
	case doExchange:
		s.exchange(regs)
	case doSwap:
		s.swap(regs)
	case doALU:
		return s.alu(regs, mem)
	case doUnary:
		return s.unary(regs, mem)
	case doShift:
		return s.shift(regs, mem)
	case doBitTest:
		s.bitTest(regs)
	case doCmov:
		return s.cmov(regs, mem)
	case doSet:
		return s.set(regs, mem)
	case doWiden:
		setReg(regs, operand{inRegister, RAX}, signExtend(regs[RAX], f.size/2), f.size)
	case doSignFill:
		setReg(regs, operand{inRegister, RDX}, uint64(int64(signExtend(regs[RAX], f.size))>>63), f.size)
	case doFlag:
		s.flag(regs)
	case doLAHF:
		setReg(regs, operand{inHighByte, RAX}, regs[EFLAGS]&flagsStatus&0xff|2, 1)
	case doSAHF:
		setStatus(regs, regs[RAX]>>8&flagsStatus&0xff|regs[EFLAGS]&flagOF)
	default:
		return errNoEmulation
	}
	return nil
}

// emulateStack emulates pushes, pops and branches. The routines set the program counter themselves.
func (s *site) emulateStack(regs *arch.Regs, mem arch.Memory) error {
	f := &s.form
	switch f.do {
	case doPush:
		return s.push(regs, mem)
	case doPop:
		return s.pop(regs, mem)
	case doLeave:
		return s.leave(regs, mem)
	case doPushF:
		return s.pushValue(regs, mem, regs[EFLAGS]&^(flagRF|flagVM)|flagsAlways, f.next)
	case doPopF:
		return s.popFlags(regs, mem)
	case doJump:
		return s.branch(regs, f.target)
	case doJumpIf:
		return s.branchIf(regs, holds(f.op, regs[EFLAGS]))
	case doLoop:
		return s.loop(regs)
	case doJumpTo:
		return s.jumpTo(regs, mem)
	case doCall:
		return s.call(regs, mem, f.target)
	case doCallTo:
		return s.callTo(regs, mem)
	case doReturn:
		return s.ret(regs, mem)
	}
	return errNoEmulation
}

// setStatus replaces the status flags.
func setStatus(regs *arch.Regs, flags uint64) {
	regs[EFLAGS] = regs[EFLAGS]&^flagsStatus | flags
}

func (s *site) move(regs *arch.Regs, mem arch.Memory) error {
	v, err := s.get(s.form.src, s.form.size, regs, mem)
	if err != nil {
		return err
	}
	return s.put(s.form.dst, v, regs, mem)
}

// extend emulates movzx, movsx and movsxd.
func (s *site) extend(regs *arch.Regs, mem arch.Memory) error {
	f := &s.form
	v, err := s.get(f.src, f.from, regs, mem)
	if err != nil {
		return err
	}
	if f.op == 0 {
		v &= sizeMask(f.from)
	} else {
		v = signExtend(v, f.from)
	}
	setReg(regs, f.dst, v, f.size)
	return nil
}

// exchange swaps two registers. Either may be a high byte.
func (s *site) exchange(regs *arch.Regs) {
	f := &s.form
	a, _ := s.get(f.dst, f.size, regs, nil) // registers cannot fail
	b, _ := s.get(f.src, f.size, regs, nil)
	setReg(regs, f.dst, b, f.size)
	setReg(regs, f.src, a, f.size)
}

// swap reverses the bytes of a register of 4 or 8 bytes.
func (s *site) swap(regs *arch.Regs) {
	v, r := regs[s.form.dst.index], uint64(0)
	for range s.form.size {
		r, v = r<<8|v&0xff, v>>8
	}
	setReg(regs, s.form.dst, r, s.form.size)
}

// ofWrite turns the fault of a read into one of a write. A processor that reads an operand in order to change it
// requests write access at once, and the page fault says so.
func ofWrite(err error) error {
	if fault := (*arch.FaultError)(nil); errors.As(err, &fault) {
		return &arch.FaultError{Addr: fault.Addr, Write: true}
	}
	return err
}

func (s *site) alu(regs *arch.Regs, mem arch.Memory) error {
	f := &s.form
	writes := f.op != aluCMP && f.op != aluTEST
	a, err := s.get(f.dst, f.size, regs, mem)
	if err != nil {
		if writes {
			err = ofWrite(err)
		}
		return err
	}
	b, err := s.get(f.src, f.size, regs, mem)
	if err != nil {
		return err
	}
	r, flags := alu(f.op, a, b, f.size, regs[EFLAGS]&flagCF)
	if writes {
		if err := s.put(f.dst, r, regs, mem); err != nil {
			return err
		}
	}
	setStatus(regs, flags)
	return nil
}

func (s *site) unary(regs *arch.Regs, mem arch.Memory) error {
	f := &s.form
	a, err := s.get(f.dst, f.size, regs, mem)
	if err != nil {
		return ofWrite(err)
	}
	r, flags := unary(f.op, a, f.size, regs[EFLAGS])
	if err := s.put(f.dst, r, regs, mem); err != nil {
		return err
	}
	setStatus(regs, flags)
	return nil
}

// shift by zero changes only the upper half of a 32-bit register.
func (s *site) shift(regs *arch.Regs, mem arch.Memory) error {
	f := &s.form
	a, err := s.get(f.dst, f.size, regs, mem)
	if err != nil {
		return ofWrite(err)
	}
	if f.imm == 0 {
		return s.put(f.dst, a, regs, mem)
	}
	r, flags := shift(f.op, a, uint(f.imm), f.size)
	if err := s.put(f.dst, r, regs, mem); err != nil {
		return err
	}
	setStatus(regs, flags)
	return nil
}

// bitTest changes no flag but CF. The architecture leaves the others undefined; processors keep them.
func (s *site) bitTest(regs *arch.Regs) {
	f := &s.form
	n, _ := s.get(f.src, f.size, regs, nil) // a register or an immediate
	bit := uint64(1) << (n & (8*uint64(f.size) - 1))
	v := regs[f.dst.index]
	regs[EFLAGS] &^= flagCF
	if v&bit != 0 {
		regs[EFLAGS] |= flagCF
	}
	switch f.op {
	case 0:
		return
	case 1:
		v |= bit
	case 2:
		v &^= bit
	case 3:
		v ^= bit
	}
	setReg(regs, f.dst, v, f.size)
}

// cmov reads its source and clears the upper half of a 32-bit destination even if the condition fails.
func (s *site) cmov(regs *arch.Regs, mem arch.Memory) error {
	f := &s.form
	v, err := s.get(f.src, f.size, regs, mem)
	if err != nil {
		return err
	}
	if !holds(f.op, regs[EFLAGS]) {
		v = regs[f.dst.index]
	}
	setReg(regs, f.dst, v, f.size)
	return nil
}

func (s *site) set(regs *arch.Regs, mem arch.Memory) error {
	v := uint64(0)
	if holds(s.form.op, regs[EFLAGS]) {
		v = 1
	}
	return s.put(s.form.dst, v, regs, mem)
}

// flag emulates the instructions that change one flag, by opcode.
func (s *site) flag(regs *arch.Regs) {
	switch s.form.op {
	case 0xf5:
		regs[EFLAGS] ^= flagCF
	case 0xf8:
		regs[EFLAGS] &^= flagCF
	case 0xf9:
		regs[EFLAGS] |= flagCF
	case 0xfc:
		regs[EFLAGS] &^= flagDF
	case 0xfd:
		regs[EFLAGS] |= flagDF
	}
}
