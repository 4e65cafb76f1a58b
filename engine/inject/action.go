package inject

import (
	"errors"
	"syscall"

	"gotap/arch"
	"gotap/arch/x86"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/linux/ptrace"
	"gotap/engine/tracee"
)

// SetAction makes own the program's action for SIGTRAP in place of a stopped thread that is about to set it, and gives
// the thread the registers home, which it has behind its call. store writes own into the region, where the fallback's
// handler finds it; SetAction then has the thread install the action over it. It must be in a process with the
// fallback's region.
//
// If the session is killed before store, or between store and the call that installs the action, the thread is at code
// that first hits a breakpoint, by which the handler removes all breakpoints, and then sets own itself, as the program
// would have done. A thread that was in front of its own call instead would get back the fallback's action, which by
// then stands for own, as the previous one.
func (j *Caller) SetAction(own fallback.Action, store func() error, home arch.Regs) error {
	region := j.t.Of.Region()
	trap, ownAt := j.t.ABI().Native.StubTrap(region)
	if err := errors.Join(j.allowsAction(ownAt), j.allowsAction(region.Base+fallback.ActionAt)); err != nil {
		return err
	}
	if j.t.MidCall {
		return errMidCall
	}
	if j.t.RaisedTrap() {
		return errRaised
	}
	defer j.t.KeepScalable()()
	var now uint64
	if ptrace.GetSigMask(j.t.Tid, &now) != 0 {
		return syscall.ESRCH
	}
	mask := now
	if kept, differs := j.on.OwnMask(); differs {
		mask = kept // due when signals are no longer kept
	}
	at := j.t.Regs
	if err := j.toActionCall(trap.Addr, ownAt, own, mask, &home); err != nil {
		return err
	}
	blocked := ^uint64(ptrace.TrapBit) | now&ptrace.TrapBit
	j.on.Checkpoint(tracee.InAction)
	j.t.SetRegs()
	j.on.Checkpoint(tracee.InAction)
	ptrace.SetSigMask(j.t.Tid, &blocked)
	j.on.Checkpoint(tracee.InAction)
	if err := store(); err != nil {
		ptrace.SetSigMask(j.t.Tid, &now)
		j.t.Regs = at
		j.t.SetRegs()
		return err
	}
	j.on.Checkpoint(tracee.InAction)
	j.loadAction(region.Base + fallback.ActionAt)
	j.t.JumpTo(trap.Addr + uint64(len(trap.Trap)))
	_, err := j.callAndReturn(home, blocked, now, tracee.InAction)
	return err
}

// actionArgs are the arguments with which the action for SIGTRAP is set that is at an address.
func actionArgs(at uint64) []uint64 {
	const setBytes = 8
	return []uint64{ptrace.SIGTRAP, at, 0, setBytes}
}

// allowsAction returns an error if the thread's filters do not let it set the action for SIGTRAP that is at an address.
func (j *Caller) allowsAction(at uint64) error {
	return j.allows(j.t.ABI().Calls.Sigaction, actionArgs(at)...)
}

// loadAction loads the registers for the call that sets the action for SIGTRAP which is at an address.
func (j *Caller) loadAction(at uint64) { j.loadCall(j.t.ABI().Calls.Sigaction, actionArgs(at)) }

// toActionCall writes code that sets the action own and continues with a mask and the registers home, and sets t.Regs
// to those with which the thread begins it, at its breakpoint.
func (j *Caller) toActionCall(trap, ownAt uint64, own fallback.Action, mask uint64, home *arch.Regs) error {
	mem, word := j.t.Memory(), j.t.ABI().WordSize()
	j.t.Regs = *home
	if j.t.ABI().Stepless {
		room := returnRoom{code: trap, frame: j.t.Of.Region().Base + fallback.FrameAt}
		if err := j.fillRoom(room, mask); err != nil {
			return err
		}
		if err := mem.Poke(trap, j.t.ABI().Native.ReturnTrap(own), j.t.Tid); err != nil {
			return err
		}
		j.t.Regs[fallback.FrameRegister(word)] = room.frame
	} else {
		home[x86.OrigRAX] = ^uint64(0)
		j.t.Regs[x86.OrigRAX] = ^uint64(0)
		if err := mem.Poke(trap, fallback.ActionStub(trap, home, own, mask, word), j.t.Tid); err != nil {
			return err
		}
	}
	j.loadAction(ownAt)
	j.t.JumpTo(trap)
	return nil
}
