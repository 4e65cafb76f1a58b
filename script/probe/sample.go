package probe

import (
	"strings"
	"time"

	"github.com/dop251/goja"

	"gotap/compile/js"
	"gotap/script/jsvm"
	"gotap/script/source"
)

// samplePrefix begins the place of a sample, as package place reads it.
const samplePrefix = "sample:"

// shortestPeriod is the shortest period of samples.
const shortestPeriod = time.Millisecond

// sampleUsage shows how sample is called.
const sampleUsage = `sample("10ms", { on: "cpu" }, c => { … })`

// sampleOptionNames are the options of probes that samples have too.
var sampleOptionNames = []string{"exit", "name", "when", "after", "every", "limit", "logMax", "fuel", "disabled"}

// SampleOptions lists the properties of the object given to sample.
func SampleOptions() []Option {
	all := []Option{{"on", `"cpu" | "wall"`, `whose time the period is: "cpu", as when left out, samples a thread each time it has run for so long; "wall" samples all threads in each period, also those that sleep`, nil}}
	for _, name := range sampleOptionNames {
		for _, o := range probeOptions {
			if o.Name == name {
				all = append(all, o)
			}
		}
	}
	return all
}

// Sample implements sample(period, options, program).
func (s *Set) Sample(call goja.FunctionCall) goja.Value {
	at := s.m.Site()
	errors := len(s.m.Diags)
	s.last++
	p := &Probe{ID: s.last, set: s, Span: at.Span()}
	s.parseSample(p, at, call)
	if len(s.m.Diags) > errors {
		s.invalid = append(s.invalid, p)
		return s.handle(p)
	}
	if p.Name == "" {
		p.Name = p.Specs[0].Text
	}
	s.add(p)
	return s.handle(p)
}

// parseSample reads the arguments of sample.
func (s *Set) parseSample(p *Probe, at source.Site, call goja.FunctionCall) {
	n := len(call.Arguments)
	if n < 2 || n > 3 {
		s.m.Reject(at.Span(), sampleUsage, "sample takes a period, options and a program")
		return
	}
	clock := "cpu"
	if n == 3 {
		for _, o := range s.m.Given(at, 1, call.Argument(1), sampleUsage) {
			clock = s.sampleOption(p, o, clock)
		}
	}
	d, err := jsvm.Interval(call.Argument(0))
	switch {
	case err != nil:
		s.m.Reject(at.ArgSpan(0), `"10ms", "1s", or a number of milliseconds`, "%v", err)
	case d < shortestPeriod || d > time.Hour:
		s.m.Reject(at.ArgSpan(0), `"10ms" is usual`, "the period of samples is from 1ms to 1h, not %v", d)
	}
	p.Specs = []SpecText{{samplePrefix + clock + "/" + d.String(), at.ArgSpan(0)}}
	fn, ok := call.Argument(n - 1).(*goja.Object)
	if ok {
		_, ok = goja.AssertFunction(fn)
	}
	if !ok {
		s.m.Reject(at.ArgSpan(n-1), sampleUsage, "%s is not a program", jsvm.Describe(call.Argument(n-1)))
		return
	}
	s.addHandler(p, js.Enter, fn, at.ArgSpan(n-1))
}

// sampleOption reads one option; it returns the clock that the period goes by.
func (s *Set) sampleOption(p *Probe, o jsvm.Given, clock string) string {
	if o.Name == "on" {
		if on := o.Value.String(); on == "cpu" || on == "wall" {
			return on
		}
		o.Wrong(`"cpu" or "wall"`)
		return clock
	}
	var known []string
	for _, option := range SampleOptions() {
		if known = append(known, option.Name); option.Name == o.Name {
			option.set(p, o)
			return clock
		}
	}
	s.m.Reject(o.Span(), jsvm.Nearest(o.Name, known), "a sample has no option %s", o.Name)
	return clock
}

// samples reports whether the probe is one of sample.
func (p *Probe) samples() bool {
	return len(p.Specs) > 0 && strings.HasPrefix(p.Specs[0].Text, samplePrefix)
}
