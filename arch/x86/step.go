package x86

import "gotap/arch"

// What a single step of a copy leaves wrong, and its correction.

// repair says what to do after the step of an instruction, besides correcting the program counter.
type repair uint8

const (
	repairNone    repair = iota
	repairBranch         // direct branch: the target is relative to the slot
	repairCall           // the return address that was pushed; of a direct call, the target too
	repairPushF          // the trap flag that was pushed
	repairPopF           // the trap flag that was popped
	repairIret           // the same, two words up
	repairSyscall        // rcx is the return address, r11 the flags with the trap flag
)

// repairOf chooses the repair of an instruction.
func (in *inst) repairOf() repair {
	switch {
	case in.enc != legacy:
		return repairNone
	case in.is(map0F, 0x05):
		return repairSyscall
	case in.opmap == mapLegacy && in.pushesPC():
		return repairCall
	case in.relLen != 0:
		return repairBranch
	case in.is(mapLegacy, 0x9c):
		return repairPushF
	case in.is(mapLegacy, 0x9d):
		return repairPopF
	case in.is(mapLegacy, 0xcf):
		return repairIret
	}
	return repairNone
}

// pushesPC reports near and far calls.
func (in *inst) pushesPC() bool {
	switch in.opcode {
	case 0xe8, 0x9a:
		return true
	case 0xff:
		return in.regField() == 2 || in.regField() == 3
	}
	return false
}

// pushedSize returns the size of the return address that a call pushes. Far calls use the operand size in 64-bit
// mode too.
func (in *inst) pushedSize() uint8 {
	if in.pushesSegment() {
		return in.operandSize()
	}
	return in.stackSize()
}

// pushesSegment reports far calls, which push the code segment in front of the return address.
func (in *inst) pushesSegment() bool {
	return in.opcode == 0x9a || in.opcode == 0xff && in.regField() == 3
}

// The words of StepState.Saved.
const (
	savedScratch = iota
	savedSP
	savedCX
)

// BeforeStep makes regs run the copy at slot. For a step in place, slot is the address of the instruction itself.
func (s *site) BeforeStep(regs *arch.Regs, slot uint64) arch.StepState {
	st := arch.StepState{Flags: uint32(regs[EFLAGS])}
	st.Saved[savedSP], st.Saved[savedCX] = regs[RSP], regs[RCX]
	if s.at(slot).borrows() {
		st.Saved[savedScratch] = regs[s.scratch]
		regs[s.scratch] = s.next()
	}
	regs[RIP] = slot
	return st
}

// AfterStep corrects regs and memory after the thread stopped for any reason: after the step, at a fault, or for a
// signal before it. It must be called exactly once for each BeforeStep. If the instruction has not run or has
// iterations left, done is false and the program counter is at the instruction. done is true for a system call that
// a signal interrupted and that the kernel will restart.
func (s *site) AfterStep(regs *arch.Regs, mem arch.Memory, slot uint64, st arch.StepState) (done bool, err error) {
	if s.at(slot).borrows() {
		regs[s.scratch] = st.Saved[savedScratch]
	}
	switch s.repair {
	case repairBranch:
		return s.afterBranch(regs, slot, st), nil
	case repairCall:
		return s.afterCall(regs, mem, slot, st)
	case repairPushF:
		return s.afterPushF(regs, mem, slot, st)
	case repairPopF:
		return s.afterPopF(regs, mem, slot, st.Saved[savedSP], s.in.stackSize())
	case repairIret:
		size := s.in.operandSize()
		return s.afterPopF(regs, mem, slot, st.Saved[savedSP]+2*uint64(size), size)
	case repairSyscall:
		s.afterSyscall(regs, slot, st)
	}
	return s.home(regs, slot), nil
}

// home maps a program counter in the copy to the same place in the original. It reports whether the instruction has
// run: it has not if the program counter is at the start of the copy. The instruction itself set a program counter
// outside the copy.
func (s *site) home(regs *arch.Regs, slot uint64) (done bool) {
	off, length := s.isa.wrap(regs[RIP]-slot), uint64(s.insn.Len)
	switch {
	case off <= length:
		regs[RIP] = s.isa.wrap(s.insn.Addr + off)
	case off == length+1 && s.at(slot).borrows(): // the nop has run too
		regs[RIP] = s.next()
	}
	return off != 0
}

