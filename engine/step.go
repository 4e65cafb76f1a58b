package engine

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"gotap/arch"
	"gotap/engine/linux/ptrace"
)

// step is the displaced instruction that a thread is in the middle of.
//
// Out of line, the thread single-steps a copy of the instruction in the point's slot. While it does, its program counter
// is in memory that the program knows nothing of, so no signal may be delivered: a handler would find the address in
// its context, and might never come back. The first signal that arrives is kept, and all others that can wait
// are blocked until the step is over; they stay in the kernel, in their order. The kept one is then delivered in the
// stop that the step ends with, with the siginfo it came with. Signals that the instruction itself raises are a
// different matter: the registers are put back to the instruction, and the signal is delivered as it would have been.
//
// A system call is run from its copy only up to the kernel's door (toCall). In the stop there the registers are put right
// already, before the call begins. So a call may block as long as it likes, a signal handler that interrupts it, a child
// that it makes and a core that is dumped see the program's own addresses, and the kernel restarts it at the
// program's own instruction. It is then hit a second time; redo recognises that.
//
// In place, the original byte is restored for the one step. All other threads of the address space are held meanwhile,
// for they would run past the missing breakpoint.
type step struct {
	active bool
	toCall bool
	p      *point
	slot   uint64
	st     arch.StepState
	met    uint64 // in place: watchpoints that the turns of a repeated instruction have met, bit i is watch i
}

// redo marks an instruction that is about to be run again without being a hit again.
type redo struct{ addr, sp uint64 }

// beginStep runs the displaced instruction of a point natively. The registers are at the instruction.
func (t *thread) beginStep(p *point) {
	t.s.stats.Steps++
	t.noteMerged()
	toCall := p.site.Insn().Control == arch.Syscall
	if p.how != arch.InPlace && p.site.Allowed(arch.OutOfLine) && t.s.slotFor(p, t) {
		p.steps++
		t.step = step{active: true, toCall: toCall, p: p, slot: p.slot}
		t.again()
		return
	}
	t.stepInPlace(p, toCall)
}

// again starts the step, or another iteration of a repeated instruction.
func (t *thread) again() {
	t.step.st = t.step.p.site.BeforeStep(&t.regs, t.step.slot)
	t.setRegs()
	t.resume(0)
}

// afterStep puts the registers right, whatever the thread stopped for. done reports that the instruction has completed.
func (t *thread) afterStep() (done bool) {
	p := t.step.p
	t.fpRead = false // what programs have read of the vector registers may have changed
	if t.proc.arch.Stepless {
		return t.afterCallElsewhere()
	}
	done, err := p.site.AfterStep(&t.regs, p.sp.mem, t.step.slot, t.step.st)
	if err != nil {
		t.s.warn(err.Error())
	}
	if p.float != nil && t.step.slot != p.addr {
		t.repairFloat(p)
	}
	return done
}

// endStep forgets the step.
func (t *thread) endStep() {
	t.step.p.steps--
	t.step = step{}
}

// stepped deals with a SIGTRAP in the middle of a step.
func (t *thread) stepped() {
	if *t.pc() == t.step.slot && t.trapCode() <= 0 { // somebody sent it
		if t.mergeBlocked() {
			t.resume(0)
		} else if t.step.toCall {
			t.signalInStep(ptrace.SIGTRAP)
		} else {
			t.postpone(ptrace.SIGTRAP)
		}
		return
	}
	if t.step.toCall && t.proc.arch.Stepless && *t.pc() == t.step.slot { // a probe was just placed where the call is made
		t.cancelStep()
		t.resume(0)
		return
	}
	if t.step.toCall { // it cannot be the step
		t.signalInStep(ptrace.SIGTRAP)
		return
	}
	own := t.stepsItself()
	if !t.afterStep() {
		t.anotherTurn(own)
		return
	}
	met := t.step.met
	t.endStep()
	if t.s.watching > 0 {
		t.runWatches(met | t.metWatches())
	}
	if own {
		t.trapAfterStep()
		return
	}
	t.finish()
}

