package probe

import (
	"gotap/script/journal"

	"github.com/dop251/goja"
)

// handle returns the object that probe returns.
func (s *Set) handle(p *Probe) goja.Value {
	h := s.m.VM.NewObject()
	verb := func(name string, disabled bool, f func(Tracer, *Probe) error) {
		h.Set(name, s.m.Guarded(name, func(goja.FunctionCall) goja.Value {
			p.Disabled = disabled
			if s.Tracer == nil {
				return nil
			}
			if err := f(s.Tracer, p); err != nil {
				s.m.Throwf("cannot %s %s: %v", name, p.Name, err)
			}
			return nil
		}))
	}
	verb("enable", false, Tracer.Enable)
	verb("disable", true, Tracer.Disable)
	verb("remove", true, Tracer.Remove)
	s.m.Getter(h, "hits", func() goja.Value { return s.counter("hits", p, Tracer.Hits) })
	s.m.Getter(h, "missed", func() goja.Value { return s.counter("missed", p, Tracer.Missed) })
	s.m.Getter(h, "places", func() goja.Value { return s.counter("places", p, Tracer.Places) })
	s.m.Getter(h, "name", func() goja.Value { return s.m.VM.ToValue(p.Name) })
	return h
}

func (s *Set) counter(name string, p *Probe, f func(Tracer, *Probe) uint64) goja.Value {
	if s.Tracer == nil {
		return s.m.VM.ToValue(0)
	}
	return s.m.Unsigned(journal.Ask(s.world, func() string { return name + " " + p.Name }, false, func() uint64 { return f(s.Tracer, p) }))
}
