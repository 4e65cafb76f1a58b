package main

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/engine"
	"gotap/engine/place"
	"gotap/runtime"
	"gotap/script"
)

// tracer is the script's view of the engine: it turns probes of a script into probes of a session.
// It is safe for concurrent use.
type tracer struct {
	session session
	arena   *runtime.Arena
	stop    func(status int)
	warn    func(diag.List) // of what shows at a place only

	mu    sync.Mutex
	told  map[diag.Diagnostic]bool  // warnings that have been told
	codes map[codeKey]*runtime.Code // programs that were bound already: places share them
	wait  bool                      // libraries have yet to be mapped: probes wait for them
	late  []intention               // those that do

	inlined inlined
}

// codeKey is what a bound program depends on.
type codeKey struct {
	program *compile.Program
	word    int
}

func newTracer(s session, a *runtime.Arena, stop func(int)) *tracer {
	return &tracer{session: s, arena: a, stop: stop, warn: func(diag.List) {}, told: map[diag.Diagnostic]bool{}, codes: map[codeKey]*runtime.Code{}}
}

// Add registers a probe. Errors about the place point at the text that names it.
func (t *tracer) Add(p *script.Probe) error {
	spec, err := t.spec(p)
	if err != nil {
		return err
	}
	if t.putOff(p, spec) {
		return nil
	}
	err = t.session.Add(spec)
	if errors.Is(err, engine.ErrInterrupted) { // the run ends
		return nil
	}
	return err
}

// spec is a probe of a script as the engine takes it.
func (t *tracer) spec(p *script.Probe) (engine.ProbeSpec, error) {
	spec, list := probeSpec(p)
	spec.Compile = t.noting(spec.ID, func(at engine.PlaceInfo) (engine.Handlers, error) { return t.compile(p, at) })
	return spec, list.Err()
}

// noting notes the places that a probe is compiled for.
func (t *tracer) noting(probe uint32, compile engine.Compile) engine.Compile {
	return func(at engine.PlaceInfo) (engine.Handlers, error) {
		h, err := compile(at)
		if err == nil {
			t.inlined.note(probe, at)
		}
		return h, err
	}
}

func probeSpec(p *script.Probe) (engine.ProbeSpec, diag.List) {
	var list diag.List
	spec := engine.ProbeSpec{
		ID: p.ID, Name: p.Name, After: p.After, Limit: p.Limit, Every: p.Every, Rate: p.Rate, MaxActive: p.MaxActive,
		LogOnFault: p.LogOnFault, Optional: p.Optional, Disabled: p.Disabled, Order: p.Order,
		HasEnter: p.Has(js.Enter), HasPost: p.Has(js.Post), HasLeave: p.Has(js.Leave), HasFault: p.Has(js.Fault),
	}
	result, more := p.Compile(nil)
	list = append(list, more...)
	spec.ThisBytes = result.ThisBytes
	for _, text := range p.Specs {
		s, err := place.Parse(text.Text)
		if err != nil {
			list.Errorf(text.Span, hintOf(err), "%v", err)
			continue
		}
		spec.Specs = append(spec.Specs, s)
	}
	return spec, list
}

// compile makes the programs of a probe for one place.
func (t *tracer) compile(p *script.Probe, at engine.PlaceInfo) (engine.Handlers, error) {
	result, list := p.Compile(at)
	if err := list.Err(); err != nil {
		return engine.Handlers{}, err
	}
	t.tell(p, list)
	h := engine.Handlers{AtReturn: result.AtReturn}
	for kind, to := range map[js.HandlerKind]**runtime.Code{js.When: &h.When, js.Enter: &h.Enter, js.Post: &h.Post, js.Leave: &h.Leave, js.Fault: &h.Fault} {
		program := result.Programs[kind]
		if program == nil {
			continue
		}
		code, err := t.bind(program, at)
		if err != nil {
			return engine.Handlers{}, err
		}
		*to = code
	}
	return h, nil
}

