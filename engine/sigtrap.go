package engine

import (
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/linux/ptrace"
)

// sigtrap is what the engine knows of SIGTRAP in one thread: whether it is blocked, whether the program believes that it
// is (sigmask.go), and the program's own SIGTRAPs that a hit displaced (trapaction.go).
type sigtrap struct {
	t       *thread
	waits   bool             // it is listening, and the SIGTRAP of a breakpoint waits for it
	lost    bool             // it hit a breakpoint with SIGTRAP blocked: the kernel has reset the action
	merged  []ptrace.SigInfo // a SIGTRAP sent to the program that was pending and blocked, and whose stop reported a hit
	open    bool             // it blocks all signals but SIGTRAP, which the program believes blocked too: see sigmask.go
	clear   bool             // SIGTRAP was not blocked after the latest rt_sigprocmask call that the engine made for the thread
	meant   bool             // the program waits for a SIGTRAP, which stays blocked until the program no longer blocks all signals
	openDue bool             // SIGTRAP must be unblocked at its next stop, if it blocks all signals
	seeMask bool             // SIGTRAP must be unblocked again after the current system call
}

// trapPending reports whether a thread has hit a breakpoint of ours and has not stopped for it yet: it is past the
// breakpoint's address and the kernel's SIGTRAP is queued. The same applies to debug registers, to a step that an
// earlier session left, and to what its handler sent to the thread.
func (x *sigtrap) trapPending() bool {
	if !x.t.GetRegs() {
		return false
	}
	behind := x.behindBreakpoint()
	watched := x.t.watch.hasDebugRegs() || x.t.proc.space.guard.Watching || x.t.s.others.watching > 0
	left := x.t.proc.space.guard.Left != nil
	for i := 0; (behind || watched || left || x.t.protection.leftStep) && ptrace.PendingSignal(x.t.Tid, i, &x.t.Info); i++ {
		if x.t.Info.Signal() != ptrace.SIGTRAP {
			continue
		}
		switch code := x.t.Info.Code(); {
		case left && fallback.IsOwnCode(code), behind && code == x.t.proc.arch.TrapCode, watched && code == ptrace.CodeHWBreakpoint, x.t.protection.leftStep && code == ptrace.CodeTrace:
			return true
		}
	}
	return false
}

// behindBreakpoint reports whether the thread is where the hit of a breakpoint leaves it, of this session or of an
// earlier one.
func (x *sigtrap) behindBreakpoint() bool {
	sp, addr := x.t.proc.space, x.t.proc.arch.BreakpointPC(*x.t.PC())
	if sp.points[addr] != nil {
		return true
	}
	_, _, left := sp.guard.Table.Lookup(addr)
	return left && sp.guard.Left != nil
}
