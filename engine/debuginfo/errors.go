package debuginfo

import (
	"errors"
	"fmt"
	"strings"

	"gotap/compile/spelling"
)

// ErrNone says that a module, or the unit around an address, has no debug information.
var ErrNone = errors.New("no debug information")

// ErrSplit says that the debug information lies in a .dwo file, which is not read.
var ErrSplit = errors.New("the debug information is split off into .dwo files, which are not read")

// ErrAlt says that the debug information refers to a file of common parts made by dwz, which is not read.
var ErrAlt = errors.New("the debug information refers to a supplementary file made by dwz, which is not read")

// UnknownError is a name that is not there.
type UnknownError struct {
	Name string   // as asked
	In   string   // where it was looked for: "by_pointer", "struct point"
	What string   // what it should have been: "parameter", "member"
	Have []string // all the names there are, in their order
	Near []string // those that resemble Name
}

// Error names what was asked.
func (e *UnknownError) Error() string { return fmt.Sprintf("%s has no %s %q", e.In, e.What, e.Name) }

// Hint names what there is like it, or all there is.
func (e *UnknownError) Hint() string {
	switch {
	case len(e.Near) > 0:
		return "did you mean " + strings.Join(e.Near, " or ") + "?"
	case len(e.Have) > 0:
		return "it has " + strings.Join(e.Have, ", ")
	}
	return ""
}

// OptimisedOutError is a parameter or member that exists in the source and nowhere at this address.
type OptimisedOutError struct {
	Name   string
	PC     uint64
	Reason string // what the compiler left instead; may be empty
}

// Error names the value and the address.
func (e *OptimisedOutError) Error() string {
	s := fmt.Sprintf("%s is optimised out at %#x", e.Name, e.PC)
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	return s
}

// AccessError is a value that is there, but cannot be fetched by an access.
type AccessError struct {
	Name   string
	Reason string
}

// Error names the value and the reason.
func (e *AccessError) Error() string { return fmt.Sprintf("cannot read %s: %s", e.Name, e.Reason) }

// LineError is a source line, or a source file, without code.
type LineError struct {
	File    string
	Line    int
	Nearest []int    // lines of the file that have code, nearest first; none when the file is not known
	Files   []string // files that resemble File, when it is not known
}

// NoCode marks an error that says that there is nothing, and not that something went wrong.
func (e *LineError) NoCode() {}

// Error names the line and those near it that have code; of a file that is not known, those like it.
func (e *LineError) Error() string {
	if len(e.Nearest) == 0 {
		s := fmt.Sprintf("no code comes from a file %s", e.File)
		if len(e.Files) > 0 {
			s += "; there is " + strings.Join(e.Files, ", ")
		}
		return s
	}
	return fmt.Sprintf("%s:%d has no code; the nearest lines that have are %s", e.File, e.Line,
		strings.Trim(strings.Join(strings.Fields(fmt.Sprint(e.Nearest)), ", "), "[]"))
}

// near picks the names that differ from name by little: by case, or by at most a third of the letters.
func near(name string, have []string) []string {
	var out []string
	limit := max(1, len(name)/3)
	for _, h := range have {
		if strings.EqualFold(h, name) || spelling.Distance(name, h, limit) <= limit {
			out = append(out, h)
		}
		if len(out) == 3 {
			break
		}
	}
	return out
}
