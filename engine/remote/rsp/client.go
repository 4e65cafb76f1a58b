package rsp

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Patience is how long an answer may take. Stubs behind slow serial lines need a second for a packet of memory.
const Patience = 5 * time.Second

// retries is how often a damaged packet is requested again.
const retries = 5

// ErrUnsupported means that the stub does not know a request: it answered with an empty packet.
var ErrUnsupported = errors.New("the stub does not support it")

// ErrGone matches every error of a connection that has ended.
var ErrGone = errors.New("the connection is lost")

// StubError is an error with which the stub answered.
type StubError struct {
	Command string
	Code    string // "01", or a text
}

// Error returns the request and the stub's own error code, which has no meaning outside the stub.
func (e *StubError) Error() string {
	return fmt.Sprintf("the stub refuses %q: error %s", e.Command, e.Code)
}

// NotStubError reports a peer that does not speak the protocol.
type NotStubError struct {
	Address string
	Heard   string // the first bytes that came from it, if any
	Err     error
}

// Error quotes what the peer sent, which usually shows what it is.
func (e *NotStubError) Error() string {
	if e.Heard == "" {
		return fmt.Sprintf("%s does not answer as a GDB stub: %v", e.Address, e.Err)
	}
	return fmt.Sprintf("%s is not a GDB stub: it says %q", e.Address, e.Heard)
}

// Unwrap returns the reason why the exchange ended.
func (e *NotStubError) Unwrap() error { return e.Err }

// Client is a connection to a stub. The package documentation says which calls are allowed when.
type Client struct {
	address     string
	conn        net.Conn
	patience    time.Duration
	answers     chan []byte
	failed      chan struct{} // closed with the first failure: answers are no longer received
	dead        chan struct{} // closed when the reader has ended
	failure     atomic.Pointer[error]
	noAck       atomic.Bool
	lastPacket  atomic.Pointer[[]byte] // the last packet sent
	interrupted atomic.Bool            // an interrupt was sent since the last stop
	again       atomic.Int32           // how often the stub asked for our last packet again

	mu      sync.Mutex // held for one exchange, so that each caller gets its own answer; guards resumes
	resumes string     // answer to "vCont?"
	scanner scanner    // used only by the reader until dead is closed

	// Used only by the goroutine that drives the target: a choice of thread and the requests that depend on it
	// belong together anyway.
	thread   string // the thread whose registers and memory are read; "" if none is chosen
	features map[string]string
	size     int // of the stub's packets, in bytes
	desc     *Description
	noWrite  bool // the stub does not support "P"
	noBinary bool // the stub does not support "X"
}

// Dial connects to the stub at HOST:PORT and determines what it can do. The target is then stopped.
func Dial(address string) (*Client, error) {
	conn, err := net.DialTimeout("tcp", address, Patience)
	if err != nil {
		return nil, err
	}
	return New(conn, address, Patience)
}

// New is Dial for an existing connection; patience is how long an answer may take. The Client takes over the
// connection.
func New(conn net.Conn, address string, patience time.Duration) (*Client, error) {
	c := &Client{address: address, conn: conn, patience: patience, answers: make(chan []byte, 16),
		failed: make(chan struct{}), dead: make(chan struct{}), size: 400}
	c.scanner.in = bufio.NewReader(conn)
	go c.read()
	if err := c.greet(); err != nil {
		c.Close()
		<-c.dead
		if c.features == nil && !errors.Is(err, ErrUnsupported) {
			return nil, &NotStubError{address, string(c.scanner.garbage), err}
		}
		return nil, err
	}
	return c, nil
}

// asked is what this side says about itself: register sets of x86 are wanted as XML, and breakpoints are to be
// reported as such.
const asked = "qSupported:swbreak+;hwbreak+;vContSupported+;xmlRegisters=i386,arm"

// follows is what is requested in addition from stubs whose targets may make children: reports of children and of a
// new program.
const follows = ";multiprocess+;fork-events+;vfork-events+;exec-events+"

// greet begins the protocol.
func (c *Client) greet() error {
	if _, err := c.conn.Write([]byte{'+'}); err != nil { // for a packet of a former client that was not acknowledged
		return err
	}
	reply, err := c.Call(asked)
	if _, stop := parseStop(reply); err == nil && reply != "" && stop == nil { // QEMU's machines tell that the connection has stopped them
		next, e := c.answer(c.patience)
		if e == nil {
			e = refusal([]byte(asked), next)
		}
		reply, err = string(next), e
	}
	if err != nil && !errors.Is(err, ErrUnsupported) { // stubs older than the request
		return err
	}
	c.features = parseFeatures(reply)
	if c.Has("fork-events") && c.Has("multiprocess") {
		if reply, err = c.Call(asked + follows); err != nil {
			return err
		}
		c.features = parseFeatures(reply)
	}
	if n, err := number(c.features["PacketSize"]); err == nil && n >= 64 {
		c.size = int(min(n, maxPacket/2))
	}
	if c.features["QStartNoAckMode"] == "+" {
		if _, err := c.Call("QStartNoAckMode"); err == nil {
			c.noAck.Store(true)
		}
	}
	return nil
}

