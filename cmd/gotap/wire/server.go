package wire

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Server answers the clients of a session. One goroutine accepts clients, and each client has another that reads its
// requests. When all places are taken, the next client waits for one: the client that has been silent for longest is
// hung up on, so that clients that connect and say nothing keep nobody out. Clients behind it wait in the listener's
// queue.
type Server struct {
	answer   func(Request) Reply
	dir      *Dir
	id       int
	listener *os.File
	slots    chan struct{} // filled by clients that are served
	idle     time.Duration
	closing  chan struct{} // closed: no client is waited for any more
	once     sync.Once     // closes it

	mu      sync.Mutex          // guards what follows
	conns   map[*Conn]time.Time // since when nothing has come from a client; zero: its request is being answered
	parting []*Conn             // of clients that asked for the end: never closed, so that they see it
	over    bool                // no client is taken any more
	wg      sync.WaitGroup
}

// Limits of a server.
const (
	MaxClients  = 16
	RequestTime = 10 * time.Second       // for a client to send a request, and to take the reply
	IdleTime    = 250 * time.Millisecond // after which a silent client makes room for another
	partingTime = 500 * time.Millisecond // for a reply at the end
	acceptPause = 50 * time.Millisecond  // after an error, so that a lasting one does not use a processor
)

// bad returns the reply to a request that cannot be read.
func bad(err error) Reply {
	return Reply{Error: &Error{Text: fmt.Sprintf("cannot read the request: %v", err), Status: statusUsage}}
}

// statusUsage is gotap's exit status for wrong usage.
const statusUsage = 2

// NewServer opens the socket of the session with a number. answer is called for each request, by several goroutines; it
// sets no version. Silent clients make room after idle.
func NewServer(id int, idle time.Duration, answer func(Request) Reply) (*Server, error) {
	dir, err := Open(true)
	if err != nil {
		return nil, err
	}
	s := &Server{answer: answer, dir: dir, id: id, conns: map[*Conn]time.Time{}, slots: make(chan struct{}, MaxClients), idle: idle,
		closing: make(chan struct{})}
	if s.listener, err = dir.Listen(id); err != nil {
		dir.Close()
		return nil, err
	}
	return s, nil
}

// Serve accepts clients until Close.
func (s *Server) Serve() {
	s.dir.Sessions() // removes the sockets of killed sessions
	raw, err := s.listener.SyscallConn()
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
			time.Sleep(acceptPause) // too many open files, or a client that has gone
		case CheckPeer(fd) != nil: // another user's
			unix.Close(fd)
		case !s.takePlace():
			unix.Close(fd)
			return
		default:
			s.admit(fd)
		}
	}
}

// takePlace waits for a place for a client, and makes room if there is none. It reports false at the end.
func (s *Server) takePlace() bool {
	for {
		select {
		case s.slots <- struct{}{}:
			return true
		case <-s.closing:
			return false
		case <-time.After(s.makeRoom()):
		}
	}
}

// makeRoom hangs up on the client that has been silent for longest, if that is long enough, and returns when to look
// again.
func (s *Server) makeRoom() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var silent *Conn
	for c, since := range s.conns {
		if !since.IsZero() && (silent == nil || since.Before(s.conns[silent])) {
			silent = c
		}
	}
	if silent == nil { // all are being answered
		return IdleTime
	}
	if left := s.idle - time.Since(s.conns[silent]); left > 0 {
		return left
	}
	silent.StopReading(partingTime)
	return IdleTime
}

// admit begins to serve a client that has a place.
func (s *Server) admit(fd int) {
	c := NewConn(fd)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		c.Close()
		<-s.slots
		return
	}
	s.conns[c] = time.Now()
	s.wg.Add(1)
	go s.serve(c)
}

// serve answers a client's requests until it hangs up, is silent for too long, or sends a line that is too long.
func (s *Server) serve(c *Conn) {
	defer s.wg.Done()
	for s.turn(c) {
	}
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	<-s.slots
}

// turn handles one request and reports whether there may be another.
func (s *Server) turn(c *Conn) bool {
	var request Request
	var wrong *BadJSON
	err := c.Receive(&request, RequestTime)
	s.heard(c, time.Time{})
	defer func() { s.heard(c, time.Now()) }()
	var reply Reply
	switch {
	case errors.As(err, &wrong), errors.Is(err, ErrLongLine):
		reply = bad(err)
	case err != nil:
		c.Close()
		return false
	default:
		reply = s.answer(request)
	}
	reply.Version = Version
	failed := c.Send(reply, RequestTime) != nil
	if request.Verb == "stop" && reply.Error == nil && !failed {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.parting = append(s.parting, c)
		return false
	}
	if failed || errors.Is(err, ErrLongLine) {
		c.Close()
		return false
	}
	return true
}

// heard notes since when a client is silent; the zero time: it is being answered.
func (s *Server) heard(c *Conn, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, served := s.conns[c]; served {
		s.conns[c] = at
	}
}

// Close ends the socket: requests that are being answered are finished. freeze is called when no new client comes any
// more.
func (s *Server) Close(freeze func()) {
	s.Unlink()
	s.once.Do(func() { close(s.closing) })
	s.listener.Close()
	freeze()
	s.mu.Lock()
	s.over = true
	for c := range s.conns {
		c.StopReading(partingTime)
	}
	s.mu.Unlock()
	s.wg.Wait()
}

// Unlink removes the socket's name, which is all that an end in a hurry needs.
func (s *Server) Unlink() { s.dir.Forget(s.id) }
