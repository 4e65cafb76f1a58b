package engine

import (
	"gotap/arch"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
)

// hit does everything that happens at a breakpoint: the programs run, the displaced instruction is completed, what
// was logged is committed, and the thread resumes.
//
// Precondition: the thread has just stopped and its registers have been read.
func (t *thread) hit(p *point) {
	t.s.stats.Hits++
	*t.PC() = p.addr
	p.sp.mem.Stack = t.SP()
	t.h.Begin(t.proc.arch.WordSize())
	t.at, t.view.fpRead = p, false
	if t.proc.guard.Unguarded() && (p.internal == nil || !t.s.cfg.LateFallback) {
		t.guard.ProtectAtHit(&p.guard)
	}
	t.queue.MoveOn()
	if t.exec.seqDue = p.looksForSequence(); t.exec.seqDue && t.exec.inSequence() {
		t.s.patcher.bar(p, t.proc.pid)
		t.SetRegs()
		t.resume(0)
		return
	}
	if (p.jump.in || p.jump.waits) && t.promote(p) {
		t.finish()
		return
	}
	if p.internal != nil {
		if p.internal(t, p) {
			t.SetRegs() // the registers are at the breakpoint, which the thread will hit again
			return
		}
	}
	if len(p.resolvers) > 0 {
		t.awaitResolver(p)
	}
	again := t.exec.redo.addr == p.addr && t.exec.redo.sp == t.SP() && p.addr != 0
	t.exec.redo = redo{}
	if !again && !t.unprobed && !t.proc.unprobed && isa.Executes(p.site, &t.Regs) {
		if t.s.throttle.Resting() {
			t.throttleAt(p)
		} else {
			t.takeCalls(p)
			t.calls.Hit(&p.Point)
		}
	}
	switch {
	case t.h.Skip:
		t.h.Skip = false
		t.skipFunction(p)
	case t.guard.MakeCall(&p.guard):
		t.finish()
	default:
		t.execute(p)
	}
}

// execute completes the displaced instruction, at once or with a step.
func (t *thread) execute(p *point) {
	if t.proc.arch.Stepless {
		t.exec.emulate(p)
		return
	}
	if t.s.images.hasShadow != nil && t.exec.usesShadow(p) {
		t.exec.stepInPlace(p, false)
		return
	}
	if p.how == arch.Emulated && (len(t.proc.watches) == 0 || !p.site.Allowed(arch.InPlace)) && t.emu.Try(p.site) {
		t.finish()
		return
	}
	// What cannot be emulated, or would fault, is left to the processor. So is an instruction that may hit a
	// watchpoint, if it can be stepped.
	t.exec.beginStep(p)
}

// finish is called when the instruction has completed, with the registers that it left. The thread resumes with the
// oldest signal that was kept meanwhile, or keeps it longer: see starvation.
func (t *thread) finish() { t.finishWith(0) }

// finishWith is finish with a signal to deliver, with which the thread is stopped; 0: the kept signal.
func (t *thread) finishWith(sig int) {
	if t.h.Len() > 0 {
		t.h.Posts()
		t.h.Commit()
	}
	t.SetRegs()
	if t.stack.of != nil {
		t.stack.of.SetOthers(t.calls.Len())
	}
	if t.exec.seqDue {
		t.exec.ledIntoSequence()
	}
	if sig == 0 {
		sig = t.queue.AfterHit()
	}
	if sig == 0 && t.guard.IsDue() {
		t.guard.Restore()
	}
	t.resume(sig)
}

// The methods below are what package hit needs from a thread.

// Push implements hit.Target.
func (w *view) Push(pl *placement) (this uint64, ok bool) { return w.t.calls.Push(&w.t.at.Point, pl) }

// CalledFrom implements hit.Target.
func (w *view) CalledFrom(pr *probe) bool { return pr.CalledFrom(w.caller(), w.t.proc.space.mods) }

// IDs implements hit.Target.
func (w *view) IDs() (pid, tid int) { return w.t.proc.pid, w.t.Tid }

// Comm implements hit.Target.
func (w *view) Comm(p []byte) { w.readComm(p) }

// Disarm implements hit.Target.
func (w *view) Disarm(pr *probe) { w.t.s.Set.Disarm(pr) }

// Signal implements hit.Target.
func (w *view) Signal(n int) { ptrace.SendThread(w.t.proc.pid, w.t.Tid, n) }

// Stop implements hit.Target.
func (w *view) Stop() {
	w.t.s.life.leftStopped.Store(w.t.proc.pid, true)
	w.Signal(ptrace.SIGSTOP)
}

// Dump implements hit.Target.
func (w *view) Dump(regs []uint64) {
	w.t.SetRegs()
	w.dump(regs)
}

// Hold implements hit.Target.
func (w *view) Hold(ticket uint32) {
	if w.t.ticket != 0 {
		delete(w.t.s.tickets, w.t.ticket)
	}
	w.t.ticket = ticket
	w.t.s.tickets[ticket] = w.t
}

// skipFunction returns from the function that was just entered, without running its code.
func (t *thread) skipFunction(p *point) {
	entered := t.SP()
	if t.proc.arch.Skip(&t.Regs, p.sp.mem, t.h.SkipResult) != nil {
		t.execute(p)
		return
	}
	t.calls.Skipped(&p.Point, entered)
	t.finish()
}
