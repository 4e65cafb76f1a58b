package engine

import (
	"gotap/arch"
	"gotap/engine/abi"
	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
	"gotap/engine/space"
)

// What package retprobe needs from functions, threads and address spaces.

// body is the code of a function that is entered at a point; mod is the function's module and may be nil.
type body struct {
	s      *Session
	entry  *space.Point
	target place.Target
	mod    *module.Loaded
}

// Exits implements retprobe.Body.
func (b *body) Exits() ([]arch.Exit, error) {
	fn, start, sp := b.target.Func, b.entry.Addr, b.entry.Space
	if fn == nil || fn.Size == 0 {
		return nil, &arch.RefusedError{Addr: start, Reason: "the size of the function is not known"}
	}
	if b.mod != nil {
		start = b.mod.Addr(fn.Addr) // the entry's breakpoint may be behind the function's start
	}
	return exitsOf(sp.ABI, b.target, sp.Code(start, int(fn.Size)), start, sp.ABI.SetAt(b.mod, start))
}

// PointAt implements retprobe.Body.
func (b *body) PointAt(addr uint64) (*retprobe.Point, error) {
	p, err := b.s.patcher.PointAt(b.entry.Space, addr, b.mod)
	if err != nil {
		return nil, err
	}
	return &p.Point, nil
}

// ISA implements retprobe.Target.
func (w *view) ISA() *isa.ISA { return w.t.proc.arch.ISA }

// SP implements retprobe.Target.
func (w *view) SP() uint64 { return w.t.SP() }

// ReturnPoint implements retprobe.Target.
func (w *view) ReturnPoint() *retprobe.Point {
	space := w.t.proc.space
	ret, err := space.ABI.ReturnAddress(&w.t.Regs, space.Mem)
	if err != nil || ret == 0 {
		return nil
	}
	p, err := w.t.s.patcher.PointTo(space, ret)
	if err != nil {
		return nil
	}
	return &p.Point
}

// Elsewhere implements retprobe.Target.
func (w *view) Elsewhere(p *retprobe.Point, sp uint64) *retprobe.Thread {
	for _, o := range w.t.proc.threads {
		if o != w.t && o.calls.Has(p, sp) {
			return &o.calls
		}
	}
	return nil
}

// exitsOf returns the exits of the function whose entry a target is. code is the function's code in the process, at
// start.
func exitsOf(a *abi.ABI, t place.Target, code []byte, start uint64, set arch.Arch) ([]arch.Exit, error) {
	if c := registry.GoCompiled(t); c != nil {
		return c.Exits(code, start)
	}
	return a.Exits(code, start, set)
}

// ExitSP implements retprobe.Target.
func (w *view) ExitSP() uint64 {
	if regs, ok := w.t.exec.leaving(); ok {
		return regs[w.t.proc.arch.SP()]
	}
	return w.t.SP()
}

// ResultAddress implements retprobe.Target.
func (w *view) ResultAddress() uint64 { return w.t.proc.arch.ResultAddress(&w.t.Regs) }
