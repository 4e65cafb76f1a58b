package gotap

import (
	"errors"
	"sync"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/engine"
	"gotap/engine/link"
	"gotap/engine/place"
	"gotap/script"
	"gotap/script/definition"
)

// tracer is the script's view of the engine (script.Tracer): it turns probes of a script into probes of a session. It
// is safe for concurrent use.
type tracer struct {
	engine tracing
	linker *link.Linker
	stop   func(status int)

	mu   sync.Mutex
	wait bool            // libraries have yet to be mapped: probes wait for them
	late []resolvedProbe // those that do
}

// Add registers a probe. Errors about the place point at the text that names it.
func (t *tracer) Add(p *script.Probe) error {
	spec, err := scriptProbe{p}.spec(t.linker)
	if err != nil {
		return err
	}
	if t.deferAdd(p, spec) {
		return nil
	}
	err = t.engine.Add(spec)
	if errors.Is(err, engine.ErrInterrupted) { // the session ends
		return nil
	}
	return err
}

// Enable arms a registered probe again.
func (t *tracer) Enable(p *script.Probe) error { return unlessClosed(t.engine.Enable(p.ID)) }

// Disable disarms a registered probe.
func (t *tracer) Disable(p *script.Probe) error { return unlessClosed(t.engine.Disable(p.ID)) }

// Remove takes a registered probe out for good.
func (t *tracer) Remove(p *script.Probe) error { return unlessClosed(t.engine.Remove(p.ID)) }

// unlessClosed drops the error that the targets are not traced any more: an end callback need not know that.
func unlessClosed(err error) error {
	if errors.Is(err, engine.ErrClosed) {
		return nil
	}
	return err
}

// Hits returns 0 for a probe that was never registered.
func (t *tracer) Hits(p *script.Probe) uint64 { return t.state(p).Hits }

// Missed returns 0 for a probe that was never registered.
func (t *tracer) Missed(p *script.Probe) uint64 { return t.state(p).Missed }

// Places returns 0 for a probe that was never registered.
func (t *tracer) Places(p *script.Probe) uint64 { return uint64(t.state(p).Places) }

func (t *tracer) state(p *script.Probe) engine.ProbeState {
	for _, s := range t.engine.Query() {
		if s.ID == p.ID {
			return s
		}
	}
	return engine.ProbeState{}
}

// Release lets a held thread go on.
func (t *tracer) Release(ticket uint32) { t.engine.Release(ticket) }

// Stop ends the session.
func (t *tracer) Stop(status int) { t.stop(status) }

// Symbol names an address of a process.
func (t *tracer) Symbol(pid int, addr uint64) script.Symbol {
	return script.Symbol(t.engine.Symbol(pid, addr))
}

// Stack names the return addresses of a stack.
func (t *tracer) Stack(pid int, pcs []uint64) []script.Symbol {
	var all []script.Symbol
	for _, s := range t.engine.Stack(pid, pcs) {
		all = append(all, script.Symbol(s))
	}
	return all
}

// ReadMemory reads memory of a process.
func (t *tracer) ReadMemory(pid int, addr uint64, p []byte) int {
	return t.engine.ReadMemory(pid, addr, p)
}

// deferAdds has probes that callbacks add wait until libraries are mapped.
func (t *tracer) deferAdds() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wait = true
}

// deferAdd reports whether a probe has to wait, and keeps it until then. The part of it that can be armed is armed.
func (t *tracer) deferAdd(p *script.Probe, spec engine.ProbeSpec) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.wait {
		t.late = append(t.late, resolvedProbe{declaration: scriptProbe{p}, spec: spec})
		t.engine.Begin(spec) // its errors are reported when it is added
	}
	return t.wait
}

// deferred returns the probes that waited; no others will.
func (t *tracer) deferred() []resolvedProbe {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wait = false
	return t.late
}

// A declaration is a probe as a script or a definition file declares it.
type declaration interface {
	// spec is the probe as the engine takes it. Errors about the place point at the text that names it.
	spec(l *link.Linker) (engine.ProbeSpec, error)
	// spans are the texts that name the probe's places.
	spans() []diag.Span
	isOptional() bool
	// title is the probe's name, as the user gave it or the place it is at.
	title() string
}

// A resolvedProbe is a declaration as the engine takes it, or what is wrong with it.
type resolvedProbe struct {
	declaration
	spec engine.ProbeSpec
	bad  error
}

// A scriptProbe is a probe of a script.
type scriptProbe struct{ *script.Probe }

func (p scriptProbe) isOptional() bool { return p.Optional }

func (p scriptProbe) title() string { return p.Name }

func (p scriptProbe) spans() (list []diag.Span) {
	for _, s := range p.Specs {
		list = append(list, s.Span)
	}
	return list
}

func (p scriptProbe) spec(l *link.Linker) (engine.ProbeSpec, error) {
	var list diag.List
	spec := engine.ProbeSpec{
		ID: p.ID, Name: p.Name, After: p.After, Limit: p.Limit, Every: p.Every, Rate: p.Rate, MaxActive: p.MaxActive,
		LogOnFault: p.LogOnFault, Optional: p.Optional, Copies: !p.NoCopies, Disabled: p.Disabled, Order: p.Order,
		HasEnter: p.Has(js.Enter), HasPost: p.Has(js.Post), HasLeave: p.Has(js.Leave), HasFault: p.Has(js.Fault),
		Compile: l.Handlers(p.ID, p.Probe), Effects: &l.Effects,
	}
	result, more := p.Compile(nil)
	list = append(list, more...)
	spec.ThisBytes = result.ThisBytes
	for _, module := range p.From {
		spec.From = append(spec.From, module.Text)
	}
	spec.Specs, spec.Not = parsePlaces(p.Specs, &list), parsePlaces(p.Not, &list)
	l.Versions.Watch(p.ID, spec.Specs)
	return spec, list.Err()
}

// parsePlaces reads places as a script names them; errors join the list.
func parsePlaces(texts []script.SpecText, list *diag.List) (specs []place.Spec) {
	for _, text := range texts {
		s, err := place.Parse(text.Text)
		if err != nil {
			list.Errorf(text.Span, hintOf(err), "%v", err)
			continue
		}
		specs = append(specs, s)
	}
	return specs
}

// A definedProbe is a probe of a definition file.
type definedProbe struct{ *definition.Probe }

func (p definedProbe) spans() []diag.Span { return []diag.Span{p.Span} }

func (p definedProbe) isOptional() bool { return p.Optional }

func (p definedProbe) title() string { return p.Name }

func (p definedProbe) spec(l *link.Linker) (engine.ProbeSpec, error) {
	where, err := place.Parse(p.Place)
	if err != nil {
		var list diag.List
		list.Errorf(p.Span, hintOf(err), "%v", err)
		return engine.ProbeSpec{}, list
	}
	l.Versions.Watch(p.ID, []place.Spec{where})
	opcode := p.Opcode
	if p.AnyCode {
		opcode = -1
	}
	return engine.ProbeSpec{
		ID: p.ID, Name: p.Name, Specs: []place.Spec{where}, After: p.PassCount, Limit: p.MaxHits, LogOnFault: p.LogOnFault,
		Optional: p.Optional, HasEnter: true, Compile: l.Exact(p.ID, p.Program, opcode),
	}, nil
}

// declarationsOf returns the probes of a definition file.
func declarationsOf(f *definition.File) (list []declaration) {
	for _, p := range f.Probes {
		list = append(list, definedProbe{p})
	}
	return list
}
