package arm64

import (
	"encoding/binary"

	"gotap/arch"
)

// site is an instruction prepared when a probe is placed. It never changes afterwards.
type site struct {
	arch.EmulatedSite
	in *inst
}

// Prepare makes the Site of an instruction that A64 decoded. It refuses the classes marked R, and unpredictable
// encodings.
func (a64) Prepare(insn arch.Insn) (arch.Site, error) {
	in, ok := insn.Op.(*inst)
	if !ok {
		return nil, &arch.RefusedError{Addr: insn.Addr, Reason: "not decoded as arm64"}
	}
	if reason := in.refused(); reason != "" {
		return nil, &arch.RefusedError{Addr: insn.Addr, Reason: reason}
	}
	return &site{arch.EmulatedSite{Prepared: insn}, in}, nil
}

// refused returns why an instruction cannot be probed, or "".
func (in *inst) refused() string {
	if in.open() {
		return string(errUnpredictable)
	}
	return reasons[in.row.class]
}

// open reports an encoding whose effect the architecture leaves open.
func (in *inst) open() bool { return in.row.unpredictable != nil && in.row.unpredictable(in.word) }

// OutOfLine returns a system call and a branch to the instruction behind the original. It fails for other instructions,
// and if the branch does not reach that far: 128 MiB (Arm ARM DDI 0487, C6.2.27).
func (s *site) OutOfLine(slot uint64) ([]byte, error) {
	const branch, reach = 0x14000000, 1 << 27
	if s.Prepared.Control != arch.Syscall {
		return nil, arch.ErrEmulatedOnly
	}
	by := s.Prepared.Addr - slot // from the branch, which is as far behind the slot as its target is behind the instruction
	if by+reach >= 2*reach {
		return nil, errTooFar
	}
	copied := binary.LittleEndian.AppendUint32(nil, s.in.word)
	return binary.LittleEndian.AppendUint32(copied, branch|uint32(by)>>2&0x3ffffff), nil
}

const errTooFar = arch.Refusal("cannot branch from the copy of the instruction back to it")

// Vectors reports whether emulation needs the registers of the vector unit, which another system call has to read.
func (s *site) Vectors() bool { return s.in.row.vectors }

// Emulate completes an instruction that does not use the vector unit. It leaves a system call, including the
// program counter, to the kernel: the engine executes the original instruction (Insn().Control is arch.Syscall).
func (s *site) Emulate(regs *arch.Regs, mem arch.Memory) error {
	return s.in.run(regs, nil, mem)
}

// EmulateVectors completes any instruction.
func (s *site) EmulateVectors(regs *arch.Regs, v *arch.Vectors, mem arch.Memory) error {
	return s.in.run(regs, v, mem)
}

const errNeedsVectors = arch.Refusal("cannot emulate an instruction of the vector unit without its registers")

// Exec executes one instruction that A64 decoded. It accepts exclusives, which Prepare refuses because a probe
// would disturb the program: a load-exclusive loads; a store-exclusive finds its monitor clear, stores nothing and
// reports failure. On error, regs, v and memory are unchanged. Refusals match arch.ErrUnsupported. Exec does not
// allocate on success.
func Exec(insn arch.Insn, regs *arch.Regs, v *arch.Vectors, mem arch.Memory) error {
	in, ok := insn.Op.(*inst)
	if !ok {
		return &arch.RefusedError{Addr: insn.Addr, Reason: "not decoded as arm64"}
	}
	if insn.Control == arch.Syscall {
		return &arch.RefusedError{Addr: insn.Addr, Reason: "the kernel executes system calls"}
	}
	if reason := in.refused(); reason != "" && (in.open() || in.row.class != Exclusive) {
		return &arch.RefusedError{Addr: insn.Addr, Reason: reason}
	}
	return in.run(regs, v, mem)
}
