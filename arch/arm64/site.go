package arm64

import (
	"gotap/arch"
)

// site is an instruction prepared at registration. It is never changed afterwards.
type site struct {
	insn arch.Insn
	in   *inst
}

// Prepare makes a Site of an instruction that A64 decoded. It refuses the classes marked so, and what the
// architecture leaves open.
func (a64) Prepare(insn arch.Insn) (arch.Site, error) {
	in, ok := insn.Op.(*inst)
	if !ok {
		return nil, &arch.RefusedError{Addr: insn.Addr, Reason: "not decoded as arm64"}
	}
	if reason := in.refused(); reason != "" {
		return nil, &arch.RefusedError{Addr: insn.Addr, Reason: reason}
	}
	return &site{insn, in}, nil
}

// refused is why no probe may stand on the instruction, or nothing.
func (in *inst) refused() string {
	if in.open() {
		return string(errUnpredictable)
	}
	return reasons[in.row.class]
}

// open reports an encoding whose effect the architecture leaves open.
func (in *inst) open() bool { return in.row.unpredictable != nil && in.row.unpredictable(in.word) }

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

// Emulate completes an instruction that leaves the vector unit alone. A system call is the kernel's: registers stay as
// they are, program counter included, and the engine has the original instruction executed (Insn().Control is arch.Syscall).
func (s *site) Emulate(regs *arch.Regs, mem arch.Memory) error {
	return s.in.run(regs, nil, mem)
}

// EmulateVectors completes any instruction.
func (s *site) EmulateVectors(regs *arch.Regs, v *arch.Vectors, mem arch.Memory) error {
	return s.in.run(regs, v, mem)
}

const (
	errEmulatedOnly = refusal("cannot step an A64 instruction: all are emulated")
	errNeedsVectors = refusal("cannot emulate an instruction of the vector unit without its registers")
)

// Exec executes one instruction that A64 decoded, also of those that Prepare refuses only because a probe on them would disturb
// the program: a lone load-exclusive loads, a lone store-exclusive finds its monitor clear, stores nothing and reports
// failure. On error, regs, v and memory are as before. Refusals match arch.ErrUnsupported. It does not allocate on success.
func Exec(insn arch.Insn, regs *arch.Regs, v *arch.Vectors, mem arch.Memory) error {
	in, ok := insn.Op.(*inst)
	if !ok {
		return &arch.RefusedError{Addr: insn.Addr, Reason: "not decoded as arm64"}
	}
	if insn.Control == arch.Syscall {
		return &arch.RefusedError{Addr: insn.Addr, Reason: "a system call is made by the kernel"}
	}
	if reason := in.refused(); reason != "" && (in.open() || in.row.class != Exclusive) {
		return &arch.RefusedError{Addr: insn.Addr, Reason: reason}
	}
	return in.run(regs, v, mem)
}
