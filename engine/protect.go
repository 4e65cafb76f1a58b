package engine

import (
	"strings"
	"syscall"
	"time"

	"gotap/engine/crashsafe/fallback"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/threadstate"
)

// When the crash handler of a target is installed (package crashsafe): at the start of a launched program, at an
// attach, and in new processes and images; and through which thread.

// protection installs the fallback of the thread's process, through this thread.
type protection struct {
	t       *thread
	unarmed bool // it is in the call that created its image; the fallback is installed after that call
}

// protectAttached installs the fallback in a running process that has been attached to. over is false if no thread
// could be used for it now. asleep reports that none can be used soon: all sleep in calls that must not be interrupted.
func (p *process) protectAttached() (over, asleep bool) {
	if !p.guard.Unguarded() {
		return true, false
	}
	asked, busy := p.interruptable()
	for _, t := range asked {
		if p.s.world.withStopped(t, func() { t.guard.Protect() }) {
			return true, false
		}
	}
	return false, len(asked) == 0 && !busy
}

// protectNew makes sure that a process which was just created is protected, because its creator may not be yet. The
// thread is in its first stop. A process that shares the memory of a creator which is not protected is left alone: it
// soon executes a program, and what is planted with the handler would be in the creator's memory, too.
func (k *protection) protectNew() {
	p := k.t.proc
	switch {
	case k.t.Tid != p.pid || p.unprobed && p.space.Users == 1:
	case p.guard.Lost():
		if k.t.GetRegs() {
			k.t.guard.InstallAgain()
		}
	case p.guard.Unguarded() && p.space.Users == 1 && k.t.GetRegs():
		k.t.guard.Protect()
	}
}

// protectExecuted installs the fallback in the program that a thread executes while system calls are traced, at the end
// of the call that made the image. In all other cases newImage does it.
func (k *protection) protectExecuted() {
	if !k.unarmed {
		return
	}
	k.unarmed, k.t.MidCall = false, false
	k.t.guard.Protect()
}

// lateAfter is the longest time after its start at which a program gets its fallback with Config.LateFallback. It is
// also the interval between attempts while none of a process's threads can be used.
var lateAfter = 250 * time.Millisecond

// protectFirst installs the fallback in a process that is being attached to, at a stop for a signal, and sends the
// signal again. Where signals arrive constantly, no thread can be stopped without one. A thread whose system call the
// signal interrupts is left alone.
func (k *protection) protectFirst(sig int) (did bool) {
	p := k.t.proc
	if !p.awaited || !p.guard.Unguarded() || p.s.guards.Hindered(p.pid) || ptrace.JobControl>>(sig-1)&1 == 1 || !k.t.GetRegs() || p.arch.Restarts(&k.t.Regs) || k.t.RaisedTrap() {
		return false
	}
	if k.t.queue.Raised(sig) || ptrace.GetSigInfo(k.t.Tid, &k.t.Info) != 0 || fallback.IsOwnCode(k.t.Info.Code()) || ptrace.SendThread(p.pid, k.t.Tid, sig) != 0 {
		return false
	}
	k.t.queue.Resent(k.t.Info)
	k.t.Consume()
	k.t.guard.Protect()
	k.t.resume(0)
	return true
}

// protectLater installs the fallback in a process after some time, unless its first hit comes earlier.
func (p *process) protectLater() {
	sp := p.space
	p.s.loop.After(lateAfter, func() {
		if p.s.procs[p.pid] == p && p.space == sp && !p.s.life.closing {
			if over, asleep := p.protectAttached(); !over && !asleep {
				p.protectLater()
			}
		}
	})
}

// continued is called for a thread that continues after a group stop. A process that was stopped when it was attached
// to could not install its fallback then.
func (k *protection) continued() {
	if p := k.t.proc; p.guard.Unguarded() {
		p.protectLater()
	}
}

// enoughAsked is the maximum number of threads that are asked to stop until one does. The others report another stop.
const enoughAsked = 4

// interruptable returns threads that can be stopped without noticing it: those that run, then those that sleep in a
// system call that is restarted exactly. busy reports that there may soon be more, since not all threads sleep.
func (p *process) interruptable() (found []*thread, busy bool) {
	var sleep []*thread
	for _, t := range p.threads {
		switch {
		case t.state.Is(threadstate.Gone, threadstate.JobStopped): // a listening thread stays stopped until its owner continues it, and is asked then
			continue
		case !t.mayRun():
			busy = true
			continue
		}
		runs, asleep, exact := t.protection.activity()
		switch {
		case runs:
			found = append(found, t)
		case asleep && exact:
			sleep = append(sleep, t)
		}
		busy = busy || !asleep
		if len(found) == enoughAsked || len(found) > 0 && len(sleep) > 0 {
			break
		}
	}
	found = append(found, sleep...)
	return found[:min(len(found), enoughAsked)], busy
}

// activity reports whether a thread that is not stopped runs, whether it sleeps in a system call, and whether that call
// continues exactly as if it had not been interrupted.
func (k *protection) activity() (runs, asleep, exact bool) {
	call := strings.Fields(procfs.Read(k.t.Tid, "syscall"))
	if len(call) == 1 && call[0] == "running" {
		return true, false, false
	}
	asleep = strings.HasPrefix(procfs.Status(k.t.Tid, "State"), "S")
	return false, asleep, asleep && len(call) > 4 && k.t.proc.arch.Calls.GoesOnExactly(call)
}

// interruptable reports whether a thread can be stopped without noticing it.
func (k *protection) interruptable() bool {
	if !k.t.mayRun() {
		return false
	}
	runs, _, exact := k.activity()
	return runs || exact
}

// leaveExec lets a thread that is stopped inside execve run to the end of the call, where it can be made to call the
// kernel. It returns false if the thread reports another stop first, or if its system calls are traced. Then the
// fallback has to wait.
//
// The 32-bit ARM kernel does not report the end of a call whose beginning was not requested: ret_fast_syscall in its
// arch/arm/kernel/entry-common.S checks for that flag after it has shifted the flag away. It would report the program's
// first own call instead. So on ARM the engine requests a stop, which comes before the thread runs anything.
func (k *protection) leaveExec() bool {
	if k.t.s.others.sysnames > 0 {
		return false
	}
	asked := k.t.proc.arch.Stepless
	if asked && (ptrace.Interrupt(k.t.Tid) != 0 || ptrace.Cont(k.t.Tid, 0) != 0) || !asked && ptrace.ContToSyscall(k.t.Tid, 0) != 0 {
		return false
	}
	tid, e := 0, syscall.EINTR
	for e == syscall.EINTR {
		tid, e = ptrace.PeekStop(k.t.Tid, &k.t.s.stops.special, ptrace.LongWait)
	}
	st := k.t.s.stops.special
	if tid != k.t.Tid || !st.AtSyscall() && !(asked && st.Event() == ptrace.EventStop && !st.GroupStop()) {
		k.t.state.To(threadstate.Running)
		return false
	}
	ptrace.ConsumeStop(k.t.Tid)
	k.t.MidCall = false
	return true
}