// afterBranch handles direct branches. A branch to itself looks as if it had not run. It cannot fault, so it counts
// as done, unless it is a loop that has not counted.
func (s *site) afterBranch(regs *arch.Regs, slot uint64, st arch.StepState) bool {
	if s.at(slot).direct() {
		return s.afterRedirect(regs, slot)
	}
	if regs[RIP] != s.at(slot).landing() {
		return s.home(regs, slot)
	}
	regs[RIP] = s.insn.Target
	if s.insn.Target != s.insn.Addr {
		return true
	}
	counts := s.in.opcode >= 0xe0 && s.in.opcode < 0xe3
	return !counts || regs[RCX] != st.Saved[savedCX]
}

// afterRedirect handles branches with a corrected target. A thread that is still in the slot has not run the
// branch, or continues behind it, or is at the second jump of a loop.
func (s *site) afterRedirect(regs *arch.Regs, slot uint64) bool {
	off := s.isa.wrap(regs[RIP] - slot)
	switch {
	case off >= slotSize:
		return true
	case off == 0:
		regs[RIP] = s.insn.Addr
		return false
	case s.in.skips() && off == uint64(s.in.length)+jumpLen:
		regs[RIP] = s.insn.Target
	default:
		regs[RIP] = s.next()
	}
	return true
}

// afterCall compares stack pointers to find out whether the call has run: the target of a call to itself may be the
// slot.
func (s *site) afterCall(regs *arch.Regs, mem arch.Memory, slot uint64, st arch.StepState) (bool, error) {
	if regs[RSP] == st.Saved[savedSP] {
		return s.home(regs, slot), s.repairFaultingCall(regs, mem, slot)
	}
	if s.in.relLen != 0 {
		regs[RIP] = s.insn.Target
	}
	if slot == s.insn.Addr {
		return true, nil
	}
	return true, store(regs, mem, regs[RSP], s.next(), s.in.pushedSize())
}

// repairFaultingCall corrects the return address that a faulting call has written. Some Intel processors write it below
// the stack pointer before they check that the target is a canonical address. The program's handler for SIGSEGV can
// read it there.
func (s *site) repairFaultingCall(regs *arch.Regs, mem arch.Memory, slot uint64) error {
	size := s.in.pushedSize()
	at := regs[RSP] - uint64(size)
	if s.in.pushesSegment() {
		at -= uint64(size)
	}
	pushed, err := load(regs, mem, at, size)
	if err != nil || slot == s.insn.Addr || pushed != s.isa.wrap(slot+uint64(s.insn.Len)) {
		return nil // nothing is written there, as usual
	}
	return store(regs, mem, at, s.next(), size)
}

// afterPushF replaces the step's trap flag in the pushed flags by the program's.
func (s *site) afterPushF(regs *arch.Regs, mem arch.Memory, slot uint64, st arch.StepState) (bool, error) {
	done := s.home(regs, slot)
	if regs[RSP] == st.Saved[savedSP] {
		return done, nil
	}
	v, err := load(regs, mem, regs[RSP], 2)
	if err != nil {
		return done, err
	}
	fixed := v&^flagTF | uint64(st.Flags)&flagTF
	if fixed == v {
		return done, nil
	}
	return done, store(regs, mem, regs[RSP], fixed, 2)
}

// afterPopF sets the trap flag to the one popped from addr. The kernel may or may not hide it, depending on what it
// knows of the instruction.
func (s *site) afterPopF(regs *arch.Regs, mem arch.Memory, slot, addr uint64, size uint8) (bool, error) {
	if !s.home(regs, slot) {
		return false, nil
	}
	v, err := load(regs, mem, s.isa.wrap(addr), size)
	if err != nil {
		return true, err
	}
	regs[EFLAGS] = regs[EFLAGS]&^flagTF | v&flagTF
	return true, nil
}

// afterSyscall corrects rcx, which holds the return address, and r11, which holds the flags. After a call that was
// not made, or one that replaced all registers (sigreturn, execve), they hold neither.
func (s *site) afterSyscall(regs *arch.Regs, slot uint64, st arch.StepState) {
	if !s.isa.long || regs[RCX] != slot+uint64(s.insn.Len) {
		return
	}
	regs[RCX] = s.next()
	regs[R11] = regs[R11]&^flagTF | uint64(st.Flags)&flagTF
}
