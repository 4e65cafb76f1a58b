package arm

import (
	"fmt"

	"gotap/arch"
)

const (
	errUndefined    = arch.Refusal("cannot decode: an undefined instruction")
	errNeedsVectors = arch.Refusal("cannot emulate an instruction of the vector unit without its registers")
	errBigEndian    = arch.Refusal("cannot access memory: big-endian data is not emulated")
	errInITBlock    = arch.Refusal("unpredictable: the instruction is not allowed here in an IT block")
	errNoThreadPtr  = arch.Refusal("cannot read the thread pointer here")
)

// AlignmentError is an access that faults because of its address. LDM, STM, LDRD, STRD, SWP and exclusive,
// acquiring and releasing instructions require alignment whatever the system's settings. errors.As converts it to
// *arch.FaultError, so the engine lets the instruction fault natively, as it does for other faults.
type AlignmentError struct {
	Addr  uint64
	Write bool
}

// Error names the address.
func (e *AlignmentError) Error() string {
	return fmt.Sprintf("cannot access memory at %#x: not aligned", e.Addr)
}

// Unwrap returns the fault as every architecture reports it.
func (e *AlignmentError) Unwrap() error { return &arch.FaultError{Addr: e.Addr, Write: e.Write} }
