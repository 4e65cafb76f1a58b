package engine

import (
	"cmp"
	"fmt"
	"syscall"

	"gotap/arch"
	"gotap/engine/backend"
	"gotap/engine/crashsafe"
	"gotap/engine/emulation"
	"gotap/engine/inject"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry/hit"
	"gotap/engine/registry/retprobe"
	"gotap/engine/sampling"
	"gotap/engine/sigqueue"
	"gotap/engine/stepping"
	"gotap/engine/threadstate"
	"gotap/engine/tracee"
	"gotap/engine/trampoline"
	"gotap/engine/view"
)

// thread is a traced thread with everything that a hit needs, so that a hit allocates nothing. Only the tracing
// thread uses it. What it does is divided among its parts; each has a state of its own, which only the part's own
// methods change.
type thread struct {
	tracee.Thread
	s    *Session
	proc *process

	state    threadstate.Thread
	vforking bool   // it waits for a child that uses its memory (vfork)
	unprobed bool   // programs do not run for it
	mustStop bool   // to be stopped while the session ends, even if it is asleep
	ticket   uint32 // with which the session's user releases it, once it is held; 0: it is not to be held

	// The present hit.
	h      hit.Hit         // its programs
	calls  retprobe.Thread // the calls that the thread is in
	native trampoline.Thread

	exec       stepping.Thread
	emu        emulation.Thread
	view       view.View
	queue      sigqueue.Queue
	guard      crashsafe.Thread
	calling    calling
	watch      watches
	inject     inject.Caller
	protection protection
	sample     sampling.Thread
}

// newThread adds a thread to a process.
func (s *Session) newThread(p *process, tid int, in threadstate.State) *thread {
	s.affinity.Added(tid)
	t := makeThread(s, p, tid)
	t.state = threadstate.New(in)
	s.threads[tid] = t
	p.threads[tid] = t
	return t
}

// makeThread returns a thread with its parts.
func makeThread(s *Session, p *process, tid int) *thread {
	t := &thread{Thread: tracee.Thread{Tid: tid, Of: p}, s: s, proc: p}
	t.calling.t, t.watch.t, t.protection.t = t, t, t
	t.view.Init(&t.Thread, p.space, viewed{t}, view.Parts{
		Hit: &t.h, Calls: &t.calls, Call: &t.calling.Calls, Emulation: &t.emu, Images: s.images, Patcher: s.patcher,
	})
	t.exec.Init(&t.Thread, threadHost{t}, stepping.Parts{
		State: &t.state, Hit: &t.h, View: &t.view, Emulation: &t.emu, Queue: &t.queue, Guard: &t.guard, Inject: &t.inject,
		Patcher: s.patcher, Stats: &s.stats,
	})
	t.native.Init(&t.Thread, &p.native, &s.natives, threadHost{t}, trampoline.Parts{
		State: &t.state, Hit: &t.h, Calls: &t.calls, View: &t.view, Inject: &t.inject, Queue: &t.queue, Guard: &t.guard,
	})
	t.sample.Init(&t.Thread, threadHost{t}, &t.h, &t.view, &t.native)
	t.emu.Init(&t.Thread, threadHost{t}, s.keys)
	t.queue.Init(&t.Thread, threadHost{t})
	t.inject.Init(&t.Thread, threadHost{t})
	t.guard.Init(&t.Thread, threadHost{t}, &s.guards, &t.inject, &t.queue)
	t.watch.Init(&t.Thread, &t.watch)
	t.h.Init(s.runner, &t.view, &t.view, t.Regs[:], uint32(tid))
	t.calls.Init(&t.view, &t.h, nil)
	t.calling.Init(&t.calling, &t.h, &s.others.calls)
	return t
}

