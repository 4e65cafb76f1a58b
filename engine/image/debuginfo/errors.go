package debuginfo

import (
	"fmt"
	"strings"

	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/lines"
)

// ErrNone reports that a module, or the code at an address, has no debug information; ErrSplit that it is in a .dwo
// file that is missing; ErrAlt that it refers to a supplementary file, made by dwz, that is missing.
var (
	ErrNone  = entry.ErrNone
	ErrSplit = entry.ErrSplit
	ErrAlt   = entry.ErrAlt
)

// LineError is the error for a source line, or a source file, without code.
type LineError = lines.Error

// UnknownError is the error for a name that does not exist.
type UnknownError struct {
	Name string   // as asked
	In   string   // where it was searched: "by_pointer", "struct point"
	What string   // the kind of name: "parameter", "member"
	Have []string // all names, in their order
	Near []string // those that resemble Name
}

// Error names the place and the name.
func (e *UnknownError) Error() string { return fmt.Sprintf("%s has no %s %q", e.In, e.What, e.Name) }

// Hint returns similar names, or else all names.
func (e *UnknownError) Hint() string {
	switch {
	case len(e.Near) > 0:
		return "did you mean " + strings.Join(e.Near, " or ") + "?"
	case len(e.Have) > 0:
		return "it has " + strings.Join(e.Have, ", ")
	}
	return ""
}

// OptimisedOutError is the error for a parameter or member that has no value at this address.
type OptimisedOutError struct {
	Name   string
	PC     uint64
	Reason string // may be empty
}

// Error names the value and the address.
func (e *OptimisedOutError) Error() string {
	s := fmt.Sprintf("%s is optimised out at %#x", e.Name, e.PC)
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	return s
}

// AccessError is the error for a value that no access can read.
type AccessError struct {
	Name   string
	Reason string
}

// Error names the value and the reason.
func (e *AccessError) Error() string { return fmt.Sprintf("cannot read %s: %s", e.Name, e.Reason) }

// NoResultError reports that a function has no result of an index.
type NoResultError struct {
	Function     string
	Index, Count int // the index asked for, counted from 0, and how many results there are
}

func (e *NoResultError) Error() string {
	switch e.Count {
	case 0:
		return e.Function + " has no result"
	case 1:
		return fmt.Sprintf("%s has one result; %d is out of range", e.Function, e.Index)
	}
	return fmt.Sprintf("%s has %d results; %d is out of range", e.Function, e.Count, e.Index)
}
