package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"gotap/cmd/gotap/wire"
)

// A manager answers `gotap ctl` while a session runs. A goroutine accepts clients, one more for each client reads its requests; what
// they do to the run they do one after the other, under run.change, which a reload by --watch takes too. A nil
// manager is that of a session without a socket.
type manager struct {
	r        *run
	dir      *wire.Dir
	id       int
	started  time.Time
	listener *os.File
	slots    chan struct{} // filled by clients that are served
	idle     time.Duration // idleTime, but in tests
	closing  chan struct{} // closed: no client is waited for any more
	once     sync.Once     // of closing it

	mu      sync.Mutex               // guards what follows
	conns   map[*wire.Conn]time.Time // since when nothing has come from it; zero: a request is being answered
	parting []*wire.Conn             // of those who asked for the end: never closed, so that they learn of it
	over    bool                     // no client is taken any more
	wg      sync.WaitGroup

	// Guarded by run.change.

	ended    bool // nothing may be changed any more
	guests   []*guest
	inserted uint32 // scripts so far, for the numbers of their probes
}

const (
	maxClients  = 16
	requestTime = 10 * time.Second // for a client to say what it wants, and to take the answer
	partingTime = 500 * time.Millisecond
	idleTime    = 250 * time.Millisecond // after which a client that says nothing makes room for another
)

// manage opens the session's socket. A session that cannot have one runs all the same, unless it is in the background, where
// nothing else could end it.
func (r *run) manage() error {
	m, err := newManager(r)
	switch {
	case err == nil:
		r.manager = m
		go m.accept()
	case r.w.background != nil:
		return withStatus(statusFailure, fmt.Errorf("cannot run in the background: %w", err))
	case r.plan.verbose:
		r.note("gotap ctl will not find this session: %v", err)
	}
	return nil
}

func newManager(r *run) (*manager, error) {
	dir, err := wire.Open(true)
	if err != nil {
		return nil, err
	}
	m := &manager{r: r, dir: dir, id: os.Getpid(), started: time.Now(), conns: map[*wire.Conn]time.Time{},
		slots: make(chan struct{}, maxClients), idle: idleTime, closing: make(chan struct{})}
	if m.listener, err = dir.Listen(m.id); err != nil {
		dir.Close()
		return nil, err
	}
	return m, nil
}

// accept takes clients until the listener is closed. Who comes when all places are taken waits for one: the client that has been silent
// for longest is hung up on, so that those who connect and say nothing keep nobody out. Who comes behind waits in the
// listener's queue.
func (m *manager) accept() {
	m.dir.Sessions() // for its clearing up
	raw, err := m.listener.SyscallConn()
	if err != nil {
		return
	}
	for {
		fd, fault := -1, error(nil)
		err := raw.Read(func(listener uintptr) bool {
			fd, _, fault = unix.Accept4(int(listener), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
			return fault != unix.EAGAIN
		})
		switch {
		case err != nil:
			return
		case fault != nil:
			time.Sleep(acceptPause) // too many open files, or a client that went away again
		case wire.CheckPeer(fd) != nil: // another user's
			unix.Close(fd)
		case !m.place():
			unix.Close(fd)
			return
		default:
			m.admit(fd)
		}
	}
}

// place takes a place for a client, and makes room if there is none. It reports false at the end.
func (m *manager) place() bool {
	for {
		select {
		case m.slots <- struct{}{}:
			return true
		case <-m.closing:
			return false
		case <-time.After(m.makeRoom()):
		}
	}
}

// makeRoom hangs up on the client that has been silent for longest, if that is long enough, and says when to look again.
func (m *manager) makeRoom() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	var silent *wire.Conn
	for c, since := range m.conns {
		if !since.IsZero() && (silent == nil || since.Before(m.conns[silent])) {
			silent = c
		}
	}
	if silent == nil { // all are being answered
		return idleTime
	}
	if left := m.idle - time.Since(m.conns[silent]); left > 0 {
		return left
	}
	silent.StopReading(partingTime)
	return idleTime
}

