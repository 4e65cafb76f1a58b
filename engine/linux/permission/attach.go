package permission

import (
	"errors"
	"fmt"
	"os"
)

// AttachError reports a process that cannot be traced.
type AttachError struct {
	Pid  int
	Err  error
	Help string // what would help; may be empty
}

func (e *AttachError) Error() string {
	return fmt.Sprintf("cannot attach to process %d: %v", e.Pid, e.Err)
}

func (e *AttachError) Unwrap() error { return e.Err }

// Hint says what would help. It may be empty.
func (e *AttachError) Hint() string { return e.Help }

// Denied returns an AttachError that explains why the kernel does not permit attaching to a process, and what would
// help.
func Denied(pid int, err error) error {
	e := &AttachError{Pid: pid, Err: err}
	if !errors.Is(err, os.ErrPermission) {
		return e
	}
	why, help := ToAttach(pid, err)
	if e.Help = help; why != "" {
		e.Err = fmt.Errorf("%s: %w", why, err)
	}
	return e
}
