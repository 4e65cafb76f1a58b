package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/dpdf"
	"gotap/engine"
	"gotap/engine/place"
	"gotap/runtime"
)

// A definition is a probe definition file in a session. It has no code of its own on the host: its records are printed as
// they come (definitionlog.go), by the host of the session's script, which is empty when the definition is all that runs.
type definition struct {
	file   *dpdf.File
	inputs []string // the file and what it includes
	probes []*definedProbe
}

// A definedProbe is a probe of a definition file, as a declaration.
type definedProbe struct {
	*dpdf.Probe
	id       uint32
	name     string // its place, without the directories of the module
	anyCode  bool   // the first byte of its instruction is not looked at
	optional bool
}

// definitionOptions are the flags that choose what of a definition file is run.
type definitionOptions struct {
	defs          map[string]string // -D
	include       []string          // -I
	groups, types []int             // empty: all
	anyCode       bool              // --dont-verify-opcodes
	unsafe        bool
	served        func(facility uint32) bool // nil: exits may lead anywhere
}

// firstDefined is the number of the first probe that comes from a definition file. Scripts count from 1, and those that are
// inserted from guestBase.
const firstDefined = 1 << 29

// isDefinition reports whether a text is a probe definition file, or one that was built of it. What comes from standard input or
// from a file whose name does not say is known by how it begins.
func isDefinition(text scriptText) bool {
	switch filepath.Ext(text.name) {
	case ".dpdf":
		return true
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts":
		return isPrebuilt(text)
	}
	return isPrebuilt(text) || dpdf.Looks(text.text)
}

// loadDefinition parses a definition file. Its probes are numbered from first on.
func loadDefinition(text scriptText, o definitionOptions, variables definitionVariables, first uint32) (*definition, diag.List) {
	d := &definition{inputs: []string{text.name}}
	file, list := d.parse(text, dpdf.Options{
		Defs: o.defs, Include: o.include, Arena: variables, Globals: variables.globals, Unsafe: o.unsafe,
		Open: func(path string) ([]byte, error) {
			data, err := diag.ReadFile(path)
			if err == nil {
				d.inputs = append(d.inputs, path)
			}
			return []byte(withoutMark(data)), err
		},
	})
	if list.HasErrors() {
		return nil, list
	}
	d.file = file
	for i := range file.Probes {
		p := &file.Probes[i]
		list = append(list, o.checkFacilities(p)...)
		if o.selects(p) {
			d.probes = append(d.probes, &definedProbe{Probe: p, id: first + uint32(i), anyCode: o.anyCode,
				name: p.Place[strings.LastIndexByte(p.Place, '/')+1:]})
		}
	}
	if len(d.probes) == 0 && !list.HasErrors() {
		list.Errorf(diag.Span{Source: diag.NewSource(text.name, "")}, "without --group and --type all are run", "the file has no probe of that group and type")
	}
	return d, list
}

// parse reads the text, or what was built of it.
func (d *definition) parse(text scriptText, o dpdf.Options) (*dpdf.File, diag.List) {
	if isPrebuilt(text) {
		return loadPrebuilt(text, o)
	}
	return dpdf.Parse(diag.NewSource(text.name, text.text), o)
}

// selects reports whether a probe is among those asked for.
func (o definitionOptions) selects(p *dpdf.Probe) bool {
	return (len(o.groups) == 0 || slices.Contains(o.groups, p.Group)) && (len(o.types) == 0 || slices.Contains(o.types, p.Type))
}

// checkFacilities refuses exits to facilities that nobody has registered.
func (o definitionOptions) checkFacilities(p *dpdf.Probe) (list diag.List) {
	for _, c := range p.Program.Code {
		if c.Op == runtime.OpExit && runtime.ExitKind(c.A) == runtime.ExitFacility && o.served != nil && !o.served(uint32(c.V)) {
			list.Errorf(c.Pos, fmt.Sprintf("exit 3 writes a core; facility(%d, e => { … }) in a script of the session, as --exits names one, takes this", c.V),
				"there is no facility %d", c.V)
		}
	}
	return list
}

