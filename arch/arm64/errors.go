package arm64

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
	errUndefined     = refusal("cannot decode: an undefined instruction")
	errUnpredictable = refusal("the architecture leaves the effect of this encoding open")
)

// AlignmentError is an access that faults for its address: the stack pointer as a base must be a multiple of 16, and the address of an
// atomic, exclusive, acquiring or releasing access a multiple of its size. (Processors with FEAT_LSE2 allow the latter inside of 16
// bytes; which kind is at hand cannot be told here.) It is a *arch.FaultError to errors.As, so that an engine which lets faulting
// instructions fault natively does so here too.
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

// Unwrap is the fault as every architecture reports it.
func (e *AlignmentError) Unwrap() error { return &arch.FaultError{Addr: e.Addr, Write: e.Write} }
