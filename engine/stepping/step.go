package stepping

import (
	"slices"
	"strings"
	"time"

	"gotap/arch"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
	"gotap/engine/threadstate"
	"gotap/engine/tracee"
)

// Thread completes the instruction under a breakpoint on the processor: out of line or in place (this file), at its own
// address on ARM (inplacearm.go), or as a system call that has to end first (armcall.go).
type Thread struct {
	*tracee.Thread
	Single bool // it was last resumed to run one instruction

	on       Host
	parts    Parts
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

// Begin runs the displaced instruction of a point on the processor. The registers are at the instruction.
func (x *Thread) Begin(p *space.Point) {
	x.parts.Stats.Steps++
	x.parts.Guard.NoteMerged()
	toCall := p.Site.Insn().Control == arch.Syscall
	if p.How != arch.InPlace && p.Site.Allowed(arch.OutOfLine) && x.parts.Patcher.SlotFor(p, x.Thread, x.parts.Inject) {
		p.Steps++
		x.step = step{active: true, toCall: toCall, p: p, slot: p.Slot}
		x.again()
		return
	}
	x.StepInPlace(p, toCall)
}

// again starts the step, or the next iteration of a repeated instruction.
func (x *Thread) again() {
	x.step.st = x.step.p.Site.BeforeStep(&x.Regs, x.step.slot)
	x.SetRegs()
	if x.step.toCall {
		x.on.Checkpoint(tracee.InEntry)
	}
	x.on.Resume(0)
}

// afterStep corrects the registers after a step, whatever the thread stopped for. done reports whether the
// instruction has completed.
func (x *Thread) afterStep() (done bool) {
	p := x.step.p
	x.parts.View.Ran()
	if x.parts.View.Space.ABI.Stepless {
		return x.afterCallElsewhere()
	}
	done, err := p.Site.AfterStep(&x.Regs, p.Space.Mem, x.step.slot, x.step.st)
	if err != nil {
		x.on.Warn(err.Error())
	}
	if p.Float != nil && x.step.slot != p.Addr {
		x.repairFloat(p)
	}
	return done
}

// endStep clears the step.
func (x *Thread) endStep() {
	x.step.p.Steps--
	x.step = step{}
}

// Stepped handles a SIGTRAP during a step.
func (x *Thread) Stepped() {
	if *x.PC() == x.step.slot && x.SignalCode() <= 0 { // another process or thread sent it
		if x.parts.Guard.MergeBlocked() {
			x.on.Resume(0)
		} else if x.step.toCall {
			x.SignalInStep(ptrace.SIGTRAP)
		} else {
			x.parts.Queue.Postpone(ptrace.SIGTRAP)
		}
		return
	}
	if x.step.toCall && x.parts.View.Space.ABI.Stepless && *x.PC() == x.step.slot { // a probe was just placed at the instruction that makes the call
		x.cancelStep()
		x.on.Resume(0)
		return
	}
	if x.step.toCall { // such a step ends in a system call stop, not with SIGTRAP
		x.SignalInStep(ptrace.SIGTRAP)
		return
	}
	own, raised := x.stepsItself(), x.raisedBehind()
	if !x.afterStep() {
		x.anotherTurn(own)
		return
	}
	met := x.step.met
	x.endStep()
	if x.on.Watching() {
		x.on.RunWatches(met | x.on.WatchesMet())
	}
	switch {
	case own:
		x.trapAfterStep()
	case raised:
		x.passTrap()
	default:
		x.on.FinishWith(0)
	}
}

// leaveNext takes a thread back to the breakpoint behind the instruction that is stepped in place, if the step has
// executed that as well. It does so if the instruction holds traps back until the next one has run: mov ss, pop ss
// (Intel SDM vol. 3, 6.8.3), and xbegin, whose transaction the trap aborts: the next one is the first of the abort
// handler.
func (x *Thread) leaveNext() {
	if next := x.parts.View.Space.ABI.BreakpointPC(*x.PC()); x.raisedBehind() && x.step.p.Space.ByAddr[next] != nil {
		*x.PC() = next
		x.SetRegs()
	}
}

// raisedBehind reports whether a step in place has executed the breakpoint instruction behind the instruction that was
// stepped, or at its target.
func (x *Thread) raisedBehind() bool {
	a, p := x.parts.View.Space.ABI, x.step.p
	if x.step.slot != p.Addr || x.SignalCode() != a.TrapCode {
		return false
	}
	met := a.BreakpointPC(*x.PC())
	return met == p.Addr+uint64(p.Length) || met == p.Site.Insn().Target
}

// anotherTurn continues a repeated instruction that has iterations left. The watchpoints are queried now, because
// the next trap overwrites the processor's record of what this iteration hit. Without the step the processor would
// also report each iteration separately.
func (x *Thread) anotherTurn(own bool) {
	if x.on.Watching() {
		x.on.RunWatches(x.on.WatchesMet())
	}
	if own {
		x.trapInRepeat()
		return
	}
	x.again()
}

// SignalInStep handles a signal that arrived during a step.
func (x *Thread) SignalInStep(sig int) {
	if !x.GetRegs() {
		return
	}
	switch {
	case x.parts.Queue.Raised(sig):
		x.faultInStep(sig)
	case x.step.toCall:
		x.cancelStep()
		x.on.Resume(sig)
	default:
		x.parts.Queue.Postpone(sig)
	}
}

// faultInStep delivers a signal that the instruction raised, as if the instruction had run at its own address.
func (x *Thread) faultInStep(sig int) {
	p, slot := x.step.p, x.step.slot
	x.afterStep()
	x.endStep()
	x.parts.Queue.Unmask()
	if at := x.Info.Addr(); at-slot < uint64(p.Length) || at == slot+uint64(p.Length) {
		x.Info.SetAddr(p.Addr + at - slot)
		ptrace.SetSigInfo(x.Tid, &x.Info)
	}
	x.parts.View.Fault(x.Info.Addr(), sig)
	x.parts.Hit.Faulted()
	x.parts.Queue.Requeue()
	x.SetRegs()
	x.on.Resume(sig)
}

// AtCall handles the system call entry stop of a step.
func (x *Thread) AtCall() {
	if !x.GetRegs() {
		return
	}
	x.on.Checkpoint(tracee.InEntry)
	x.afterStep()
	p := x.step.p
	x.endStep()
	x.SetRegs()
	x.on.Checkpoint(tracee.InEntry)
	x.parts.Queue.Unmask()
	x.passedCall()
	if x.parts.View.Space.ABI.Stepless {
		x.seeExit = p
	}
}

// passedCall continues with a system call that is about to begin. Programs that run after the instruction wait for
// the call to end.
func (x *Thread) passedCall() {
	if x.parts.Hit.HasPosts() || x.parts.Guard.AwaitsCall() {
		x.postCall = true
	}
	if !x.postCall {
		x.parts.Hit.Commit()
	}
}

// AfterCall handles the end of a system call for which programs wait.
func (x *Thread) AfterCall() {
	due := x.postCall
	x.postCall = false
	x.parts.Guard.CallOver()
	if due && x.GetRegs() {
		x.parts.Hit.Posts()
		x.parts.Hit.Commit()
		x.SetRegs()
	}
}

// StepInPlace runs the instruction at its own address.
func (x *Thread) StepInPlace(p *space.Point, toCall bool) {
	x.parts.Stats.Held++
	release := x.on.HoldOthers()
	x.parts.Patcher.Restore(p, x.Tid)
	p.Steps++
	x.step = step{active: true, toCall: toCall, p: p, slot: p.Addr}
	x.step.st = p.Site.BeforeStep(&x.Regs, p.Addr)
	if x.parts.View.Space.ABI.Stepless {
		x.step.st.Saved = x.savedForCall()
	}
	x.SetRegs()
	x.parts.State.To(threadstate.Running)
	x.Peeked = false
	st, ok := x.untilStepped()
	x.parts.Patcher.Replant(p, x.Thread)
	if release() {
		time.Sleep(fairness)
	}
	x.stoppedAgain(ok && st.Stopped())
	if ok {
		x.on.Later(st)
	}
}

// fairness is how long the threads that were held run before the thread that stepped continues. Without this pause,
// a thread that hits a probe in every iteration of a loop would hold the others again before they have done
// anything, and so on forever.
const fairness = 50 * time.Microsecond

// untilStepped steps in place until the instruction has completed, faulted or is about to enter the kernel, and returns
// the stop that shows this; the usual stop handling continues from there. Every other stop is handled here, because the
// breakpoint is restored afterwards and the step could not continue. It peeks at a stop for a signal before it consumes
// it: the kernel has to deliver the SIGTRAP of a breakpoint behind the instruction if the session is killed before
// leaveNext.
func (x *Thread) untilStepped() (st ptrace.Status, ok bool) {
	for {
		if x.Single = !x.step.toCall; x.Single {
			ptrace.Step(x.Tid, 0)
		} else {
			ptrace.ContToSyscall(x.Tid, 0)
		}
		if st, ok = x.on.PeekAny(); !ok || st.Ended() || st.AtSyscall() {
			return st, ok
		}
		if st.Event() == ptrace.EventStop && !st.GroupStop() {
			continue
		}
		ended := !x.GetRegs()
		x.leaveNext()
		x.Consume()
		if ended || st.Event() != ptrace.EventNone {
			x.cancelStep()
			return st, true
		}
		sig := st.Signal()
		switch code := x.SignalCode(); {
		case sig == ptrace.SIGTRAP && code > 0 && (*x.PC() != x.step.slot || x.stepsItself()):
			return st, true
		case sig == ptrace.SIGTRAP && code > 0: // another iteration
			x.afterStep()
			if x.on.Watching() { // the programs run after the other threads are released
				x.step.met |= x.on.WatchesMet()
			}
			x.step.st = x.step.p.Site.BeforeStep(&x.Regs, x.step.slot)
		case sig == ptrace.SIGTRAP && x.parts.Guard.MergeBlocked():
		case x.parts.Queue.Raised(sig) || x.step.toCall:
			return st, true
		default:
			x.parts.Queue.Keep(sig)
		}
	}
}

// cancelStep cancels a step whose instruction has not run. When the thread reaches the instruction again, that is
// not another hit; what was logged is committed now.
func (x *Thread) cancelStep() {
	p := x.step.p
	x.afterStep()
	x.endStep()
	x.parts.Queue.Unmask()
	x.parts.Queue.Requeue()
	x.redo = redo{p.Addr, x.SP()}
	x.parts.Hit.Commit()
	x.SetRegs()
}

// Uninterruptible reports whether the thread sleeps in the kernel in a state that no signal ends, is in a ptrace
// stop, or has exited.
func (x *Thread) Uninterruptible() bool {
	state := x.Status("State")
	return state == "" || strings.ContainsRune("DtZX", rune(state[0]))
}

// RepairCall restarts a system call that failed with EINTR because of our own stop: nobody sent a signal, so the
// program must not see the error. Precondition: the thread is in a stop that PTRACE_INTERRUPT caused.
func (x *Thread) RepairCall() {
	const eintr = 4
	a := x.parts.View.Space.ABI
	if x.step.active || !x.GetRegs() || !a.InCall(&x.Regs) {
		return
	}
	x.MarkRestart()
	if int64(a.SyscallRet(&x.Regs)) != -eintr || !slices.Contains(a.Calls.NeverRestarted, a.SyscallNumber(&x.Regs)) || x.signalled() {
		return
	}
	x.Regs[a.Calls.Number] = x.Regs[a.Calls.Original]
	x.Regs[a.Calls.Original] = ^uint64(0)
	*x.PC() -= uint64(len(a.Calls.Insn))
	x.SetRegs()
	x.redoAt(*x.PC())
}

// MarkRestart notes that the kernel is about to run a system call instruction again. The registers have been read.
func (x *Thread) MarkRestart() {
	if a := x.parts.View.Space.ABI; !a.Stepless && a.Restarts(&x.Regs) {
		x.redoAt(*x.PC() - uint64(len(a.Calls.Insn)))
	}
}

// redoAt notes that the system call at an address will run again, if there is a probe on it.
func (x *Thread) redoAt(addr uint64) {
	if p := x.parts.View.Space.ByAddr[addr]; p != nil && p.Planted {
		x.redo = redo{addr, x.SP()}
	}
}

// signalled reports whether a signal that the thread does not block is pending for it.
func (x *Thread) signalled() bool {
	blocked := procfs.SignalSet(x.Tid, "SigBlk")
	return (procfs.SignalSet(x.Tid, "SigPnd")|procfs.SignalSet(x.Tid, "ShdPnd"))&^blocked != 0
}

// stoppedAgain records whether a thread that was resumed for one instruction is in a stop again.
func (x *Thread) stoppedAgain(stopped bool) {
	if stopped {
		x.parts.State.To(threadstate.Stopped)
	}
}
