package link

import (
	"fmt"
	"slices"
	"sync"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/engine"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/opcode"
)

// A Source compiles the programs of one probe for a place; nil means a place of which nothing is known. A probe of
// package script is one.
type Source interface {
	Compile(at js.Place) (js.Result, diag.List)
}

// A Linker makes programs ready to run in one arena. It is safe for concurrent use.
type Linker struct {
	Copies   Copies   // of the functions that were linked so far
	Versions Versions // of their symbols
	Effects  registry.Effects

	arena *arena.Arena
	warn  func(diag.List)

	mu       sync.Mutex
	reported map[diag.Diagnostic]bool
	codes    map[codeKey]*runtime.Code // places of one word size share a program
}

// codeKey is what a lowered program depends on.
type codeKey struct {
	program  *compile.Program
	wordSize int
}

// New returns a linker for an arena. warn is called with warnings that only the types at a place show, once for all
// places; it may be nil.
func New(arena *arena.Arena, warn func(diag.List)) *Linker {
	if warn == nil {
		warn = func(diag.List) {}
	}
	return &Linker{arena: arena, warn: warn, reported: map[diag.Diagnostic]bool{}, codes: map[codeKey]*runtime.Code{}}
}

// Handlers returns the function that links the programs of a source for each place of a probe.
func (l *Linker) Handlers(probe uint32, source Source) engine.Compile {
	return l.noting(probe, func(at engine.PlaceInfo) (engine.Handlers, error) { return l.handlers(source, at) })
}

// Exact returns the function that links one program for places whose instruction begins with a certain byte; opcode is
// that byte, or negative for places of any instruction.
func (l *Linker) Exact(probe uint32, program *compile.Program, opcode int) engine.Compile {
	return l.noting(probe, func(at engine.PlaceInfo) (engine.Handlers, error) {
		if err := checkOpcode(opcode, at); err != nil {
			return engine.Handlers{}, err
		}
		code, err := l.Bind(program, at)
		return engine.Handlers{Enter: code}, err
	})
}

// noting notes the places that a probe is linked for.
func (l *Linker) noting(probe uint32, compile engine.Compile) engine.Compile {
	return func(at engine.PlaceInfo) (engine.Handlers, error) {
		h, err := compile(at)
		if err == nil {
			err = fitsCopy(h, at)
		}
		if err == nil {
			l.Copies.note(probe, at)
			l.Versions.note(probe, at)
		}
		return h, err
	}
}

// fitsCopy returns an error for programs that need the call itself, at an inlined copy, where there is none.
func fitsCopy(h engine.Handlers, at engine.PlaceInfo) error {
	in, can := at.(engine.InlinedPlace)
	if !can {
		return nil
	}
	if _, is := in.InlinedAt(); !is {
		return nil
	}
	if h.Leave != nil || h.AtReturn {
		return &place.RefusedError{Place: at.Name(), Reason: "an inlined copy does not return"}
	}
	for _, code := range []*runtime.Code{h.Enter, h.Post, h.Fault, h.When} {
		if code != nil && slices.ContainsFunc(code.Insts, func(i runtime.Inst) bool { return i.Op == opcode.Skip }) {
			return &place.RefusedError{Place: at.Name(), Reason: "an inlined copy cannot be skipped"}
		}
	}
	return nil
}

// handlers links the programs of a source for one place.
func (l *Linker) handlers(source Source, at engine.PlaceInfo) (engine.Handlers, error) {
	result, list := source.Compile(at)
	if err := list.Err(); err != nil {
		if result.Wanting {
			err = &registry.WantingError{Err: err}
		}
		return engine.Handlers{}, err
	}
	l.report(source, list)
	h := engine.Handlers{AtReturn: result.AtReturn}
	for kind, to := range map[js.HandlerKind]**runtime.Code{
		js.When: &h.When, js.Enter: &h.Enter, js.Post: &h.Post, js.Leave: &h.Leave, js.Fault: &h.Fault,
	} {
		program := result.Programs[kind]
		if program == nil {
			continue
		}
		code, err := l.Bind(program, at)
		if err != nil {
			return engine.Handlers{}, err
		}
		*to = code
	}
	return h, nil
}

// report passes warnings on that only the types at a place show, once for all places.
func (l *Linker) report(source Source, list diag.List) {
	_, known := source.Compile(nil)
	var fresh diag.List
	l.mu.Lock()
	for _, d := range list {
		key := d.Key()
		key.Hint = "" // which may be about this place
		if !l.reported[key] && !slices.ContainsFunc(known, func(k diag.Diagnostic) bool { return k.Key() == d.Key() }) {
			l.reported[key] = true
			fresh = append(fresh, d)
		}
	}
	l.mu.Unlock()
	if len(fresh) > 0 {
		l.warn(fresh)
	}
}

// Bind verifies a program and lowers it for a place. A register that the place lacks is an error at the text that names
// it (a diag.List).
func (l *Linker) Bind(program *compile.Program, at engine.PlaceInfo) (*runtime.Code, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := codeKey{program, at.WordSize()}
	if code := l.codes[key]; code != nil {
		return code, nil
	}
	if !program.Bound.Verified {
		if err := compile.Verify(program).Err(); err != nil {
			return nil, err
		}
	}
	code, err := compile.Lower(program, compile.Env{Arena: l.arena, Register: at.Register, WordSize: key.wordSize})
	if err != nil {
		return nil, atRegister(err, at)
	}
	l.codes[key] = code
	return code, nil
}

// A MismatchError reports that the instruction at a place is not the expected one.
type MismatchError struct {
	Place     string
	Want, Got byte // the first byte
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("opcode mismatch: %s begins with %#02x, and the definition says %#02x", e.Place, e.Got, e.Want)
}

// Hint says what may have happened.
func (e *MismatchError) Hint() string {
	return "the definition is for another build of the program; --dont-verify-opcodes runs it anyway"
}

// checkOpcode compares the first byte of the instruction at a place with the expected one.
func checkOpcode(want int, at engine.PlaceInfo) error {
	coded, ok := at.(engine.CodePlace)
	if want < 0 || !ok {
		return nil
	}
	code, err := coded.Code(1)
	if err != nil {
		return err
	}
	if code[0] != byte(want) {
		return &MismatchError{at.Name(), byte(want), code[0]}
	}
	return nil
}
