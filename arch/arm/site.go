package arm

import (
	"encoding/binary"

	"gotap/arch"
)

// site is an instruction prepared when a probe is placed. It never changes afterwards.
type site struct {
	arch.EmulatedSite
	in *inst
}

// Prepare makes the Site of an instruction that this Arch decoded. It refuses the classes marked R, and
// unpredictable encodings.
func (s *isa) Prepare(insn arch.Insn) (arch.Site, error) {
	in, ok := insn.Op.(*inst)
	if !ok || in.thumb != s.thumb {
		return nil, &arch.RefusedError{Addr: insn.Addr, Reason: "not decoded as " + s.Name()}
	}
	if reason := in.refused(); reason != "" {
		return nil, &arch.RefusedError{Addr: insn.Addr, Reason: reason}
	}
	return &site{arch.EmulatedSite{Prepared: insn}, in}, nil
}

// refused returns why an instruction cannot be probed, or "".
func (in *inst) refused() string {
	if int(in.row.class) < len(reasons) && reasons[in.row.class] != "" {
		return reasons[in.row.class]
	}
	return in.row.unpredictableReason(in.word)
}

// OutOfLine returns A32 code that makes the system call and loads the address behind the instruction, with its
// instruction set, into the program counter. It fails for other instructions. An IT block must not go on behind the
// instruction.
func (s *site) OutOfLine(uint64) ([]byte, error) {
	const svc, load = 0xef000000, 0xe51ff004 // svc 0; ldr pc, [pc, #-4]
	if s.Prepared.Control != arch.Syscall {
		return nil, arch.ErrEmulatedOnly
	}
	call, next := s.in.word, uint32(s.Prepared.Addr)+s.in.size
	if s.in.thumb {
		call, next = svc, next|1
	}
	le := binary.LittleEndian
	return le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, call), load), next), nil
}

// Vectors reports whether emulation needs the registers of the vector unit, which another system call has to read.
func (s *site) Vectors() bool { return s.in.row.vectors }

// Executes reports whether the condition of the instruction holds: its own, or that of its IT block. If it does
// not, Emulate only advances the program counter.
func (s *site) Executes(regs *arch.Regs) bool { return s.in.executes(uint32(regs[regCPSR])) }

// Emulate completes an instruction that does not use the vector unit. It leaves a system call, including the
// program counter, to the kernel: the engine executes the original instruction (Insn().Control is arch.Syscall).
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

// Exec executes one instruction that A32 or Thumb decoded. It accepts exclusives, which Prepare refuses because a
// probe would disturb the program: a load-exclusive loads; a store-exclusive finds its monitor clear, stores
// nothing and reports failure. On error, regs, v and memory are unchanged. Refusals match arch.ErrUnsupported. Exec
// does not allocate on success.
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
		return &arch.RefusedError{Addr: insn.Addr, Reason: "the kernel executes system calls"}
	}
	return in.run(regs, v, mem)
}
