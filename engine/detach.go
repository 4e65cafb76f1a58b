package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
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
	e := s.loop.do(func() { s.detach(patience) })
	s.loop.ended() // from now on we may read what it has left
	s.awaitHalted()
	if f := s.failure.Load(); f != nil {
		return errors.Join(s.undone, f.err)
	}
	if e != nil && !errors.Is(e, ErrClosed) {
		return e
	}
	return s.undone
}

// detachAll is detach for the case of a panic.
func (s *Session) detachAll() {
	s.closing = false
	s.detach(detachPatience)
}

// detach undoes everything, once. It stores in s.undone what could not be undone.
func (s *Session) detach(patience time.Duration) {
	if s.closed {
		return
	}
	s.States() // what Query returns from now on
	stats := s.present()
	s.lastStats.Store(&stats)
	s.closing = true
	err := s.lowerSemaphores()
	s.holdRunning(func(*space) bool { return true }) // letStoppedGo releases them
	for sp := range s.spaces() {
		err = errors.Join(err, s.restoreAll(sp))
	}
	s.letStoppedGo()
	s.interruptBusy()
	err = errors.Join(err, s.untilGone(patience))
	for _, t := range s.threads {
		if t.listening {
			s.halted = append(s.halted, t.tid)
		}
	}
	for sp := range s.spaces() {
		err = errors.Join(err, s.verify(sp))
	}
	for _, p := range s.procs {
		p.space.mem.Close()
	}
	s.reserve.free()
	s.undone = err
	s.closed = true
	s.over()
}

// haltPatience is how long threads stopped by job control may take to stop again after they are detached.
const haltPatience = time.Second

// awaitHalted waits for the threads that were detached in a job-control stop, or with a signal that causes one. The
// kernel wakes them, and they stop again by themselves, so at the end of the session an observer finds them as they
// were before. Precondition: the tracing thread has ended, which detaches them.
func (s *Session) awaitHalted() {
	running := func(tid int) bool { return strings.HasPrefix(procfs.Status(tid, "State"), "R") }
	for end := time.Now().Add(haltPatience); slices.ContainsFunc(s.halted, running) && time.Now().Before(end); {
		time.Sleep(100 * time.Microsecond)
	}
}

