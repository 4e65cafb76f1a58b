package script

import (
	"math"
	"regexp"
	"sort"

	"github.com/dop251/goja"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/runtime"
	"gotap/runtime/hook"
)

// givenOption is one property of an object of options.
type givenOption struct {
	s     *Script
	at    site
	arg   int // which argument of the call the object is
	name  string
	value goja.Value
}

func (o givenOption) span() diag.Span      { return o.at.propertySpan(o.arg, o.name, false) }
func (o givenOption) valueSpan() diag.Span { return o.at.propertySpan(o.arg, o.name, true) }

func (o givenOption) wrong(want string) {
	o.s.reject(o.valueSpan(), "", "%s must be %s, not %s", o.name, want, describe(o.value))
}

// function is the property as a function.
func (o givenOption) function() (*goja.Object, bool) {
	fn, ok := o.value.(*goja.Object)
	if ok {
		_, ok = goja.AssertFunction(fn)
	}
	if !ok {
		o.wrong("a function")
	}
	return fn, ok
}

// integer is the property as an integer in a range.
func (o givenOption) integer(lo, hi int64) int64 {
	n, ok := toInt(o.value)
	if !ok {
		o.wrong("an integer")
		return lo
	}
	if n < lo || n > hi {
		if hi == math.MaxInt64 {
			o.s.reject(o.valueSpan(), "", "%s must be at least %d", o.name, lo)
		} else {
			o.s.reject(o.valueSpan(), "", "%s must be from %d to %d", o.name, lo, hi)
		}
		return lo
	}
	return n
}

func (o givenOption) boolean() bool {
	b, ok := o.value.Export().(bool)
	if !ok {
		o.wrong("true or false")
	}
	return b
}

// maxPriority bounds priorities.
const maxPriority = 1 << 30

// maxMaxActive bounds the calls of one thread that are told apart: each needs storage.
const maxMaxActive = 1 << 20

// ProbeOption is a property of the object given to probe: a handler or an option. The table serves the machine, and whoever
// writes typings or help.
type ProbeOption struct {
	Name string
	Type string // in TypeScript's words
	Doc  string

	set func(p *Probe, o givenOption)
}

// ProbeOptions lists the table.
func ProbeOptions() []ProbeOption {
	all := make([]ProbeOption, 0, len(handlerOptions)+len(probeOptions))
	return append(append(all, handlerOptions...), probeOptions...)
}

// handlerOptions are the handlers that are programs; handlerKinds says which they are.
var handlerOptions = []ProbeOption{
	{"enter", "Program<Context>", "runs before the probed instruction", nil},
	{"post", "Program<Context>", "runs after the probed instruction", nil},
	{"leave", "Program<LeaveContext>", "runs when the function returns: c.ret, c.elapsed, and this as enter left it", nil},
	{"fault", "Program<FaultContext>", "runs when the probed instruction faults", nil},
}

// probeOptions are all others, with what each sets.
var probeOptions = []ProbeOption{
	{"exit", "(e: Event) => void", "called on the host for each exit(…) of the programs", func(p *Probe, o givenOption) { p.callback = o.callback() }},
	{"name", "string", "the probe's name in output and for gotap ctl; the first place when left out", func(p *Probe, o givenOption) {
		if !goja.IsString(o.value) || o.value.String() == "" {
			o.wrong("text")
			return
		}
		p.Name, p.Named = o.value.String(), true
	}},
	{"when", "(this: Call, c: LeaveContext) => unknown", "a program too, asked first: a hit of which it is not true is none, for after, every and limit either; one about ret, elapsed or this is asked as the function returns", func(p *Probe, o givenOption) {
		if fn, ok := o.function(); ok {
			o.s.addHandler(p, js.When, fn, o.valueSpan())
		}
	}},
	{"after", "number", "lets so many hits pass first", func(p *Probe, o givenOption) { p.After = uint64(o.integer(0, math.MaxInt64)) }},
	{"every", "number", "takes one hit of so many", func(p *Probe, o givenOption) { p.Every = uint64(o.integer(1, math.MaxInt64)) }},
	{"rate", "number", "takes at most so many hits a second; --stats tells how many more there were", func(p *Probe, o givenOption) { p.Rate = uint64(o.integer(1, math.MaxInt64)) }},
	{"limit", "number", "disables the probe after so many hits", func(p *Probe, o givenOption) { p.Limit = uint64(o.integer(1, math.MaxInt64)) }},
	{"maxActive", "number", "calls of one thread that can be under way at once with a leave handler",
		func(p *Probe, o givenOption) { p.MaxActive = int(o.integer(1, maxMaxActive)) }},
	{"logMax", "number", "bytes one hit can log", func(p *Probe, o givenOption) { p.LogMax = int(o.integer(1, runtime.MaxLog)) }},
	{"fuel", "number", "commands one run of a program can take", func(p *Probe, o givenOption) { p.Fuel = int(o.integer(1, runtime.MaxFuel)) }},
	{"logOnFault", "boolean", "keeps the log of a hit whose instruction faults", func(p *Probe, o givenOption) { p.LogOnFault = o.boolean() }},
	{"optional", "boolean", "no error when there is no such place", func(p *Probe, o givenOption) { p.Optional = o.boolean() }},
	{"priority", "number", "among the probes of one place lower ones run first; 0 when left out, and equal ones in the order of declaration",
		func(p *Probe, o givenOption) { p.Order.Priority = int(o.integer(-maxPriority, maxPriority)) }},
	{"order", `"first" | "last" | "only"`, "among the probes of one place: the first, the last, or the only one; where another has taken that, the probe is refused",
		func(p *Probe, o givenOption) {
			position, ok := hook.ParsePosition(o.value.String())
			if !ok {
				o.wrong(`"first", "last" or "only"`)
			}
			p.Order.Position = position
		}},
	{"disabled", "boolean", "starts disabled, until enable()", func(p *Probe, o givenOption) { p.Disabled = o.boolean() }},
}

// probeNames lists all properties probe knows.
func probeNames() []string {
	var names []string
	for _, o := range ProbeOptions() {
		names = append(names, o.Name)
	}
	sort.Strings(names)
	return names
}

// setterOf is what sets an option that is no handler; nil when there is none of that name.
func setterOf(name string) func(p *Probe, o givenOption) {
	for _, o := range probeOptions {
		if o.Name == name {
			return o.set
		}
	}
	return nil
}

// callback is the property as a callback of the host.
func (o givenOption) callback() goja.Callable {
	obj, ok := o.function()
	if !ok {
		return nil
	}
	return o.s.callbackOf(obj, o.valueSpan())
}

// callbackOf checks a function that the host will call. An async one would go on after its event is over.
func (s *Script) callbackOf(obj *goja.Object, at diag.Span) goja.Callable {
	fn, _ := goja.AssertFunction(obj)
	switch head := obj.String(); {
	case asyncText.MatchString(head):
		s.reject(at, "use a plain function; to come back later, use every(…)", "a callback cannot be async")
	case generatorText.MatchString(head):
		s.reject(at, "use a plain function", "a callback cannot be a generator")
	}
	return fn
}

// The texts that functions of these kinds begin with; a method may itself be called "async".
var (
	asyncText     = regexp.MustCompile(`^async(?:\s+function\b|\s*\*|\s+[\w$\["']|\s*\([^)]*\)\s*=>)`)
	generatorText = regexp.MustCompile(`^(?:function\s*\*|\*)`)
)
