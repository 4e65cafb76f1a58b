package remote

import (
	"fmt"
	"time"

	"gotap/engine/backend"
	"gotap/engine/remote/rsp"
)

// stopPatience is how long a target may take to stop on request.
const stopPatience = 10 * time.Second

// held runs fn with the target stopped and the lock held.
func (s *Session) held(fn func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted++
	defer func() {
		s.wanted--
		if err := s.settle(); err != nil {
			s.fail(err)
		}
	}()
	if err := s.halt(); err != nil {
		return err
	}
	if err := s.enterKernel(); err != nil {
		return err
	}
	return fn()
}

// halt waits until the target is stopped.
func (s *Session) halt() error {
	if s.running {
		s.asked = time.Now()
		if err := s.client.Interrupt(); err != nil {
			return err
		}
		begin := time.Now()
		defer s.wakeAfter(stopPatience).Stop()
		for ; s.running && !s.ended; s.turn.Wait() {
			if time.Since(begin) >= stopPatience {
				return errNoStop
			}
		}
	}
	if s.ended {
		return s.gone()
	}
	return nil
}

// wakeAfter wakes all waiters on turn after a time. It takes the lock for that, so that the wake-up cannot come
// between reading the clock and the wait that follows; the caller must read the clock before the call.
func (s *Session) wakeAfter(d time.Duration) *time.Timer {
	return time.AfterFunc(d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.turn.Broadcast()
	})
}

// errNoStop reports a target that does not stop.
var errNoStop = fmt.Errorf("the target does not stop when it is asked to, within %v; some stubs, as that of QEMU's user emulation before version 10, "+
	"look at their connection only when the program runs into a breakpoint", stopPatience)

// hurry is how long the session waits for a target that has been asked to stop, if the session is to end at once.
// Without a stop the breakpoints stay, and the first one hit ends a target that nobody traces.
const hurry = time.Second

// errLeftRunning reports a target that was released with its breakpoints.
var errLeftRunning = fmt.Errorf("the target has not stopped within %v: it goes on with breakpoints in it", hurry)

// asksInVain waits briefly for a target that has been asked to stop, and reports whether it still runs.
func (s *Session) asksInVain() bool {
	if s.asked.IsZero() {
		return false
	}
	begin := time.Now()
	defer s.wakeAfter(hurry).Stop()
	for s.running && !s.ended && time.Since(begin) < hurry {
		s.turn.Wait()
	}
	return s.running && !s.ended
}

// interruptPatience is how long an interrupt that another stop overtook may take to arrive after the target runs
// again.
const interruptPatience = 100 * time.Millisecond

// awaitInterrupt ensures that no interrupt is pending when the target is detached. A stub such as gdbserver
// interrupts by SIGINT: if the target has stopped for another reason first, that signal is still due, and would
// kill a target that nobody traces. Or the stub has dropped the request; so this function resumes the target and
// waits, but not for long. Hits during that time are handled as hits. Machines have no signals.
func (s *Session) awaitInterrupt() error {
	const rounds = 3 // for a stub that stops only at breakpoints, each of which overtakes an interrupt
	for n := 0; n < rounds && !s.kernel && !s.ended && !s.asked.IsZero(); n++ {
		begin := time.Now()
		timer := s.wakeAfter(interruptPatience)
		for !s.ended && !s.asked.IsZero() && time.Since(begin) < interruptPatience {
			if err := s.goOn(); err != nil {
				return err
			}
			s.turn.Wait()
		}
		timer.Stop()
		s.asked = time.Time{} // it has arrived, or never will
		if err := s.halt(); err != nil {
			return err
		}
	}
	return nil
}

// stopped handles a stop of the target. An error that it returns ends the session.
func (s *Session) stopped(stop rsp.Stop) error {
	s.mem.forget()
	switch stop.Kind {
	case rsp.Exited, rsp.Killed, rsp.NoThread:
		s.exited(stop)
		return nil
	}
	t, err := s.threadOf(stop.Thread)
	if err != nil {
		return err
	}
	switch {
	case s.interrupted(stop):
		return nil
	case stop.Addr != 0:
		return t.sawData(stop)
	}
	switch stop.Reason {
	case "fork", "vfork":
		return t.forked(stop)
	case "vforkdone":
		return t.alone()
	case "exec":
		return t.execed(stop)
	case "syscall_entry", "syscall_return":
		return t.atCall(stop)
	}
	return t.trap(stop)
}

// interrupted reports whether a stop is the one that the stub was asked for, which may come late if the target
// stopped for another reason first. It must not be taken for a signal of the target's own: gdbserver interrupts by
// a SIGINT, which kills if it is passed on.
func (s *Session) interrupted(stop rsp.Stop) bool {
	if stop.Signal != rsp.SignalInt || s.asked.IsZero() {
		return false
	}
	s.asked = time.Time{}
	return true
}

// exited ends the session with its target.
func (s *Session) exited(stop rsp.Stop) {
	e := backend.Event{Kind: backend.EventExit, Tid: s.pid(), Status: stop.Status}
	if stop.Kind == rsp.Killed {
		e.Signal = rsp.LinuxSignal(stop.Signal)
	}
	s.notify(e)
	s.notify(backend.Event{Kind: backend.EventDone})
	s.over()
}
