package debuginfo

import (
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"gotap/engine/image/debuginfo/callconv"
	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/function"
	"gotap/engine/image/debuginfo/lines"
	"gotap/engine/image/debuginfo/location"
)

// File is an ELF file that debug information is read from.
type File = entry.File

// Info is the debug information of one module. Addresses are those of the module's file (ELF virtual addresses). It
// is safe for concurrent use.
type Info struct {
	mu        sync.Mutex // guards everything below
	entries   *entry.Reader
	types     *ctype.Types
	functions *function.Index
	locations *location.Finder
	rules     *callconv.Rules
	lines     *lines.Tables
	globals   globals
	inlines   inlines
	names     map[*entry.Unit]*names // nil: of all units
}

// Opener opens another ELF file that holds a part of a module's debug information.
type Opener = entry.Opener

// MissingError is the error for a file that holds a part of the debug information and cannot be used.
type MissingError = entry.MissingError

// Open returns the debug information in files. Each section comes from the first file that has it: usually the program,
// followed by its separate debug file when it is stripped. Open reads nothing; when the files have no debug
// information, questions fail with ErrNone. The files must stay open as long as the Info is used.
func Open(files ...File) (*Info, error) { return OpenWith(nil, files...) }

// OpenWith returns the debug information in files as Open does, and in the files that it refers to: those of units that
// are split off, and a supplementary file made by dwz. It opens them with open when a question needs them; nil means
// that there are none.
func OpenWith(open Opener, files ...File) (*Info, error) {
	if len(files) == 0 {
		return nil, ErrNone
	}
	in := &Info{entries: entry.New(files...), names: map[*entry.Unit]*names{}}
	in.entries.UseOpener(open)
	in.types, in.functions, in.locations = ctype.New(in.entries), function.New(in.entries), location.New(in.entries)
	in.rules = callconv.New(in.entries, in.types, in.functions, in.locations)
	in.lines = lines.New(in.entries, in.functions)
	in.globals = globals{entries: in.entries, locations: in.locations}
	in.inlines = inlines{entries: in.entries, survey: entry.NewSurvey(in.entries), functions: in.functions, lines: in.lines, calls: map[*entry.Unit]inlinedCalls{}}
	return in, nil
}

// Has reports whether the module has debug information. Information that cannot be read counts as present; questions
// return the reason.
func (in *Info) Has() bool { return in.entries.Has() }

// Missing returns a *MissingError for each file that a question needed and that could not be used.
func (in *Info) Missing() []error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.entries.Missing())
}

// guard starts a question and returns the function that ends it. It takes the lock and turns panics into errors.
// Sections are mapped files, and reading a mapped file that has been truncated faults; SetPanicOnFault makes that a
// panic of this goroutine. Caches stay valid after a panic, because they are filled only with finished values.
func (in *Info) guard(err *error) func() {
	in.mu.Lock()
	in.types.Begin()
	old := debug.SetPanicOnFault(true)
	return func() {
		if p := recover(); p != nil {
			*err = fmt.Errorf("cannot read the debug information: %v", p)
		}
		debug.SetPanicOnFault(old)
		in.mu.Unlock()
	}
}
