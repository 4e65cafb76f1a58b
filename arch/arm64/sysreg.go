package arm64

import "fmt"

// System is what an instruction may need beyond registers and memory. An arch.Memory that also implements it is asked; without it such
// instructions fail with a *SystemError, and cache maintenance does nothing. An engine on the target's own machine reads most of these
// registers as a process of its own would; TPIDR_EL0 is the thread's (NT_ARM_TLS).
type System interface {
	// ReadSystem is the value of a register. Errors are handed through; a *SystemError stands for one that is not known.
	ReadSystem(r Register) (uint64, error)
	// WriteSystem sets one, of this thread.
	WriteSystem(r Register, v uint64) error
	// MaintainCache makes what a dc or ic instruction does at an address happen on the target.
	MaintainCache(op Operation, addr uint64) error
}

// Register is a system register by its encoding: op0:op1:CRn:CRm:op2, as in bits 20:5 of mrs, with op0's upper bit set.
type Register uint16

// Operation is a cache maintenance instruction by its encoding: bits 20:5.
type Operation uint16

// Registers that a user process may read.
const (
	CTR      Register = 0xd801
	DCZID    Register = 0xd807
	RNDR     Register = 0xd920
	RNDRRS   Register = 0xd921
	TPIDR    Register = 0xde82
	TPIDRRO  Register = 0xde83
	TPIDR2   Register = 0xde85
	CNTFRQ   Register = 0xdf00
	CNTPCT   Register = 0xdf01
	CNTVCT   Register = 0xdf02
	CNTPCTSS Register = 0xdf05
	CNTVCTSS Register = 0xdf06
)

// Cache maintenance that a user process may do.
const (
	ICIVAU  Operation = 0x5ba9
	DCCVAC  Operation = 0x5bd1
	DCCVAU  Operation = 0x5bd9
	DCCVAP  Operation = 0x5be1
	DCCVADP Operation = 0x5be9
	DCCIVAC Operation = 0x5bf1
)

var registerNames = map[Register]string{
	CTR: "ctr_el0", DCZID: "dczid_el0", RNDR: "rndr", RNDRRS: "rndrrs", TPIDR: "tpidr_el0", TPIDRRO: "tpidrro_el0", TPIDR2: "tpidr2_el0",
	CNTFRQ: "cntfrq_el0", CNTPCT: "cntpct_el0", CNTVCT: "cntvct_el0", CNTPCTSS: "cntpctss_el0", CNTVCTSS: "cntvctss_el0",
}

// String is the register's name, or its encoding as assemblers write it.
func (r Register) String() string {
	if name := registerNames[r]; name != "" {
		return name
	}
	return fmt.Sprintf("s%d_%d_c%d_c%d_%d", r>>14, r>>11&7, r>>7&15, r>>3&15, r&7)
}

// registerOf is the register of an mrs or msr.
func registerOf(w uint32) Register { return Register(w >> 5) }

// SystemError is an instruction that needs a system register which nobody knows here. It matches arch.ErrUnsupported.
type SystemError struct{ Register Register }

// Error names the register.
func (e *SystemError) Error() string {
	return fmt.Sprintf("cannot emulate the instruction: the value of %v is not known", e.Register)
}

// Is makes it match arch.ErrUnsupported.
func (e *SystemError) Is(target error) bool { return refusal("").Is(target) }
