package engine

import (
	"strconv"

	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// dispatch handles one stop of a thread, or its end.
func (s *Session) dispatch(tid int, st ptrace.Status) {
	t := s.threads[tid]
	if t == nil {
		s.stranger(tid, st)
		return
	}
	if st.Ended() {
		s.threadEnded(t, st)
		return
	}
	if t.listening {
		t.continued()
	}
	t.stopped, t.listening = true, false
	t.midCall = st.AtSyscall() || st.Event() != ptrace.EventNone && st.Event() != ptrace.EventStop
	s.stats.Stops++
	if t.drDue && !t.fresh && !s.closing {
		t.armDebugRegs()
	}
	if t.openDue && !t.fresh && !s.closing {
		t.openTrap()
	}
	switch {
	case t.fresh:
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

// dealWithBacklog handles the stops that came while all threads were held.
func (s *Session) dealWithBacklog() {
	for len(s.backlog) > 0 {
		b := s.backlog[0]
		s.backlog = s.backlog[1:]
		s.dispatch(b.tid, b.status)
		s.unpause()
	}
}

// stranger handles a stop of a thread that is not known yet: a new child can stop before the parent's stop that reports
// it.
func (s *Session) stranger(tid int, st ptrace.Status) {
	if st.Ended() {
		delete(s.children.early, tid)
		return
	}
	s.untold(tid, st)
}

// trap handles a SIGTRAP: a breakpoint of ours, the end of a step, or one of the target's own signals.
//
// A stop with the program counter one byte into a longer instruction can only come from the breakpoint. After a
// one-byte instruction, the thread might have got there by itself and have been sent a SIGTRAP. So trap asks the
// kernel.
func (t *thread) trap() {
	if !t.getRegs() {
		return
	}
	if t.step.active {
		t.stepped()
		return
	}
	p := t.proc.space.points[t.proc.arch.BreakpointPC(*t.pc())]
	switch {
	case p == nil && t.leftHit():
	case p == nil:
		t.foreignTrap()
	case t.proc.arch.TrapBehind && p.length > 1 || t.trapCode() == t.proc.arch.TrapCode || t.trapTaken():
		if p.planted && !t.s.closing {
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
func (t *thread) staleHit(p *point) {
	if p.isBreakpoint() {
		t.resume(ptrace.SIGTRAP)
		return
	}
	*t.pc() = p.addr
	t.setRegs()
	t.resume(0)
}

// foreignTrap passes on a SIGTRAP that is not ours, unless a watchpoint caused it: one of ours, one that an earlier
// session left armed, or one that has just been removed.
func (t *thread) foreignTrap() {
	left := t.proc.space.guard.watching
	switch {
	case t.waitsForTrap():
	case !left && t.s.watching == 0 || t.trapCode() != ptrace.CodeHWBreakpoint:
		t.signal(ptrace.SIGTRAP)
	case t.s.watching > 0 && t.watchTrap():
	case left:
		t.resume(0)
	default:
		t.signal(ptrace.SIGTRAP)
	}
}

// signal handles a signal that is about to be delivered, and delivers it unless it has to wait.
func (t *thread) signal(sig int) {
	if t.step.active {
		t.signalInStep(sig)
		return
	}
	if len(t.deferred)+len(t.resent) > 0 && t.overrun() {
		t.breath.keep = true
		t.resume(0)
		return
	}
	t.identify(sig)
	if t.protectFirst(sig) {
		return
	}
	if len(t.proc.space.points) > 0 && t.getRegs() {
		if !t.breath.owed && t.starved(sig) {
			t.keepForLater(sig)
			return
		}
		if t.breath.owed = false; sig >= firstRealTime {
			t.swapInfo(t.deferred, sig) // what was kept is older
		}
		t.interruptedHere()
		if t.s.callPoints > 0 {
			t.markRestart()
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
		t.s.clothe(t.proc.space)
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
		if !t.step.active {
			t.repairCall()
		}
		t.resume(0)
		return
	}
	if t.s.closing && !t.step.active {
		t.s.halted = append(t.s.halted, t.tid)
		t.letGo(0)
		return
	}
	if !t.step.active && t.getRegs() {
		t.markRestart()
	}
	t.trapWaits = t.trapPending()
	if ptrace.Listen(t.tid) == 0 {
		t.listening = true
	}
}

// syscallStop handles a stop at the entry to or the end of a system call.
func (t *thread) syscallStop() {
	switch {
	case t.breath.run && t.putOff():
	case t.step.active:
		if t.atCall(); t.s.sysnames > 0 {
			t.inCall = ptrace.SyscallEntry
			t.callEntered()
		}
		t.resume(0)
	case t.postCall || t.seeExit != nil:
		t.callSeen()
		if t.afterCall(); t.s.sysnames > 0 {
			t.inCall = ptrace.SyscallExit
			t.callLeft()
		}
		t.resume(0)
	case t.s.sysnames == 0 && !t.sys.awaited() && !t.unarmed:
		t.resume(0)
	default:
		t.tracedCall()
	}
}

// hexField reads a signal set from /proc/TID/status.
func hexField(tid int, name string) uint64 {
	v, _ := strconv.ParseUint(procfs.Status(tid, name), 16, 64)
	return v
}
