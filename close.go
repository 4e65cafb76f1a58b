package gotap

import (
	"errors"
	"syscall"
	"time"

	"gotap/engine"
)

// Close takes the probes out, ends COMMAND if it still runs, runs the end callbacks and prints what is left to print.
// It is called once, in any state of the session. The result is complete also when there is an error: something in a
// target could not be undone, or none of the probes was ever placed. A session that was not started has no result: its
// COMMAND, which has not run an instruction of its own, is killed.
func (s *Session) Close() (*Result, error) {
	if s.ends.stopped {
		return nil, engine.ErrClosed
	}
	s.ends.stopped = true
	s.control.Freeze()
	s.placeNoMore()
	end := closing{s}
	defer end.free()
	switch {
	case s.progress.interrupted:
		s.said.Release()
		s.ready()
		s.note("interrupted while probes were placed: nothing was traced")
		s.endCommandEarly()
	case s.endedInLoader():
		s.said.Release()
		s.ready()
	case !s.progress.started || s.progress.err != nil:
		return nil, end.abandon()
	}
	return end.finish()
}

// closing is a session that ends.
type closing struct{ *Session }

// finish ends a session that has run.
func (s closing) finish() (*Result, error) {
	states, err := s.detach()
	if !s.wedged() {
		s.endScript()
	}
	result := s.result(states)
	s.report(result)
	if err == nil && s.opts.Tool.MayAppear && !s.progress.interrupted && result.Status == 0 && s.sawNowhere(states) {
		return result, s.nothingToTrace()
	}
	return result, failed(Failure, err)
}

// detach takes the probes out and ends COMMAND. Hits that were waiting are handled as threads are detached, and count.
func (s closing) detach() ([]engine.ProbeState, error) {
	s.opts.Hooks.Progress("taking the probes out")
	over := s.noteLater("still taking the probes out (a second Ctrl-C detaches at once)")
	err := s.engine.Close(false)
	over()
	s.opts.Hooks.Progress("")
	states := s.engine.Query()
	s.endCommand()
	return states, err
}

// endScript delivers what is in the ring, and runs the end callbacks.
func (s closing) endScript() {
	over := s.noteLater("the probes are out; waiting for callbacks and output to deal with what was gathered (a second Ctrl-C drops it)")
	s.script().End()
	over()
	s.definitions.printVariables()
}

// endPatience is how long a step of Close may take before a note reports it.
const endPatience = 700 * time.Millisecond

// noteLater posts a note about what is being done, unless the function that it returns is called soon.
func (s closing) noteLater(text string) (over func()) {
	timer := time.AfterFunc(endPatience, func() { s.notices.post(func() { s.note("%s", text) }) })
	return func() { timer.Stop() }
}

// endCommand ends COMMAND with the session. It is asked, not forced: what it does then is its own business.
func (s closing) endCommand() {
	switch {
	case s.launched == 0:
		return
	case s.detached.Load(): // the target comes first
		s.note("process %d goes on without probes", s.launched)
		return
	case s.ends.leave.Load() || s.commandEnded():
		return
	case s.engine.LeftStopped(s.launched): // for a debugger, in the state in which a program stopped it
		s.note("process %d is left stopped", s.launched)
		return
	}
	s.ends.asked.Store(true)
	syscall.Kill(s.launched, syscall.SIGTERM)
	for end := time.Now().Add(commandPatience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if s.commandEnded() {
			return
		}
	}
	s.note("process %d got SIGTERM and still runs", s.launched)
}

// commandPatience is how long COMMAND may take to follow its SIGTERM, so that its output does not mix with the
// session's.
const commandPatience = 2 * time.Second

// commandEnded reports whether COMMAND has ended, and reaps it: until it is reaped no other process gets its number.
func (s *Session) commandEnded() bool {
	var ws syscall.WaitStatus
	got, err := syscall.Wait4(s.launched, &ws, syscall.WNOHANG, nil)
	if got == s.launched {
		s.waited(ws)
	}
	return got != 0 || err != nil && !errors.Is(err, syscall.EINTR)
}

// abandon ends a session that never began.
func (s closing) abandon() error {
	if s.progress.running {
		s.script().Pause()
	}
	if s.launched != 0 && !s.outcomes.ended() {
		s.outcomes.forget()
		syscall.Kill(s.launched, syscall.SIGKILL)
	}
	err := s.LetGo()
	if s.launched != 0 {
		syscall.Wait4(s.launched, nil, 0, nil) // it may have been reaped already
	}
	s.notices.flush()
	return err
}

// LetGo detaches from the targets at once; no callback runs. The error reports what could not be restored in them. Safe
// for concurrent use.
func (s *Session) LetGo() error {
	if s.engine == nil {
		return nil
	}
	return failed(Failure, s.engine.Close(true))
}

// Abort detaches from the targets at once and asks COMMAND to end. No callback runs: the process should end. Safe for
// concurrent use.
func (s *Session) Abort() error {
	err := s.LetGo()
	if s.launched != 0 && !s.ends.leave.Load() && !s.commandEnded() && !s.engine.LeftStopped(s.launched) {
		syscall.Kill(s.launched, syscall.SIGTERM)
	}
	return err
}

// free gives back what Open took.
func (s closing) free() {
	s.notices.close()
	if s.wedged() {
		return // the script's goroutine may still use the arena
	}
	if loaded := s.script(); loaded != nil {
		loaded.Close()
	}
	if s.arena != nil {
		s.arena.Close()
	}
}
