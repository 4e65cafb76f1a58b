package probe

import (
	"slices"
	"sync"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/compiler"
	"gotap/runtime/arena"
	"gotap/runtime/value"
)

// compileUnit compiles, optimises and verifies the handlers of a probe. Listings, bounds and execution all use its
// result.
func compileUnit(u js.Unit) (js.Result, diag.List) {
	r, list := compiler.Compile(u)
	if list.HasErrors() && r.Wanting { // what it reads before it stores it has a type now
		r, list = compiler.Compile(u)
	}
	for kind, p := range r.Programs {
		p = compile.Optimize(p)
		list = append(list, compile.Verify(p)...)
		r.Programs[kind] = p
	}
	return r, list
}

// compiled is what the programs of a probe have been compiled to so far.
type compiled struct {
	mu       sync.Mutex      // guards the others
	unplaced *outcome        // without a place
	uniform  map[int]outcome // at places that are js.Uniform, by their word size
}

// outcome is what compileUnit returns.
type outcome struct {
	result js.Result
	list   diag.List
}

// Compile compiles the probe's programs for a place; nil is an unknown place. Programs that do not depend on the place
// are compiled once. Safe for concurrent use: it does not touch the JavaScript machine.
func (p *Probe) Compile(place js.Place) (js.Result, diag.List) {
	c := &p.compiled
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unplaced == nil {
		r, list := compileUnit(p.unit)
		c.unplaced = &outcome{r, list}
	}
	r := &c.unplaced.result
	if place == nil || c.unplaced.list.HasErrors() || !r.NeedsPlace() && !r.UsesArg {
		return *r, c.unplaced.list
	}
	u := p.unit
	u.Place = place
	if uniform, ok := place.(js.Uniform); ok && !r.UsesPlace {
		return c.once(u, uniform.WordSize())
	}
	return compileUnit(u)
}

// once compiles a unit for a place that is like all others of its word size, unless that has been done.
func (c *compiled) once(u js.Unit, wordSize int) (js.Result, diag.List) {
	if o, ok := c.uniform[wordSize]; ok {
		return o.result, o.list
	}
	r, list := compileUnit(u)
	if !r.UsesPlace { // which names of the script may be is known at a place only
		if c.uniform == nil {
			c.uniform = map[int]outcome{}
		}
		c.uniform[wordSize] = outcome{r, list}
	}
	return r, list
}

// forget has everything compiled again, if what was compiled without a place is so.
func (c *compiled) forget(so func(*js.Result) bool) (forgotten bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if forgotten = c.unplaced != nil && so(&c.unplaced.result); forgotten {
		c.unplaced, c.uniform = nil, nil
	}
	return forgotten
}

// forgetUntyped has the probe compiled again if it reads members of numbers, which was not known when it was compiled.
func (p *Probe) forgetUntyped() {
	p.compiled.forget(func(r *js.Result) bool {
		return slices.ContainsFunc(r.Untyped, func(object int) bool { return !p.unit.Held.IsHinted(object) })
	})
}

// recompileGuessed compiles the probe again if it was compiled for maps of integers that turned out to hold text or
// floats.
func (p *Probe) recompileGuessed(arena *arena.Arena) {
	wrong := p.compiled.forget(func(r *js.Result) bool {
		return slices.ContainsFunc(r.Guessed, func(id int) bool {
			object, _ := arena.Lookup(id)
			return object.Value == value.KindText || object.Value == value.KindFloat
		})
	})
	if wrong {
		p.Compile(nil)
	}
}
