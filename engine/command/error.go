package command

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"gotap/engine/backend"
	"gotap/engine/linux/permission"
)

// Error reports a command that cannot be run.
type Error struct {
	Path string
	Err  error
	help string
}

func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("cannot run %q: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("cannot run %s: %v", e.Path, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Hint says what would help. It may be empty.
func (e *Error) Hint() string { return e.help }

// Explain returns an error that explains why a program cannot be started under trace, and what would help.
func Explain(c *backend.Command, path string, err error) error {
	e := &Error{Path: c.Path, Err: err}
	if !errors.Is(err, unix.EPERM) {
		return e
	}
	why, help := permission.ToStart(At(c, path))
	if e.help = help; why != "" {
		e.Err = fmt.Errorf("%s: %w", why, err)
	}
	return e
}
