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

// Detaching. First the threads that run are stopped: they hit nothing more, and leave the processors to what follows. Then every breakpoint
// is taken out and its byte read back. From then on no thread can hit one, but
// threads may have hit one that has not been reported yet, or be in the middle of a step; those have to be found and
// put right before they are let go, or a SIGTRAP that nobody catches would end the target.
//
//   - A thread that is stopped now has been put right already: it is detached. But one that is held, and was on its way to a stop, is let
//     come to that.
//   - A thread that sleeps in a system call is in none of these states, and will not come into one any more. It is not
//     disturbed: it is let go by the end of the tracing thread, which is how the kernel lets a tracee go without stopping
//     it. No sleep, read or poll ends early.
//   - Any other thread is interrupted. When it stops it is looked at: behind a breakpoint that was taken out, it goes back to
//     the instruction, and the SIGTRAP, if it is still to come, is swallowed; in a step, the step is completed first.
//
// The last one that is stopped in a process gives back the memory that was mapped there: see unmap.

// detachPatience is how long threads are given to stop.
const detachPatience = 1500 * time.Millisecond

// starved is how many times as long threads are given that wait for a processor: they will stop as soon as they get one.
const starved = 10

// Close ends the session: held threads go on, every patch is undone and checked, all processes are let go and run on. fast shortens
// the time that threads are given to come to a place where they can be let go. It returns what could not be undone. It may be
// called more than once, and says the same each time. The files of modules stay open as long as the session is in use: addresses
// are named after the end too.
func (s *Session) Close(fast bool) error {
	patience := detachPatience
	if fast {
		patience /= 3
	}
	e := s.loop.do(func() { s.detach(patience) })
	s.loop.ended() // what it has left is ours to read from now on
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

// detach undoes everything, once. What could not be undone is in s.undone.
func (s *Session) detach(patience time.Duration) {
	if s.closed {
		return
	}
	s.States() // what Query returns from now on
	stats := s.present()
	s.lastStats.Store(&stats)
	s.closing = true
	err := s.lowerSemaphores()
	s.holdRunning(func(*space) bool { return true }) // letStoppedGo lets them go
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

// haltPatience is how long threads that job control has stopped may take to be stopped again when they were let go.
const haltPatience = time.Second

// awaitHalted waits for the threads that were let go in a stop of job control, or with the signal for one. The kernel wakes them, and they stop by
// themselves: whoever looks when the session is over finds them as they were before. Precondition: the tracing thread has
// ended, which is what lets them go.
func (s *Session) awaitHalted() {
	running := func(tid int) bool { return strings.HasPrefix(procfs.Status(tid, "State"), "R") }
	for end := time.Now().Add(haltPatience); slices.ContainsFunc(s.halted, running) && time.Now().Before(end); {
		time.Sleep(100 * time.Microsecond)
	}
}

// letStoppedGo lets the threads go that are stopped by us, wherever they are held. One that was held while code was changed may
// have hit a breakpoint just before, which it has yet to stop for: it goes on until then.
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

// letGo detaches from a stopped thread. While its process has the fallback's handler, the thread is only marked as settled: one of the
// process's threads puts the program's own action back when all are (releaseSettled), since any other may still be on its way into a
// breakpoint's SIGTRAP, which only the handler survives if the session is killed now. A thread that cannot make a system call here, or is
// about to get a signal, behind a call of ours without what it came with, is looked at again at its next stop. So is one that was stepped last:
// a tracer's death does not end that (exit_ptrace in kernel/ptrace.c), and the thread would raise SIGTRAP behind its next instruction.
func (t *thread) letGo(sig int) {
	t.clearDebugRegs()
	informed := sig != 0 && jobControl>>(sig-1)&1 == 0
	if (t.midCall || informed || t.stepping) && t.proc.trap.ours && ptrace.Interrupt(t.tid) == 0 {
		t.unmask() // a handler gives back the mask that it began with
		t.stopped, t.stepping = ptrace.Cont(t.tid, sig) != 0, false
		return
	}
	if t.proc.trap.ours {
		t.settled, t.owed = true, sig
		if sig == 0 {
			t.unreported() // or the kernel would deliver it if we died now, and the handler may be gone by then
		}
		return
	}
	t.detach(sig)
}

// detach detaches from a stopped thread, with its own mask and the signals that were kept from it.
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

// releaseSettled puts the program's own action for SIGTRAP back in the processes whose threads have all been seen to be at no breakpoint,
// and detaches from those. At the end of the patience (last) others are let go as they are, and keep the handler.
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

// settledThread is a thread of the process that is ready to be let go, or nil; all reports that every thread is, or sleeps in the kernel, and
// that none has a SIGTRAP of a breakpoint to come.
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

// interruptBusy asks the threads to stop that are not asleep in a system call.
func (s *Session) interruptBusy() {
	for _, p := range s.procs {
		if found, _ := p.interruptable(); p.trap.ours && len(found) > 0 {
			found[0].awake = true // one has to be seen, to undo what was done to the process
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

// asleep reports whether a thread sleeps inside a system call. The kernel tells the number of the call only of a thread that
// has left the processor. One that is stopped, with news for us, is not asleep.
func asleep(tid int) bool {
	number, _, _ := strings.Cut(procfs.Read(tid, "syscall"), " ")
	n, err := strconv.Atoi(number)
	return err == nil && n >= 0 && strings.HasPrefix(procfs.Status(tid, "State"), "S")
}

// untilGone deals with stops until all threads that were interrupted have been let go.
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

// lastStop deals with a stop on the way out.
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

// trapPending reports whether a thread has hit a breakpoint of ours and will stop for it yet. It stands behind where the
// breakpoint was, and the kernel's SIGTRAP is queued. Likewise for what is watched.
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

// behindBreakpoint reports whether the thread stands where the hit of a breakpoint leaves it, of this session or of an earlier one.
func (t *thread) behindBreakpoint() bool {
	sp, addr := t.proc.space, t.proc.arch.BreakpointPC(*t.pc())
	if sp.points[addr] != nil {
		return true
	}
	_, _, left := sp.guard.table.Lookup(addr)
	return left && sp.guard.left != nil
}

// raisedTrap reports whether an instruction of a thread has raised a SIGTRAP that the thread has not stopped for yet: one of ours
// or of its own.
func (t *thread) raisedTrap() bool {
	for i := 0; ptrace.PendingSignal(t.tid, i, &t.info); i++ {
		if t.info.Signal() == ptrace.SIGTRAP && t.info.Code() > 0 {
			return true
		}
	}
	return false
}

// anyBusy reports whether there are threads that have to be seen once more.
func (s *Session) anyBusy() bool {
	for _, t := range s.threads {
		if !t.quiet && !t.listening && !t.vforking {
			return true
		}
	}
	return false
}

// anyRunnable reports whether one of the threads that have to be seen waits for a processor, or has one.
func (s *Session) anyRunnable() bool {
	for _, t := range s.threads {
		if !t.quiet && !t.settled && !t.listening && !t.vforking && strings.HasPrefix(t.statusField("State"), "R") {
			return true
		}
	}
	return false
}

// stragglers tells of threads that did not stop in time. They sleep in the kernel without being interruptible, or are
// in the middle of a step that does not end; the end of the tracing thread lets them go.
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

// verify makes sure that there is no breakpoint left where there was one.
func (s *Session) verify(sp *space) error {
	var all error
	for _, p := range sp.left() {
		if err := s.restore(p, 0); err != nil {
			all = errors.Join(all, err)
		}
	}
	return all
}
