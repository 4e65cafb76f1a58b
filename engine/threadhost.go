package engine

import (
	"iter"
	"time"

	"gotap/arch"
	"gotap/engine/crashsafe"
	"gotap/engine/emulation"
	"gotap/engine/inject"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry/retprobe"
	"gotap/engine/sigqueue"
	"gotap/engine/tracee"
)

// threadHost is a thread as its parts in other packages see it: it implements inject.Target, sigqueue.Target,
// crashsafe.Target, emulation.Host, stepping.Host and trampoline.Runner.
type threadHost struct{ t *thread }

// OwnMask implements inject.Target.
func (h threadHost) OwnMask() (mask uint64, differs bool) { return h.t.queue.KeptMask() }

// BlocksTrap implements inject.Target.
func (h threadHost) BlocksTrap() bool { return h.t.guard.KeepsBlocked() }

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
	if h.t.SignalCode() <= 0 && !h.t.guard.MergeBlocked() {
		h.t.queue.Defer(h.t.Info)
	}
}

// Gadget implements inject.Target.
func (h threadHost) Gadget() *inject.Gadget { return &h.t.proc.space.Gadget }

// Checkpoint implements inject.Target, sigqueue.Target and crashsafe.Target.
func (h threadHost) Checkpoint(m tracee.Moment) { h.t.s.passed(m) }

// Resume implements sigqueue.Target and crashsafe.Target.
func (h threadHost) Resume(sig int) { h.t.resume(sig) }

// Closing implements sigqueue.Target.
func (h threadHost) Closing() bool { return h.t.s.life.closing }

// MayRun implements sigqueue.Target.
func (h threadHost) MayRun() bool { return h.t.state.MayRun() }

// Runs implements crashsafe.Target.
func (h threadHost) Runs() bool { return h.t.mayRun() }

// Handled implements sigqueue.Target.
func (h threadHost) Handled() bool { return h.t.proc.guard.Handled() }

// CertainHit implements sigqueue.Target. A system call may not complete by itself.
func (h threadHost) CertainHit() bool {
	p := h.t.proc.space.ByAddr[*h.t.PC()]
	return p != nil && p.Planted && !p.Jump.In && !h.t.s.life.closing && p.Site.Insn().Control != arch.Syscall
}

// AwaitsCall implements sigqueue.Target.
func (h threadHost) AwaitsCall() bool {
	return h.t.exec.IsActive() || h.t.exec.AwaitsEnd() || h.t.protection.unarmed
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
func (h threadHost) After(d time.Duration, fn func()) { h.t.s.loop.After(d, fn) }

// Process implements crashsafe.Target.
func (h threadHost) Process() *crashsafe.Process { return &h.t.proc.guard }

// Point implements crashsafe.Target.
func (h threadHost) Point() *crashsafe.Point {
	if h.t.view.At == nil {
		return nil
	}
	return &h.t.view.At.Guard
}

// Stopped implements crashsafe.Target.
func (h threadHost) Stopped() bool { return h.t.state.InStop() }

// Interrupt implements crashsafe.Target.
func (h threadHost) Interrupt(fn func()) {
	if h.t.protection.interruptable() {
		h.t.s.world.withStopped(h.t, fn)
	}
}

// Watched implements crashsafe.Target.
func (h threadHost) Watched() bool { return h.t.watch.Armed() || h.t.s.others.watching > 0 }

// LeftWatched implements crashsafe.Target.
func (h threadHost) LeftWatched() { h.t.watch.Postpone(true) }

// Arg implements crashsafe.Target.
func (h threadHost) Arg(n int) (v uint64, ok bool) { return h.t.view.Arg(n) }

// Skip implements crashsafe.Target.
func (h threadHost) Skip(result uint64) { h.t.h.Skip, h.t.h.SkipResult = true, result }

// ActionSet implements crashsafe.Target.
func (h threadHost) ActionSet(sig int) { h.t.proc.native.ActionSet(sig) }

// AtReturn implements crashsafe.Target.
func (h threadHost) AtReturn(fn func(*crashsafe.Process)) {
	h.t.calls.Await(func(by retprobe.Target) { fn(&threadOf(by).proc.guard) })
}

// passed tells tests that the session is at a moment.
func (s *Session) passed(m tracee.Moment) {
	if s.testAt != nil {
		s.testAt(m)
	}
}

// FPRegs implements emulation.Host.
func (h threadHost) FPRegs() *ptrace.FPRegs {
	return h.t.view.FPRegs()
}

// Touched implements emulation.Host.
func (h threadHost) Touched(addr uint64, n int, write bool) uint64 {
	return h.t.proc.watches.Touched(addr, n, write)
}

// Keyed implements emulation.Host.
func (h threadHost) Keyed() *emulation.Keyed { return &h.t.proc.space.Keyed }

// Warn implements stepping.Host.
func (h threadHost) Warn(text string) { h.t.s.warn(text) }

// FinishWith implements stepping.Host.
func (h threadHost) FinishWith(sig int) { h.t.finishWith(sig) }

// HoldOthers implements stepping.Host.
func (h threadHost) HoldOthers() (release func() bool) {
	held := h.t.s.world.holdWorld(h.t)
	return func() bool {
		h.t.s.world.releaseWorld(held)
		return len(held) > 0
	}
}

// PeekAny implements stepping.Host.
func (h threadHost) PeekAny() (st ptrace.Status, ok bool) {
	tid, _ := h.t.s.stops.look(h.t.Tid, &h.t.s.stops.special, ptrace.LongWait)
	return h.t.s.stops.special, tid > 0
}

// Later implements stepping.Host.
func (h threadHost) Later(st ptrace.Status) {
	h.t.s.stops.backlog = append(h.t.s.stops.backlog, stop{h.t.Tid, st})
}

// Watching implements stepping.Host.
func (h threadHost) Watching() bool { return h.t.s.others.watching > 0 }

// WatchesMet implements stepping.Host.
func (h threadHost) WatchesMet() uint64 { return h.t.watch.Met() }

// RunWatches implements stepping.Host.
func (h threadHost) RunWatches(met uint64) bool { return h.t.watch.runWatches(met) }
