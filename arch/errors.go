package arch

import "fmt"

func (e *FaultError) Error() string {
	if e.Write {
		return fmt.Sprintf("cannot write memory at %#x", e.Addr)
	}
	return fmt.Sprintf("cannot read memory at %#x", e.Addr)
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("cannot probe the instruction at %#x: %s", e.Addr, e.Reason)
}

// Is reports that every refusal matches ErrUnsupported.
func (e *RefusedError) Is(target error) bool { return target == ErrUnsupported }

// Refusal is a reason without an address, which the caller that knows the address adds. Every refusal matches
// ErrUnsupported.
type Refusal string

// Error returns the reason.
func (r Refusal) Error() string { return string(r) }

// Is reports that every refusal matches ErrUnsupported.
func (r Refusal) Is(target error) bool { return target == ErrUnsupported }

func (s Strategy) String() string {
	return [...]string{"refused", "emulated", "out of line", "in place"}[s]
}
