package script

import (
	"strconv"
	"sync"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/runtime"
	"gotap/runtime/hook"
)

// Probe is one probe that the script declared. Its exported fields do not change once the script has been loaded.
type Probe struct {
	ID         uint32 // unique in the script, and in a watched script unique over its versions
	Name       string // the option, or the first spec
	Named      bool   // the script gave the name
	Specs      []SpecText
	After      uint64
	Limit      uint64
	Every      uint64
	Rate       uint64
	MaxActive  int
	LogMax     int
	Fuel       int
	LogOnFault bool
	Optional   bool
	Disabled   bool
	Order      hook.Order // among the probes of one place
	Span       diag.Span  // the call of probe

	unit     js.Unit
	callback goja.Callable // exit; nil when there is none
	handlers []handler     // as given, until they are folded
	script   *Script

	mu     sync.Mutex
	result *js.Result // compiled without a place
	list   diag.List
}

// SpecText is a place as the script names it.
type SpecText struct {
	Text string
	Span diag.Span
}

// handler is a function value given for a program.
type handler struct {
	kind js.HandlerKind
	fn   *goja.Object
	span diag.Span
}

// Has reports whether the probe has a handler of a kind.
func (p *Probe) Has(k js.HandlerKind) bool { return p.unit.Handlers[k] != nil }

// HasExit reports whether the probe has a callback for its events.
func (p *Probe) HasExit() bool { return p.callback != nil }

// Compile compiles the probe's programs for a place; nil means one that nothing is known of. Safe for concurrent use: it
// does not touch JavaScript. What needs no place is compiled once.
func (p *Probe) Compile(place js.Place) (js.Result, diag.List) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.result == nil && p.list == nil {
		r, list := compileUnit(p.unit)
		p.result, p.list = &r, list
	}
	if place == nil || p.list.HasErrors() || !p.result.UsesPlace && !p.result.UsesArg {
		return *p.result, p.list
	}
	u := p.unit
	u.Place = place
	return compileUnit(u)
}

// recompileGuessed forgets what was compiled on a guess that has proved wrong, and compiles it again.
func (p *Probe) recompileGuessed(arena *runtime.Arena) {
	p.mu.Lock()
	wrong := false
	if p.result != nil {
		for _, id := range p.result.Guessed {
			object, _ := arena.Lookup(id)
			wrong = wrong || object.Value == runtime.ValueText
		}
	}
	if wrong {
		p.result, p.list = nil, nil
	}
	p.mu.Unlock()
	if wrong {
		p.Compile(nil)
	}
}

// jsProbe is probe(spec, program).
func (s *Script) jsProbe(call goja.FunctionCall) goja.Value {
	at := s.site()
	errors := len(s.diags)
	s.lastProbe++
	p := &Probe{ID: s.lastProbe, script: s, Span: at.span()}
	s.parseSpecs(p, at, call.Argument(0))
	if len(call.Arguments) < 2 {
		s.reject(at.span(), `probe("malloc", { enter(c) { … } })`, "probe needs a place and a program")
	} else {
		s.parseProgram(p, at, call.Argument(1))
	}
	if len(call.Arguments) > 2 {
		s.reject(at.argSpan(2), "options stand beside the programs: { enter(c) { … }, limit: 10 }", "probe takes a place and a program, and no more")
	}
	if len(s.diags) > errors {
		s.spoiled = append(s.spoiled, p)
		return s.probeHandle(p)
	}
	if len(p.Specs) > 0 && p.Name == "" {
		p.Name = p.Specs[0].Text
	}
	s.addProbe(p)
	return s.probeHandle(p)
}

// addProbe registers a probe; one made in a callback is compiled and placed at once.
func (s *Script) addProbe(p *Probe) {
	if s.loading {
		s.keepProbe(p)
		return
	}
	s.foldProbe(p)
	if _, list := p.Compile(nil); list.HasErrors() {
		s.throw(list[0])
	}
	s.keepProbe(p)
	if s.tracer == nil {
		return
	}
	if err := s.tracer.Add(p); err != nil {
		s.throwf("%v", err)
	}
}

func (s *Script) keepProbe(p *Probe) {
	s.probes = append(s.probes, p)
	s.byID[p.ID] = p
}

// parseSpecs checks the first argument of probe.
func (s *Script) parseSpecs(p *Probe, at site, v goja.Value) {
	if list, ok := v.(*goja.Object); ok && list.ClassName() == "Array" {
		n := int(list.Get("length").ToInteger())
		if n == 0 {
			s.reject(at.argSpan(0), "", "the list of places is empty")
		}
		for i := range n {
			s.parseSpec(p, s.blame(at.elementSpan(0, i)), list.Get(strconv.Itoa(i)))
		}
		return
	}
	s.parseSpec(p, s.blame(at.argSpan(0)), v)
}

