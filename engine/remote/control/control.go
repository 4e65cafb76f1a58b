package control

import (
	"errors"
	"sync"
	"time"

	"gotap/engine/remote/rsp"
)

// Client is the connection to the stub. While the target runs, only the goroutine in Run uses it, except for Interrupt
// and Close.
type Client interface {
	Resume(actions ...rsp.Action) error
	Interrupt() error
	WaitStop(patience time.Duration, output func(text []byte)) (stop rsp.Stop, ok bool, err error)
	Close() error
}

// Target is what is behind the stub. The control calls its methods with the lock held.
type Target interface {
	// Stopped handles a stop. An error ends the session.
	Stopped(stop rsp.Stop) error
	// Lone returns the only thread that may run now; "" if all may run.
	Lone() string
	// HasSignals reports whether the stub may stop the target by a signal, which would reach a target that is detached.
	HasSignals() bool
	// Explain returns the error that callers get when err has ended the session.
	Explain(err error) error
}

// ErrEnded means that there is nothing left to trace.
var ErrEnded = errors.New("the target has ended")

// Control is the run control of one target, which is stopped at first. The lock guards all state; the state of a
// target is one of three:
//
//   - stopped: the lock's holder uses the client;
//   - running: the goroutine in Run waits for a stop, without the lock;
//   - ended: for good.
type Control struct {
	client Client
	target Target
	done   chan struct{} // closed when the target has ended, or at Close
	once   sync.Once

	mu      sync.Mutex
	turn    *sync.Cond // of mu: the target has stopped, resumed or ended
	running bool       // the target runs; only Run uses the client then
	wanted  int        // number of calls that want it stopped
	started bool
	closing bool
	ended   bool
	failure error               // what ended the session, if it was not the target
	asked   bool                // the stub has been asked for a stop since the target was resumed
	due     int                 // number of stops that the stub was asked for and that have not come
	held    map[uint32]struct{} // tickets, each of which keeps the target stopped
	signal  rsp.Action          // the signal that is delivered when the target is resumed
}

// New returns the control of a target that is stopped. The target is not resumed before Start.
func New(client Client, target Target) *Control {
	c := &Control{client: client, target: target, done: make(chan struct{}), held: map[uint32]struct{}{}}
	c.turn = sync.NewCond(&c.mu)
	return c
}

// Lock locks the target and all state about it.
func (c *Control) Lock() { c.mu.Lock() }

// Unlock is the end of Lock.
func (c *Control) Unlock() { c.mu.Unlock() }

// Run waits for stops and handles them until the session is over.
func (c *Control) Run() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for !c.running && !c.ended {
			c.turn.Wait()
		}
		if c.ended {
			return
		}
		c.mu.Unlock()
		stop, _, err := c.client.WaitStop(0, nil)
		c.mu.Lock()
		c.running = false
		if err == nil {
			err = c.target.Stopped(stop)
		}
		if err == nil {
			err = c.settle()
		}
		if err != nil {
			c.fail(err)
		}
		c.turn.Broadcast()
	}
}

// fail ends the session for a reason.
func (c *Control) fail(err error) {
	if c.failure == nil && !c.ended && !c.closing {
		c.failure = c.target.Explain(err)
	}
	c.End()
}

// End ends the session and notifies everyone who waits. The caller holds the lock.
func (c *Control) End() {
	c.ended = true
	c.once.Do(func() { close(c.done) })
	c.turn.Broadcast()
}

// Ended reports whether nothing is left to trace. The caller holds the lock.
func (c *Control) Ended() bool { return c.ended }

// Closing reports whether Close has begun: from then on the target is only restored. The caller holds the lock.
func (c *Control) Closing() bool { return c.closing }

// settle resumes the target unless some caller wants it stopped.
func (c *Control) settle() error {
	if c.running || c.ended || !c.started || c.wanted > 0 || len(c.held) > 0 {
		return nil
	}
	if err := c.resume(); err != nil {
		return err
	}
	c.running = true
	c.turn.Broadcast()
	return nil
}

// resume resumes all threads that may run, with the signal that is to be delivered.
func (c *Control) resume() error {
	c.asked = false
	if lone := c.target.Lone(); lone != "" {
		return c.client.Resume(rsp.Action{Thread: lone})
	}
	act := c.signal
	c.signal = rsp.Action{}
	if act.Signal == 0 {
		return c.client.Resume(rsp.Action{})
	}
	return c.client.Resume(act, rsp.Action{})
}

// Deliver sets the signal that the target gets when it is resumed, numbered as GDB does. The caller holds the lock.
func (c *Control) Deliver(signal int, thread string) {
	c.signal = rsp.Action{Signal: signal, Thread: thread}
}

// Hold keeps the target stopped until the ticket is released. The caller holds the lock.
func (c *Control) Hold(ticket uint32) { c.held[ticket] = struct{}{} }

// Release ends Hold.
func (c *Control) Release(ticket uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.held, ticket)
	if err := c.settle(); err != nil {
		c.fail(err)
	}
}

// Start resumes the target, and lets it be resumed after stops.
func (c *Control) Start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started = true
	if c.ended {
		return c.gone()
	}
	return c.settle()
}

// gone returns the reason why there is nothing left to trace.
func (c *Control) gone() error {
	if c.failure != nil {
		return c.failure
	}
	return ErrEnded
}

// Wait blocks until the session is over, and returns the error that ended it, if any.
func (c *Control) Wait() error {
	<-c.done
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}

// Done returns a channel that is closed when the session is over.
func (c *Control) Done() <-chan struct{} { return c.done }
