package engine

import (
	"slices"
	"strings"
	"time"

	"gotap/arch"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
	"gotap/engine/threadstate"
)

// execution completes the instruction under a breakpoint on the processor: out of line or in place (this file), at its own
// address on ARM (inplacearm.go), or as a system call that has to end first (armcall.go).
type execution struct {
	t        *thread
	step     step
	redo     redo
	seqDue   bool         // check whether the instruction being completed leads into a restartable sequence
	postCall bool         // programs wait for the end of its current system call
	seeExit  *space.Point // the point of the probed system call that it is in, whose end has to be seen (see armcall.go)
}

// step is the displaced instruction that a thread is currently running.
//
// Out of line, the thread single-steps a copy of the instruction in the point's slot. Meanwhile its program counter
// is in memory that the program does not know, so no signal may be delivered: a handler would find that address in
// its context, and might never return. The first signal that arrives is kept, and all others that can wait are
// blocked until the step is over; those stay queued in the kernel, in their order. The kept signal is delivered in
// the stop that ends the step, with its original siginfo. Signals that the instruction itself raises are handled
// differently: the registers are set back to the instruction, and the signal is delivered as it would have been
// without the probe.
//
// A system call runs from its copy only as far as the system call entry stop (toCall). In that stop, before the
// call begins, the registers are already corrected. So a call may block for any length of time: a signal handler
// that interrupts it, a child that it creates and a core dump see the program's own addresses, and the kernel
// restarts the call at the program's own instruction. That instruction is then hit a second time, which redo
// recognises.
//
// In place, the original byte is restored for this one step. All other threads of the address space are held
// meanwhile, because they would run past the missing breakpoint.
type step struct {
	active bool
	toCall bool
	p      *space.Point
	slot   uint64
	st     arch.StepState
	met    uint64 // in place: watchpoints that iterations of a repeated instruction have hit; bit i is watch i
}

// redo marks an instruction that is about to run again and must not count as another hit.
type redo struct{ addr, sp uint64 }

// beginStep runs the displaced instruction of a point on the processor. The registers are at the instruction.
func (x *execution) beginStep(p *space.Point) {
	x.t.s.stats.Steps++
	x.t.guard.NoteMerged()
	toCall := p.Site.Insn().Control == arch.Syscall
	if p.How != arch.InPlace && p.Site.Allowed(arch.OutOfLine) && x.t.s.patcher.SlotFor(p, &x.t.Thread, &x.t.inject) {
		p.Steps++
		x.step = step{active: true, toCall: toCall, p: p, slot: p.Slot}
		x.again()
		return
	}
	x.stepInPlace(p, toCall)
}

// again starts the step, or the next iteration of a repeated instruction.
func (x *execution) again() {
	x.step.st = x.step.p.Site.BeforeStep(&x.t.Regs, x.step.slot)
	x.t.SetRegs()
	x.t.resume(0)
}

// afterStep corrects the registers after a step, whatever the thread stopped for. done reports whether the
// instruction has completed.
func (x *execution) afterStep() (done bool) {
	p := x.step.p
	x.t.view.Ran()
	if x.t.proc.arch.Stepless {
		return x.afterCallElsewhere()
	}
	done, err := p.Site.AfterStep(&x.t.Regs, p.Space.Mem, x.step.slot, x.step.st)
	if err != nil {
		x.t.s.warn(err.Error())
	}
	if p.Float != nil && x.step.slot != p.Addr {
		x.repairFloat(p)
	}
	return done
}

// endStep clears the step.
func (x *execution) endStep() {
	x.step.p.Steps--
	x.step = step{}
}

// stepped handles a SIGTRAP during a step.
func (x *execution) stepped() {
	if *x.t.PC() == x.step.slot && x.t.SignalCode() <= 0 { // another process or thread sent it
		if x.t.guard.MergeBlocked() {
			x.t.resume(0)
		} else if x.step.toCall {
			x.signalInStep(ptrace.SIGTRAP)
		} else {
			x.t.queue.Postpone(ptrace.SIGTRAP)
		}
		return
	}
	if x.step.toCall && x.t.proc.arch.Stepless && *x.t.PC() == x.step.slot { // a probe was just placed at the instruction that makes the call
		x.cancelStep()
		x.t.resume(0)
		return
	}
	if x.step.toCall { // such a step ends in a system call stop, not with SIGTRAP
		x.signalInStep(ptrace.SIGTRAP)
		return
	}
	own := x.stepsItself()
	if !x.afterStep() {
		x.anotherTurn(own)
		return
	}
	met := x.step.met
	x.endStep()
	if x.t.s.others.watching > 0 {
		x.t.watch.runWatches(met | x.t.watch.Met())
	}
	if own {
		x.trapAfterStep()
		return
	}
	x.t.finish()
}

