package remote

import (
	"fmt"

	"gotap/arch"
	"gotap/engine/image/goabi"
	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
)

// What package retprobe needs from threads and functions.

var _ retprobe.Target = (*view)(nil)

// ISA implements retprobe.Target.
func (v *view) ISA() *isa.ISA { return v.stub.isa.ISA }

// SP implements retprobe.Target.
func (v *view) SP() uint64 { return v.regs.SP() }

// leaving returns the registers as the instruction at a function's exit leaves them.
func (v *view) leaving() arch.Regs {
	regs := v.regs.General
	v.stub.isa.Leave(&regs, v.at.site, v.mem) // if the instruction cannot be followed, the stack pointer stays as it is
	return regs
}

// ExitSP implements retprobe.Target.
func (v *view) ExitSP() uint64 {
	regs := v.leaving()
	return regs[v.stub.isa.SP()]
}

// ResultAddress implements retprobe.Target.
func (v *view) ResultAddress() uint64 { return v.stub.isa.ResultAddress(&v.regs.General) }

// Goroutine implements retprobe.Target. If the stack of the goroutine that runs on this thread has moved, it
// corrects the goroutine's recorded frames.
func (v *view) Goroutine() (g, hi uint64) {
	g, hi, ok := goabi.Of(v.stub.isa.Machine).Goroutine(&v.regs.General, v.mem, uint64(v.stub.isa.WordSize()), v.regs.SP())
	if !ok {
		v.threads.stacksMoved(v.mem)
		return 0, 0
	}
	v.threads.stackMoved(g, hi)
	return g, hi
}

// ReturnPoint implements retprobe.Target.
func (v *view) ReturnPoint() *retprobe.Point {
	ret, err := v.stub.isa.ReturnAddress(&v.regs.General, v.mem)
	if err != nil || ret == 0 {
		return nil
	}
	p, err := v.points.shared(v.stub.isa.Pointer(ret))
	if err != nil {
		return nil
	}
	return p
}

// Elsewhere implements retprobe.Target.
func (v *view) Elsewhere(p *retprobe.Point, sp uint64) *retprobe.Thread {
	return v.threads.elsewhere(v.calls, p, sp)
}

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
