package main

import (
	"errors"
	"fmt"

	"gotap"
)

// The exit statuses of gotap; stop(n) gives n.
const (
	statusOK      = 0
	statusFailure = 1 // failure at run time
	statusUsage   = 2 // usage, or a script that does not compile
	statusTarget  = 3 // cannot launch, attach to or read the target
	statusNoProbe = 4 // no probe matched

)

// statusError is an error with an exit status. A nil cause prints nothing.
type statusError struct {
	status int
	cause  error
}

func (e *statusError) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("status %d", e.status)
	}
	return e.cause.Error()
}

func (e *statusError) Unwrap() error { return e.cause }

func withStatus(status int, err error) error {
	if err == nil {
		return nil
	}
	return &statusError{status, err}
}

func statusOf(err error) int {
	var s *statusError
	var failure *gotap.Error
	switch {
	case err == nil:
		return statusOK
	case errors.As(err, &s):
		return s.status
	case errors.As(err, &failure):
		return int(failure.Kind)
	}
	return statusUsage // cobra's own errors: unknown flags, wrong arguments
}

// hinter is an error with a hint: what to do about it.
type hinter interface{ Hint() string }

func hintOf(err error) string {
	var h hinter
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

// hintError adds what to do about an error to it.
type hintError struct {
	error
	hint string
}

func (e *hintError) Hint() string  { return e.hint }
func (e *hintError) Unwrap() error { return e.error }
