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
	*t.pc() = p.addr
	p.sp.mem.Stack = t.sp()
	t.h.Begin(t.proc.arch.WordSize())
	t.at, t.fpRead = p, false
	if t.proc.unguarded() && (p.internal == nil || !t.s.cfg.LateFallback) {
		t.protectAtHit(p)
	}
	if t.breath.used > 0 {
		t.breath.leave(p.addr, t.sp())
	}
	if t.seqDue = p.looksForSequence(); t.seqDue && t.inSequence() {
		t.s.bar(p, t.proc.pid)
		t.setRegs()
		t.resume(0)
		return
	}
	if p.internal != nil {
		if p.internal(t, p) {
			t.setRegs() // the registers are at the breakpoint, which the thread will hit again
			return
		}
	}
	if len(p.picks) > 0 {
		t.picking(p)
	}
	again := t.redo.addr == p.addr && t.redo.sp == t.sp() && p.addr != 0
	t.redo = redo{}
	if !again && !t.silent && !t.proc.silent && isa.Executes(p.site, &t.regs) {
		if t.s.meter.resting {
			t.restAt(p)
		} else {
			t.calls.Hit(&p.Point)
		}
	}
	switch {
	case t.h.Skip:
		t.h.Skip = false
		t.skipFunction(p)
	case t.makeSignalCall(p):
		t.finish()
	default:
		t.execute(p)
	}
}

// execute completes the displaced instruction, at once or with a step.
func (t *thread) execute(p *point) {
	if t.proc.arch.Stepless {
		t.emulate(p)
		return
	}
	if t.s.hasShadow != nil && t.usesShadow(p) {
		t.stepInPlace(p, false)
		return
	}
	if p.how == arch.Emulated && (len(t.proc.watches) == 0 || !p.site.Allowed(arch.InPlace)) && t.emulates(p) {
		t.finish()
		return
	}
	// What cannot be emulated, or would fault, is left to the processor. So is an instruction that may hit a
	// watchpoint, if it can be stepped.
	t.beginStep(p)
}

// finish is called when the instruction has completed, with the registers that it left. The thread resumes with the
// oldest signal that was kept meanwhile, or keeps it longer: see breath.
func (t *thread) finish() { t.finishWith(0) }

// finishWith is finish with a signal to deliver, with which the thread is stopped; 0: the kept signal.
func (t *thread) finishWith(sig int) {
	if t.h.Len() > 0 {
		t.h.Posts()
		t.h.Commit()
	}
	t.setRegs()
	if t.seqDue {
		t.ledIntoSequence()
	}
	if sig == 0 && (t.masked || len(t.deferred) > 0) {
		if t.breathe(); !t.breath.keep {
			sig = t.takeKept()
		}
	}
	if sig == 0 && t.looks() {
		t.restoreTrapAction()
	}
	t.resume(sig)
}

// The methods below are what package hit needs from a thread.

// Push implements hit.Target.
func (t *thread) Push(pl *placement) (this uint64, ok bool) { return t.calls.Push(&t.at.Point, pl) }

// IDs implements hit.Target.
func (t *thread) IDs() (pid, tid int) { return t.proc.pid, t.tid }

// Comm implements hit.Target.
func (t *thread) Comm(p []byte) { t.readComm(p) }

// Disarm implements hit.Target.
func (t *thread) Disarm(pr *probe) { t.s.Set.Disarm(pr) }

// Signal implements hit.Target.
func (t *thread) Signal(n int) { ptrace.SendThread(t.proc.pid, t.tid, n) }

// Stop implements hit.Target.
func (t *thread) Stop() {
	t.s.leftStopped.Store(t.proc.pid, true)
	t.Signal(ptrace.SIGSTOP)
}

// Dump implements hit.Target.
func (t *thread) Dump(regs []uint64) {
	t.setRegs()
	t.dump(regs)
}

// Hold implements hit.Target.
func (t *thread) Hold(ticket uint32) {
	if t.ticket != 0 {
		delete(t.s.tickets, t.ticket)
	}
	t.ticket = ticket
	t.s.tickets[ticket] = t
}

// skipFunction returns from the function that was just entered, without running its code.
func (t *thread) skipFunction(p *point) {
	entered := t.sp()
	if t.proc.arch.Skip(&t.regs, p.sp.mem, t.h.SkipResult) != nil {
		t.execute(p)
		return
	}
	t.calls.Skipped(&p.Point, entered)
	t.finish()
}
