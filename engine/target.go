package engine

import (
	"gotap/arch"
	"gotap/engine/call"
	"gotap/engine/isa"
	"gotap/engine/module"
	"gotap/engine/place"
)

// What package call asks of functions, threads and address spaces.

// body is the code of a function that is entered at a point; mod is the module's file and may be nil.
type body struct {
	s      *Session
	entry  *point
	target place.Target
	mod    *module.Loaded
}

// Exits implements call.Body.
func (b *body) Exits() ([]arch.Exit, error) {
	fn, start, sp := b.target.Func, b.entry.addr, b.entry.sp
	if fn == nil || fn.Size == 0 {
		return nil, &arch.RefusedError{Addr: start, Reason: "the size of the function is not known"}
	}
	if b.mod != nil {
		start = b.mod.Addr(fn.Addr) // the entry's breakpoint may be further in
	}
	return sp.arch.exitsOf(b.target, sp.code(start, int(fn.Size)), start, sp.arch.SetAt(b.mod, start))
}

// PointAt implements call.Body.
func (b *body) PointAt(addr uint64) (*call.Point, error) {
	p, err := b.s.pointAt(b.entry.sp, addr, b.mod)
	if err != nil {
		return nil, err
	}
	return &p.Point, nil
}

// atPoint is who shares the point at an address; nil when there is none.
func (sp *space) atPoint(addr uint64) *call.Point {
	if p := sp.points[addr]; p != nil {
		return &p.Point
	}
	return nil
}

// ISA implements call.Target.
func (t *thread) ISA() *isa.ISA { return t.proc.arch.ISA }

// SP implements call.Target.
func (t *thread) SP() uint64 { return t.sp() }

// ReturnPoint implements call.Target.
func (t *thread) ReturnPoint() *call.Point {
	space := t.proc.space
	ret, err := space.arch.ReturnAddress(&t.regs, space.mem)
	if err != nil || ret == 0 {
		return nil
	}
	p, err := t.s.pointTo(space, ret)
	if err != nil {
		return nil
	}
	return &p.Point
}

// Elsewhere implements call.Target.
func (t *thread) Elsewhere(p *call.Point, sp uint64) *call.Thread {
	for _, o := range t.proc.threads {
		if o != t && o.calls.Has(p, sp) {
			return &o.calls
		}
	}
	return nil
}

// keepCalls makes the leaves due of all calls that are under way for a probe, which is about to be dropped. Tracing thread.
func (s *Session) keepCalls(pr *probe) {
	if !pr.Armed() {
		return
	}
	for _, t := range s.threads {
		t.calls.Keep(pr)
		t.sys.pending.Keep(pr)
	}
}
