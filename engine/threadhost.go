package engine

import (
	"iter"
	"time"

	"gotap/arch"
	"gotap/engine/inject"
	"gotap/engine/linux/ptrace"
	"gotap/engine/sigqueue"
	"gotap/engine/tracee"
)

// threadHost is a thread as its parts in other packages see it: it implements inject.Target and sigqueue.Target.
type threadHost struct{ t *thread }

// OwnMask implements inject.Target.
func (h threadHost) OwnMask() (mask uint64, differs bool) { return h.t.queue.KeptMask() }

// BlocksTrap implements inject.Target.
func (h threadHost) BlocksTrap() bool { return h.t.sigtrap.lost }

// WaitStop implements inject.Target.
func (h threadHost) WaitStop() (st ptrace.Status, ok bool) {
	k := &h.t.s.stops
	st, ok = k.waitFor(h.t.Tid)
	if !ok || st.Ended() {
		k.backlog = append(k.backlog, stop{h.t.Tid, st})
		return st, false
	}
	return st, true
}

// Keep implements inject.Target.
func (h threadHost) Keep() {
	if h.t.SignalCode() <= 0 && !h.t.sigtrap.mergeBlocked() {
		h.t.queue.Defer(h.t.Info)
	}
}

// Gadget implements inject.Target.
func (h threadHost) Gadget() *inject.Gadget { return &h.t.proc.space.gadgetAt }

// Checkpoint implements inject.Target and sigqueue.Target.
func (h threadHost) Checkpoint(m tracee.Moment) { h.t.s.passed(m) }

// Resume implements sigqueue.Target.
func (h threadHost) Resume(sig int) { h.t.resume(sig) }

// Closing implements sigqueue.Target.
func (h threadHost) Closing() bool { return h.t.s.life.closing }

// MayRun implements sigqueue.Target.
func (h threadHost) MayRun() bool { return h.t.state.MayRun() }

// Handled implements sigqueue.Target.
func (h threadHost) Handled() bool { return h.t.proc.trap.ours }

// CertainHit implements sigqueue.Target. A system call may not complete by itself.
func (h threadHost) CertainHit() bool {
	p := h.t.proc.space.points[*h.t.PC()]
	return p != nil && p.planted && !h.t.s.life.closing && p.site.Insn().Control != arch.Syscall
}

// AwaitsCall implements sigqueue.Target.
func (h threadHost) AwaitsCall() bool {
	return h.t.exec.step.active || h.t.exec.postCall || h.t.exec.seeExit != nil || h.t.protection.unarmed
}

// Siblings implements sigqueue.Target.
func (h threadHost) Siblings() iter.Seq[*sigqueue.Queue] {
	return func(yield func(*sigqueue.Queue) bool) {
		for _, o := range h.t.s.threads {
			if o.proc.space == h.t.proc.space && !yield(&o.queue) {
				return
			}
		}
	}
}

// After implements sigqueue.Target.
func (h threadHost) After(d time.Duration, fn func()) { h.t.s.after(d, fn) }

// after calls fn on the tracing thread after some time, unless the session is over.
func (s *Session) after(d time.Duration, fn func()) {
	time.AfterFunc(d, func() { s.do(func() error { fn(); return nil }) })
}

// passed tells tests that the session is at a moment.
func (s *Session) passed(m tracee.Moment) {
	if s.testAt != nil {
		s.testAt(m)
	}
}
