package engine

import (
	"gotap/arch"
	"gotap/engine/isa"
	"gotap/engine/space"
)

// hit does everything that happens at a breakpoint: the programs run, the displaced instruction is completed, what
// was logged is committed, and the thread resumes.
//
// Precondition: the thread has just stopped and its registers have been read.
func (t *thread) hit(p *space.Point) {
	t.s.stats.Hits++
	*t.PC() = p.Addr
	p.Space.Mem.Stack = t.SP()
	t.h.Begin(t.proc.arch.WordSize())
	t.view.Begin(p)
	if t.proc.guard.Unguarded() && (p.Internal == nil || !t.s.cfg.LateFallback) {
		t.guard.ProtectAtHit(&p.Guard)
	}
	t.queue.MoveOn()
	if t.exec.EntersSequence(p) {
		t.s.patcher.Bar(p, t.proc.pid)
		t.SetRegs()
		t.resume(0)
		return
	}
	if (p.Jump.In || p.Jump.Waits) && t.native.Promote(p) {
		t.finish()
		return
	}
	if p.Internal != nil {
		if p.Internal(&t.view, p) {
			t.SetRegs() // the registers are at the breakpoint, which the thread will hit again
			return
		}
	}
	if len(p.Resolvers) > 0 {
		t.awaitResolver(p)
	}
	if !t.exec.Again(p) && !t.unprobed && !t.proc.unprobed && isa.Executes(p.Site, &t.Regs) {
		if t.s.throttle.Resting() {
			t.throttleAt(p)
		} else {
			t.native.TakeCalls(p)
			t.calls.Hit(&p.Point)
		}
	}
	switch {
	case t.h.Skip:
		t.h.Skip = false
		t.skipFunction(p)
	case t.guard.MakeCall(&p.Guard):
		t.finish()
	default:
		t.execute(p)
	}
}

// execute completes the displaced instruction, at once or with a step.
func (t *thread) execute(p *space.Point) {
	if t.proc.arch.Stepless {
		t.exec.Emulate(p)
		return
	}
	if t.s.shadows.Exist() && t.s.shadows.Uses(t.Tid, p) {
		t.exec.StepInPlace(p, false)
		return
	}
	watched := len(t.proc.watches) > 0 && p.Site.Allowed(arch.InPlace)
	if p.How == arch.Emulated && !watched && t.emu.Try(p.Site) {
		t.finish()
		return
	}
	// What cannot be emulated, or would fault, is left to the processor. So is an instruction that may hit a
	// watchpoint, if it can be stepped: a call in place, because its copy would push an address in the copy, which
	// stays there if the session is killed.
	if watched && isCall(p.Site.Insn().Control) {
		t.exec.StepInPlace(p, false)
		return
	}
	t.exec.Begin(p)
}

func isCall(c arch.Control) bool { return c == arch.Call || c == arch.IndirCall }

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
	t.native.HitOver()
	t.exec.HitOver()
	t.queue.MoveOn() // to where the instruction has led
	if sig == 0 {
		sig = t.queue.AfterHit()
	}
	if sig == 0 && t.guard.IsDue() {
		t.guard.Restore()
	}
	t.resume(sig)
}

// skipFunction returns from the function that was just entered, without running its code.
func (t *thread) skipFunction(p *space.Point) {
	entered := t.SP()
	if t.proc.arch.Skip(&t.Regs, p.Space.Mem, t.h.SkipResult) != nil {
		t.execute(p)
		return
	}
	t.calls.Skipped(&p.Point, entered)
	t.finish()
}
