package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gotap/engine/crashsafe/fallback"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
	"gotap/engine/threadstate"
)

// Detaching. First the running threads are stopped, so that they hit nothing more and leave the processors to the work
// that follows. Then every breakpoint is removed and its bytes are read back. From then on no thread can hit one. But a
// thread may have hit one that has not been reported yet, or be in the middle of a step. Such threads must be found and
// corrected before they are detached, or a SIGTRAP that nothing handles would kill the target.
//
//   - A thread that is stopped now has been corrected already and is detached. A thread that is held and was on its way
//     to a stop first runs until that stop.
//   - A thread that sleeps in a system call is in none of these states and cannot enter one. It is not disturbed: the
//     end of the tracing thread detaches it, which is how the kernel detaches a tracee without stopping it. No sleep,
//     read or poll ends early.
//   - Any other thread is interrupted and examined when it stops. If it is past a breakpoint that was removed, it goes
//     back to the instruction, and the SIGTRAP is swallowed if it is still to come. If it is in a step, the step is
//     completed first.
//
// The last thread that is stopped in a process unmaps the memory that was mapped there: see unmap.

// lifecycle is how far the session is: from its start, over its end, to what could not be undone.
type lifecycle struct {
	s           *Session
	failure     atomic.Pointer[failure]
	done        chan struct{} // closed when no process is left, or at Close
	once        sync.Once
	leftStopped sync.Map              // IDs of processes that programs have stopped for a debugger
	lastStats   atomic.Pointer[Stats] // what Stats returns after the end
	started     bool
	closing     bool
	undoes      bool  // the session only undoes what an earlier one left: it plants nothing
	halted      []int // threads that were in a job-control stop when the session ended
	closed      bool
	undone      error // what could not be undone, once the session is closed
	sawOne      bool  // there was a process
}

// detachPatience is how long threads may take to stop.
const detachPatience = 1500 * time.Millisecond

// starved multiplies that time for threads that wait for a processor: they stop as soon as they get one.
const starved = 10

// Close ends the session: held threads continue, every patch is undone and checked, and all processes are detached and
// run on. fast shortens the time that threads may take to reach a place where they can be detached. Close returns what
// could not be undone. It may be called more than once and returns the same each time. The files of modules stay open
// as long as the session is in use, because addresses are still named after the end.
func (s *Session) Close(fast bool) error {
	patience := detachPatience
	if fast {
		patience /= 3
	}
	e := s.loop.Do(func() {
		if !s.life.closed {
			s.natives.RunOut(patience)
		}
		s.life.detach(patience)
	})
	s.loop.Ended() // from now on we may read what it has left
	s.life.awaitHalted()
	if f := s.life.failure.Load(); f != nil {
		return errors.Join(s.life.undone, f.err)
	}
	if e != nil && !errors.Is(e, ErrClosed) {
		return e
	}
	return s.life.undone
}

// detachAll is detach for the case of a panic.
func (l *lifecycle) detachAll() {
	l.closing = false
	l.detach(detachPatience)
}

// detach undoes everything, once. It stores in s.undone what could not be undone.
func (l *lifecycle) detach(patience time.Duration) {
	if l.closed {
		return
	}
	l.s.States() // what Query returns from now on
	stats := l.s.present()
	l.lastStats.Store(&stats)
	l.closing = true
	l.s.affinity.End()
	l.s.natives.Disable()
	err := l.s.ClearAllMarks()
	l.s.world.holdRunning(func(*space.Space) bool { return true }) // letStoppedGo releases them
	for _, p := range l.s.procs {
		p.guard.NoteAsleep()
	}
	for sp := range l.s.spaces() {
		err = errors.Join(err, l.s.patcher.RestoreAll(sp))
	}
	l.letStoppedGo()
	l.interruptBusy()
	err = errors.Join(err, l.untilGone(patience))
	for _, t := range l.s.threads {
		if t.state.Now() == threadstate.JobStopped {
			l.halted = append(l.halted, t.Tid)
		}
	}
	for sp := range l.s.spaces() {
		err = errors.Join(err, l.s.patcher.Verify(sp))
	}
	l.s.Recount()
	for _, p := range l.s.procs {
		p.space.Mem.Close()
	}
	l.s.arrivals.reserve.Free()
	l.undone = err
	l.closed = true
	l.over()
}

// haltPatience is how long threads stopped by job control may take to stop again after they are detached.
const haltPatience = time.Second