// resume resumes a stopped thread: with its step if it is in one, otherwise freely. A thread that is parked or held
// stays stopped, and gets the signal when it resumes. ESRCH is not an error: the thread has been killed, which Wait
// will report.
func (t *thread) resume(sig int) {
	sig = cmp.Or(sig, t.queue.Owed)
	if t.queue.Owed = 0; t.staysStopped() {
		t.queue.Owed = sig
		return
	}
	withheld := sig == ptrace.SIGTRAP && t.guard.Withhold()
	if sig != 0 && !withheld && !t.proc.unprobed && t.s.cfg.Notify != nil {
		t.s.notify(t.signalled(sig))
	}
	if sig == ptrace.SIGTRAP && !withheld {
		t.guard.PassTrap()
	}
	if t.s.life.closing && !t.exec.IsActive() {
		t.letGo(sig)
		return
	}
	way := t.queue.BeforeResume(t.exec.IsActive())
	t.state.To(threadstate.Running)
	t.Peeked = false
	t.exec.Single = t.exec.IsActive() && !t.exec.ToCall()
	var e syscall.Errno
	switch {
	case t.exec.IsActive() && t.exec.ToCall():
		e = ptrace.ContToSyscall(t.Tid, sig)
	case t.exec.Single:
		e = ptrace.Step(t.Tid, sig)
	case way == sigqueue.Freely:
		e = ptrace.Cont(t.Tid, sig) // the stop that ends it is not a system call's
	case way == sigqueue.ToCall, t.exec.AwaitsEnd(), t.protection.unarmed, (t.s.others.sysnames > 0 && !t.s.throttle.Resting() || t.calling.Awaited()) && !t.unprobed && !t.proc.unprobed:
		e = ptrace.ContToSyscall(t.Tid, sig)
	default:
		e = ptrace.Cont(t.Tid, sig)
	}
	t.queue.DropKept()
	if e != 0 && !vanished(e) {
		t.s.warn(fmt.Sprintf("cannot resume thread %d: %v", t.Tid, e))
	}
}

// signalled is the event of a signal that the thread gets now.
func (t *thread) signalled(sig int) Event {
	e := Event{Kind: EventSignal, Pid: t.proc.pid, Tid: t.Tid, Signal: sig}
	if t.s.cfg.SignalStacks == nil || !t.s.cfg.SignalStacks() {
		return e
	}
	var info ptrace.SigInfo
	if ptrace.GetSigInfo(t.Tid, &info) == 0 && info.Signal() == sig {
		info.Members(func(name string, value int64) { e.Origin = append(e.Origin, backend.Member{Name: name, Value: value}) })
	}
	var regs arch.Regs
	if ptrace.GetRegs(t.Tid, &regs) != 0 {
		return e
	}
	if t.proc.arch.Restarts(&regs) {
		e.Origin = append(e.Origin, backend.Member{Name: "restart", Value: int64(t.proc.arch.SyscallRet(&regs))})
	}
	if t.exec.IsActive() && t.view.At != nil { // it steps the instruction somewhere else
		regs[t.proc.arch.PC()] = t.view.At.Addr
	}
	e.PC, e.Stack = regs[t.proc.arch.PC()], make([]uint64, backend.SignalFrames)
	e.Stack = e.Stack[:t.view.Frames(&regs, e.Stack)]
	return e
}

// staysStopped reports whether a thread that is to be resumed has to wait. From now on one with a ticket is held.
func (t *thread) staysStopped() bool {
	if t.ticket != 0 && t.state.Now() == threadstate.Stopped {
		t.state.To(threadstate.Held)
	}
	return t.state.Is(threadstate.Parked, threadstate.Held, threadstate.Gone)
}

// mayRun reports whether a thread may run code at this moment, so that it has to be asked to stop. One that waits for
// its vfork child does not until then.
func (t *thread) mayRun() bool { return t.state.MayRun() && !t.vforking }

// release resumes a held thread.
func (t *thread) release() {
	delete(t.s.tickets, t.ticket)
	t.ticket = 0
	if t.state.Now() == threadstate.Held {
		t.state.To(threadstate.Stopped)
	}
	t.resume(0)
}