// anotherTurn goes on with a repeated instruction that has turns left. The processor forgets what a turn met when the next one
// traps, so watchpoints are asked for now; without the step it would have told of each of them as well.
func (t *thread) anotherTurn(own bool) {
	if t.s.watching > 0 {
		t.watchHit()
	}
	if own {
		t.trapInRepeat()
		return
	}
	t.again()
}

// requeue sends again what was kept besides the first signal: stop signals, and those that threads send each other in
// the name of a fault.
// Those that were sent again before, and have not come back, came later: what is kept is given the information of the oldest.
func (t *thread) requeue() {
	older := 0
	for i := range t.deferred {
		if ptrace.SendThread(t.proc.pid, t.tid, t.deferred[i].Signal()) == 0 {
			t.resent = slices.Insert(t.resent, older, t.deferred[i])
			older++
		}
	}
	t.deferred = t.deferred[:0]
}

// identify gives a signal that the thread is stopped with what it came with at first, if it was sent again.
func (t *thread) identify(sig int) {
	if !t.isResent(sig) && sig >= firstRealTime {
		t.swapInfo(t.resent, sig)
	}
}

// isResent recognises a signal that was sent again, and gives it back what it came with.
func (t *thread) isResent(sig int) bool {
	i := slices.IndexFunc(t.resent, func(s ptrace.SigInfo) bool { return s.Signal() == sig })
	if i < 0 || t.trapCode() != ptrace.CodeThread || t.info.Pid() != 0 && t.info.Pid() != os.Getpid() {
		return false
	}
	t.info = t.resent[i]
	t.resent = slices.Delete(t.resent, i, i+1)
	ptrace.SetSigInfo(t.tid, &t.info)
	return true
}

// swapInfo gives the signal that the thread is stopped with what the first of its number in a list came with, and puts its
// own at the end of the list. Real-time signals are queued: so they are seen in the order in which they were sent, whichever of them the
// kernel delivers first.
func (t *thread) swapInfo(list []ptrace.SigInfo, sig int) {
	i := slices.IndexFunc(list, func(s ptrace.SigInfo) bool { return s.Signal() == sig })
	if i < 0 || ptrace.GetSigInfo(t.tid, &t.info) != 0 {
		return
	}
	now := t.info
	t.info = list[i]
	copy(list[i:], list[i+1:])
	list[len(list)-1] = now
	ptrace.SetSigInfo(t.tid, &t.info)
}

// signalInStep deals with a signal that arrived in the middle of a step.
func (t *thread) signalInStep(sig int) {
	if !t.getRegs() {
		return
	}
	switch {
	case t.raised(sig):
		t.faultInStep(sig)
	case t.step.toCall:
		t.cancelStep()
		t.resume(sig)
	default:
		t.postpone(sig)
	}
}

// raised reports whether the instruction raised the signal that the thread is stopped with.
func (t *thread) raised(sig int) bool {
	return synchronous>>(sig-1)&1 == 1 && t.trapCode() > 0
}

// postpone keeps a signal until the step is over.
func (t *thread) postpone(sig int) {
	t.identify(sig)
	t.keepSignal(sig)
	t.resume(0)
}

// keepSignal keeps the signal that the thread is stopped with, which has been identified, and all others out.
func (t *thread) keepSignal(sig int) {
	if t.trapCode(); t.info.Signal() == sig {
		t.deferred = append(t.deferred, t.info)
	}
	if t.masked {
		t.noteKept(t.mask)
	}
	if !t.masked && ptrace.GetSigMask(t.tid, &t.mask) == 0 {
		t.noteKept(t.mask)
		all := ^uint64(synchronous)
		t.masked = ptrace.SetSigMask(t.tid, &all) == 0
	}
}

// unmask gives the thread its own signal mask back.
func (t *thread) unmask() {
	if t.masked {
		ptrace.SetSigMask(t.tid, &t.mask)
		t.masked = false
	}
}

// faultInStep delivers a signal that the instruction raised, as if it had been run at its own place.
func (t *thread) faultInStep(sig int) {
	p, slot := t.step.p, t.step.slot
	t.afterStep()
	t.endStep()
	t.unmask()
	if at := t.info.Addr(); at-slot < uint64(p.length) || at == slot+uint64(p.length) {
		t.info.SetAddr(p.addr + at - slot)
		ptrace.SetSigInfo(t.tid, &t.info)
	}
	t.faultAddr, t.faultSig = t.info.Addr(), sig
	t.h.Faulted()
	t.requeue()
	t.setRegs()
	t.resume(sig)
}

