package probe

import (
	"slices"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/runtime/arena"
	"gotap/runtime/record"
	"gotap/script/fold"
	"gotap/script/journal"
	"gotap/script/jsvm"
)

// Tracer places probes. Its methods are safe for concurrent use.
type Tracer interface {
	// Add registers a probe made after the script had been loaded (in a callback), and arms it unless disabled.
	Add(p *Probe) error
	Enable(p *Probe) error
	Disable(p *Probe) error
	Remove(p *Probe) error
	Hits(p *Probe) uint64
	Missed(p *Probe) uint64
	// Places is how many places it is armed at.
	Places(p *Probe) uint64
}

// Config is what a Set needs.
type Config struct {
	Machine  *jsvm.Machine
	World    *journal.World
	Arena    *arena.Arena
	Fold     *fold.Folder
	Unsafe   bool   // destructive built-in functions are allowed in programs
	First    uint32 // number of the first probe; 0: 1, or one behind those of Previous
	Previous *Set   // of the running version of a watched script, or nil
}

// Set are the probes of one version of a script.
type Set struct {
	Tracer Tracer // nil until the probes are placed

	m          *jsvm.Machine
	world      *journal.World
	arena      *arena.Arena
	fold       *fold.Folder
	unsafe     bool
	held       js.HeldTypes
	last       uint32 // the number of the last probe
	probes     []*Probe
	invalid    []*Probe // their declaration is wrong: they are compiled to report the errors of their programs too
	byID       map[uint32]*Probe
	successors map[uint32]*Probe // the probes that get the events of probes of earlier versions, by the numbers of those
	used       map[int]bool      // objects that programs of the first usedOf probes use; made when needed
	usedOf     int
}

// gap leaves numbers for probes that callbacks of the running version make while the next one is loaded.
const gap = 1 << 12

// New makes an empty Set.
func New(o Config) *Set {
	s := &Set{m: o.Machine, world: o.World, arena: o.Arena, fold: o.Fold, unsafe: o.Unsafe, byID: map[uint32]*Probe{}}
	if o.First > 0 {
		s.last = o.First - 1
	}
	if o.Previous != nil {
		s.last = o.Previous.last + gap
	}
	return s
}

// List returns the probes in the order of declaration.
func (s *Set) List() []*Probe { return s.probes }

// ByID finds a probe, or the successor of one of an earlier version; nil when there is none.
func (s *Set) ByID(id uint32) *Probe { return s.byID[id] }

// Declare implements probe(spec, program).
func (s *Set) Declare(call goja.FunctionCall) goja.Value {
	at := s.m.Site()
	errors := len(s.m.Diags)
	s.last++
	p := &Probe{ID: s.last, set: s, Span: at.Span()}
	s.parseSpecs(p, at, call.Argument(0))
	if len(call.Arguments) < 2 {
		s.m.Reject(at.Span(), `probe("malloc", { enter(c) { … } })`, "probe needs a place and a program")
	} else {
		s.parseProgram(p, at, call.Argument(1))
	}
	if len(call.Arguments) > 2 {
		s.m.Reject(at.ArgSpan(2), "options stand beside the programs: { enter(c) { … }, limit: 10 }", "probe takes only a place and a program")
	}
	if len(s.m.Diags) > errors {
		s.invalid = append(s.invalid, p)
		return s.handle(p)
	}
	if len(p.Specs) > 0 && p.Name == "" {
		p.Name = p.Specs[0].Text
	}
	s.add(p)
	return s.handle(p)
}

// add registers a probe; one made in a callback is compiled and placed at once.
func (s *Set) add(p *Probe) {
	if s.m.Loading {
		s.keep(p)
		return
	}
	s.foldProbe(p)
	if _, list := p.Compile(nil); list.HasErrors() {
		s.m.Throw(list[0])
	}
	s.keep(p)
	if s.Tracer != nil {
		s.m.Must(s.Tracer.Add(p))
	}
}

func (s *Set) keep(p *Probe) {
	s.probes = append(s.probes, p)
	s.byID[p.ID] = p
}

// Exit calls the probe's callback with an event.
func (p *Probe) Exit(event goja.Value) { p.set.m.Call(p.callback, event) }

// foldProbe turns a probe's function values into syntax trees with the meaning of every free name.
func (s *Set) foldProbe(p *Probe) {
	f := s.fold.Begin()
	p.unit = js.Unit{Name: p.Name, Handlers: map[js.HandlerKind]*js.Function{}, Arena: s.arena, Held: &s.held, Unsafe: s.unsafe,
		Fuel: p.Fuel, LogMax: p.LogMax, Sample: p.samples()}
	for _, h := range p.handlers {
		fn, _ := f.Function(h.fn)
		p.unit.Handlers[h.kind] = fn
		lit, _ := s.fold.Literal(h.fn)
		p.unit.Source = lit.File.Source
		if lit.File.Mapped() {
			p.unit.Map = lit.File.Origin
		}
	}
	p.unit.AtReturn = fold.AtReturn(p.unit.Handlers)
}

// Compile folds and compiles all probes, invalid ones too, so that all errors are reported.
func (s *Set) Compile() (list diag.List) {
	all := append(slices.Clone(s.probes), s.invalid...)
	for _, p := range all {
		s.foldProbe(p)
		p.Compile(nil)
	}
	s.held.Complete()
	for _, p := range all {
		p.forgetUntyped()
		_, diags := p.Compile(nil)
		list = append(list, diags...)
	}
	for _, p := range s.probes {
		p.recompileGuessed(s.arena)
	}
	return list
}

// Recompile folds and compiles the valid probes again, after objects have changed.
func (s *Set) Recompile() (list diag.List) {
	for _, p := range s.probes {
		p.compiled.forget(func(*js.Result) bool { return true })
		s.foldProbe(p)
		_, diags := p.Compile(nil)
		list = append(list, diags...)
	}
	return list
}

// Nth finds the nth probe of a name, from 0; nil when there is none.
func (s *Set) Nth(name string, nth int) *Probe {
	for _, p := range s.probes {
		if p.Name != name {
			continue
		}
		if nth--; nth < 0 {
			return p
		}
	}
	return nil
}

// Played returns a record with the name of its probe, for a journal.
func (s *Set) Played(p *Probe, rec *record.Record) journal.Played {
	nth := 0
	for _, other := range s.probes {
		if other == p {
			break
		}
		if other.Name == p.Name {
			nth++
		}
	}
	return journal.Played{Probe: p.Name, Nth: nth, Record: rec}
}

// Replayed returns a record of a journal with the number of its probe here; ok is false when there is no such probe.
func (s *Set) Replayed(r journal.Played) (rec record.Record, ok bool) {
	p := s.Nth(r.Probe, r.Nth)
	if p == nil {
		return record.Record{}, false
	}
	rec = *r.Record
	rec.Probe = p.ID
	return rec, true
}

// Uses reports whether a program uses an object of the arena. Only a new probe can change the answer.
func (s *Set) Uses(id int) bool {
	if s.used == nil || s.usedOf != len(s.probes) {
		s.used, s.usedOf = s.objects(), len(s.probes)
	}
	return s.used[id]
}

// objects returns the objects that programs use.
func (s *Set) objects() map[int]bool {
	used := map[int]bool{}
	for _, p := range s.probes {
		r, _ := p.Compile(nil)
		for _, prg := range r.Programs {
			for _, id := range prg.Objects {
				used[id] = true
			}
		}
	}
	return used
}
