package probe

import (
	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/compiler"
	"gotap/runtime/arena"
	"gotap/runtime/value"
)

// compileUnit compiles, optimises and verifies the handlers of a probe. Listings, bounds and execution all use its result.
func compileUnit(u js.Unit) (js.Result, diag.List) {
	r, list := compiler.Compile(u)
	for kind, p := range r.Programs {
		p = compile.Optimize(p)
		list = append(list, compile.Verify(p)...)
		r.Programs[kind] = p
	}
	return r, list
}

// Compile compiles the probe's programs for a place; nil is an unknown place. Programs that do not depend on the place are compiled once.
// Safe for concurrent use: it does not touch the JavaScript machine.
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

// recompileGuessed compiles the probe again if it was compiled for maps of integers that turned out to hold text or floats.
func (p *Probe) recompileGuessed(arena *arena.Arena) {
	p.mu.Lock()
	wrong := false
	if p.result != nil {
		for _, id := range p.result.Guessed {
			object, _ := arena.Lookup(id)
			wrong = wrong || object.Value == value.KindText || object.Value == value.KindFloat
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
