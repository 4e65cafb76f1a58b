package place

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"gotap/compile/spelling"
	"gotap/engine/module"
)

// ListedError is an error about one of the places of a probe that has several. It reads as that error does.
type ListedError struct {
	Index int // of the place in the probe's list
	Err   error
}

func (e *ListedError) Error() string { return e.Err.Error() }

// Unwrap is the error itself.
func (e *ListedError) Unwrap() error { return e.Err }

// SyntaxError is a specification that cannot be read.
type SyntaxError struct {
	Spec string // the whole text
	Col  int    // first bad character, from 1
	Len  int    // bad characters, at least 1
	Msg  string // what is wrong
	Help string // what to write instead, may be empty
}

// Error names the specification and what is wrong with it.
func (e *SyntaxError) Error() string { return fmt.Sprintf("cannot read place %q: %s", e.Spec, e.Msg) }

// Hint says what to write instead.
func (e *SyntaxError) Hint() string { return e.Help }

// syntax makes a SyntaxError about the bytes from..to of a text.
func syntax(text string, from, to int, msg, help string) *SyntaxError {
	from = min(from, len(text))
	to = min(max(to, from), len(text))
	return &SyntaxError{Spec: text, Msg: msg, Help: help,
		Col: utf8.RuneCountInString(text[:from]) + 1, Len: max(utf8.RuneCountInString(text[from:to]), 1)}
}

// What is what a search did not find.
type What string

// What can be missing.
const (
	NoModule   What = "module"
	NoFunction What = "function"
	NoLine     What = "code at line"
	NoMark     What = "static mark"
	NoVariable What = "variable"
	NoSyscall  What = "system call"
)

// NoCall is the error for a system call that none of the names is.
func NoCall(s Spec, names []string) *NotFoundError {
	e := &NotFoundError{Spec: s, What: NoSyscall}
	for slips := 1; slips <= max(1, len(s.Name)/3); slips++ {
		for _, name := range names {
			if name != "" && len(e.Suggestions) < 3 && spelling.Distance(s.Name, name, slips) == slips {
				e.Suggestions = append(e.Suggestions, name)
			}
		}
	}
	return e
}

// Inlined finds a function that has no code of its own because the compiler put it into that of its callers: a line of it that has code.
type Inlined func(name string) (file string, line int, ok bool)

// NotFoundError is a specification that means nothing in the modules searched.
type NotFoundError struct {
	Spec        Spec
	What        What
	Searched    []string  // paths of modules, in order; of all modules there are when What is NoModule
	Suggestions []string  // names that look like it, the best first; lines that have code
	Inlined     []Inlined // where a function of that name may be after all, asked when the error is told
	Stripped    string    // the first module searched whose names are gone, with its build-id if it has one; "" when there is none
	Static      string    // the only module searched, when it is a program without libraries
	NoLines     string    // the first module searched, when it has no line table
	Reason      error     // what the line table of the first module said; nil: no more is known
}

// Error names what is missing and where it was looked for.
func (e *NotFoundError) Error() string {
	s := e.Spec
	switch e.What {
	case NoModule:
		return fmt.Sprintf("cannot find module %q", s.Module)
	case NoLine:
		if e.Reason != nil {
			return e.Reason.Error()
		}
		return fmt.Sprintf("cannot find code at %s:%d%s%s", s.File, s.Line, e.in(), e.lines())
	case NoMark:
		return fmt.Sprintf("cannot find static mark %s:%s%s", s.Provider, s.Name, e.in())
	}
	return fmt.Sprintf("cannot find %s %q%s", e.What, s.Name, e.in())
}

// in names the modules searched when they are few.
func (e *NotFoundError) in() string {
	switch n := len(e.Searched); {
	case n == 0:
		return ""
	case n <= 3:
		var names []string
		for _, path := range e.Searched {
			names = append(names, filepath.Base(path))
		}
		return " in " + strings.Join(names, ", ")
	default:
		return fmt.Sprintf(" in %s and %d other modules", filepath.Base(e.Searched[0]), n-1)
	}
}

// lines tells which lines have code.
func (e *NotFoundError) lines() string {
	if len(e.Suggestions) == 0 {
		return ""
	}
	return "; the nearest lines with code: " + strings.Join(e.Suggestions, ", ")
}

// Hint tells what looks like the name, or where the function went.
func (e *NotFoundError) Hint() string {
	for _, find := range e.Inlined {
		if file, line, ok := find(e.Spec.Name); ok {
			return fmt.Sprintf("%s is inlined: its code is part of its callers'; @%s:%d is a line of it", e.Spec.Name, file, line)
		}
	}
	if hint := e.foreignHint(); hint != "" {
		return hint
	}
	var hints []string
	if e.What != NoLine && len(e.Suggestions) > 0 {
		hints = append(hints, "did you mean "+strings.Join(e.Suggestions, ", ")+"?")
	}
	// Names of libraries that are like that of a function of the program itself are seldom what was meant.
	if e.Stripped != "" && (len(hints) == 0 || e.Spec.Module == "") {
		hints = append(hints, e.strippedHint())
	}
	if len(hints) == 0 {
		return e.otherHint()
	}
	if e.What == NoModule && !module.IsGlob(e.Spec.Module) {
		hints = append(hints, waitsFor)
	}
	return strings.Join(hints, " ")
}

