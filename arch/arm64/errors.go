package arm64

import (
	"fmt"

	"gotap/arch"
)

const (
	errUndefined     = arch.Refusal("cannot decode: an undefined instruction")
	errUnpredictable = arch.Refusal("the architecture leaves the effect of this encoding open")
)

// AlignmentError is an access that faults because of its address. The stack pointer as a base must be a multiple of
// 16, and the address of an atomic, exclusive, acquiring or releasing access a multiple of its size. (Processors
// with FEAT_LSE2 allow the latter within 16 bytes; the package does not know the kind of processor.) errors.As
// converts it to *arch.FaultError, so the engine lets the instruction fault natively, as it does for other faults.
type AlignmentError struct {
	Addr  uint64
	Write bool
	Stack bool // it is the stack pointer
}

// Error names the address.
func (e *AlignmentError) Error() string {
	if e.Stack {
		return fmt.Sprintf("cannot use the stack pointer %#x: not aligned to 16 bytes", e.Addr)
	}
	return fmt.Sprintf("cannot access memory at %#x in one piece: not aligned", e.Addr)
}

// Unwrap returns the fault as every architecture reports it.
func (e *AlignmentError) Unwrap() error { return &arch.FaultError{Addr: e.Addr, Write: e.Write} }
