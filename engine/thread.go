package engine

import (
	"cmp"
	"fmt"
	"syscall"

	"gotap/arch"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry/hit"
	"gotap/engine/registry/retprobe"
	"gotap/engine/threadstate"
)

// thread is a traced thread with everything that a hit needs, so that a hit allocates nothing. Only the tracing
// thread uses it. What it does is divided among its parts; each has a state of its own, which only the part's own
// methods change.
type thread struct {
	s    *Session
	proc *process
	tid  int

	state    threadstate.Thread
	midCall  bool   // its stop is inside a system call, whose result will overwrite registers
	peeked   bool   // its stop, for a signal, was peeked at and not consumed: see ptrace.PeekStop
	stepping bool   // it was last resumed to run one instruction
	vforking bool   // it waits for a child that uses its memory (vfork)
	unprobed bool   // programs do not run for it
	mustStop bool   // to be stopped while the session ends, even if it is asleep
	ticket   uint32 // with which the session's user releases it, once it is held; 0: it is not to be held
	regs     arch.Regs
	info     ptrace.SigInfo

	// The present hit.
	at    *point
	h     hit.Hit         // its programs
	calls retprobe.Thread // the calls that the thread is in

	exec       execution
	emu        emulation
	view       view
	queue      signalQueue
	sigtrap    sigtrap
	calling    calling
	watch      watches
	inject     injection
	protection protection
}

// newThread adds a thread to a process.
func (s *Session) newThread(p *process, tid int, in threadstate.State) *thread {
	t := makeThread(s, p, tid)
	t.state = threadstate.New(in)
	s.threads[tid] = t
	p.threads[tid] = t
	return t
}

// makeThread returns a thread with its parts.
func makeThread(s *Session, p *process, tid int) *thread {
	t := &thread{s: s, proc: p, tid: tid}
	t.exec.t, t.emu.t, t.view.t, t.queue.t, t.sigtrap.t = t, t, t, t, t
	t.calling.t, t.watch.t, t.inject.t, t.protection.t = t, t, t, t
	t.h.Init(s.runner, &t.view, &t.view, t.regs[:], uint32(tid))
	t.calls.Init(&t.view, &t.h, nil)
	return t
}

// resume resumes a stopped thread: with its step if it is in one, otherwise freely. A thread that is parked or held
// stays stopped, and gets the signal when it resumes. ESRCH is not an error: the thread has been killed, which Wait
// will report.
func (t *thread) resume(sig int) {
	sig = cmp.Or(sig, t.queue.owed)
	if t.queue.owed = 0; t.staysStopped() {
		t.queue.owed = sig
		return
	}
	if sig != 0 && !t.proc.unprobed && t.s.cfg.Notify != nil {
		t.s.notify(Event{Kind: EventSignal, Pid: t.proc.pid, Tid: t.tid, Signal: sig})
	}
	if sig == ptrace.SIGTRAP {
		t.sigtrap.passTrap()
	}
	if t.s.life.closing && !t.exec.step.active {
		t.letGo(sig)
		return
	}
	if !t.exec.step.active && (t.queue.masked || len(t.queue.deferred) > 0) && !t.queue.starvation.keep {
		t.queue.unmask()
		t.queue.starvation.owed = len(t.queue.deferred) > 0
		t.queue.requeue()
		t.queue.starvation.run = false
	}
	off := t.queue.starvation.off
	t.queue.starvation.keep, t.queue.starvation.off = false, false
	t.state.To(threadstate.Running)
	t.peeked = false
	t.stepping = t.exec.step.active && !t.exec.step.toCall
	var e syscall.Errno
	switch {
	case t.exec.step.active && t.exec.step.toCall:
		e = ptrace.ContToSyscall(t.tid, sig)
	case t.stepping:
		e = ptrace.Step(t.tid, sig)
	case off:
		e = ptrace.Cont(t.tid, sig) // the stop that ends it is not a system call's
	case t.queue.starvation.run, t.exec.postCall, t.exec.seeExit != nil, t.protection.unarmed, (t.s.others.sysnames > 0 && !t.s.throttle.meter.throttled || t.calling.now.awaited()) && !t.unprobed && !t.proc.unprobed:
		e = ptrace.ContToSyscall(t.tid, sig)
	default:
		e = ptrace.Cont(t.tid, sig)
	}
	t.queue.dropKept()
	if e != 0 && !vanished(e) {
		t.s.warn(fmt.Sprintf("cannot resume thread %d: %v", t.tid, e))
	}
}

// staysStopped reports whether a thread that is to be resumed has to wait. From now on one with a ticket is held.
func (t *thread) staysStopped() bool {
	if t.ticket != 0 && t.state.Now() == threadstate.Stopped {
		t.state.To(threadstate.Held)
	}
	return t.state.Is(threadstate.Parked, threadstate.Held, threadstate.Gone)
}

// mayRun reports whether a thread may run code at this moment, so that it has to be asked to stop. One that waits for its
// vfork child does not until then.
func (t *thread) mayRun() bool { return t.state.MayRun() && !t.vforking }

// stoppedAgain records whether a thread that was resumed for one instruction is in a stop again.
func (t *thread) stoppedAgain(stopped bool) {
	if stopped {
		t.state.To(threadstate.Stopped)
	}
}

// setRegs writes the registers back. If the stop was only peeked at, the resume flag marks the registers as
// correct: see package fallback. The first instruction that runs clears the flag.
func (t *thread) setRegs() {
	word := t.proc.arch.WordSize()
	if !t.peeked || t.proc.arch.FlagsRegister < 0 {
		ptrace.SetRegs(t.tid, &t.regs, word)
		return
	}
	flags := &t.regs[t.proc.arch.FlagsRegister]
	*flags |= resumeFlag
	ptrace.SetRegs(t.tid, &t.regs, word)
	*flags &^= resumeFlag
}

// resumeFlag is RF. It prevents the processor from stopping for a debug register that watches the very next
// instruction.
const resumeFlag = 1 << 16

// getRegs reads the registers, and reports false if the thread has been killed. It clears the resume flag, which
// must not be visible to programs.
func (t *thread) getRegs() bool {
	e := ptrace.GetRegs(t.tid, &t.regs)
	if i := t.proc.arch.FlagsRegister; i >= 0 {
		t.regs[i] &^= resumeFlag
	}
	return e == 0
}

// unreported consumes the stop that the thread is in, which was only peeked at. Its siginfo is lost.
func (t *thread) unreported() {
	if t.peeked {
		ptrace.ConsumeStop(t.tid)
		t.peeked = false
	}
}

// pc returns a pointer to the program counter in the thread's registers.
func (t *thread) pc() *uint64 { return &t.regs[t.proc.arch.PC()] }

// sp returns the stack pointer.
func (t *thread) sp() uint64 { return t.regs[t.proc.arch.SP()] }

// release resumes a held thread.
func (t *thread) release() {
	delete(t.s.tickets, t.ticket)
	t.ticket = 0
	if t.state.Now() == threadstate.Held {
		t.state.To(threadstate.Stopped)
	}
	t.resume(0)
}

// closeFiles closes the files that were opened to answer programs.
func (w *view) closeFiles() {
	if w.comm != nil {
		w.comm.Close()
		w.comm = nil
	}
}
