package engine

import (
	"time"

	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
	"gotap/engine/threadstate"
	"gotap/engine/tracee"
)

// Writing code on ARM.
//
// A processor that runs an instruction while another processor overwrites it may do anything, unless both the old
// and the new instruction are among a few that the architecture names (Arm ARM DDI 0487, B2.2.5; DDI 0406, A3.5.4).
// Also, the long breakpoint of Thumb can span two words, which are not written atomically. So all threads of an
// address space are stopped while its code changes. This is done once for all changes of one stop or one request:
// the threads are held at the first write and resumed when everything has been handled. Each thread returns through
// the kernel, which is a context synchronisation event; the kernel cleans and invalidates the caches when it writes
// for a tracer (flush_ptrace_access). A process whose only thread is stopped at a probe anyway pays nothing.
//
// On x86 the threads keep running: see Patcher.Sync in package space.

// stopWorld stops threads of the targets and lets them run again.
type stopWorld struct {
	s      *Session
	paused []*thread // held while code is written
}

// hold stops the selected threads, which may run code, and returns those that it stopped. A thread that is in another
// stop first is left to be handled later.
func (w *stopWorld) hold(which func(*thread) bool) []*thread {
	var asked, held []*thread
	for _, t := range w.s.threads {
		if which(t) && t.mayRun() && ptrace.Interrupt(t.Tid) == 0 {
			asked = append(asked, t)
		}
	}
	for _, t := range asked {
		if w.holdOne(t) {
			held = append(held, t)
		}
	}
	return held
}

// holdAll stops all threads.
func (w *stopWorld) holdAll() []*thread {
	return w.hold(func(*thread) bool { return true })
}

// holdWorld stops all other threads that share a thread's memory.
func (w *stopWorld) holdWorld(but *thread) []*thread {
	return w.hold(func(t *thread) bool { return t != but && t.proc.space == but.proc.space })
}

// holdRunning stops the threads of the selected address spaces that run code. Threads that sleep in a system call are
// left alone.
func (w *stopWorld) holdRunning(in func(*space.Space) bool) []*thread {
	return w.hold(func(t *thread) bool { return in(t.proc.space) && !t.still() && !procfs.Asleep(t.Tid) })
}

// pause holds the running threads of an address space on ARM until unpause.
func (w *stopWorld) pause(sp *space.Space) {
	if sp.ABI.Stepless {
		w.paused = append(w.paused, w.hold(func(t *thread) bool { return t.proc.space == sp })...)
	}
}

// still reports whether a thread runs no code until the session resumes it: it is in a stop, perhaps one that has
// not been handled yet.
func (t *thread) still() bool {
	if !t.mayRun() {
		return true
	}
	tid, e := ptrace.PeekStop(t.Tid, &t.s.stops.special, ptrace.NoWait)
	return e == 0 && tid == t.Tid
}

// allStill reports whether no thread of an address space runs.
func (w *stopWorld) allStill(sp *space.Space) bool {
	for _, t := range w.s.threads {
		if t.proc.space == sp && !t.still() {
			return false
		}
	}
	return true
}

// holdPatience is how long a thread may take to stop before its state is checked.
const holdPatience = 20 * time.Millisecond

// holdOne waits for a thread to stop after PTRACE_INTERRUPT and reports whether it did. A different stop of the
// thread is left to be handled later. A thread that does not stop within holdPatience sleeps uninterruptibly in the
// kernel; it runs no code of its own before it has stopped, because the kernel handles the interrupt request first.
// The state is read before the peek: in the other order, a thread that stopped between the two would count as asleep.
func (w *stopWorld) holdOne(t *thread) bool {
	for began := time.Now(); ; {
		stuck := time.Since(began) > holdPatience && t.exec.Uninterruptible()
		tid, e := ptrace.PeekStop(t.Tid, &w.s.stops.special, ptrace.NoWait)
		switch {
		case tid == t.Tid && w.s.stops.special.Event() == ptrace.EventStop && !w.s.stops.special.GroupStop():
			ptrace.ConsumeStop(t.Tid)
			t.state.To(threadstate.Stopped)
			t.MidCall = false
			t.exec.RepairCall()
			return true
		case tid == t.Tid: // the stop was only peeked at; the kernel reports it again
			return false
		case e != 0 || stuck:
			return false
		}
		w.s.passed(tracee.InHold)
		if time.Since(began) > time.Millisecond {
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// releaseWorld resumes the threads that hold stopped.
func (w *stopWorld) releaseWorld(held []*thread) {
	for _, t := range held {
		t.resume(0)
	}
}

// stoppedTid returns the ID of a stopped thread that uses an address space, or 0 if there is none.
func (w *stopWorld) stoppedTid(sp *space.Space) int {
	for _, p := range w.s.procs {
		if p.space != sp {
			continue
		}
		if t := p.anyStopped(); t != nil {
			return t.Tid
		}
	}
	return 0
}

// unpause resumes the threads that pause holds; some may have been resumed elsewhere meanwhile.
func (w *stopWorld) unpause() {
	for len(w.paused) > 0 {
		t := w.paused[len(w.paused)-1]
		w.paused = w.paused[:len(w.paused)-1]
		if t.state.InStop() {
			t.resume(0)
		}
	}
}

// withStopped stops a running thread briefly and calls fn with its registers read. It returns false if the thread
// reports another stop first, or has just hit a breakpoint. In the latter case the SIGTRAP is still queued and the
// thread is past the breakpoint's first byte. Only its own stop corrects that; a system call made now would swallow the
// signal.
func (w *stopWorld) withStopped(t *thread, fn func()) bool {
	if ptrace.Interrupt(t.Tid) != 0 || !w.holdOne(t) {
		return false
	}
	defer t.resume(0)
	if t.RaisedTrap() || !t.GetRegs() {
		return false
	}
	fn()
	return true
}

// Hold stops all traced threads and resumes them, as placing a watchpoint does. It returns the time from the first
// stop request until the last thread has been resumed.
func (s *Session) Hold() (time.Duration, error) {
	var took time.Duration
	err := s.do(func() error {
		began := time.Now()
		s.world.releaseWorld(s.world.holdAll())
		took = time.Since(began)
		return nil
	})
	return took, err
}
