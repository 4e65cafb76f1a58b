package probe

import (
	"slices"

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
	r, list := p.compiled.of(p.unit)
	if place == nil || list.HasErrors() || !r.UsesPlace && !r.UsesArg {
		return r, list
	}
	u := p.unit
	u.Place = place
	return compileUnit(u)
}

// recompileGuessed compiles the probe again if it was compiled for maps of integers that turned out to hold text.
func (p *Probe) recompileGuessed(arena *arena.Arena) {
	wrong := p.compiled.forget(func(r *js.Result) bool {
		return slices.ContainsFunc(r.Guessed, func(id int) bool {
			object, _ := arena.Lookup(id)
			return object.Value == value.KindText
		})
	})
	if wrong {
		p.Compile(nil)
	}
}
