package engine

import (
	"errors"
	"fmt"
	"syscall"

	"gotap/engine/abi"
	"gotap/engine/command"
	"gotap/engine/linux/permission"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
	"gotap/engine/threadstate"
	"gotap/engine/tracee"
)

// LaunchError reports a command that cannot be run.
type LaunchError = command.Error

// launching starts programs under trace.
type launching struct {
	s        *Session
	settling settle
	command  []string // the program that was launched last and its arguments
}

// Launch starts a program and holds it before the first instruction of its own. A static program is held where the
// kernel starts it. A dynamic one is held when its loader has mapped the libraries it was linked with and not yet
// touched them, so that probes in them can be placed, and missing ones reported, before any of their code runs.
func (s *Session) Launch(c Command) (pid int, err error) {
	if pid, err = s.Spawn(c); err == nil {
		err = s.Settle(pid)
	}
	return pid, err
}

// Spawn is the first half of Launch: it starts a program and holds it before its very first instruction, which belongs
// to its loader if it has one. What can be probed at that point may be probed (see Begin).
func (s *Session) Spawn(c Command) (pid int, err error) {
	path, err := command.Find(&c)
	if err != nil {
		return 0, &LaunchError{Path: c.Path, Err: err}
	}
	err = s.do(func() error {
		pid, err = s.launching.launch(c, path)
		return err
	})
	if err == nil {
		if lost := permission.LostPrivileges(command.At(&c, path)); lost != "" {
			s.warn(lost)
		}
	}
	return pid, err
}

// Settle is the second half of Launch: it runs the loader of the program that was spawned last until the libraries are
// mapped. If the programs of probes hold the thread, another goroutine has to release it meanwhile.
func (s *Session) Settle(pid int) error {
	var c settle
	err := s.do(func() error {
		if c = s.launching.settling; c.t != nil {
			s.launching.watchEntry(c.t.proc.space)
			c.t.state.To(threadstate.Stopped)
			c.t.resume(0)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.launching.settled(pid, c.at); err != nil {
		return &LaunchError{Path: c.path, Err: err}
	}
	return nil
}

// launch starts the program under trace (command.Fork, command.Seize). If the session were killed in between, the child
// would stay stopped forever, with nothing left to control it. So until the fallback is installed, the kernel kills the
// child when the tracing thread ends (PR_SET_PDEATHSIG); nobody can notice that the program ever began. Then the child
// is made to undo that setting itself.
func (l *launching) launch(c Command, path string) (int, error) {
	l.s.affinity.Apart("another program has been launched") // the child inherits this thread's CPUs
	leashed := ptrace.CanSetDeathSignal()
	pid, err := command.Fork(&c, path, leashed)
	if err != nil {
		return 0, command.Explain(&c, path, err)
	}
	if err := command.Seize(pid, options, func() { l.s.passed(tracee.InCall) }); err != nil {
		ptrace.SendProcess(pid, ptrace.SIGKILL)
		l.s.stops.waitFor(pid)
		return 0, command.Explain(&c, path, err)
	}
	p := l.s.newProcess(pid, unopened(l.s), abi.Host()[0])
	p.launched = true
	l.command = c.Args
	t := l.s.newThread(p, pid, threadstate.Parked)
	if err := l.s.newImage(t); err != nil {
		ptrace.SendProcess(pid, ptrace.SIGKILL)
		return 0, &LaunchError{Path: c.Path, Err: err}
	}
	if leashed {
		t.unleash()
	}
	l.settling = settle{t, make(chan struct{}), c.Path}
	if p.space.Loader.At == 0 {
		l.settleEnd()
	}
	return pid, nil
}

// unleash lets a launched program outlive the tracing thread.
func (t *thread) unleash() {
	const setDeathSignal = 1 // PR_SET_PDEATHSIG
	err := error(syscall.ESRCH)
	if t.GetRegs() {
		_, err = t.inject.Call(t.proc.arch.Calls.Prctl, setDeathSignal, 0)
	}
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		t.s.warn(fmt.Sprintf("process %d ends when gotap ends: it cannot be told to outlive it: %v", t.proc.pid, err))
	}
}

// settled waits until a launched program is where Launch leaves it.
func (l *launching) settled(pid int, at <-chan struct{}) error {
	select {
	case <-at:
	case <-l.s.loop.Dead():
	}
	alive := false
	if err := l.s.do(func() error { alive = l.s.procs[pid] != nil; return nil }); err != nil {
		return err
	}
	if !alive {
		return errors.New("it ended before its first instruction")
	}
	return nil
}

// settle is the first thread of a program being launched, parked before its loader or running through it.
type settle struct {
	t    *thread // nil: it has arrived
	at   chan struct{}
	path string
}

// settleAt reports whether the thread is the one being launched. If so, it holds the thread where it is.
func (l *launching) settleAt(t *thread) bool {
	if l.settling.t != t || t.state.Now() == threadstate.Parked {
		return false
	}
	t.state.To(threadstate.Parked)
	l.settleEnd()
	return true
}

// settleEnd ends the wait for a launched program.
func (l *launching) settleEnd() {
	close(l.settling.at)
	l.settling.t = nil
}

// watchEntry sets a breakpoint on the entry point of a program's new image. When it is reached, the libraries are
// mapped, whatever the loader is.
func (l *launching) watchEntry(sp *space.Space) {
	if len(sp.Modules) == 0 || sp.Modules[0].File == nil || sp.Modules[0].Err != nil || sp.Loader.At == 0 {
		return
	}
	m := &sp.Modules[0]
	p, err := l.s.patcher.PointTo(sp, m.Addr(m.File.Entry))
	if err != nil || p.Internal != nil {
		return
	}
	p.Internal = internally((*thread).atEntry)
	l.s.patcher.Sync(p)
}

// atEntry runs once, when a program reaches its entry point.
func (t *thread) atEntry(p *space.Point) bool {
	p.Internal = nil
	t.s.patcher.Sync(p)
	t.s.loading.rescan(t.proc)
	return t.s.launching.settleAt(t)
}