func (s *Script) parseSpec(p *Probe, at diag.Span, v goja.Value) {
	switch {
	case v == nil || !goja.IsString(v):
		hint := `a place is text like "libc:malloc"`
		if obj, ok := v.(*goja.Object); ok && obj.ClassName() == "RegExp" {
			hint = `globs have * ? and [a-z]: "libc:str*"; several places are a list`
		}
		s.reject(at, hint, "%s is no place", describe(v))
	case v.String() == "":
		s.reject(at, `name a place: "libc:malloc"`, "the place is empty")
	default:
		p.Specs = append(p.Specs, SpecText{v.String(), at})
	}
}

// parseProgram checks the second argument: a function, or an object of handlers and options.
func (s *Script) parseProgram(p *Probe, at site, v goja.Value) {
	obj, ok := v.(*goja.Object)
	if !ok || obj.ClassName() == "Array" {
		s.reject(at.argSpan(1), "a function, or { enter(c) { … } }", "%s is no program", describe(v))
		return
	}
	if _, ok := goja.AssertFunction(obj); ok {
		s.addHandler(p, js.Enter, obj, at.argSpan(1))
		return
	}
	programs := 0
	for _, key := range obj.Keys() {
		if _, ok := handlerKinds[key]; ok {
			programs++
		}
		s.parseProperty(p, givenOption{s: s, at: at, arg: 1, name: key, value: obj.Get(key)})
	}
	if programs == 0 {
		s.reject(at.argSpan(1), "add enter, post, leave or fault", "the probe has no program")
	}
}

// handlerKinds are the handlers that are programs.
var handlerKinds = map[string]js.HandlerKind{"enter": js.Enter, "post": js.Post, "leave": js.Leave, "fault": js.Fault}

// calledElsewhere are words of other tracers for what a probe's object has.
var calledElsewhere = map[string]string{
	"entry": "enter(c) { … }", "pre": "enter(c) { … }", "call": "enter(c) { … }", "return": "leave(c) { … }", "ret": "leave(c) { … }",
	"onReturn": "leave(c) { … }", "onLeave": "leave(c) { … }", "onEnter": "enter(c) { … }", "filter": "when: c => …", "predicate": "when: c => …",
	"condition": "when: c => …", "if": "when: c => …", "emit": "exit(e) { … }", "event": "exit(e) { … }", "maxactive": "maxActive",
	"once": "limit: 1", "sample": "every: 100", "pass_count": "after", "max_hits": "limit",
}

func (s *Script) parseProperty(p *Probe, o givenOption) {
	if kind, ok := handlerKinds[o.name]; ok {
		if fn, ok := o.function(); ok {
			s.addHandler(p, kind, fn, o.valueSpan())
		}
		return
	}
	switch set := setterOf(o.name); {
	case set != nil:
		set(p, o)
	default:
		hint := nearest(o.name, probeNames())
		if here := calledElsewhere[o.name]; here != "" {
			hint = "here it is " + here
		}
		s.reject(o.span(), hint, "a probe has no option %s", o.name)
	}
}

// addHandler keeps a function that is to become a program.
func (s *Script) addHandler(p *Probe, kind js.HandlerKind, fn *goja.Object, at diag.Span) {
	lit, ok := s.literal(fn)
	switch {
	case !ok:
		s.reject(at, "write the function in the script: c => { … }", "this function cannot become a program")
	case lit.lit.Why != "":
		s.reject(at, "use a plain function: programs run to their end at once", "%s cannot become a program", lit.lit.Why)
	default:
		p.handlers = append(p.handlers, handler{kind, fn, at})
	}
}

// foldProbe turns a probe's function values into syntax trees with plain data for every free name.
func (s *Script) foldProbe(p *Probe) {
	f := s.newFolding()
	p.unit = js.Unit{Name: p.Name, Handlers: map[js.HandlerKind]*js.Function{}, Arena: s.arena, Unsafe: s.opts.Unsafe,
		Fuel: p.Fuel, LogMax: p.LogMax}
	for _, h := range p.handlers {
		fn, _ := f.function(h.fn)
		p.unit.Handlers[h.kind] = fn
		lit, _ := s.literal(h.fn)
		p.unit.Source = lit.src.file.Source
		if lit.src.file.Mapped() {
			p.unit.Map = lit.src.file.Origin
		}
	}
	p.unit.AtReturn = atReturn(p.unit.Handlers)
}
