package arm64

import (
	"fmt"

	"gotap/arch"
)

// System is implemented by an arch.Memory that provides system registers and cache maintenance. Without it,
// instructions that need a register fail with a *SystemError, and cache maintenance has no effect. An engine on the
// target's machine can read most of these registers itself; TPIDR_EL0 belongs to the thread (NT_ARM_TLS).
type System interface {
	// ReadSystem returns the value of a register. Errors are passed on; a *SystemError means that the register is
	// not known.
	ReadSystem(r Register) (uint64, error)
	// WriteSystem sets a register of the thread.
	WriteSystem(r Register, v uint64) error
	// MaintainCache has the effect of a dc or ic instruction on the target.
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

// String returns the register's name, or its encoding as assemblers write it.
func (r Register) String() string {
	if name := registerNames[r]; name != "" {
		return name
	}
	return fmt.Sprintf("s%d_%d_c%d_c%d_%d", r>>14, r>>11&7, r>>7&15, r>>3&15, r&7)
}

// registerOf returns the register of an mrs or msr.
func registerOf(w uint32) Register { return Register(w >> 5) }

// SystemError reports an instruction that needs a system register which is not known. It matches
// arch.ErrUnsupported.
type SystemError struct{ Register Register }

// Error names the register.
func (e *SystemError) Error() string {
	return fmt.Sprintf("cannot emulate the instruction: the value of %v is not known", e.Register)
}

// Is reports that the error matches arch.ErrUnsupported.
func (e *SystemError) Is(target error) bool { return arch.Refusal("").Is(target) }