// letStoppedGo releases the threads that we have stopped, wherever they are held. A thread that was held while code was
// changed may have hit a breakpoint just before and not have stopped for it yet. It continues until that stop.
func (s *Session) letStoppedGo() {
	backlog := s.backlog
	s.backlog = nil
	for _, b := range backlog {
		s.dispatch(b.tid, b.status)
	}
	for _, t := range s.threads {
		t.parked = false
		if t.ticket != 0 {
			delete(s.tickets, t.ticket)
			t.ticket = 0
		}
		switch {
		case !t.stopped || t.listening || t.settled:
		case !t.step.active && t.trapPending():
			t.stopped, t.awake = ptrace.Cont(t.tid, 0) != 0, true
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
	t.clearDebugRegs()
	informed := sig != 0 && jobControl>>(sig-1)&1 == 0
	if (t.midCall || informed || t.stepping) && t.proc.trap.ours && ptrace.Interrupt(t.tid) == 0 {
		t.unmask() // a handler restores the mask that it began with
		t.stopped, t.stepping = ptrace.Cont(t.tid, sig) != 0, false
		return
	}
	if t.proc.trap.ours {
		t.settled, t.owed = true, sig
		if sig == 0 {
			t.unreported() // if we died now, the kernel would deliver it, perhaps without the handler
		}
		return
	}
	t.detach(sig)
}

// detach detaches from a stopped thread, with its own mask and the signals that were withheld from it.
func (t *thread) detach(sig int) {
	t.unmask()
	t.settleLeft()
	t.closeTrap()
	t.requeue()
	t.dropKept()
	ptrace.Detach(t.tid, sig)
	if sig != 0 && sig != ptrace.SIGCONT && jobControl>>(sig-1)&1 == 1 {
		t.s.halted = append(t.s.halted, t.tid)
	}
	t.forget()
}

// releaseSettled restores the program's own action for SIGTRAP in the processes whose threads have all been seen not to
// be at a breakpoint, and detaches from those. When the time is over (last), it detaches other processes as they are,
// with the handler.
func (s *Session) releaseSettled(last bool) {
	for _, p := range s.procs {
		by, all := p.settledThread()
		if by == nil || !all && !last {
			continue
		}
		if all && by.unprotect() {
			by.unmap()
		}
		for _, t := range p.threads {
			if t.settled {
				t.detach(t.owed)
			}
		}
	}
}

// settledThread returns a thread of the process that is ready to be detached, or nil. all reports that every thread is
// ready or sleeps in the kernel, and that none has a breakpoint's SIGTRAP still to come.
func (p *process) settledThread() (by *thread, all bool) {
	all = true
	for _, t := range p.threads {
		switch {
		case t.settled:
			by = t
			all = all && !t.trapPending()
		case t.listening:
			all = all && !t.trapWaits
		case !t.quiet && !t.vforking:
			all = false
		}
	}
	return by, all
}

// interruptBusy asks the threads to stop that do not sleep in a system call.
func (s *Session) interruptBusy() {
	for _, p := range s.procs {
		if found, _ := p.interruptable(); p.trap.ours && len(found) > 0 {
			found[0].awake = true // one has to stop, to undo what was done to the process
		}
	}
	for _, t := range s.threads {
		if t.stopped || t.vforking || t.settled {
			continue
		}
		if !t.awake && !t.trapOpen && !t.step.active && !t.postCall && !t.hasDebugRegs() && asleep(t.tid) {
			t.quiet = true
			continue
		}
		ptrace.Interrupt(t.tid)
	}
}

// asleep reports whether a thread sleeps inside a system call. The kernel reports the number of the call only for a
// thread that is off the processor. A thread that is stopped with a report for us is not asleep.
func asleep(tid int) bool {
	number, _, _ := strings.Cut(procfs.Read(tid, "syscall"), " ")
	n, err := strconv.Atoi(number)
	return err == nil && n >= 0 && strings.HasPrefix(procfs.Status(tid, "State"), "S")
}

// untilGone handles stops until all threads that were interrupted have been detached.
func (s *Session) untilGone(patience time.Duration) error {
	deadline, last := time.Now().Add(patience), time.Now().Add(starved*patience)
	for {
		if s.releaseSettled(false); !s.anyBusy() {
			return nil
		}
		if len(s.backlog) > 0 {
			b := s.backlog[0]
			s.backlog = s.backlog[1:]
			s.lastStop(b.tid, b.status)
			continue
		}
		tid, e := s.look(&s.status, false)
		switch {
		case e == 0 && tid > 0:
			s.lastStop(tid, s.status)
			s.settleStop(tid)
		case e == syscall.ECHILD:
			return nil
		case time.Now().After(last) || time.Now().After(deadline) && !s.anyRunnable():
			s.releaseSettled(true)
			return s.stragglers()
		default:
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// lastStop handles a stop during detaching.
func (s *Session) lastStop(tid int, st ptrace.Status) {
	t := s.threads[tid]
	if t == nil || st.Ended() || t.step.active || !st.Stopped() {
		s.dispatch(tid, st)
		return
	}
	if st.Event() == ptrace.EventStop && !st.GroupStop() && t.trapPending() {
		ptrace.Cont(tid, 0) // it stops again at once, with the SIGTRAP
		return
	}
	s.dispatch(tid, st)
}

// trapPending reports whether a thread has hit a breakpoint of ours and has not stopped for it yet: it is past the
// breakpoint's address and the kernel's SIGTRAP is queued. The same applies to debug registers, and to a step that an
// earlier session left.
func (t *thread) trapPending() bool {
	if !t.getRegs() {
		return false
	}
	behind := t.behindBreakpoint()
	watched := t.hasDebugRegs() || t.proc.space.guard.watching || t.s.watching > 0
	for i := 0; (behind || watched || t.leftStep) && ptrace.PendingSignal(t.tid, i, &t.info); i++ {
		if t.info.Signal() != ptrace.SIGTRAP {
			continue
		}
		switch code := t.info.Code(); {
		case behind && code == t.proc.arch.TrapCode, watched && code == ptrace.CodeHWBreakpoint, t.leftStep && code == ptrace.CodeTrace:
			return true
		}
	}
	return false
}

// behindBreakpoint reports whether the thread is where the hit of a breakpoint leaves it, of this session or of an
// earlier one.
func (t *thread) behindBreakpoint() bool {
	sp, addr := t.proc.space, t.proc.arch.BreakpointPC(*t.pc())
	if sp.points[addr] != nil {
		return true
	}
	_, _, left := sp.guard.table.Lookup(addr)
	return left && sp.guard.left != nil
}

// raisedTrap reports whether an instruction of a thread, ours or its own, has raised a SIGTRAP that the thread has not
// stopped for yet.
func (t *thread) raisedTrap() bool {
	for i := 0; ptrace.PendingSignal(t.tid, i, &t.info); i++ {
		if t.info.Signal() == ptrace.SIGTRAP && t.info.Code() > 0 {
			return true
		}
	}
	return false
}

// anyBusy reports whether there are threads that must stop once more.
func (s *Session) anyBusy() bool {
	for _, t := range s.threads {
		if !t.quiet && !t.listening && !t.vforking {
			return true
		}
	}
	return false
}

// anyRunnable reports whether one of the threads that must stop has a processor or waits for one.
func (s *Session) anyRunnable() bool {
	for _, t := range s.threads {
		if !t.quiet && !t.settled && !t.listening && !t.vforking && strings.HasPrefix(t.statusField("State"), "R") {
			return true
		}
	}
	return false
}

// stragglers returns an error that names the threads that did not stop in time, such as one in the middle of a step
// that does not end. It omits those that no signal can wake. The end of the tracing thread detaches all of them.
func (s *Session) stragglers() error {
	var tids []string
	for _, t := range s.threads {
		if !t.quiet && !t.listening && !t.vforking && !t.uninterruptible() {
			tids = append(tids, strconv.Itoa(t.tid))
		}
	}
	if len(tids) == 0 {
		return nil
	}
	slices.Sort(tids)
	return fmt.Errorf("threads %s did not stop in time; detached as is", strings.Join(tids, ", "))
}

// verify makes sure that no breakpoint is left.
func (s *Session) verify(sp *space) error {
	var all error
	for _, p := range sp.left() {
		if err := s.restore(p, 0); err != nil {
			all = errors.Join(all, err)
		}
	}
	return all
}
