package status

import (
	"errors"
	"fmt"
	"io"
	"os"

	"gotap"
	"gotap/cmd/gotap/terminal"
	"gotap/compile/diag"
	"gotap/script/output"
)

// The exit statuses of gotap; stop(n) gives n.
const (
	OK      = 0
	Failure = 1 // failure at run time
	Usage   = 2 // usage, or a script that does not compile
	Target  = 3 // cannot launch, attach to or read the target
	NoProbe = 4 // no probe matched
)

// Error is an error with an exit status. A nil Cause prints nothing: what there is to say has been printed.
type Error struct {
	Status int // 0 to 255
	Cause  error
}

func (e *Error) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("status %d", e.Status)
	}
	return e.Cause.Error()
}

// Unwrap returns the cause, which may be nil.
func (e *Error) Unwrap() error { return e.Cause }

// With returns an error with an exit status; nil without an error.
func With(status int, err error) error {
	if err == nil {
		return nil
	}
	return &Error{status, err}
}

// Silent returns an error that carries an exit status and prints nothing.
func Silent(status int) error { return &Error{status, nil} }

// Of returns the exit status of an error: the outermost that With or Silent gave it, or that of a *gotap.Error. It is
// OK without an error. An error without a status is Usage: cobra's errors about unknown flags and wrong arguments have
// none.
func Of(err error) int {
	var s *Error
	var failure *gotap.Error
	switch {
	case err == nil:
		return OK
	case errors.As(err, &s):
		return s.Status
	case errors.As(err, &failure):
		return int(failure.Kind)
	}
	return Usage
}

// hinter is an error with a hint: what to do about it.
type hinter interface{ Hint() string }

// HintOf returns the outermost hint of an error; "" when there is none.
func HintOf(err error) string {
	var h hinter
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

type hinted struct {
	error
	hint string
}

func (e *hinted) Hint() string  { return e.hint }
func (e *hinted) Unwrap() error { return e.error }

// Hinted returns the error with a hint on what to do about it. The error must not be nil.
func Hinted(err error, hint string) error { return &hinted{err, hint} }

// Print writes an error on a line that begins with "gotap: ", and its hint below. A diagnostic has its own form, with
// colours on a terminal. Nothing is written without an error, and for an error of Silent.
func Print(to io.Writer, err error) {
	var s *Error
	if err == nil || errors.As(err, &s) && s.Cause == nil {
		return
	}
	var found diag.List
	if errors.As(err, &found) {
		if f, ok := to.(*os.File); ok {
			found = found.Fit(terminal.Columns(f))
			if terminal.Coloured(f) {
				fmt.Fprint(to, output.Paint(found...))
				return
			}
		}
		fmt.Fprintln(to, found.Error())
		return
	}
	fmt.Fprintf(to, "gotap: %s\n", diag.Escape(err.Error()))
	if hint := HintOf(err); hint != "" {
		fmt.Fprintf(to, "hint: %s\n", diag.Escape(hint))
	}
}
