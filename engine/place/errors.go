package place

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"gotap/compile/spelling"
	"gotap/engine/image/symname"
)

// ListedError is an error about one of several places of a probe. Its text is that of Err.
type ListedError struct {
	Index int // of the place in the probe's list
	Err   error
}

func (e *ListedError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *ListedError) Unwrap() error { return e.Err }

// SyntaxError is the error for a specification that cannot be parsed.
type SyntaxError struct {
	Spec string // the whole text
	Col  int    // first wrong character, from 1
	Len  int    // wrong characters, at least 1
	Msg  string // what is wrong
	Help string // what to write instead, may be empty
}

// Error names the specification and what is wrong with it.
func (e *SyntaxError) Error() string { return fmt.Sprintf("cannot read place %q: %s", e.Spec, e.Msg) }

// Hint returns what to write instead.
func (e *SyntaxError) Hint() string { return e.Help }

// syntax returns a SyntaxError for the bytes from..to of a text.
func syntax(text string, from, to int, msg, help string) *SyntaxError {
	from = min(from, len(text))
	to = min(max(to, from), len(text))
	return &SyntaxError{Spec: text, Msg: msg, Help: help,
		Col: utf8.RuneCountInString(text[:from]) + 1, Len: max(utf8.RuneCountInString(text[from:to]), 1)}
}

// What is the kind of thing that a search did not find.
type What string

// The kinds of things that can be missing.
const (
	NoModule   What = "module"
	LeftOut    What = "left out" // what the probe leaves out is all there is
	NoFunction What = "function"
	NoLine     What = "code at line"
	NoMark     What = "static mark"
	NoVariable What = "variable"
	NoSyscall  What = "system call"
	NoCallee   What = "called function" // a function is there, and calls none of the modules searched
)

// NoCall returns the error for a system call that is not among the names.
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

// Inlined finds a function that has no code of its own because all its calls were inlined. It returns a line of it that
// has code.
type Inlined func(name string) (file string, line int, ok bool)

// Names finds functions that have no code of their own because all calls of theirs were inlined.
type Names func() []string

// NotFoundError is the error for a specification that matches nothing in the modules searched.
type NotFoundError struct {
	Spec        Spec
	What        What
	Searched    []string  // paths of modules, in order; of all modules when What is NoModule
	Suggestions []string  // similar names, nearest first; lines that have code
	Inlined     []Inlined // finds inlined functions of that name, called by Hint
	Matching    []Names   // finds inlined functions that a pattern matches, called by Hint
	Stripped    string    // the first module searched that is stripped, with its build ID if it has one; else ""
	Static      string    // the only module searched, when it is a program without libraries
	NoExports   bool      // none of the modules exports a function, and exported ones are wanted
	NoLines     string    // the first module searched, when it has no line table
	Reason      error     // the error of the line table of the first module; may be nil
}