// tell warns of what only the types at a place show, once for all places.
func (t *tracer) tell(p *script.Probe, list diag.List) {
	_, known := p.Compile(nil)
	var fresh diag.List
	t.mu.Lock()
	for _, d := range list {
		what := d
		what.Hint = "" // which may be about this place
		if !slices.Contains(known, d) && !t.told[what] {
			t.told[what] = true
			fresh = append(fresh, d)
		}
	}
	t.mu.Unlock()
	if len(fresh) > 0 {
		t.warn(fresh)
	}
}

// bind verifies a program and makes it ready to run: nothing unverified is ever executed.
func (t *tracer) bind(program *compile.Program, at engine.PlaceInfo) (*runtime.Code, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := codeKey{program, at.WordSize()}
	if code := t.codes[key]; code != nil {
		return code, nil
	}
	if !program.Bound.Verified {
		if err := compile.Verify(program).Err(); err != nil {
			return nil, err
		}
	}
	code, err := compile.Lower(program, compile.Env{Arena: t.arena, Register: at.Register, WordSize: key.word})
	if err == nil {
		t.codes[key] = code
	}
	if half := (*compile.HalfRegisterError)(nil); errors.As(err, &half) && half.Pos.Source != nil {
		var list diag.List
		list.Errorf(half.Pos, "write "+half.Whole+", which is the whole one in 32-bit programs too",
			"%s is half of an address in a 64-bit program", half.Name)
		return nil, list.Err()
	}
	var unknown *compile.UnknownRegisterError
	if errors.As(err, &unknown) && unknown.Pos.Source != nil {
		var list diag.List
		if unknown.Write {
			list.Errorf(unknown.Pos, "", "register %s cannot be written: floating-point and vector registers are only read", unknown.Name)
		} else {
			list.Errorf(unknown.Pos, nearRegister(unknown.Name, at), "the target's architecture has no register %s", unknown.Name)
		}
		return nil, list.Err()
	}
	return code, err
}

// registerNames are names to suggest: those that the target has are offered.
var registerNames = strings.Fields("rax rbx rcx rdx rsi rdi rbp rsp rip r8 r9 r10 r11 r12 r13 r14 r15 eflags eax ebx ecx edx esi edi ebp esp eip " +
	"x0 x1 x2 x3 x4 x5 x6 x7 x8 x29 x30 r0 r1 r2 r3 r4 r5 r6 r7 lr sp pc")

func nearRegister(name string, at engine.PlaceInfo) string {
	var known []string
	for _, r := range registerNames {
		if _, _, _, ok := at.Register(r); ok {
			known = append(known, r)
		}
	}
	if near := compile.Nearest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "there are " + strings.Join(known, ", ")
}

// Enable, Disable and Remove act on a registered probe.
func (t *tracer) Enable(p *script.Probe) error  { return unlessOver(t.session.Enable(p.ID)) }
func (t *tracer) Disable(p *script.Probe) error { return unlessOver(t.session.Disable(p.ID)) }
func (t *tracer) Remove(p *script.Probe) error  { return unlessOver(t.session.Remove(p.ID)) }

// unlessOver forgives that there is nothing any more to arm or to disarm: an end callback need not know whether the targets are
// still there.
func unlessOver(err error) error {
	if errors.Is(err, engine.ErrClosed) {
		return nil
	}
	return err
}

// Hits, Missed and Places are 0 for a probe that was never registered.
func (t *tracer) Hits(p *script.Probe) uint64   { return t.state(p).Hits }
func (t *tracer) Missed(p *script.Probe) uint64 { return t.state(p).Missed }

func (t *tracer) Places(p *script.Probe) uint64 { return uint64(t.state(p).Places) }

func (t *tracer) state(p *script.Probe) engine.ProbeState {
	for _, s := range t.session.Query() {
		if s.ID == p.ID {
			return s
		}
	}
	return engine.ProbeState{}
}

// Release lets a held thread go.
func (t *tracer) Release(ticket uint32) { t.session.Release(ticket) }

// Stop ends the run.
func (t *tracer) Stop(status int) { t.stop(status) }
