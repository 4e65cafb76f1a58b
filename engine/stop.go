package engine

import (
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
	"gotap/engine/threadstate"
)

// dispatch handles one stop of a thread, or its end.
func (s *Session) dispatch(tid int, st ptrace.Status) {
	t := s.threads[tid]
	if t == nil {
		s.arrivals.unknownThread(tid, st)
		return
	}
	if st.Ended() {
		s.threadEnded(t, st)
		return
	}
	fresh := t.state.Now() == threadstate.Fresh
	if t.state.Now() == threadstate.JobStopped {
		t.protection.continued()
	}
	t.state.To(threadstate.Stopped)
	t.MidCall = st.AtSyscall() || st.Event() != ptrace.EventNone && st.Event() != ptrace.EventStop
	s.stats.Stops++
	if t.watch.Due() && !fresh && !s.life.closing {
		t.watch.armDebugRegs()
	}
	if !fresh && !s.life.closing {
		t.guard.UnblockDue()
	}
	switch {
	case fresh:
		t.firstStop(st)
	case st.AtSyscall():
		t.syscallStop()
	case st.Event() != ptrace.EventNone:
		t.event(st)
	case st.Signal() == ptrace.SIGTRAP:
		t.trap()
	default:
		t.signal(st.Signal())
	}
}

// unknownThread handles a stop of a thread that is not known yet: a new child can stop before the parent's stop that
// reports it.
func (n *arrivals) unknownThread(tid int, st ptrace.Status) {
	if st.Ended() {
		delete(n.children.early, tid)
		return
	}
	n.keepUnannounced(tid, st)
}

// trap handles a SIGTRAP: a breakpoint of ours, the end of a step, or one of the target's own signals.
//
// A stop with the program counter one byte into a longer instruction can only come from the breakpoint. After a
// one-byte instruction, the thread might have got there by itself and have been sent a SIGTRAP. So trap asks the
// kernel.
func (t *thread) trap() {
	if !t.GetRegs() {
		return
	}
	if t.exec.IsActive() {
		t.exec.Stepped()
		return
	}
	p := t.proc.space.ByAddr[t.proc.arch.BreakpointPC(*t.PC())]
	switch {
	case p == nil && t.native.AnswersBell():
	case p == nil && t.native.BackToJump():
	case p == nil && t.guard.LeftHit():
	case p == nil:
		t.foreignTrap()
	case t.proc.arch.TrapBehind && p.Length > 1 || t.SignalCode() == t.proc.arch.TrapCode || t.guard.Taken():
		if p.Planted && !t.s.life.closing {
			t.hit(p)
		} else {
			t.staleHit(p)
		}
	default:
		t.foreignTrap()
	}
}

// staleHit handles a breakpoint that was hit just before it was removed: the thread goes back to the instruction that
// is there now. If a breakpoint is still there, it is the target's own.
func (t *thread) staleHit(p *space.Point) {
	if p.IsBreakpoint() {
		t.resume(ptrace.SIGTRAP)
		return
	}
	*t.PC() = p.Addr
	t.SetRegs()
	t.resume(0)
}

// foreignTrap passes on a SIGTRAP that is not ours, unless a watchpoint caused it: one of ours, one that an earlier
// session left armed, or one that has just been removed.
func (t *thread) foreignTrap() {
	left := t.proc.space.Guard.Watching
	switch {
	case !left && t.s.others.watching == 0 || t.SignalCode() != ptrace.CodeHWBreakpoint:
		t.signal(ptrace.SIGTRAP)
	case t.s.others.watching > 0 && t.watch.watchTrap():
	case left:
		t.resume(0)
	default:
		t.signal(ptrace.SIGTRAP)
	}
}

// signal handles a signal that is about to be delivered, and delivers it unless it has to wait.
func (t *thread) signal(sig int) {
	if t.exec.IsActive() {
		t.exec.SignalInStep(sig)
		return
	}
	if t.proc.native.HasStubs() && t.native.AnswersRead(sig) {
		return
	}
	if t.queue.Overrun() {
		t.resume(0)
		return
	}
	if t.proc.native.HasStubs() && ptrace.Synchronous>>(sig-1)&1 == 1 {
		t.native.LeaveStub(sig)
	}
	t.queue.Identify(sig)
	if t.protection.protectFirst(sig) {
		return
	}
	if len(t.proc.space.ByAddr) > 0 && t.GetRegs() {
		if t.queue.KeepIfStarved(sig) {
			return
		}
		if t.s.patcher.CallSites > 0 {
			t.exec.MarkRestart()
		}
	}
	t.resume(sig)
}

// event handles a PTRACE_EVENT stop.
func (t *thread) event(st ptrace.Status) {
	switch st.Event() {
	case ptrace.EventFork, ptrace.EventVfork, ptrace.EventClone:
		t.forked(st.Event())
	case ptrace.EventVforkDone:
		t.vforking = false
		t.s.patcher.Repatch(t.proc.space)
		t.resume(0)
	case ptrace.EventExec:
		t.s.execed(t)
	case ptrace.EventStop:
		t.eventStop(st)
	default:
		t.resume(0)
	}
}

// eventStop handles a stop that job control or the engine requested. In a group stop the thread keeps listening for
// SIGCONT, so the target's parent and its shell see it stop and continue.
func (t *thread) eventStop(st ptrace.Status) {
	if !st.GroupStop() {
		if !t.exec.IsActive() {
			t.exec.RepairCall()
			t.s.sampler.Stopped(&t.sample)
		}
		t.resume(0)
		return
	}
	if t.s.life.closing && !t.exec.IsActive() {
		t.s.life.halted = append(t.s.life.halted, t.Tid)
		t.letGo(0)
		return
	}
	if !t.exec.IsActive() && t.GetRegs() {
		t.exec.MarkRestart()
	}
	t.guard.Waits = t.guard.TrapPending()
	if ptrace.Listen(t.Tid) == 0 {
		t.state.To(threadstate.JobStopped)
	}
}

// syscallStop handles a stop at the entry to or the end of a system call.
func (t *thread) syscallStop() {
	switch {
	case t.queue.PutOff():
	case t.exec.IsActive():
		if t.exec.AtCall(); t.s.others.sysnames > 0 {
			t.calling.entered()
		}
		t.resume(0)
	case t.exec.AwaitsEnd():
		t.exec.CallSeen()
		if t.exec.AfterCall(); t.s.others.sysnames > 0 {
			t.calling.left()
		}
		t.resume(0)
	case t.s.others.sysnames == 0 && !t.calling.Awaited() && !t.protection.unarmed:
		t.resume(0)
	default:
		t.calling.tracedCall()
	}
}