// anotherTurn continues a repeated instruction that has iterations left. The watchpoints are queried now, because
// the next trap overwrites the processor's record of what this iteration hit. Without the step the processor would
// also report each iteration separately.
func (x *execution) anotherTurn(own bool) {
	if x.t.s.others.watching > 0 {
		x.t.watch.watchHit()
	}
	if own {
		x.trapInRepeat()
		return
	}
	x.again()
}

// signalInStep handles a signal that arrived during a step.
func (x *execution) signalInStep(sig int) {
	if !x.t.GetRegs() {
		return
	}
	switch {
	case x.t.queue.Raised(sig):
		x.faultInStep(sig)
	case x.step.toCall:
		x.cancelStep()
		x.t.resume(sig)
	default:
		x.t.queue.Postpone(sig)
	}
}

// faultInStep delivers a signal that the instruction raised, as if the instruction had run at its own address.
func (x *execution) faultInStep(sig int) {
	p, slot := x.step.p, x.step.slot
	x.afterStep()
	x.endStep()
	x.t.queue.Unmask()
	if at := x.t.Info.Addr(); at-slot < uint64(p.Length) || at == slot+uint64(p.Length) {
		x.t.Info.SetAddr(p.Addr + at - slot)
		ptrace.SetSigInfo(x.t.Tid, &x.t.Info)
	}
	x.t.view.Fault(x.t.Info.Addr(), sig)
	x.t.h.Faulted()
	x.t.queue.Requeue()
	x.t.SetRegs()
	x.t.resume(sig)
}

// atCall handles the system call entry stop of a step.
func (x *execution) atCall() {
	if !x.t.GetRegs() {
		return
	}
	x.afterStep()
	p := x.step.p
	x.endStep()
	x.t.SetRegs()
	x.t.queue.Unmask()
	x.passedCall()
	if x.t.proc.arch.Stepless {
		x.seeExit = p
	}
}

// passedCall continues with a system call that is about to begin. Programs that run after the instruction wait for
// the call to end.
func (x *execution) passedCall() {
	if x.t.h.HasPosts() || x.t.guard.AwaitsCall() {
		x.postCall = true
	}
	if !x.postCall {
		x.t.h.Commit()
	}
}

// afterCall handles the end of a system call for which programs wait.
func (x *execution) afterCall() {
	due := x.postCall
	x.postCall = false
	x.t.guard.CallOver()
	if due && x.t.GetRegs() {
		x.t.h.Posts()
		x.t.h.Commit()
		x.t.SetRegs()
	}
}

// stepInPlace runs the instruction at its own address.
func (x *execution) stepInPlace(p *space.Point, toCall bool) {
	x.t.s.stats.Held++
	held := x.t.s.world.holdWorld(x.t)
	x.t.s.patcher.Restore(p, x.t.Tid)
	p.Steps++
	x.step = step{active: true, toCall: toCall, p: p, slot: p.Addr}
	x.step.st = p.Site.BeforeStep(&x.t.Regs, p.Addr)
	if x.t.proc.arch.Stepless {
		x.step.st.Saved = x.savedForCall()
	}
	x.t.SetRegs()
	x.t.state.To(threadstate.Running)
	x.t.Peeked = false
	st, ok := x.untilStepped()
	x.t.s.patcher.Replant(p, &x.t.Thread)
	if x.t.s.world.releaseWorld(held); len(held) > 0 {
		time.Sleep(fairness)
	}
	x.t.stoppedAgain(ok && st.Stopped())
	if ok {
		x.t.s.stops.backlog = append(x.t.s.stops.backlog, stop{x.t.Tid, st})
	}
}

// fairness is how long the threads that were held run before the thread that stepped continues. Without this pause,
// a thread that hits a probe in every iteration of a loop would hold the others again before they have done
// anything, and so on forever.
const fairness = 50 * time.Microsecond