// Error names what is missing and where it was searched.
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
	case LeftOut:
		return fmt.Sprintf("every place of %q is left out", s)
	case NoCallee:
		return fmt.Sprintf("cannot find a function that %q calls%s", s.Name, e.in())
	case NoMark:
		return fmt.Sprintf("cannot find static mark %s:%s%s", s.Provider, s.Name, e.in())
	}
	if s.Of == Exported {
		return fmt.Sprintf("cannot find exported %s %q%s", e.What, s.Name, e.in())
	}
	if s.File != "" {
		return fmt.Sprintf("cannot find %s %q of a file %s%s", e.What, s.Name, s.File, e.in())
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

// lines returns the lines that have code.
func (e *NotFoundError) lines() string {
	if len(e.Suggestions) == 0 {
		return ""
	}
	return "; the nearest lines with code: " + strings.Join(e.Suggestions, ", ")
}

// Hint returns similar names, or where the function was inlined.
func (e *NotFoundError) Hint() string {
	for _, find := range e.Inlined {
		if file, line, ok := find(e.Spec.Name); ok {
			return fmt.Sprintf("%s is inlined: its code is part of its callers'; @%s:%d is a line of it", e.Spec.Name, file, line)
		}
	}
	if hint := cmp.Or(e.foreignHint(), e.matchingHint()); hint != "" {
		return hint
	}
	var hints []string
	if e.What != NoLine && len(e.Suggestions) > 0 {
		hints = append(hints, e.Similar())
	}
	// When the program is stripped, similar names of libraries are rarely the right ones.
	if e.Stripped != "" && (len(hints) == 0 || e.Spec.Module == "") {
		hints = append(hints, e.strippedHint())
	}
	if len(hints) == 0 {
		return e.otherHint()
	}
	if e.What == NoModule && !symname.IsGlob(e.Spec.Module) {
		hints = append(hints, waitsFor)
	}
	return strings.Join(hints, " ")
}

// Similar returns a question for similar names, or the modules that were searched for one; empty if there are none.
func (e *NotFoundError) Similar() string {
	switch {
	case len(e.Suggestions) > 0:
		return "did you mean " + strings.Join(e.Suggestions, ", ") + "?"
	case e.What == NoModule && len(e.Searched) > 0:
		return "there " + e.modules()
	}
	return ""
}

// matchingHint names functions that the pattern would mean if their calls had not been inlined, three at most.
func (e *NotFoundError) matchingHint() string {
	names := namesOf(e.Matching)
	if len(names) == 0 {
		return ""
	}
	return areInlined(names) + ", and " + patternsFindNone(len(names))
}

// namesOf returns what all searches find.
func namesOf(searches []Names) (names []string) {
	for _, find := range searches {
		names = append(names, find()...)
	}
	return names
}

// areInlined says of functions that they are inlined, and names three at most.
func areInlined(names []string) string {
	const most = 3
	switch n := len(names); {
	case n == 1:
		return names[0] + " is inlined"
	case n <= most:
		return strings.Join(names, ", ") + " are inlined"
	default:
		return fmt.Sprintf("%s and %d more are inlined", strings.Join(names[:most], ", "), n-most)
	}
}

// patternsFindNone is the hint for so many functions that are inlined.
func patternsFindNone(functions int) string {
	if functions == 1 {
		return "a pattern does not find it: write its name"
	}
	return "a pattern does not find them: write their names"
}

// foreignHint returns the hint for a place in the syntax of another tracer.
func (e *NotFoundError) foreignHint() string {
	if e.What == NoLine {
		return ""
	}
	if e.What == NoModule && e.Spec.Name == "*" && !strings.ContainsAny(e.Spec.Module, "/.*?[") {
		return "every instruction of a function is written " + e.Spec.Module + "+*, every line of a file @FILE:*"
	}
	// bpftrace's words of one letter may be names of programs.
	if hint := foreignModules[e.Spec.Module]; e.What == NoModule && hint != "" && len(e.Spec.Module) > len("ur") {
		return hint
	}
	return foreignName(e.Spec.Name)
}

// waitsFor says how to name a library that the program loads later.
const waitsFor = "with optional: true a probe waits for a module that is loaded later"

// otherHint returns where the missing thing may be.
func (e *NotFoundError) otherHint() string {
	switch {
	case (e.What == NoLine || e.Spec.File != "") && e.NoLines != "":
		return e.NoLines + " has no debug information: compile it with -g, or install its debug package (…-dbgsym, …-dbg, …-debuginfo)"
	case e.What == NoModule && e.Static != "" && !strings.Contains(e.Spec.Module, "/"):
		return filepath.Base(e.Static) + " is linked statically and has no libraries: name functions without a module, as in " + e.Spec.bare() + "; " + waitsFor
	case e.What == NoModule && len(e.Searched) > 0:
		return e.Similar() + "; " + waitsFor
	case e.NoExports:
		return "it exports no function; programs export with -rdynamic only, libraries what others may call"
	case e.What == NoCallee:
		return "calls through pointers are not found, nor those of modules that are not mapped; `gotap list 'callees(\"NAME\")' -- COMMAND` searches all modules of a command"
	case e.What == NoMark:
		return "gotap list 'usdt:*:*' -p PID shows the marks of a process"
	}
	return ""
}

// bare returns the place without its module.
func (s Spec) bare() string {
	s.Module = ""
	return s.String()
}

// modules lists the files that were searched, at most six of them.
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

// strippedHint says how to get the names of a stripped module.
func (e *NotFoundError) strippedHint() string {
	return e.Stripped + " is stripped and has exported names only; install its debug package (…-dbgsym, …-dbg, …-debuginfo), put its debug file " +
		"below /usr/lib/debug, or name an address: " + "MODULE:0x…"
}

// OffsetError is the error for an offset that is not the start of an instruction of the function.
type OffsetError struct {
	Func   string // as in the specification; "" when the function has no name
	Start  uint64 // its address in the file
	Offset uint64
	Size   uint64   // of the function
	Near   []uint64 // offsets of the instructions below and above; none when Offset is beyond the function
}

// Error lists the nearest instructions.
func (e *OffsetError) Error() string {
	at := e.place(e.Offset)
	if len(e.Near) == 0 {
		return fmt.Sprintf("cannot probe %s: %s has only 0x%x bytes", at, e.Func, e.Size)
	}
	return fmt.Sprintf("cannot probe %s: no instruction starts there; the nearest are %s", at, strings.Join(e.near(), ", "))
}

// place returns the name of an instruction.
func (e *OffsetError) place(offset uint64) string {
	if e.Func == "" {
		return fmt.Sprintf("0x%x", e.Start+offset)
	}
	return fmt.Sprintf("%s+0x%x", e.Func, offset)
}

// near returns the names of the nearest instructions.
func (e *OffsetError) near() []string {
	var near []string
	for _, off := range e.Near {
		near = append(near, e.place(off))
	}
	return near
}

// Hint returns places that can be probed.
func (e *OffsetError) Hint() string {
	if len(e.Near) == 0 {
		return fmt.Sprintf("%s+* means every instruction of the function", e.Func)
	}
	return "write " + strings.Join(e.near(), " or ")
}

// RefusedError is the error for a place that exists but cannot be probed.
type RefusedError struct {
	Place  string
	Reason string
	Help   string
}

// Error names the place and the reason.
func (e *RefusedError) Error() string { return fmt.Sprintf("cannot probe %s: %s", e.Place, e.Reason) }

// Hint returns what to probe instead, or "".
func (e *RefusedError) Hint() string { return e.Help }

// ErrProcessAddress reports that a specification names an address of a process (Spec.Absolute). Converting it to a file
// and an address in it needs the mappings of the process.
var ErrProcessAddress = errors.New("the address belongs to a process, not to a file")