// definitionVariables declares the variables of definition files. The global ones are an array that all files of a session
// share; the local ones of a file that is loaded anew stay what they are when there are as many as before.
type definitionVariables struct {
	arena  *runtime.Arena
	shared *sharedVariables
	before *definition // the version of the file that runs, or nil
}

// sharedVariables is where the session's global variables are.
type sharedVariables struct {
	mu   sync.Mutex
	id   int
	made bool
}

// mostGlobals is how many global variables a file may ask for.
const mostGlobals = 256

// Declare implements dpdf.Declarer.
func (v definitionVariables) Declare(o runtime.Object) (id int, err error) {
	if b := v.before; b != nil && o.Name == "lv" && b.file.Vars == o.Size {
		return b.file.Locals, nil
	}
	return v.arena.Declare(o)
}

func (v definitionVariables) globals(int) (id int, err error) {
	v.shared.mu.Lock()
	defer v.shared.mu.Unlock()
	if !v.shared.made {
		v.shared.id, err = v.arena.Declare(runtime.Object{Name: "gv", Kind: runtime.KindArray, Size: mostGlobals})
		v.shared.made = err == nil
	}
	return v.shared.id, err
}

// spans implements declaration.
func (p *definedProbe) spans() []diag.Span { return []diag.Span{p.Span} }

// isOptional implements declaration.
func (p *definedProbe) isOptional() bool { return p.optional }

func (p *definedProbe) title() string { return p.name }

// spec implements declaration.
func (p *definedProbe) spec(t *tracer) (engine.ProbeSpec, error) {
	where, err := place.Parse(p.Place)
	if err != nil {
		var list diag.List
		list.Errorf(p.Span, hintOf(err), "%v", err)
		return engine.ProbeSpec{}, list
	}
	return engine.ProbeSpec{
		ID: p.id, Name: p.name, Specs: []place.Spec{where}, After: p.PassCount, Limit: p.MaxHits, LogOnFault: p.LogOnFault,
		Optional: p.optional, HasEnter: true,
		Compile: t.noting(p.id, func(at engine.PlaceInfo) (engine.Handlers, error) { return p.compile(t, at) }),
	}, nil
}

// compile binds the program to a place whose instruction is the expected one.
func (p *definedProbe) compile(t *tracer, at engine.PlaceInfo) (engine.Handlers, error) {
	if err := p.checkOpcode(at); err != nil {
		return engine.Handlers{}, err
	}
	code, err := t.bind(p.Program, at)
	return engine.Handlers{Enter: code}, err
}

// A mismatchError says that another instruction is at a place than the definition says.
type mismatchError struct {
	place     string
	want, got byte
}

func (e *mismatchError) Error() string {
	return fmt.Sprintf("opcode mismatch: %s begins with %#02x, and the definition says %#02x", e.place, e.got, e.want)
}

// Hint says what may have happened.
func (e *mismatchError) Hint() string {
	return "the definition is for another build of the program; --dont-verify-opcodes runs it all the same"
}

// checkOpcode compares the first byte of the instruction with what the file says it is.
func (p *definedProbe) checkOpcode(at engine.PlaceInfo) error {
	coded, ok := at.(engine.CodePlace)
	if p.Opcode < 0 || p.anyCode || !ok {
		return nil
	}
	code, err := coded.Code(1)
	if err != nil {
		return err
	}
	if code[0] != byte(p.Opcode) {
		return &mismatchError{at.Name(), byte(p.Opcode), code[0]}
	}
	return nil
}

// same reports whether two probes do the same at the same place: then the one that is armed can stay.
func (p *definedProbe) same(o *definedProbe) bool {
	if p.Place != o.Place || p.Opcode != o.Opcode || p.Major != o.Major || p.Minor != o.Minor || p.PassCount != o.PassCount ||
		p.MaxHits != o.MaxHits || p.LogOnFault != o.LogOnFault || p.anyCode != o.anyCode || p.optional != o.optional {
		return false
	}
	return sameProgram(p.Program, o.Program)
}

func sameProgram(a, b *compile.Program) bool {
	x, errX := a.MarshalBinary()
	y, errY := b.MarshalBinary()
	return errX == nil && errY == nil && slices.Equal(x, y) && slices.Equal(a.Objects, b.Objects)
}