// atCall deals with the stop at the kernel's door.
func (t *thread) atCall() {
	if !t.getRegs() {
		return
	}
	t.afterStep()
	p := t.step.p
	t.endStep()
	t.setRegs()
	t.unmask()
	t.passedCall()
	if t.proc.arch.Stepless {
		t.seeExit = p
	}
}

// passedCall goes on with a system call that is about to begin. Programs that run after the instruction wait for its end.
func (t *thread) passedCall() {
	if t.h.HasPosts() || t.seeMask {
		t.postCall = true
	}
	if !t.postCall {
		t.h.Commit()
	}
}

// afterCall deals with the end of a system call for which programs wait.
func (t *thread) afterCall() {
	due := t.postCall
	t.postCall = false
	if t.seeMask {
		t.seeMask = false
		t.openTrap()
	}
	if due && t.getRegs() {
		t.h.Posts()
		t.h.Commit()
		t.setRegs()
	}
}

// stepInPlace runs the instruction at its own place.
func (t *thread) stepInPlace(p *point, toCall bool) {
	t.s.stats.Held++
	held := t.s.holdWorld(t)
	t.s.restore(p, t.tid)
	p.steps++
	t.step = step{active: true, toCall: toCall, p: p, slot: p.addr}
	t.step.st = p.site.BeforeStep(&t.regs, p.addr)
	if t.proc.arch.Stepless {
		t.step.st.Saved = t.savedForCall()
	}
	t.setRegs()
	t.stopped, t.untaken = false, false
	st, ok := t.untilStepped()
	t.replant(p)
	if t.s.releaseWorld(held); len(held) > 0 {
		time.Sleep(fairness)
	}
	if t.stopped = ok && st.Stopped(); ok {
		t.s.backlog = append(t.s.backlog, stop{t.tid, st})
	}
}

// replant puts a breakpoint back that was taken out for one instruction. The others that share the memory are held.
func (t *thread) replant(p *point) {
	if !p.wanted() {
		return
	}
	err := p.sp.mem.Poke(p.addr, p.trap, t.tid)
	if err == nil {
		p.planted = true
		return
	}
	if p.planted {
		p.planted = false
		t.s.points -= p.Counted()
	}
	if _, gone := p.present(); gone == nil {
		t.s.warn(fmt.Sprintf("cannot put the breakpoint at %#x of process %d back: %v", p.addr, t.proc.pid, err))
	}
}

// fairness is a moment that the threads which were held get for themselves before the thread that stepped goes on. Without, one that
// meets a probe at every turn would hold the others again before they have done anything, and so for ever.
const fairness = 50 * time.Microsecond

// untilStepped steps in place until the instruction has completed, faulted or is about to enter the kernel, and returns
// the stop that says so; the usual way of dealing with stops goes on from there. Everything else that may happen
// is dealt with here, because the breakpoint is put back afterwards and the step could not go on.
func (t *thread) untilStepped() (st ptrace.Status, ok bool) {
	for {
		if t.stepping = !t.step.toCall; t.stepping {
			ptrace.Step(t.tid, 0)
		} else {
			ptrace.ContToSyscall(t.tid, 0)
		}
		if st, ok = t.s.waitFor(t.tid); !ok || st.Ended() || st.AtSyscall() {
			return st, ok
		}
		if st.Event() == ptrace.EventStop && !st.GroupStop() {
			continue
		}
		if !t.getRegs() || st.Event() != ptrace.EventNone {
			t.cancelStep()
			return st, true
		}
		sig := st.Signal()
		switch code := t.trapCode(); {
		case sig == ptrace.SIGTRAP && code > 0 && (*t.pc() != t.step.slot || t.stepsItself()):
			return st, true
		case sig == ptrace.SIGTRAP && code > 0: // another iteration
			t.afterStep()
			if t.s.watching > 0 { // the programs run when the others are no longer held
				t.step.met |= t.metWatches()
			}
			t.step.st = t.step.p.site.BeforeStep(&t.regs, t.step.slot)
		case sig == ptrace.SIGTRAP && t.mergeBlocked():
		case t.raised(sig) || t.step.toCall:
			return st, true
		default:
			t.identify(sig)
			t.keepSignal(sig)
		}
	}
}

