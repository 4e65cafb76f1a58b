package x86

import "gotap/arch"

// Emulation of the instructions that change the stack pointer or the program counter.

// canonical reports whether user code can be at an address. A branch to any other address is left to the processor:
// vendors differ in which instruction faults.
func canonical(addr uint64) bool { return addr>>47 == 0 }

// branch goes to a target.
func (s *site) branch(regs *arch.Regs, target uint64) error {
	if !canonical(target) {
		return errCanonical
	}
	regs[RIP] = target
	return nil
}

func (s *site) branchIf(regs *arch.Regs, taken bool) error {
	if taken {
		return s.branch(regs, s.form.target)
	}
	regs[RIP] = s.form.next
	return nil
}

// loop emulates loopne, loope, loop and jrcxz. The counter has the address size; loops decrement it before they
// test it.
func (s *site) loop(regs *arch.Regs) error {
	f := &s.form
	mask := sizeMask(f.size)
	count := regs[RCX] & mask
	if f.op == 3 { // jrcxz
		return s.branchIf(regs, count == 0)
	}
	count = (count - 1) & mask
	taken := count != 0
	switch f.op {
	case 0:
		taken = taken && regs[EFLAGS]&flagZF == 0
	case 1:
		taken = taken && regs[EFLAGS]&flagZF != 0
	}
	if err := s.branchIf(regs, taken); err != nil {
		return err
	}
	setReg(regs, operand{inRegister, RCX}, count, f.size)
	return nil
}

func (s *site) jumpTo(regs *arch.Regs, mem arch.Memory) error {
	target, err := s.get(s.form.src, s.form.size, regs, mem)
	if err != nil {
		return err
	}
	return s.branch(regs, target&sizeMask(s.form.size))
}

// begin emulates xbegin as a transaction that aborts at once, which is legal at any time. The status 0 names no
// reason and does not say that another attempt may succeed. The trap flag and alignment checks concern the
// instructions after xbegin: on a processor, a single step aborts the transaction too and is reported behind the
// next instruction.
func (s *site) begin(regs *arch.Regs) error {
	if err := s.branch(regs, s.form.target); err != nil {
		return err
	}
	regs[RAX] = 0
	return nil
}

// call pushes the address of the next instruction and goes to target.
func (s *site) call(regs *arch.Regs, mem arch.Memory, target uint64) error {
	if !canonical(target) {
		return errCanonical
	}
	return s.pushValue(regs, mem, s.form.next, target)
}

// callTo reads the target before it pushes, because the two may overlap.
func (s *site) callTo(regs *arch.Regs, mem arch.Memory) error {
	target, err := s.get(s.form.src, s.form.size, regs, mem)
	if err != nil {
		return err
	}
	return s.call(regs, mem, target&sizeMask(s.form.size))
}

// ret pops the program counter and releases as many bytes of arguments as the instruction says.
func (s *site) ret(regs *arch.Regs, mem arch.Memory) error {
	f := &s.form
	target, err := load(regs, mem, regs[RSP], f.size)
	if err != nil {
		return err
	}
	if err := s.branch(regs, target); err != nil {
		return err
	}
	regs[RSP] = s.isa.wrap(regs[RSP] + uint64(f.size) + f.imm)
	return nil
}

func (s *site) push(regs *arch.Regs, mem arch.Memory) error {
	v, err := s.get(s.form.src, s.form.size, regs, mem)
	if err != nil {
		return err
	}
	return s.pushValue(regs, mem, v, s.form.next)
}

// pushValue stores v before it changes the stack pointer, then continues at pc.
func (s *site) pushValue(regs *arch.Regs, mem arch.Memory, v, pc uint64) error {
	size := s.form.size
	sp := s.isa.wrap(regs[RSP] - uint64(size))
	if err := store(regs, mem, sp, v, size); err != nil {
		return err
	}
	regs[RSP], regs[RIP] = sp, pc
	return nil
}

// pop changes the stack pointer first, so that pop rsp leaves the popped value.
func (s *site) pop(regs *arch.Regs, mem arch.Memory) error {
	f := &s.form
	v, err := load(regs, mem, regs[RSP], f.size)
	if err != nil {
		return err
	}
	regs[RSP] = s.isa.wrap(regs[RSP] + uint64(f.size))
	setReg(regs, f.dst, v, f.size)
	regs[RIP] = f.next
	return nil
}

// leave emulates leave: mov rsp, rbp and pop rbp.
func (s *site) leave(regs *arch.Regs, mem arch.Memory) error {
	f := &s.form
	v, err := load(regs, mem, regs[RBP], f.size)
	if err != nil {
		return err
	}
	regs[RSP] = s.isa.wrap(regs[RBP] + uint64(f.size))
	setReg(regs, operand{inRegister, RBP}, v, f.size)
	regs[RIP] = f.next
	return nil
}

// popFlags changes the flags that a program without I/O privilege may change, so neither IF nor IOPL. It leaves a
// trap flag to the processor, and also a change of the ID flag, which the kernel does not let a tracer make.
func (s *site) popFlags(regs *arch.Regs, mem arch.Memory) error {
	f := &s.form
	v, err := load(regs, mem, regs[RSP], f.size)
	if err != nil {
		return err
	}
	mask := flagsPopped & sizeMask(f.size)
	if v&flagTF != 0 || (v^regs[EFLAGS])&mask&flagID != 0 {
		return errOwnStep
	}
	regs[EFLAGS] = regs[EFLAGS]&^(mask|flagRF) | v&mask
	regs[RSP] = s.isa.wrap(regs[RSP] + uint64(f.size))
	regs[RIP] = f.next
	return nil
}
