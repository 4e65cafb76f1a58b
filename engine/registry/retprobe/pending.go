package retprobe

import (
	"slices"

	"gotap/engine/linux/ptrace"
	"gotap/engine/registry"
	"gotap/engine/registry/hit"
)

// Pending holds the leave handlers that are due at the end of the system call that a thread is in.
type Pending struct{ list []pending }

// pending is one probe's leave handler.
type pending struct {
	pl   *registry.Placement
	this uint64
	time uint64
	last bool // the probe disabled itself with this call, or was removed since: the leave is still due
}

// Enter runs a probe's programs for the beginning of a system call, and records its leave handler.
func (p *Pending) Enter(h *hit.Hit, pl *registry.Placement) {
	if !pl.Probe.Armed() || !h.Begins(pl) || pl.Code.CountsEntry() && !h.Admit(pl.Probe) {
		return
	}
	var this uint64
	if pl.Code.Enter != nil || pl.Code.Leave != nil { // the last run that uses the storage frees it
		this = h.Alloc(pl)
	}
	if pl.Code.Leave != nil {
		p.list = append(p.list, pending{pl, this, ptrace.Now(), !pl.Probe.Enabled})
	}
	if pl.Code.Enter != nil {
		h.Start(pl, pl.Code.Enter, this, 0, pl.Code.Leave == nil)
	}
}

// Leave runs the programs that wait for the end of the call.
func (p *Pending) Leave(h *hit.Hit) {
	now := ptrace.Now()
	for _, w := range p.list {
		h.Leave(w.pl, hit.Call{This: w.this, Elapsed: now - w.time, Due: w.last})
	}
	p.list = p.list[:0]
}

// Miss forgets a call whose end was not seen.
func (p *Pending) Miss(h *hit.Hit) {
	for _, w := range p.list {
		w.pl.Probe.Miss()
	}
	p.Drop(h)
}

// Drop forgets a call that never ends because its thread or its image no longer exists.
func (p *Pending) Drop(h *hit.Hit) {
	for _, w := range p.list {
		h.Free(w.pl, w.this)
	}
	p.list = p.list[:0]
}

// Keep marks the leave of a probe that is about to be dropped as due.
func (p *Pending) Keep(pr *registry.Probe) {
	for i := range p.list {
		if w := &p.list[i]; w.pl.Probe == pr {
			w.last = true
		}
	}
}

// Any reports whether any leave handler waits for the end of the call.
func (p *Pending) Any() bool { return len(p.list) > 0 }

// Due reports whether the end of the call has to be seen for a placement although its probe is disabled; with nil,
// for any placement.
func (p *Pending) Due(pl *registry.Placement) bool {
	return slices.ContainsFunc(p.list, func(w pending) bool { return w.last && (pl == nil || w.pl == pl) })
}
