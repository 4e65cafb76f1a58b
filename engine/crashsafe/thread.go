package crashsafe

import (
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/linux/ptrace"
)

// TrapPending reports whether a thread has hit a breakpoint of ours and has not stopped for it yet: it is past the
// breakpoint's address and the kernel's SIGTRAP is queued. The same applies to debug registers, to a step that an
// earlier session left, and to what its handler sent to the thread.
func (x *Thread) TrapPending() bool {
	if !x.t.GetRegs() {
		return false
	}
	behind := x.behindBreakpoint()
	watched := x.on.Watched() || x.space().Watching
	left := x.space().Left != nil
	for i := 0; (behind || watched || left || x.leftStep) && ptrace.PendingSignal(x.t.Tid, i, &x.t.Info); i++ {
		if x.t.Info.Signal() != ptrace.SIGTRAP {
			continue
		}
		switch code := x.t.Info.Code(); {
		case left && fallback.IsOwnCode(code), behind && code == x.t.ABI().TrapCode, watched && code == ptrace.CodeHWBreakpoint, x.leftStep && code == ptrace.CodeTrace:
			return true
		}
	}
	return false
}

// behindBreakpoint reports whether the thread is where the hit of a breakpoint leaves it, of this session or of an
// earlier one.
func (x *Thread) behindBreakpoint() bool {
	sp, addr := x.space(), x.t.ABI().BreakpointPC(*x.t.PC())
	if sp.on.PointAt(addr) != nil {
		return true
	}
	_, _, left := sp.Table.Lookup(addr)
	return left && sp.Left != nil
}