// awaitHalted waits for the threads that were detached in a job-control stop, or with a signal that causes one. The
// kernel wakes them, and they stop again by themselves, so at the end of the session an observer finds them as they
// were before. Precondition: the tracing thread has ended, which detaches them.
func (l *lifecycle) awaitHalted() {
	running := func(tid int) bool { return strings.HasPrefix(procfs.Status(tid, "State"), "R") }
	for end := time.Now().Add(haltPatience); slices.ContainsFunc(l.halted, running) && time.Now().Before(end); {
		time.Sleep(100 * time.Microsecond)
	}
}

// letStoppedGo releases the threads that we have stopped, wherever they are held. A thread that was held while code was
// changed may have hit a breakpoint just before and not have stopped for it yet. It continues until that stop.
func (l *lifecycle) letStoppedGo() {
	backlog := l.s.stops.backlog
	l.s.stops.backlog = nil
	for _, b := range backlog {
		l.s.dispatch(b.tid, b.status)
	}
	for _, t := range l.s.threads {
		if t.ticket != 0 {
			delete(l.s.tickets, t.ticket)
			t.ticket = 0
		}
		if t.state.Is(threadstate.Parked, threadstate.Held) {
			t.state.To(threadstate.Stopped)
		}
		switch {
		case t.state.Now() != threadstate.Stopped:
		case !t.exec.IsActive() && t.guard.TrapPending():
			t.contWith(0)
			t.mustStop = true
		default:
			t.resume(0)
		}
	}
}

// letGo detaches from a stopped thread. While its process has the fallback's handler, letGo only marks the thread as
// settled. When all threads of the process are settled, one of them restores the program's own action (releaseSettled).
// Until then another thread may still be on its way into a breakpoint's SIGTRAP, which only the handler survives if the
// session is killed now.
//
// In such a process, three kinds of threads are resumed and examined again at their next stop: a thread that cannot
// make a system call here; a thread about to receive a signal, which would lose its siginfo through a call of ours; and
// a thread that was last resumed with a single step. The death of a tracer does not end that step (exit_ptrace in
// kernel/ptrace.c), and the thread would raise SIGTRAP after its next instruction.
func (t *thread) letGo(sig int) {
	t.native.LeaveRead()
	t.watch.Clear()
	informed := sig != 0 && ptrace.JobControl>>(sig-1)&1 == 0
	if (t.MidCall || informed || t.exec.Single) && t.proc.guard.Handled() && ptrace.Interrupt(t.Tid) == 0 {
		t.queue.Unmask() // a handler restores the mask that it began with
		t.contWith(sig)
		t.exec.Single = false
		return
	}
	if t.proc.guard.Handled() {
		t.state.To(threadstate.Settled)
		t.queue.Owed = sig
		if sig == 0 {
			t.Consume() // if we died now, the kernel would deliver it, perhaps without the handler
		}
		return
	}
	t.detach(sig)
}

// detach detaches from a stopped thread, with its own mask and the signals that were withheld from it.
func (t *thread) detach(sig int) {
	t.queue.Unmask()
	t.guard.SettleLeft()
	t.guard.Close()
	t.queue.Requeue()
	t.queue.DropKept()
	ptrace.Detach(t.Tid, sig)
	if sig != 0 && sig != ptrace.SIGCONT && ptrace.JobControl>>(sig-1)&1 == 1 {
		t.s.life.halted = append(t.s.life.halted, t.Tid)
	}
	t.forget()
}

// releaseSettled restores the program's own action for SIGTRAP in the processes whose threads have all been seen not to
// be at a breakpoint, and detaches from those. When the time is over (last), it detaches other processes as they are,
// with the handler.
func (l *lifecycle) releaseSettled(last bool) {
	for _, p := range l.s.procs {
		by, all := p.settledThread()
		if by == nil || !all && !last {
			continue
		}
		if all && by.guard.Unprotect() {
			p.guard.NoteWoken()
			by.unmap()
		}
		for _, t := range p.threads {
			if t.state.Now() == threadstate.Settled {
				t.detach(t.queue.Owed)
			}
		}
	}
}

// settledThread returns a thread of the process that is ready to be detached, or nil. all reports that every thread is
// ready or sleeps in the kernel, and that none has a breakpoint's SIGTRAP still to come.
func (p *process) settledThread() (by *thread, all bool) {
	all = true
	for _, t := range p.threads {
		switch t.state.Now() {
		case threadstate.Settled:
			by = t
			all = all && !t.guard.TrapPending()
		case threadstate.JobStopped:
			all = all && !t.guard.Waits
		case threadstate.LeftAsleep:
		default:
			all = all && t.vforking
		}
	}
	return by, all
}

