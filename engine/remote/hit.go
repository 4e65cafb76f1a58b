package remote

import (
	"gotap/engine/backend"
	"gotap/engine/isa"
	"gotap/engine/remote/rsp"
)

// redo is an instruction that did not complete because the processor took an exception instead: the thread will
// reach it again, which is not another hit.
type redo struct{ addr, sp uint64 }

// trap handles a stop by a signal: one of our breakpoints, or a signal of the target's own, which is passed on.
func (t *thread) trap(stop rsp.Stop) error {
	if stop.Signal != rsp.SignalTrap && !(stop.Signal == rsp.SignalIll && t.s.patch) {
		return t.passOn(stop)
	}
	p := t.pointHit(stop)
	t.s.stray(p == nil, *t.pc())
	switch {
	case p == nil && stop.Reason != "" || p == nil && t.s.kernel || stop.Signal == 0:
		return nil // a breakpoint that was removed meanwhile, or an event that nobody requested
	case p == nil:
		return t.passOn(stop)
	}
	return t.hit(p)
}

// maxStrays is how many consecutive stops at places without a breakpoint are accepted as events that nobody
// requested.
const maxStrays = 100

// stray counts stops at places without a breakpoint, and reports when they do not end: such a stub cannot continue
// past what it stops at itself, as KGDB with a kernel in Thumb code.
func (s *Session) stray(is bool, pc uint64) {
	if !is {
		s.strays = 0
		return
	}
	if s.strays++; s.strays == maxStrays {
		s.warn("the target keeps stopping at %#x without a gotap breakpoint", pc)
	}
}

// pointHit returns the point whose breakpoint was hit, or nil if there is none.
//
// On x86 the processor reports a breakpoint with the program counter behind it, and stubs differ in what they show.
// A stub that reports "swbreak" has corrected the program counter. Another stub may have corrected it or not; its
// first unambiguous breakpoint shows which. A breakpoint on a return at the end of a function whose neighbour is
// probed too could be ambiguous. Breakpoints that we wrote ourselves are always reported from behind.
func (t *thread) pointHit(stop rsp.Stop) *point {
	s := t.s
	at, behind := s.points[*t.pc()], s.points[s.isa.BreakpointPC(*t.pc())]
	if stop.Reason == "swbreak" || at == behind {
		return planted(at)
	}
	switch {
	case s.patch:
		s.behind = true
	case (planted(at) == nil) != (planted(behind) == nil):
		s.behind = planted(behind) != nil
	}
	if !s.behind {
		return planted(at)
	}
	if behind != nil { // also for a breakpoint that was removed meanwhile: its instruction has not run
		*t.pc() = behind.addr
	}
	return behind
}

// planted returns the point if its breakpoint is planted, and nil otherwise.
func planted(p *point) *point {
	if p == nil || !p.planted {
		return nil
	}
	return p
}

// passOn delivers a signal when the target is resumed. Machines have no signals.
func (t *thread) passOn(stop rsp.Stop) error {
	if t.s.kernel || stop.Signal == 0 {
		return nil
	}
	t.s.notify(backend.Event{Kind: backend.EventSignal, Tid: t.id, Signal: rsp.LinuxSignal(stop.Signal)})
	t.s.signal = rsp.Action{Signal: stop.Signal, Thread: t.name}
	return nil
}

// hit does everything that happens at a breakpoint: the programs run, the displaced instruction is completed, and
// what was logged is committed. The registers have been read.
func (t *thread) hit(p *point) error {
	t.s.stats.Hits++
	t.at = p
	t.h.Begin(t.s.isa.WordSize())
	if isa.Executes(p.site, &t.regs) {
		key := redo{p.addr, t.sp()}
		if t.s.redo[key] {
			delete(t.s.redo, key)
		} else {
			if p.internal != nil {
				p.internal()
			}
			t.calls.Hit(&p.Point)
		}
	}
	if t.h.Skip {
		t.h.Skip = false
		if t.skipFunction() {
			return t.finish()
		}
	}
	return t.execute(p)
}

// finish is called when the instruction has completed, with the registers that it left.
func (t *thread) finish() error {
	t.h.Posts()
	t.h.Commit()
	return t.writeRegs()
}

// faulted is called when the instruction faulted instead.
func (t *thread) faulted(sig int) {
	t.sig = rsp.LinuxSignal(sig)
	t.h.Faulted()
}

// The methods below are what package hit needs from a thread.

// Push implements hit.Target.
func (t *thread) Push(pl *placement) (this uint64, ok bool) { return t.calls.Push(&t.at.Point, pl) }

// IDs implements hit.Target.
func (t *thread) IDs() (pid, tid int) { return t.s.pid(), t.id }

// Comm implements hit.Target.
func (t *thread) Comm(p []byte) { copy(p[:len(p)-1], t.comm()) }

// Disarm implements hit.Target.
func (t *thread) Disarm(pr *probe) { t.s.Set.Disarm(pr) }

// Signal implements hit.Target: the signal is delivered when the target is resumed.
func (t *thread) Signal(n int) {
	if gdb := rsp.SignalOf(n); gdb != 0 && !t.s.kernel {
		t.s.signal = rsp.Action{Signal: gdb, Thread: t.name}
		return
	}
	t.s.warn("a stub cannot deliver signal %d here", n)
}

// Hold implements hit.Target.
func (t *thread) Hold(ticket uint32) { t.s.tickets[ticket] = t }

// Stop implements hit.Target.
func (t *thread) Stop() {
	t.s.warn("exit.stop has no effect through a stub: when gotap lets go, the target goes on")
}

// Dump implements hit.Target.
func (t *thread) Dump([]uint64) {
	t.s.warn("exit.dump has no effect through a stub: no core is written")
}

// skipFunction returns from the function that was just entered, without running its code.
func (t *thread) skipFunction() bool {
	entered, before := t.sp(), t.regs
	if t.s.isa.Skip(&t.regs, &t.s.mem, t.h.SkipResult) != nil {
		return false
	}
	if !t.takesSP(entered) {
		t.regs = before
		t.s.warn("skip has no effect through this stub: it does not take another stack pointer")
		return false
	}
	t.calls.Skipped(&t.at.Point, entered)
	return true
}
