package remote

import (
	"fmt"

	"gotap/arch"
	"gotap/engine/image/module"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
)

// body is the code of a function that is entered at a point; mod is the function's module.
type body struct {
	points *breakpoints
	entry  *point
	target place.Target
	mod    *module.Loaded
}

// Goroutine implements retprobe.Body.
func (b *body) Goroutine() bool { return registry.GoCompiled(b.target) != nil }

// Exits implements retprobe.Body.
func (b *body) Exits() ([]arch.Exit, error) {
	fn, mem, a := b.target.Func, b.points.mem, b.points.stub.isa
	if fn == nil || fn.Size == 0 || fn.Size > maxFunc {
		return nil, fmt.Errorf("cannot find the exits of %s: its size is not known", b.target.Name)
	}
	start := b.mod.Addr(fn.Addr) // the entry's breakpoint may be behind the function's start
	if c := registry.GoCompiled(b.target); c != nil {
		return c.Exits(mem.Code(start, int(fn.Size)), start)
	}
	return a.Exits(mem.Code(start, int(fn.Size)), start, a.SetAt(b.mod, start))
}

// PointAt implements retprobe.Body.
func (b *body) PointAt(addr uint64) (*retprobe.Point, error) {
	return b.points.shared(addr, b.points.stub.isa.SetAt(b.mod, b.entry.addr))
}
