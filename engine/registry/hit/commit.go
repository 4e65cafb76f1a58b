package hit

import (
	"gotap/runtime/record"
)

// HasPosts reports whether there are programs that run after the instruction.
func (h *Hit) HasPosts() bool {
	for i := range h.n {
		if h.runs[i].Placement.Code.Post != nil && !h.runs[i].Leave {
			return true
		}
	}
	return false
}

// Posts runs the programs that run after the instruction.
func (h *Hit) Posts() {
	for i, n := 0, h.n; i < n; i++ {
		r := &h.runs[i]
		if post := r.Placement.Code.Post; post != nil && !r.Leave && r.code != post {
			h.follow(*r, post)
		}
	}
}

// Commit makes the logs of the hit visible and frees what the hit used. The instruction has completed.
func (h *Hit) Commit() { h.CommitFrom(0) }

// CommitFrom is Commit for the runs from number base on: earlier runs belong to an instruction that has not
// completed.
func (h *Hit) CommitFrom(base int) {
	for i := base; i < h.n; i++ {
		r := &h.runs[i]
		if r.log != nil {
			h.commit(r, 0)
		}
		h.act(r)
		h.end(r)
	}
	h.n = base
}

// commit makes one log visible.
func (h *Hit) commit(r *Run, flags uint16) {
	pid, tid := h.t.IDs()
	hdr := record.Header{
		Kind: r.kind, Flags: flags, Program: r.code.ID, Probe: r.Placement.Probe.Spec.ID,
		Pid: uint32(pid), Tid: uint32(tid), Time: r.time, Exit: r.ask.Number,
	}
	h.t.Comm(hdr.Comm[:])
	if r.ask.Hold {
		hdr.Hold = h.r.newTicket()
	}
	if h.r.arena.Commit(hdr, r.log) && hdr.Hold != 0 {
		h.t.Hold(hdr.Hold)
	}
}

// act does what the end of a program requested, once the instruction has completed.
func (h *Hit) act(r *Run) {
	if r.ask.Stop {
		h.t.Stop()
	}
	if r.ask.Dump {
		h.t.Dump(r.regs)
	}
}

// end frees what a run used.
func (h *Hit) end(r *Run) {
	h.forget(r)
	if r.owned {
		h.Free(r.Placement, r.this)
	}
	*r = Run{}
}

// forget discards a log.
func (h *Hit) forget(r *Run) {
	if r.log != nil {
		h.r.giveLog(r.log)
		r.log = nil
	}
}

// Drop frees the runs of a hit that will not be completed.
func (h *Hit) Drop() {
	for i := range h.n {
		h.end(&h.runs[i])
	}
	h.n = 0
}

// Faulted is called when the instruction faulted instead of completing: logs are discarded unless the probe keeps
// them, and the fault handlers run. If the instruction runs again later, that is a separate hit.
func (h *Hit) Faulted() {
	n := h.n
	for i := range n {
		r := &h.runs[i]
		if r.log != nil && r.Placement.Probe.Spec.LogOnFault {
			h.commit(r, record.FlagFault)
		}
		h.forget(r)
	}
	for i := range n {
		if f := h.runs[i].Placement.Code.Fault; f != nil {
			if r := h.follow(h.runs[i], f); r.log != nil {
				h.commit(r, record.FlagFault)
			}
		}
	}
	h.Drop()
}
