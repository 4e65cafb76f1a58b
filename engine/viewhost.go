package engine

import (
	"iter"

	"gotap/engine/registry/retprobe"
	"gotap/engine/space"
	"gotap/engine/view"
)

// viewed is a thread as package view sees it: it implements view.Host.
type viewed struct{ t *thread }

// Siblings implements view.Host.
func (h viewed) Siblings() iter.Seq[*retprobe.Thread] {
	return func(yield func(*retprobe.Thread) bool) {
		for _, o := range h.t.proc.threads {
			if !yield(&o.calls) {
				return
			}
		}
	}
}

// Disarm implements view.Host.
func (h viewed) Disarm(pr *probe) { h.t.s.Set.Disarm(pr) }

// LeaveStopped implements view.Host.
func (h viewed) LeaveStopped() { h.t.s.life.leftStopped.Store(h.t.proc.pid, true) }

// Dump implements view.Host.
func (h viewed) Dump(regs []uint64) { h.t.dump(regs) }

// Hold implements view.Host.
func (h viewed) Hold(ticket uint32) {
	if h.t.ticket != 0 {
		delete(h.t.s.tickets, h.t.ticket)
	}
	h.t.ticket = ticket
	h.t.s.tickets[ticket] = h.t
}

// threadOf returns the thread whose programs run.
func threadOf(by retprobe.Target) *thread { return by.(*view.View).On.(viewed).t }

// setSpace gives a process its present address space.
func (p *process) setSpace(sp *space.Space) {
	p.space, p.native.Space = sp, sp
	for _, t := range p.threads {
		t.view.Enter(sp)
	}
}
