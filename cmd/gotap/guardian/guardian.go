// Package guardian takes probes out of the targets of a session that was killed. The session tells its supervisor
// through a socket which processes have probes; when the session has been killed the supervisor takes the breakpoints
// out. Until then, and when both are killed at once, the handler in the targets (package engine/crashsafe/fallback)
// lets them run on; but it cannot help a thread that blocks SIGTRAP, nor a process with a filter of system calls, nor
// one that does not have it yet.
//
// A Reporter may be used by any goroutine and never blocks. A Guardian has a goroutine that reads the socket.
package guardian

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

// The first byte of a message about a process, whose number follows.
const (
	guardProcess = '+'
	leaveProcess = '-'
	guardStub    = 's' // the address of a stub follows, or nothing when nobody may detach from its target
)

// guardMessage is the size of a message.
const guardMessage = 5

// A Reporter is the session's end of the socket. Its zero value reports to nobody. A supervisor that has ended is
// noticed elsewhere.
type Reporter struct{ socket *os.File }

// NewReporter reports through a socket; nil: to nobody.
func NewReporter(socket *os.File) Reporter { return Reporter{socket} }

// Process reports that a process has probes, or has ended.
func (r Reporter) Process(pid int, probed bool) {
	word := byte(leaveProcess)
	if probed {
		word = guardProcess
	}
	r.send(binary.LittleEndian.AppendUint32([]byte{word}, uint32(pid)))
}

// Stub reports the address of the stub that the session traces through; "": nobody else may detach from its target.
func (r Reporter) Stub(address string) { r.send(append([]byte{guardStub}, address...)) }

func (r Reporter) send(message []byte) {
	if r.socket != nil {
		unix.Sendto(int(r.socket.Fd()), message, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, nil)
	}
}

// A Guardian is the supervisor's list of processes with probes.
type Guardian struct {
	over chan struct{} // closed when the session's end of the socket is

	mu   sync.Mutex // guards what follows; nothing else is locked under it
	pids map[int]bool
	stub string // "": there is none
}

// New listens to the session.
func New(control int) *Guardian {
	g := &Guardian{over: make(chan struct{}), pids: map[int]bool{}}
	go g.listen(control)
	return g
}

func (g *Guardian) listen(control int) {
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

func (g *Guardian) note(has bool, pid int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if has {
		g.pids[pid] = true
	} else {
		delete(g.pids, pid)
	}
}

func (g *Guardian) noteStub(address string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stub = address
}

// lastWord is how long the session's last messages are waited for after its death: a child that is being made may hold
// its socket for a moment.
const lastWord = 100 * time.Millisecond

// Restore takes out what a killed session left in its targets, and reports it.
func (g *Guardian) Restore(stderr io.Writer) {
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
		case done.CPUs != "":
			fmt.Fprintf(stderr, "gotap: the session was killed; process %d may run on CPUs %s again\n", pid, done.CPUs)
		}
	}
}
