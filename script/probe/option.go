package probe

import (
	"math"
	"sort"

	"github.com/dop251/goja"

	"gotap/compile/js"
	"gotap/runtime"
	"gotap/runtime/hook"
	"gotap/runtime/record"
	"gotap/script/jsvm"
)

// maxPriority bounds priorities.
const maxPriority = 1 << 30

// maxMaxActive bounds the calls of one thread that are tracked: each needs storage.
const maxMaxActive = 1 << 20

// Option is a property of the object given to probe: a handler or an option. The table also serves typings and help.
type Option struct {
	Name string
	Type string // in TypeScript's words
	Doc  string

	set func(p *Probe, o jsvm.Given)
}

// Options lists the table.
func Options() []Option {
	all := make([]Option, 0, len(handlerOptions)+len(probeOptions))
	return append(append(all, handlerOptions...), probeOptions...)
}

// handlerOptions are the handlers that are programs; handlerKinds has their kinds.
var handlerOptions = []Option{
	{"enter", "Program<Context>", "runs before the probed instruction", nil},
	{"post", "Program<Context>", "runs after the probed instruction", nil},
	{"leave", "Program<LeaveContext>", "runs when the function returns: c.ret, c.elapsed, and this as enter left it", nil},
	{"fault", "Program<FaultContext>", "runs when the probed instruction faults", nil},
}

// probeOptions are all others, with the function that sets each.
var probeOptions = []Option{
	{"exit", "(e: Event) => void", "called on the host for each exit(…) and emit(…) of the programs", func(p *Probe, o jsvm.Given) { p.callback = o.Callback() }},
	{"name", "string", "the probe's name in output and for gotap ctl; the first place when left out", func(p *Probe, o jsvm.Given) {
		if !goja.IsString(o.Value) || o.Value.String() == "" {
			o.Wrong("text")
			return
		}
		p.Name, p.Named = o.Value.String(), true
	}},
	{"when", "(this: Call, c: LeaveContext) => unknown", "a predicate, also a program: it runs first, and a hit for which it is not true does not count, not for after, every and limit either; one that uses ret, elapsed or this runs when the function returns", func(p *Probe, o jsvm.Given) {
		if fn, ok := o.Function(); ok {
			p.set.addHandler(p, js.When, fn, o.ValueSpan())
		}
	}},
	{"after", "number", "ignores so many hits first", func(p *Probe, o jsvm.Given) { p.After = uint64(o.Integer(0, math.MaxInt64)) }},
	{"every", "number", "handles one hit out of so many", func(p *Probe, o jsvm.Given) { p.Every = uint64(o.Integer(1, math.MaxInt64)) }},
	{"rate", "number", "handles at most so many hits a second; --stats counts the others", func(p *Probe, o jsvm.Given) { p.Rate = uint64(o.Integer(1, math.MaxInt64)) }},
	{"limit", "number", "disables the probe after so many hits", func(p *Probe, o jsvm.Given) { p.Limit = uint64(o.Integer(1, math.MaxInt64)) }},
	{"maxActive", "number", "calls of one thread that a leave handler can track at once",
		func(p *Probe, o jsvm.Given) { p.MaxActive = int(o.Integer(1, maxMaxActive)) }},
	{"logMax", "number", "bytes one hit can log", func(p *Probe, o jsvm.Given) { p.LogMax = int(o.Integer(1, record.MaxLog)) }},
	{"fuel", "number", "operations that one run of a program can execute", func(p *Probe, o jsvm.Given) { p.Fuel = int(o.Integer(1, runtime.MaxFuel)) }},
	{"logOnFault", "boolean", "keeps the log of a hit whose instruction faults", func(p *Probe, o jsvm.Given) { p.LogOnFault = o.Boolean() }},
	{"optional", "boolean", "no error when the place does not exist", func(p *Probe, o jsvm.Given) { p.Optional = o.Boolean() }},
	{"inlined", "boolean", "whether the name of a function stands for its inlined copies, too, for enter, post and fault (true)",
		func(p *Probe, o jsvm.Given) { p.NoCopies = !o.Boolean() }},
	{"not", "string | string[]", "places left out, of those that patterns match: \"libc:*lock*\"", func(p *Probe, o jsvm.Given) { p.Not = placesOf(o) }},
	{"from", "string | string[]", "only calls that this module makes count, or these: \"libssl\"; \"a.out\" is the main program", func(p *Probe, o jsvm.Given) { p.From = modulesOf(o) }},
	{"priority", "number", "among the probes of one place lower ones run first; 0 when left out, and equal ones in the order of declaration",
		func(p *Probe, o jsvm.Given) { p.Order.Priority = int(o.Integer(-maxPriority, maxPriority)) }},
	{"order", `"first" | "last" | "only"`, "among the probes of one place: the first, the last, or the only one; refused where another probe already is",
		func(p *Probe, o jsvm.Given) {
			position, ok := hook.ParsePosition(o.Value.String())
			if !ok {
				o.Wrong(`"first", "last" or "only"`)
			}
			p.Order.Position = position
		}},
	{"disabled", "boolean", "starts disabled, until enable()", func(p *Probe, o jsvm.Given) { p.Disabled = o.Boolean() }},
}

// optionNames lists all properties of a probe.
func optionNames() []string {
	var names []string
	for _, o := range Options() {
		names = append(names, o.Name)
	}
	sort.Strings(names)
	return names
}

// setterOf returns the function that sets an option; nil for a handler and for unknown names.
func setterOf(name string) func(p *Probe, o jsvm.Given) {
	for _, o := range probeOptions {
		if o.Name == name {
			return o.set
		}
	}
	return nil
}
