package remote

import "debug/elf"

// On ARM a stub reads memory with the present rights of the processor: a processor that has stopped in a program
// does not see the kernel. So when a kernel's memory is needed, the processor runs for short moments until it has
// stopped in the kernel, which its timer alone makes happen sooner or later.

// inUserMode reports whether the processor that stopped last runs a program (Arm ARM DDI 0487, G8.2.33 and C5.2.18: M).
func (s *Session) inUserMode() bool {
	if !s.stub.kernel || s.threads.last == nil {
		return false
	}
	switch s.stub.isa.Machine {
	case elf.EM_ARM:
		const cpsr = 16
		return s.threads.last.regs.General[cpsr]&0x1f == 0x10
	case elf.EM_AARCH64:
		const pstate = 33
		return s.threads.last.regs.General[pstate]&0xf == 0
	}
	return false
}

// enterKernel runs a machine until it has stopped in its kernel. Hits on the way are handled as hits.
func (s *Session) enterKernel() error {
	return s.control.RunUntil(func() bool { return !s.inUserMode() })
}