// acceptPause keeps a fault that stays from using a processor.
const acceptPause = 50 * time.Millisecond

// admit begins to serve a client that has a place.
func (m *manager) admit(fd int) {
	c := wire.NewConn(fd)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		c.Close()
		<-m.slots
		return
	}
	m.conns[c] = time.Now()
	m.wg.Add(1)
	go m.serve(c)
}

// serve answers a client's requests until it goes, is silent for too long, or sends what is no line.
func (m *manager) serve(c *wire.Conn) {
	defer m.wg.Done()
	for m.turn(c) {
	}
	m.mu.Lock()
	delete(m.conns, c)
	m.mu.Unlock()
	<-m.slots
}

// turn handles one request and reports whether there may be another.
func (m *manager) turn(c *wire.Conn) bool {
	var request wire.Request
	var bad *wire.BadJSON
	err := c.Receive(&request, requestTime)
	m.heard(c, time.Time{})
	defer func() { m.heard(c, time.Now()) }()
	switch {
	case errors.As(err, &bad), errors.Is(err, wire.ErrLongLine):
		err = withStatus(statusUsage, fmt.Errorf("cannot read the request: %w", err))
	case err != nil:
		c.Close()
		return false
	}
	reply := wire.Reply{}
	if err == nil {
		reply, err = m.answer(request)
	}
	reply.Version = wire.Version
	if err != nil {
		reply.Error = toCtlError(err)
	}
	failed := c.Send(reply, requestTime) != nil
	if request.Verb == "stop" && err == nil && !failed {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.parting = append(m.parting, c)
		return false
	}
	if failed || errors.Is(err, wire.ErrLongLine) {
		c.Close()
		return false
	}
	return true
}

// heard notes when a client has become silent, or with no time that it is answered.
func (m *manager) heard(c *wire.Conn, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, served := m.conns[c]; served {
		m.conns[c] = at
	}
}

// answer does what is asked. A panic must not end the session, whose probes would stay in the target.
func (m *manager) answer(q wire.Request) (reply wire.Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			reply, err = wire.Reply{}, withStatus(statusFailure, fmt.Errorf("cannot %s: internal error: %v", q.Verb, p))
		}
	}()
	if q.Version != wire.Version {
		return wire.Reply{}, withStatus(statusUsage, fmt.Errorf("this session speaks version %d of the protocol, not %d", wire.Version, q.Version))
	}
	do := ctlVerbs[q.Verb]
	if do == nil {
		return wire.Reply{}, withStatus(statusUsage, fmt.Errorf("a session has no verb %q", q.Verb))
	}
	m.r.change.Lock()
	defer m.r.change.Unlock()
	if m.ended {
		return wire.Reply{}, withStatus(statusTarget, errors.New("the session is ending"))
	}
	return do(m, q)
}

func toCtlError(err error) *wire.Error {
	var b strings.Builder
	report(&b, err)
	text := strings.TrimSuffix(b.String(), "\n")
	if plain, own := strings.CutPrefix(text, "gotap: "); own {
		return &wire.Error{Text: strings.TrimSuffix(plain, "\nhint: "+hintOf(err)), Hint: hintOf(err), Status: statusOf(err)}
	}
	return &wire.Error{Text: text, Status: statusOf(err), Shown: true}
}

// close ends the socket: what a client has begun is finished, then nothing is changed any more.
func (m *manager) close() {
	if m == nil {
		return
	}
	m.unlink()
	m.once.Do(func() { close(m.closing) })
	m.listener.Close()
	m.r.change.Lock()
	m.ended = true
	m.r.change.Unlock()
	m.mu.Lock()
	m.over = true
	for c := range m.conns {
		c.StopReading(partingTime)
	}
	m.mu.Unlock()
	m.wg.Wait()
}

// unlink removes the socket's name, for ends in a hurry too.
func (m *manager) unlink() {
	if m != nil {
		m.dir.Forget(m.id)
	}
}
