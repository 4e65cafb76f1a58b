package engine

import (
	"fmt"
	"runtime/debug"
	"syscall"

	"gotap/engine/tracingthread"
)

// ErrClosed is returned by a session that has been closed, or whose tracing thread has failed.
var ErrClosed = tracingthread.ErrClosed

// run is the main function of the tracing thread: until the session is closed, it waits for tracees to stop and handles
// each stop. A panic, which is a bug in this program and must not harm the targets, ends the session as Close does.
func (s *Session) run() {
	defer s.recoverLoop()
	s.natives.Enable()
	for !s.life.closed {
		s.loop.RunTasks()
		s.world.unpause()
		if len(s.stops.backlog) > 0 {
			s.stops.dealWithBacklog()
			continue
		}
		if s.life.closed {
			return
		}
		if !s.loop.MayWait() {
			continue
		}
		tid, e := s.stops.wait()
		s.loop.Waited()
		switch e {
		case 0:
			s.stops.handle(tid)
			s.stops.takeTurns()
		case syscall.ECHILD:
			s.loop.Idle()
		}
	}
}

// recoverLoop detaches from everything after a panic.
func (s *Session) recoverLoop() {
	r := recover()
	if r == nil {
		return
	}
	s.life.failure.Store(&failure{fmt.Errorf("internal error on the tracing thread: %v\n%s", r, debug.Stack())})
	defer func() {
		if again := recover(); again != nil {
			s.life.failure.Store(&failure{fmt.Errorf("internal error while detaching: %v, after %v\n%s", again, r, debug.Stack())})
		}
		s.life.over()
	}()
	s.life.detachAll()
}

type failure struct{ err error }
