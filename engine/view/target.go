package view

import (
	"iter"

	"gotap/arch"
	"gotap/engine/registry/retprobe"
	"gotap/engine/view/stopped"
)

// stoppedThread is a view's thread as package stopped asks about it.
type stoppedThread struct{ w *View }

var _ stopped.Thread = stoppedThread{}

// Walk implements stopped.Thread.
func (t stoppedThread) Walk(regs *arch.Regs, pcs []uint64) int { return t.w.Walk(regs, pcs) }

// Leaving implements stopped.Thread.
func (t stoppedThread) Leaving() (regs *arch.Regs, ok bool) { return t.w.emu.Leaving(t.w.At.Site) }

// Emulated implements stopped.Thread.
func (t stoppedThread) Emulated() arch.Memory { return t.w.emu.Memory() }

// PointTo implements stopped.Thread.
func (t stoppedThread) PointTo(pointer uint64) (*retprobe.Point, error) {
	p, err := t.w.patcher.PointTo(t.w.Space, pointer)
	if err != nil {
		return nil, err
	}
	return &p.Point, nil
}

// Siblings implements stopped.Thread.
func (t stoppedThread) Siblings() iter.Seq[*retprobe.Thread] { return t.w.On.Siblings() }

// CloseFiles closes the files that were opened to answer programs.
func (w *View) CloseFiles() {
	if w.comm != nil {
		w.comm.Close()
		w.comm = nil
	}
	w.ran.Close()
}
