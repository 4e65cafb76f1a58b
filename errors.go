package gotap

import (
	"errors"
	"slices"

	"gotap/compile/diag"
	"gotap/engine/link"
	"gotap/engine/place"
)

// Kind says what a session failed at. Its number is the exit status of `gotap run`.
type Kind int

// The kinds of failures.
const (
	Failure   Kind = 1 // at run time
	BadScript Kind = 2 // the script or an option is wrong
	BadTarget Kind = 3 // the target cannot be started, attached to or read
	NoMatch   Kind = 4 // no place of a probe was found
)

// An Error is the failure of a session, or of a change to it.
type Error struct {
	Kind Kind
	Err  error
	hint string
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint says what to do about the error; "" when nothing is known.
func (e *Error) Hint() string {
	if e.hint != "" {
		return e.hint
	}
	return hintOf(e.Err)
}

// Diagnostics are problems of a script, with their positions.
type Diagnostics = diag.List

// Diagnostic is one problem of a script.
type Diagnostic = diag.Diagnostic

// failed gives an error a kind; nil stays nil.
func failed(kind Kind, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: kind, Err: err}
}

// hinted gives an error a kind and a hint.
func hinted(kind Kind, err error, hint string) error { return &Error{kind, err, hint} }

// atLeast gives an error a kind that has none.
func atLeast(kind Kind, err error) error {
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	return failed(kind, err)
}

// hintOf returns the hint that comes with an error.
func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

// kindOfProbe returns the kind of an error about a probe.
func kindOfProbe(err error) Kind {
	var list diag.List
	var syntax *place.SyntaxError
	switch {
	case errors.As(err, &list), errors.As(err, &syntax):
		return BadScript
	case isAbsent(err):
		return NoMatch
	}
	return BadTarget
}

// isMissing reports that a place was not found.
func isMissing(err error) bool {
	var missing *place.NotFoundError
	return errors.As(err, &missing)
}

// isAbsent reports that a place was not found, or has another instruction than a definition wants.
func isAbsent(err error) bool {
	var mismatch *link.MismatchError
	return isMissing(err) || errors.As(err, &mismatch)
}

// joined returns the errors that were joined into one.
func joined(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()
	}
	return []error{err}
}

// flat returns the errors that were joined into one, on all levels. Several processes may lack the same: equal texts
// come once.
func flat(err error) (all []error) {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	for _, e := range list.Unwrap() {
		for _, part := range flat(e) {
			if !slices.ContainsFunc(all, func(o error) bool { return o.Error() == part.Error() }) {
				all = append(all, part)
			}
		}
	}
	return all
}