// interruptBusy asks the threads to stop that do not sleep in a system call.
func (l *lifecycle) interruptBusy() {
	for _, p := range l.s.procs {
		if by, _ := p.settledThread(); by != nil || !p.guard.Handled() {
			continue
		}
		if found, _ := p.interruptable(); len(found) > 0 {
			found[0].mustStop = true // one has to stop, to undo what was done to the process
		}
	}
	for _, t := range l.s.threads {
		if t.vforking || !t.state.Is(threadstate.Running, threadstate.Fresh) {
			continue
		}
		if !t.mustStop && !t.guard.IsOpen() && !t.exec.IsActive() && !t.exec.HasPosts() && !t.watch.Armed() && procfs.Asleep(t.Tid) {
			t.state.To(threadstate.LeftAsleep)
			continue
		}
		t.guard.NoteWoken()
		ptrace.Interrupt(t.Tid)
	}
}

// untilGone handles stops until all threads that were interrupted have been detached.
func (l *lifecycle) untilGone(patience time.Duration) error {
	deadline, last := time.Now().Add(patience), time.Now().Add(starved*patience)
	for {
		if l.releaseSettled(false); !l.anyBusy() {
			return nil
		}
		if len(l.s.stops.backlog) > 0 {
			b := l.s.stops.backlog[0]
			l.s.stops.backlog = l.s.stops.backlog[1:]
			l.lastStop(b.tid, b.status)
			continue
		}
		tid, e := l.s.stops.look(-1, &l.s.stops.status, ptrace.NoWait)
		switch {
		case e == 0 && tid > 0:
			l.lastStop(tid, l.s.stops.status)
			l.s.stops.settleStop(tid)
		case e == syscall.ECHILD:
			return nil
		case time.Now().After(last) || time.Now().After(deadline) && !l.anyRunnable():
			l.releaseSettled(true)
			return l.stragglers()
		default:
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// lastStop handles a stop during detaching.
func (l *lifecycle) lastStop(tid int, st ptrace.Status) {
	t := l.s.threads[tid]
	if t == nil || st.Ended() || t.exec.IsActive() || !st.Stopped() {
		l.s.dispatch(tid, st)
		return
	}
	if st.Event() == ptrace.EventStop && !st.GroupStop() && t.guard.TrapPending() {
		ptrace.Cont(tid, 0) // it stops again at once, with the SIGTRAP
		return
	}
	l.s.dispatch(tid, st)
}

// anyBusy reports whether there are threads that must stop once more.
func (l *lifecycle) anyBusy() bool {
	for _, t := range l.s.threads {
		if t.isAwaited() {
			return true
		}
	}
	return false
}

// isAwaited reports whether the session does not end before the thread has stopped and been detached.
func (t *thread) isAwaited() bool {
	return !t.vforking && !t.state.Is(threadstate.LeftAsleep, threadstate.JobStopped)
}

// contWith resumes a stopped thread freely. A thread that has been killed stays as it is: its end is reported.
func (t *thread) contWith(sig int) {
	if ptrace.Cont(t.Tid, sig) == 0 {
		t.state.To(threadstate.Running)
	}
}

// anyRunnable reports whether one of the threads that must stop has a processor or waits for one.
func (l *lifecycle) anyRunnable() bool {
	for _, t := range l.s.threads {
		if t.isAwaited() && t.state.Now() != threadstate.Settled && strings.HasPrefix(t.Status("State"), "R") {
			return true
		}
	}
	return false
}

// stragglers returns an error that names the threads that did not stop in time, such as one in the middle of a step
// that does not end. It omits those that no signal can wake. The end of the tracing thread detaches all of them.
func (l *lifecycle) stragglers() error {
	var tids []string
	for _, t := range l.s.threads {
		if t.isAwaited() && !t.exec.Uninterruptible() {
			tids = append(tids, strconv.Itoa(t.Tid))
		}
	}
	if len(tids) == 0 {
		return nil
	}
	slices.Sort(tids)
	return fmt.Errorf("threads %s did not stop in time; detached as is", strings.Join(tids, ", "))
}

// unmap unmaps what the session has mapped into a process, through a stopped thread. It is called when the
// process's own SIGTRAP action is restored and all its threads are stopped, not at a breakpoint, or asleep in the
// kernel: then nothing leads to that memory any more. Memory that an earlier session left may still be in use, and
// the program may still need the region (KeepsRegion in package crashsafe); both stay mapped.
func (t *thread) unmap() {
	sp := t.proc.space
	g := &sp.Guard
	if sp.Users > 1 || g.Left != nil || t.state.Now() == threadstate.Gone {
		return
	}
	if sp.UnmapSlots(&t.inject) != nil {
		return
	}
	t.native.UnmapIslands()
	if base := g.Base; base != 0 && !t.proc.guard.KeepsRegion() {
		g.Base = 0 // so that the call is not made from that region
		t.inject.Call(t.proc.arch.Calls.Munmap, base, fallback.Size)
	}
}