// parseFeatures parses "NAME+;NAME-;NAME=VALUE".
func parseFeatures(reply string) map[string]string {
	all := map[string]string{}
	for item := range strings.SplitSeq(reply, ";") {
		if name, value, ok := strings.Cut(item, "="); ok {
			all[name] = value
		} else if n := len(item); n > 1 {
			all[item[:n-1]] = item[n-1:]
		}
	}
	return all
}

// Has reports whether the stub says that it has a feature ("qXfer:auxv:read").
func (c *Client) Has(feature string) bool { return c.features[feature] == "+" }

// read is the goroutine that reads packets from the connection.
func (c *Client) read() {
	defer close(c.dead)
	bad := 0
	for {
		payload, notice, err := c.scanner.next()
		switch {
		case errors.Is(err, errChecksum) && !c.noAck.Load() && bad < retries:
			bad++
			c.conn.Write([]byte{'-'})
			continue
		case err != nil:
			c.fail(err)
			return
		case c.scanner.nack:
			c.scanner.nack = false
			c.repeat()
			continue
		}
		bad = 0
		if !c.noAck.Load() {
			c.conn.Write([]byte{'+'}) // an error appears at the next read
		}
		if notice {
			continue
		}
		// A peer that sends unrequested packets fills the channel; the reader must still end with the connection.
		select {
		case c.answers <- payload:
		case <-c.failed:
			return
		}
	}
}

// repeat resends the last packet.
func (c *Client) repeat() {
	if c.again.Add(1) > retries {
		c.fail(errors.New("the stub does not understand packets"))
		return
	}
	if p := c.lastPacket.Load(); p != nil {
		c.conn.Write(*p)
	}
}

// fail ends the connection for a reason. Only the first reason is kept.
func (c *Client) fail(err error) {
	err = fmt.Errorf("%w: %w", ErrGone, err)
	if c.failure.CompareAndSwap(nil, &err) {
		close(c.failed)
	}
	c.conn.Close()
}

// Err returns the reason why the connection has ended, or nil if it has not.
func (c *Client) Err() error {
	if e := c.failure.Load(); e != nil {
		return *e
	}
	return nil
}

// Close closes the connection. What happens to the target then is up to the stub: see Detach.
func (c *Client) Close() error {
	c.fail(errors.New("closed"))
	return nil
}

// send writes a packet.
func (c *Client) send(payload []byte) error {
	if err := c.Err(); err != nil {
		return err
	}
	p := encode(payload)
	c.again.Store(0)
	c.lastPacket.Store(&p)
	c.conn.SetWriteDeadline(time.Now().Add(c.patience))
	if _, err := c.conn.Write(p); err != nil {
		c.fail(err)
		return c.Err()
	}
	return nil
}

// Call makes a request and returns the answer. ErrUnsupported and *StubError are answers too; they do not affect
// the connection.
func (c *Client) Call(command string) (string, error) {
	reply, err := c.call([]byte(command))
	return string(reply), err
}

func (c *Client) call(command []byte) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.callLocked(command)
}

// callLocked is Call for a caller that holds the lock.
func (c *Client) callLocked(command []byte) ([]byte, error) {
	if err := c.send(command); err != nil {
		return nil, err
	}
	reply, err := c.answer(c.patience)
	if err != nil {
		return nil, err
	}
	if s, err := parseStop(string(reply)); err == nil && s.Thread != "" && command[0] != '?' && c.features != nil {
		return nil, fmt.Errorf("%w: thread %s", ErrNotStopped, s.Thread)
	}
	return reply, refusal(command, reply)
}

// ErrNotStopped means that a stub reported a thread's stop while the target was already stopped. From then on its
// answers cannot be distinguished from its stop replies.
var ErrNotStopped = errors.New("the stub does not stop all threads together")

// refusal returns the error that an answer represents.
func refusal(command, reply []byte) error {
	if len(reply) > 24 {
		return nil
	}
	name := string(command[:min(len(command), 24)])
	switch {
	case len(reply) == 0:
		return fmt.Errorf("cannot do %q: %w", name, ErrUnsupported)
	case len(reply) == 3 && reply[0] == 'E', len(reply) > 2 && string(reply[:2]) == "E.":
		return &StubError{name, string(reply[1:])}
	}
	return nil
}

// errTimeout is the reason for a connection that was closed because no answer arrived.
var errTimeout = errors.New("the stub does not answer")

// answer waits for the next packet.
func (c *Client) answer(patience time.Duration) ([]byte, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case reply := <-c.answers:
		return reply, nil
	case <-c.dead:
		select { // packets that arrived before the end
		case reply := <-c.answers:
			return reply, nil
		default:
			return nil, c.Err()
		}
	case <-timer.C:
		c.fail(fmt.Errorf("%w within %v", errTimeout, patience))
		return nil, c.Err()
	}
}
