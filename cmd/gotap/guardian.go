package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"gotap/engine"
	"gotap/engine/remote"
)

// The supervisor as guardian of the targets. The session tells it, through the socket that it gets signals from, which processes it
// has probes in. When the session is killed the supervisor takes the breakpoints out as soon as it hears of it. Until then, and
// when both are killed at once, the handler that the session put into the targets has to do; but that cannot help a thread that
// blocks SIGTRAP, nor a process with a filter of system calls, nor one that has not got it yet.

// The first byte of a message about a process, whose number follows.
const (
	guardProcess = '+'
	leaveProcess = '-'
	guardStub    = 's' // the address of a stub follows, or nothing when nobody may let its target go
)

// guardMessage is the size of a message.
const guardMessage = 5

// guard tells the supervisor that a process has probes, or has none any more. It never blocks, and may be called from any
// goroutine: a supervisor that is gone is noticed elsewhere.
func (w *World) guard(word byte, pid int) {
	if w.control == nil {
		return
	}
	message := binary.LittleEndian.AppendUint32([]byte{word}, uint32(pid))
	unix.Sendto(int(w.control.Fd()), message, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, nil)
}

// guardRemote tells the supervisor of the stub that the session traces through; "": of none.
func (w *World) guardRemote(address string) {
	if w.control != nil {
		unix.Sendto(int(w.control.Fd()), append([]byte{guardStub}, address...), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, nil)
	}
}

// guardLifecycle follows a session's processes.
func (w *World) guardLifecycle(e engine.Event) {
	switch e.Kind {
	case engine.EventExec:
		w.guard(guardProcess, e.Pid)
	case engine.EventFork:
		w.guard(guardProcess, e.Child)
	case engine.EventExit:
		w.guard(leaveProcess, e.Pid)
	}
}

// guardian is the supervisor's list of processes with probes.
type guardian struct {
	over chan struct{} // closed when the session's end of the socket is

	mu   sync.Mutex // guards what follows; nothing else is locked under it
	pids map[int]bool
	stub string // "": there is none
}

// newGuardian listens to the session.
func newGuardian(control int) *guardian {
	g := &guardian{over: make(chan struct{}), pids: map[int]bool{}}
	go g.listen(control)
	return g
}

func (g *guardian) listen(control int) {
	defer close(g.over)
	message := make([]byte, 1024) // a name of a host has 253 bytes at most
	for {
		n, err := unix.Read(control, message)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || n == 0:
			return
		case message[0] == guardStub:
			g.noteStub(string(message[1:n]))
		case n == guardMessage:
			g.note(message[0] == guardProcess, int(binary.LittleEndian.Uint32(message[1:])))
		}
	}
}

func (g *guardian) note(has bool, pid int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if has {
		g.pids[pid] = true
	} else {
		delete(g.pids, pid)
	}
}

func (g *guardian) noteStub(address string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stub = address
}

// lastWord is how long the session's last messages are waited for after its death: a child that is being made may hold its socket
// for a moment.
const lastWord = 100 * time.Millisecond

// restore takes out what a killed session left in its targets, and says so.
func (g *guardian) restore(stderr io.Writer) {
	select {
	case <-g.over:
	case <-time.After(lastWord):
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stub != "" {
		if err := remote.Clean(g.stub); err != nil {
			fmt.Fprintf(stderr, "gotap: the target behind %s may stand still: %v\n", g.stub, err)
		} else {
			fmt.Fprintf(stderr, "gotap: the session was killed; the target behind %s goes on\n", g.stub)
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(g.pids)) {
		done, err := engine.Clean(pid)
		switch {
		case errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) || errors.Is(err, engine.ErrNoProcess):
		case err != nil:
			fmt.Fprintf(stderr, "gotap: process %d may not be as it was: %v\n", pid, err)
		case len(done.Restored) > 0:
			fmt.Fprintf(stderr, "gotap: the session was killed; restored process %d, in %d places\n", pid, len(done.Restored))
		}
	}
}
