package remote

import (
	"encoding/binary"
	"fmt"

	"gotap/arch"
	"gotap/engine/image/goabi"
	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
)

// What package retprobe needs from functions and threads.

// body is the code of a function that is entered at a point; mod is the function's module.
type body struct {
	s      *Session
	entry  *point
	target place.Target
	mod    *module.Loaded
}

// Goroutine implements retprobe.Body.
func (b *body) Goroutine() bool { return registry.GoCompiled(b.target) != nil }

// Exits implements retprobe.Body.
func (b *body) Exits() ([]arch.Exit, error) {
	fn, s := b.target.Func, b.s
	if fn == nil || fn.Size == 0 || fn.Size > maxFunc {
		return nil, fmt.Errorf("cannot find the exits of %s: its size is not known", b.target.Name)
	}
	start := b.mod.Addr(fn.Addr) // the entry's breakpoint may be behind the function's start
	if c := registry.GoCompiled(b.target); c != nil {
		return c.Exits(s.mem.code(start, int(fn.Size)), start)
	}
	return s.isa.Exits(s.mem.code(start, int(fn.Size)), start, s.isa.SetAt(b.mod, start))
}

// PointAt implements retprobe.Body.
func (b *body) PointAt(addr uint64) (*retprobe.Point, error) {
	return b.s.sharedPoint(addr, b.s.isa.SetAt(b.mod, b.entry.addr))
}

// sharedPoint returns the owners of the point at an address, and creates the point if necessary.
func (s *Session) sharedPoint(addr uint64, set arch.Arch) (*retprobe.Point, error) {
	p, err := s.pointAt(addr, set)
	if err != nil {
		return nil, err
	}
	return &p.Point, nil
}

// ISA implements retprobe.Target.
func (t *thread) ISA() *isa.ISA { return t.s.isa.ISA }

// SP implements retprobe.Target.
func (t *thread) SP() uint64 { return t.sp() }

// leaving returns the registers as the instruction at a function's exit leaves them.
func (t *thread) leaving() arch.Regs {
	regs := t.regs
	t.s.isa.Leave(&regs, t.at.site, &t.s.mem) // if the instruction cannot be followed, the stack pointer stays as it is
	return regs
}

// ExitSP implements retprobe.Target.
func (t *thread) ExitSP() uint64 {
	regs := t.leaving()
	return regs[t.s.isa.SP()]
}

// ResultAddress implements retprobe.Target.
func (t *thread) ResultAddress() uint64 { return t.s.isa.ResultAddress(&t.regs) }

// Goroutine implements retprobe.Target. If the stack of the goroutine that runs on this thread has moved, it
// corrects the goroutine's recorded frames.
func (t *thread) Goroutine() (g, hi uint64) {
	word := uint64(t.s.isa.WordSize())
	g, hi, ok := goabi.Of(t.s.isa.Machine).Goroutine(&t.regs, &t.s.mem, word, t.sp())
	if !ok {
		for _, o := range t.s.threads {
			o.calls.Refresh(func(g uint64) (uint64, bool) { return goabi.StackEnd(g, &t.s.mem, word) })
		}
		return 0, 0
	}
	for _, o := range t.s.threads {
		o.calls.Moved(g, hi)
	}
	return g, hi
}

// Pointer implements goabi.Pointers.
func (m *memory) Pointer(addr uint64) (uint64, bool) {
	var word [8]byte
	n := m.s.isa.WordSize()
	if m.read(addr, word[:n]) != n {
		return 0, false
	}
	return binary.LittleEndian.Uint64(word[:]), true
}

// ReturnPoint implements retprobe.Target.
func (t *thread) ReturnPoint() *retprobe.Point {
	ret, err := t.s.isa.ReturnAddress(&t.regs, &t.s.mem)
	if err != nil || ret == 0 {
		return nil
	}
	p, err := t.s.sharedPoint(t.s.isa.Pointer(ret))
	if err != nil {
		return nil
	}
	return p
}

// Elsewhere implements retprobe.Target.
func (t *thread) Elsewhere(p *retprobe.Point, sp uint64) *retprobe.Thread {
	for _, o := range t.s.threads {
		if o != t && o.calls.Has(p, sp) {
			return &o.calls
		}
	}
	return nil
}