// foreignHint is for a place that is written as another tracer has it.
func (e *NotFoundError) foreignHint() string {
	if e.What == NoLine {
		return foreignLine(e.Spec)
	}
	// bpftrace's words of a letter are as likely the name of a program.
	if hint := foreignModules[e.Spec.Module]; e.What == NoModule && hint != "" && len(e.Spec.Module) > len("ur") {
		return hint
	}
	return foreignName(e.Spec.Name)
}

// waitsFor is how to name a library that the program loads by itself.
const waitsFor = "with optional: true one that is loaded later is waited for"

// otherHint tells where what is missing could be.
func (e *NotFoundError) otherHint() string {
	switch {
	case e.What == NoLine && e.NoLines != "":
		return e.NoLines + " has no debug information: compile it with -g, or install its debug package (…-dbgsym, …-dbg, …-debuginfo)"
	case e.What == NoModule && e.Static != "" && !strings.Contains(e.Spec.Module, "/"):
		return filepath.Base(e.Static) + " is linked statically and has no libraries: functions that it has of them are named without a module, as in " + e.Spec.bare() + "; " + waitsFor
	case e.What == NoModule && len(e.Searched) > 0:
		return "there " + e.modules() + "; " + waitsFor
	case e.What == NoMark:
		return "gotap list 'usdt:*:*' -p PID shows the marks of a process"
	}
	return ""
}

// bare is the place without its module.
func (s Spec) bare() string {
	s.Module = ""
	return s.String()
}

// modules lists the files that there are, the first of many.
func (e *NotFoundError) modules() string {
	const most = 6
	var names []string
	for _, path := range e.Searched[:min(most, len(e.Searched))] {
		names = append(names, filepath.Base(path))
	}
	verb := "are "
	if len(names) == 1 {
		verb = "is "
	}
	list := verb + strings.Join(names, ", ")
	if n := len(e.Searched) - len(names); n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	return list
}

// strippedHint tells where the names of a module without them can come from.
func (e *NotFoundError) strippedHint() string {
	return e.Stripped + " is stripped: only what it exports has names; install its debug package (…-dbgsym, …-dbg, …-debuginfo), put its debug file " +
		"below /usr/lib/debug, or name an address: " + "MODULE:0x…"
}

// OffsetError is an offset that is not the start of an instruction of the function.
type OffsetError struct {
	Func   string // as it was asked for; "" when the function has no name
	Start  uint64 // its address in the file
	Offset uint64
	Size   uint64   // of the function
	Near   []uint64 // offsets of the instructions below and above; none when Offset is beyond the function
}

// Error lists the nearest places, as they are what a user needs in any case.
func (e *OffsetError) Error() string {
	at := e.place(e.Offset)
	if len(e.Near) == 0 {
		return fmt.Sprintf("cannot probe %s: %s has only 0x%x bytes", at, e.Func, e.Size)
	}
	return fmt.Sprintf("cannot probe %s: no instruction begins there; the nearest are %s", at, strings.Join(e.near(), ", "))
}

// place is an instruction as it may be named.
func (e *OffsetError) place(offset uint64) string {
	if e.Func == "" {
		return fmt.Sprintf("0x%x", e.Start+offset)
	}
	return fmt.Sprintf("%s+0x%x", e.Func, offset)
}

// near lists the nearest instructions as places.
func (e *OffsetError) near() []string {
	var near []string
	for _, off := range e.Near {
		near = append(near, e.place(off))
	}
	return near
}

// Hint offers a place that works.
func (e *OffsetError) Hint() string {
	if len(e.Near) == 0 {
		return fmt.Sprintf("%s+* means every instruction of the function", e.Func)
	}
	return "write " + strings.Join(e.near(), " or ")
}

// RefusedError is a place that exists but is no place for a probe.
type RefusedError struct {
	Place  string
	Reason string
	Help   string
}

// Error names the place and the reason.
func (e *RefusedError) Error() string { return fmt.Sprintf("cannot probe %s: %s", e.Place, e.Reason) }

// Hint says what may be probed instead; may be empty.
func (e *RefusedError) Hint() string { return e.Help }

// ErrProcessAddress says that a specification names an address of a process (Spec.Absolute), which only who knows the
// process can turn into a file and an address in it.
var ErrProcessAddress = errors.New("the address is one of the process")