// cancelStep takes a step back that has not begun. When the thread comes to the instruction again, that is not another
// hit; what was logged is committed now.
func (t *thread) cancelStep() {
	p := t.step.p
	t.afterStep()
	t.endStep()
	t.unmask()
	t.requeue()
	t.redo = redo{p.addr, t.sp()}
	t.h.Commit()
	t.setRegs()
}

// holdPatience is how long a thread may take to stop before it is looked at more closely.
const holdPatience = 20 * time.Millisecond

// holdWorld stops all other threads that share the thread's memory, and returns those that it stopped.
func (s *Session) holdWorld(but *thread) []*thread {
	var asked, held []*thread
	for _, t := range s.threads {
		if t == but || t.proc.space != but.proc.space || t.stopped || t.fresh || t.vforking {
			continue
		}
		if ptrace.Interrupt(t.tid) == 0 {
			asked = append(asked, t)
		}
	}
	for _, t := range asked {
		if s.holdOne(t) {
			held = append(held, t)
		}
	}
	return held
}

// holdOne waits for a thread to stop. Whatever else it has to say is kept for later. A thread that does not stop in good time
// is waiting in the kernel without being interruptible; it runs nothing of its own before it has stopped, because the
// request to stop is looked at first.
func (s *Session) holdOne(t *thread) bool {
	for began := time.Now(); ; {
		tid, e := ptrace.PeekStop(t.tid, &s.special, false)
		switch {
		case tid == t.tid && s.special.Event() == ptrace.EventStop && !s.special.GroupStop():
			ptrace.ConsumeStop(t.tid)
			t.stopped, t.midCall = true, false
			t.repairCall()
			return true
		case tid == t.tid: // it will be said again
			return false
		case e != 0:
			return false
		case time.Since(began) > holdPatience && t.uninterruptible():
			return false
		case time.Since(began) > time.Millisecond:
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// uninterruptible reports whether the thread sleeps in the kernel in a way that no signal ends, or is gone.
func (t *thread) uninterruptible() bool {
	state := t.statusField("State")
	return state == "" || strings.ContainsRune("DtZX", rune(state[0]))
}

// releaseWorld lets the threads go on that holdWorld stopped.
func (s *Session) releaseWorld(held []*thread) {
	for _, t := range held {
		t.resume(0)
	}
}

// repairCall makes a system call that our own stop made fail with EINTR start anew: nobody sent a signal, so the
// program must not see one. Precondition: the thread is in a stop that PTRACE_INTERRUPT caused.
func (t *thread) repairCall() {
	const eintr = 4
	a := t.proc.arch
	if t.step.active || !t.getRegs() || !a.InCall(&t.regs) {
		return
	}
	t.markRestart()
	if int64(a.SyscallRet(&t.regs)) != -eintr || !slices.Contains(a.Calls.NeverRestarted, a.SyscallNumber(&t.regs)) || t.signalled() {
		return
	}
	t.regs[a.Calls.Number] = t.regs[a.Calls.Original]
	t.regs[a.Calls.Original] = ^uint64(0)
	*t.pc() -= uint64(len(a.Calls.Insn))
	t.setRegs()
	t.redoAt(*t.pc())
}

// markRestart notes that the kernel is about to run a system call instruction again. The registers have been read.
func (t *thread) markRestart() {
	if a := t.proc.arch; !a.Stepless && a.Restarts(&t.regs) {
		t.redoAt(*t.pc() - uint64(len(a.Calls.Insn)))
	}
}

// redoAt notes that the system call at an address will be run again, if there is a probe on it.
func (t *thread) redoAt(addr uint64) {
	if p := t.proc.space.points[addr]; p != nil && p.planted {
		t.redo = redo{addr, t.sp()}
	}
}

// signalled reports whether a signal is waiting for the thread that it does not block.
func (t *thread) signalled() bool {
	blocked := hexField(t.tid, "SigBlk")
	return (hexField(t.tid, "SigPnd")|hexField(t.tid, "ShdPnd"))&^blocked != 0
}
