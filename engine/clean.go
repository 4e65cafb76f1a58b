package engine

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"gotap/engine/crashsafe"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// Cleaned is what Clean found.
type Cleaned = crashsafe.Cleaned

// cleanPatience is how long Clean waits for a session that is ending: the death of its supervisor makes a session
// detach by itself, which takes a moment.
const cleanPatience = 6 * time.Second

// Clean removes from a process what a session left in it that was killed before it could do so: breakpoints, and the
// action for SIGTRAP. See crashsafe.Clean. It does not touch a process that is being traced: its tracer will clean up,
// or has a reason not to.
func Clean(pid int) (Cleaned, error) {
	if err := awaitUntraced(pid); err != nil {
		return Cleaned{}, err
	}
	mem, err := ptrace.OpenMemory(procfs.Living(pid))
	if err != nil {
		return Cleaned{}, &AttachError{Pid: pid, Err: err, Help: "gotap doctor tells what this user may do"}
	}
	defer mem.Close()
	return crashsafe.Clean(pid, mem, func() (crashsafe.Undoer, error) { return attachUndoer(pid) })
}

// undoer is a session that plants nothing in a process. It implements crashsafe.Undoer.
type undoer struct {
	s   *Session
	pid int
}

func attachUndoer(pid int) (crashsafe.Undoer, error) {
	s, err := New(Config{Follow: FollowThreads})
	if err != nil {
		return nil, err
	}
	s.life.undoes = true
	if err := s.Attach(pid); err != nil {
		return nil, errors.Join(err, s.Close(false))
	}
	return undoer{s, pid}, nil
}

// TakeOver implements crashsafe.Undoer.
func (u undoer) TakeOver() (done bool) {
	done = true
	u.s.do(func() error {
		if p := u.s.procs[u.pid]; p != nil {
			p.protectAttached()
			done = !p.guard.Unguarded()
		}
		return nil
	})
	return done
}

// Held implements crashsafe.Undoer.
func (u undoer) Held(fn func(*crashsafe.Process)) {
	u.s.do(func() error {
		if p := u.s.procs[u.pid]; p != nil {
			defer u.s.world.releaseWorld(u.s.world.holdAll())
			fn(&p.guard)
		}
		return nil
	})
}

// Close implements crashsafe.Undoer.
func (u undoer) Close() error { return u.s.Close(false) }

// awaitUntraced waits for a tracer to detach. If the tracer stays, the error names it.
func awaitUntraced(pid int) error {
	for end := time.Now().Add(cleanPatience); ; time.Sleep(20 * time.Millisecond) {
		if procfs.Status(pid, "Tgid") == "" {
			return &AttachError{Pid: pid, Err: ErrNoProcess}
		}
		by, _ := strconv.Atoi(procfs.Status(procfs.Living(pid), "TracerPid"))
		if by == 0 {
			return nil
		}
		if time.Now().After(end) {
			return &AttachError{Pid: pid, Err: fmt.Errorf("it is being traced, by process %d (%s)", by, procfs.Name(by)),
				Help: "a running session takes its probes out itself when it ends"}
		}
	}
}