// untilStepped steps in place until the instruction has completed, faulted or is about to enter the kernel, and
// returns the stop that shows this; the usual stop handling continues from there. Every other stop is handled here,
// because the breakpoint is restored afterwards and the step could not continue.
func (x *execution) untilStepped() (st ptrace.Status, ok bool) {
	for {
		if x.t.stepping = !x.step.toCall; x.t.stepping {
			ptrace.Step(x.t.Tid, 0)
		} else {
			ptrace.ContToSyscall(x.t.Tid, 0)
		}
		if st, ok = x.t.s.stops.waitFor(x.t.Tid); !ok || st.Ended() || st.AtSyscall() {
			return st, ok
		}
		if st.Event() == ptrace.EventStop && !st.GroupStop() {
			continue
		}
		if !x.t.GetRegs() || st.Event() != ptrace.EventNone {
			x.cancelStep()
			return st, true
		}
		sig := st.Signal()
		switch code := x.t.SignalCode(); {
		case sig == ptrace.SIGTRAP && code > 0 && (*x.t.PC() != x.step.slot || x.stepsItself()):
			return st, true
		case sig == ptrace.SIGTRAP && code > 0: // another iteration
			x.afterStep()
			if x.t.s.others.watching > 0 { // the programs run after the other threads are released
				x.step.met |= x.t.watch.Met()
			}
			x.step.st = x.step.p.Site.BeforeStep(&x.t.Regs, x.step.slot)
		case sig == ptrace.SIGTRAP && x.t.guard.MergeBlocked():
		case x.t.queue.Raised(sig) || x.step.toCall:
			return st, true
		default:
			x.t.queue.Keep(sig)
		}
	}
}

// cancelStep cancels a step whose instruction has not run. When the thread reaches the instruction again, that is
// not another hit; what was logged is committed now.
func (x *execution) cancelStep() {
	p := x.step.p
	x.afterStep()
	x.endStep()
	x.t.queue.Unmask()
	x.t.queue.Requeue()
	x.redo = redo{p.Addr, x.t.SP()}
	x.t.h.Commit()
	x.t.SetRegs()
}

// uninterruptible reports whether the thread sleeps in the kernel in a state that no signal ends, is in a ptrace
// stop, or has exited.
func (x *execution) uninterruptible() bool {
	state := x.t.Status("State")
	return state == "" || strings.ContainsRune("DtZX", rune(state[0]))
}

// repairCall restarts a system call that failed with EINTR because of our own stop: nobody sent a signal, so the
// program must not see the error. Precondition: the thread is in a stop that PTRACE_INTERRUPT caused.
func (x *execution) repairCall() {
	const eintr = 4
	a := x.t.proc.arch
	if x.step.active || !x.t.GetRegs() || !a.InCall(&x.t.Regs) {
		return
	}
	x.markRestart()
	if int64(a.SyscallRet(&x.t.Regs)) != -eintr || !slices.Contains(a.Calls.NeverRestarted, a.SyscallNumber(&x.t.Regs)) || x.signalled() {
		return
	}
	x.t.Regs[a.Calls.Number] = x.t.Regs[a.Calls.Original]
	x.t.Regs[a.Calls.Original] = ^uint64(0)
	*x.t.PC() -= uint64(len(a.Calls.Insn))
	x.t.SetRegs()
	x.redoAt(*x.t.PC())
}

// markRestart notes that the kernel is about to run a system call instruction again. The registers have been read.
func (x *execution) markRestart() {
	if a := x.t.proc.arch; !a.Stepless && a.Restarts(&x.t.Regs) {
		x.redoAt(*x.t.PC() - uint64(len(a.Calls.Insn)))
	}
}

// redoAt notes that the system call at an address will run again, if there is a probe on it.
func (x *execution) redoAt(addr uint64) {
	if p := x.t.proc.space.ByAddr[addr]; p != nil && p.Planted {
		x.redo = redo{addr, x.t.SP()}
	}
}

// signalled reports whether a signal that the thread does not block is pending for it.
func (x *execution) signalled() bool {
	blocked := procfs.SignalSet(x.t.Tid, "SigBlk")
	return (procfs.SignalSet(x.t.Tid, "SigPnd")|procfs.SignalSet(x.t.Tid, "ShdPnd"))&^blocked != 0
}
