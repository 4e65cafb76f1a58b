package arm

import "gotap/arch"

// site is an instruction prepared at registration. It is never changed afterwards.
type site struct {
	insn arch.Insn
	in   *inst
}

// Prepare makes a Site of an instruction that this Arch decoded. It refuses the classes marked so, and what the architecture leaves
// open.
func (s *isa) Prepare(insn arch.Insn) (arch.Site, error) {
	in, ok := insn.Op.(*inst)
	if !ok || in.thumb != s.thumb {
		return nil, &arch.RefusedError{Addr: insn.Addr, Reason: "not decoded as " + s.Name()}
	}
	if reason := in.refused(); reason != "" {
		return nil, &arch.RefusedError{Addr: insn.Addr, Reason: reason}
	}
	return &site{insn, in}, nil
}

// refused is why no probe may stand on the instruction, or nothing.
func (in *inst) refused() string {
	if int(in.row.class) < len(reasons) && reasons[in.row.class] != "" {
		return reasons[in.row.class]
	}
	return in.row.unpredictableReason(in.word)
}

// Insn is the instruction that was prepared.
func (s *site) Insn() arch.Insn { return s.insn }

// Strategy is emulation, always: there is no other on this architecture.
func (s *site) Strategy() arch.Strategy { return arch.Emulated }

// Allowed allows nothing else either, whoever asks for it.
func (s *site) Allowed(how arch.Strategy) bool { return how == arch.Emulated }

// OutOfLine has no copy to give.
func (s *site) OutOfLine(uint64) ([]byte, error) { return nil, errEmulatedOnly }

// Vectors reports whether emulation needs the registers of the vector unit, which cost a system call more to read.
func (s *site) Vectors() bool { return s.in.row.vectors }

// BeforeStep has nothing to prepare, as nothing is ever stepped.
func (s *site) BeforeStep(*arch.Regs, uint64) arch.StepState { return arch.StepState{} }

// AfterStep has nothing to repair, as nothing is ever stepped.
func (s *site) AfterStep(*arch.Regs, arch.Memory, uint64, arch.StepState) (bool, error) {
	return false, errEmulatedOnly
}

// Executes reports whether the condition of the instruction holds: its own, or that of the IT block it is in. If not, Emulate goes
// on behind it and does nothing else.
func (s *site) Executes(regs *arch.Regs) bool { return s.in.executes(uint32(regs[regCPSR])) }

// Emulate completes an instruction that leaves the vector unit alone. A system call is the kernel's: registers stay as
// they are, program counter included, and the engine has the original instruction executed (Insn().Control is arch.Syscall).
func (s *site) Emulate(regs *arch.Regs, mem arch.Memory) error {
	if s.in.row.vectors {
		return errNeedsVectors
	}
	return s.in.run(regs, nil, mem)
}

// EmulateVectors completes any instruction.
func (s *site) EmulateVectors(regs *arch.Regs, v *arch.Vectors, mem arch.Memory) error {
	return s.in.run(regs, v, mem)
}

// Exec executes one instruction that A32 or Thumb decoded, also of those that Prepare refuses only because a probe on them would disturb
// the program: a lone load-exclusive loads, a lone store-exclusive finds its monitor clear, stores nothing and reports
// failure. On error, regs, v and memory are as before. Refusals match arch.ErrUnsupported. It does not allocate on success.
func Exec(insn arch.Insn, regs *arch.Regs, v *arch.Vectors, mem arch.Memory) error {
	in, ok := insn.Op.(*inst)
	if !ok {
		return &arch.RefusedError{Addr: insn.Addr, Reason: "not decoded as arm or thumb"}
	}
	if in.row.class == Exclusive {
		if reason := in.row.unpredictableReason(in.word); reason != "" {
			return &arch.RefusedError{Addr: insn.Addr, Reason: reason}
		}
		return in.run(regs, v, mem)
	}
	if reason := in.refused(); reason != "" {
		return &arch.RefusedError{Addr: insn.Addr, Reason: reason}
	}
	if insn.Control == arch.Syscall && in.executes(uint32(regs[regCPSR])) {
		return &arch.RefusedError{Addr: insn.Addr, Reason: "a system call is made by the kernel"}
	}
	return in.run(regs, v, mem)
}
