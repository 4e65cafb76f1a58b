package script

import "github.com/dop251/goja"

// probeHandle is the object that probe returns.
func (s *Script) probeHandle(p *Probe) goja.Value {
	h := s.vm.NewObject()
	verb := func(name string, disabled bool, f func(Tracer, *Probe) error) {
		h.Set(name, s.guarded(name, func(goja.FunctionCall) goja.Value {
			p.Disabled = disabled
			if s.tracer == nil {
				return nil
			}
			if err := f(s.tracer, p); err != nil {
				s.throwf("cannot %s %s: %v", name, p.Name, err)
			}
			return nil
		}))
	}
	verb("enable", false, Tracer.Enable)
	verb("disable", true, Tracer.Disable)
	verb("remove", true, Tracer.Remove)
	s.getter(h, "hits", func() goja.Value { return s.counter("hits", p, Tracer.Hits) })
	s.getter(h, "missed", func() goja.Value { return s.counter("missed", p, Tracer.Missed) })
	s.getter(h, "places", func() goja.Value { return s.counter("places", p, Tracer.Places) })
	s.getter(h, "name", func() goja.Value { return s.vm.ToValue(p.Name) })
	return h
}

func (s *Script) counter(name string, p *Probe, f func(Tracer, *Probe) uint64) goja.Value {
	if s.tracer == nil {
		return s.vm.ToValue(0)
	}
	return s.unsigned(ask(s, func() string { return name + " " + p.Name }, false, func() uint64 { return f(s.tracer, p) }))
}

// getter defines a property that is computed when it is read.
func (s *Script) getter(obj *goja.Object, name string, f func() goja.Value) {
	get := s.vm.ToValue(s.guarded(name, func(goja.FunctionCall) goja.Value { return f() }))
	obj.DefineAccessorProperty(name, get, nil, goja.FLAG_TRUE, goja.FLAG_TRUE)
}
