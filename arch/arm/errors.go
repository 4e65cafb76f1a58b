package arm

import (
	"fmt"

	"gotap/arch"
)

// refusal is a reason without a place. Every one matches arch.ErrUnsupported.
type refusal string

// Error is the reason; whoever knows the place adds it.
func (r refusal) Error() string { return string(r) }

// Is makes every refusal match arch.ErrUnsupported.
func (r refusal) Is(target error) bool { return target == arch.ErrUnsupported }

const (
	errUndefined    = refusal("cannot decode: an undefined instruction")
	errEmulatedOnly = refusal("cannot step an ARM instruction: all are emulated")
	errNeedsVectors = refusal("cannot emulate an instruction of the vector unit without its registers")
	errBigEndian    = refusal("cannot access memory: big-endian data is not emulated")
	errInITBlock    = refusal("unpredictable: the instruction is not allowed here in an IT block")
	errNoThreadPtr  = refusal("cannot read the thread pointer here")
)

// AlignmentError is an access that faults for its address: those of LDM, STM, LDRD, STRD, SWP and of the exclusive, acquiring and
// releasing instructions must be aligned whatever the system's settings are. It is a *arch.FaultError to errors.As, so that an
// engine which lets faulting instructions fault natively does so here too.
type AlignmentError struct {
	Addr  uint64
	Write bool
}

// Error names the address.
func (e *AlignmentError) Error() string {
	return fmt.Sprintf("cannot access memory at %#x: not aligned", e.Addr)
}

// Unwrap is the fault as every architecture reports it.
func (e *AlignmentError) Unwrap() error { return &arch.FaultError{Addr: e.Addr, Write: e.Write} }
