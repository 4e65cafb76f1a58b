package view

import (
	"gotap/arch"
	"gotap/engine/isa"
	"gotap/engine/registry/retprobe"
)

// What package retprobe needs from functions, threads and address spaces.

// ISA implements retprobe.Target.
func (w *View) ISA() *isa.ISA { return w.Space.ABI.ISA }

// SP implements retprobe.Target.
func (w *View) SP() uint64 { return w.Thread.SP() }

// ReturnPoint implements retprobe.Target.
func (w *View) ReturnPoint() *retprobe.Point {
	space := w.Space
	ret, err := space.ABI.ReturnAddress(&w.Regs, space.Mem)
	if err != nil || ret == 0 {
		return nil
	}
	p, err := w.patcher.PointTo(space, ret)
	if err != nil {
		return nil
	}
	return &p.Point
}

// Elsewhere implements retprobe.Target.
func (w *View) Elsewhere(p *retprobe.Point, sp uint64) *retprobe.Thread {
	for o := range w.On.Siblings() {
		if o != w && o.calls.Has(p, sp) {
			return o.calls
		}
	}
	return nil
}

// ExitSP implements retprobe.Target.
func (w *View) ExitSP() uint64 {
	if regs, ok := w.leaving(); ok {
		return regs[w.Space.ABI.SP()]
	}
	return w.Thread.SP()
}

// ResultAddress implements retprobe.Target.
func (w *View) ResultAddress() uint64 { return w.Space.ABI.ResultAddress(&w.Regs) }

// leaving is Leaving for the instruction that the thread has hit, if one instruction may do all that.
func (w *View) leaving() (regs *arch.Regs, ok bool) {
	if !w.Space.ABI.Stepless || w.At == nil {
		return nil, false
	}
	return w.emu.Leaving(w.At.Site)
}

// returnAddress returns the return address of the function that the thread has just entered, is leaving or has
// left.
func (w *View) returnAddress() uint64 {
	if w.hit.Now.Leave && w.calls.Behind() {
		return *w.PC()
	}
	if w.hit.Now.Leave {
		if regs, ok := w.leaving(); ok {
			return regs[w.Space.ABI.PC()]
		}
	}
	ret, _ := w.Space.ABI.ReturnAddress(&w.Regs, w.Space.Mem)
	return w.Space.ABI.Target(ret)
}

// CloseFiles closes the files that were opened to answer programs.
func (w *View) CloseFiles() {
	if w.comm != nil {
		w.comm.Close()
		w.comm = nil
	}
	w.ran.Close()
}
