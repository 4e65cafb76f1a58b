package space

import (
	"gotap/arch"
	"gotap/engine/abi"
	"gotap/engine/image/module"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
)

// Body is the code of a function that is entered at a point; Module is the function's module and may be nil.
type Body struct {
	Patcher *Patcher
	Entry   *Point
	Target  place.Target
	Module  *module.Loaded
}

// Exits implements retprobe.Body.
func (b *Body) Exits() ([]arch.Exit, error) {
	fn, start, sp := b.Target.Func, b.Entry.Addr, b.Entry.Space
	if fn == nil || fn.Size == 0 {
		return nil, &arch.RefusedError{Addr: start, Reason: "the size of the function is not known"}
	}
	if b.Module != nil {
		start = b.Module.Addr(fn.Addr) // the entry's breakpoint may be behind the function's start
	}
	return exitsOf(sp.ABI, b.Target, sp.Code(start, int(fn.Size)), start, sp.ABI.SetAt(b.Module, start))
}

// PointAt implements retprobe.Body.
func (b *Body) PointAt(addr uint64) (*retprobe.Point, error) {
	p, err := b.Patcher.PointAt(b.Entry.Space, addr, b.Module)
	if err != nil {
		return nil, err
	}
	return &p.Point, nil
}

// Goroutine implements retprobe.Body.
func (b *Body) Goroutine() bool { return registry.GoCompiled(b.Target) != nil }

// exitsOf returns the exits of the function whose entry a target is. code is the function's code in the process, at
// start.
func exitsOf(a *abi.ABI, t place.Target, code []byte, start uint64, set arch.Arch) ([]arch.Exit, error) {
	if c := registry.GoCompiled(t); c != nil {
		return c.Exits(code, start)
	}
	return a.Exits(code, start, set)
}
