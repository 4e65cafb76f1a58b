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
	p      *point
	slot   uint64
	st     arch.StepState
	met    uint64 // in place: watchpoints that iterations of a repeated instruction have hit; bit i is watch i
}

// redo marks an instruction that is about to run again and must not count as another hit.
type redo struct{ addr, sp uint64 }

// beginStep runs the displaced instruction of a point on the processor. The registers are at the instruction.
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

// again starts the step, or the next iteration of a repeated instruction.
func (t *thread) again() {
	t.step.st = t.step.p.site.BeforeStep(&t.regs, t.step.slot)
	t.setRegs()
	t.resume(0)
}

// afterStep corrects the registers after a step, whatever the thread stopped for. done reports whether the
// instruction has completed.
func (t *thread) afterStep() (done bool) {
	p := t.step.p
	t.fpRead = false // the vector registers that programs have read may have changed
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

// endStep clears the step.
func (t *thread) endStep() {
	t.step.p.steps--
	t.step = step{}
}

// stepped handles a SIGTRAP during a step.
func (t *thread) stepped() {
	if *t.pc() == t.step.slot && t.trapCode() <= 0 { // another process or thread sent it
		if t.mergeBlocked() {
			t.resume(0)
		} else if t.step.toCall {
			t.signalInStep(ptrace.SIGTRAP)
		} else {
			t.postpone(ptrace.SIGTRAP)
		}
		return
	}
	if t.step.toCall && t.proc.arch.Stepless && *t.pc() == t.step.slot { // a probe was just placed at the instruction that makes the call
		t.cancelStep()
		t.resume(0)
		return
	}
	if t.step.toCall { // such a step ends in a system call stop, not with SIGTRAP
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

// anotherTurn continues a repeated instruction that has iterations left. The watchpoints are queried now, because
// the next trap overwrites the processor's record of what this iteration hit. Without the step the processor would
// also report each iteration separately.
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

// requeue resends the kept signals other than the first: stop signals, and signals with the number of a fault that
// threads send each other. Signals that were resent earlier and have not come back arrived later than these, so
// these go in front of them in the list: the next signal that comes back gets the siginfo of the oldest.
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

// identify restores the original siginfo of the signal that the thread is stopped with, if the signal was resent. A
// real-time signal that was not resent swaps its siginfo with a resent one: see swapInfo.
func (t *thread) identify(sig int) {
	if !t.isResent(sig) && sig >= firstRealTime {
		t.swapInfo(t.resent, sig)
	}
}

// isResent reports whether the thread is stopped with a signal that was resent, and restores its original siginfo.
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

// swapInfo gives the signal that the thread is stopped with the siginfo of the first signal of its number in a
// list, and puts the signal's own siginfo at the end of the list instead. Real-time signals are queued; this way
// the program sees them in the order in which they were sent, whichever the kernel delivers first.
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

// signalInStep handles a signal that arrived during a step.
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

// keepSignal keeps the signal that the thread is stopped with, which has been identified, and blocks all others
// except the synchronous ones.
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

// unmask restores the thread's own signal mask.
func (t *thread) unmask() {
	if t.masked {
		ptrace.SetSigMask(t.tid, &t.mask)
		t.masked = false
	}
}

// faultInStep delivers a signal that the instruction raised, as if the instruction had run at its own address.
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

// atCall handles the system call entry stop of a step.
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

// passedCall continues with a system call that is about to begin. Programs that run after the instruction wait for
// the call to end.
func (t *thread) passedCall() {
	if t.h.HasPosts() || t.seeMask {
		t.postCall = true
	}
	if !t.postCall {
		t.h.Commit()
	}
}

// afterCall handles the end of a system call for which programs wait.
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

// stepInPlace runs the instruction at its own address.
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

// replant restores a breakpoint that was removed for one instruction. The other threads that share the memory are
// held.
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

// fairness is how long the threads that were held run before the thread that stepped continues. Without this pause,
// a thread that hits a probe in every iteration of a loop would hold the others again before they have done
// anything, and so on forever.
const fairness = 50 * time.Microsecond

// untilStepped steps in place until the instruction has completed, faulted or is about to enter the kernel, and
// returns the stop that shows this; the usual stop handling continues from there. Every other stop is handled here,
// because the breakpoint is restored afterwards and the step could not continue.
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
			if t.s.watching > 0 { // the programs run after the other threads are released
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

// cancelStep cancels a step whose instruction has not run. When the thread reaches the instruction again, that is
// not another hit; what was logged is committed now.
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

// holdPatience is how long a thread may take to stop before its state is checked.
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

// holdOne waits for a thread to stop after PTRACE_INTERRUPT and reports whether it did. A different stop of the
// thread is left to be handled later. A thread that does not stop within holdPatience sleeps uninterruptibly in the
// kernel; it runs no code of its own before it has stopped, because the kernel handles the interrupt request first.
func (s *Session) holdOne(t *thread) bool {
	for began := time.Now(); ; {
		tid, e := ptrace.PeekStop(t.tid, &s.special, false)
		switch {
		case tid == t.tid && s.special.Event() == ptrace.EventStop && !s.special.GroupStop():
			ptrace.ConsumeStop(t.tid)
			t.stopped, t.midCall = true, false
			t.repairCall()
			return true
		case tid == t.tid: // the stop was only peeked at; the kernel reports it again
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

// uninterruptible reports whether the thread sleeps in the kernel in a state that no signal ends, is in a ptrace
// stop, or has exited.
func (t *thread) uninterruptible() bool {
	state := t.statusField("State")
	return state == "" || strings.ContainsRune("DtZX", rune(state[0]))
}

// releaseWorld resumes the threads that holdWorld stopped.
func (s *Session) releaseWorld(held []*thread) {
	for _, t := range held {
		t.resume(0)
	}
}

// repairCall restarts a system call that failed with EINTR because of our own stop: nobody sent a signal, so the
// program must not see the error. Precondition: the thread is in a stop that PTRACE_INTERRUPT caused.
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

// redoAt notes that the system call at an address will run again, if there is a probe on it.
func (t *thread) redoAt(addr uint64) {
	if p := t.proc.space.points[addr]; p != nil && p.planted {
		t.redo = redo{addr, t.sp()}
	}
}

// signalled reports whether a signal that the thread does not block is pending for it.
func (t *thread) signalled() bool {
	blocked := hexField(t.tid, "SigBlk")
	return (hexField(t.tid, "SigPnd")|hexField(t.tid, "ShdPnd"))&^blocked != 0
}
