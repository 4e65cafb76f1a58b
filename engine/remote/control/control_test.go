package control

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"gotap/engine/remote/rsp"
)

// stub is a connection to a target that runs until it is interrupted, or until the test stops it.
type stub struct {
	stops  chan rsp.Stop
	closed chan struct{}
	once   sync.Once

	mu      sync.Mutex
	deaf    bool     // an interrupt has no effect
	late    bool     // the next interrupt is overtaken by a breakpoint, and comes when the target runs again
	due     bool     // an overtaken interrupt
	asked   int      // number of interrupts
	resumed []string // what was asked for, each time
}

var errClosed = errors.New("closed")

func newStub() *stub { return &stub{stops: make(chan rsp.Stop, 8), closed: make(chan struct{})} }

func (s *stub) Resume(actions ...rsp.Action) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resumed = append(s.resumed, fmt.Sprint(actions))
	if s.due {
		s.due = false
		s.stops <- interrupted
	}
	return nil
}

func (s *stub) Interrupt() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	switch {
	case s.deaf:
	case s.late:
		s.late, s.due = false, true
		s.stops <- breakpoint
	default:
		s.stops <- interrupted
	}
	return nil
}

func (s *stub) WaitStop(patience time.Duration, _ func([]byte)) (rsp.Stop, bool, error) {
	var due <-chan time.Time
	if patience > 0 {
		due = time.After(patience)
	}
	select {
	case stop := <-s.stops:
		return stop, true, nil
	case <-due:
		return rsp.Stop{}, false, nil
	case <-s.closed:
		return rsp.Stop{}, false, errClosed
	}
}

func (s *stub) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// last returns what the target was last resumed with, and how often it was.
func (s *stub) last() (string, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.resumed) == 0 {
		return "", 0
	}
	return s.resumed[len(s.resumed)-1], len(s.resumed)
}

// The stops of the tests.
var (
	interrupted = rsp.Stop{Signal: rsp.SignalInt}
	breakpoint  = rsp.Stop{Signal: rsp.SignalTrap}
	exit        = rsp.Stop{Kind: rsp.Exited}
)

// target records the stops that are not interrupts of ours.
type target struct {
	c       *Control
	stops   []rsp.Stop
	lone    string
	handled chan rsp.Stop
	hold    uint32 // the ticket of the next breakpoint
	err     error
}

func (t *target) Lone() string            { return t.lone }
func (t *target) HasSignals() bool        { return true }
func (t *target) Explain(err error) error { return fmt.Errorf("explained: %w", err) }

func (t *target) Stopped(stop rsp.Stop) error {
	switch {
	case stop.Kind != rsp.Stopped:
		t.c.End()
	case !t.c.TakeInterrupt(stop):
		t.stops = append(t.stops, stop)
		if t.hold != 0 {
			t.c.Hold(t.hold)
			t.hold = 0
		}
	}
	t.handled <- stop
	return t.err
}

// started returns the control of a target that runs.
func started(t *testing.T, s *stub) (*Control, *target) {
	t.Helper()
	on := &target{handled: make(chan rsp.Stop, 1000)}
	c := New(s, on)
	on.c = c
	go c.Run()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(true, func() error { return nil }) })
	return c, on
}

// TestWhileStopped: calls stop the target, also when they come together, and the last one resumes it. The stops that
// were asked for are nobody's signals.
func TestWhileStopped(t *testing.T) {
	s := newStub()
	c, on := started(t, s)
	var all sync.WaitGroup
	calls, inside := 0, 0
	for range 8 {
		all.Go(func() {
			for range 20 {
				err := c.WhileStopped(func() error {
					if inside++; inside != 1 || c.running {
						t.Error("the call is not alone with a stopped target")
					}
					calls++
					inside--
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	c.Lock()
	defer c.Unlock()
	if calls != 160 || !c.running || c.wanted != 0 || len(on.stops) != 0 {
		t.Errorf("%d calls; runs: %v; wanted: %d; foreign stops: %v", calls, c.running, c.wanted, on.stops)
	}
}

// TestOneInterrupt: calls that wait for the same stop ask for it once. A second interrupt would stop the target again
// after the calls, and might reach it as a signal.
func TestOneInterrupt(t *testing.T) {
	s := newStub()
	s.deaf = true
	c, on := started(t, s)
	const callers = 4
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			if err := c.WhileStopped(func() error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	for waiting := 0; waiting != callers; time.Sleep(time.Millisecond) {
		c.Lock()
		waiting = c.wanted
		c.Unlock()
	}
	s.mu.Lock()
	s.deaf = false
	s.mu.Unlock()
	s.stops <- interrupted
	all.Wait()
	c.Lock()
	defer c.Unlock()
	if s.asked != 1 || len(on.stops) != 0 || c.due != 0 || !c.running {
		t.Errorf("asked %d times, %d due; runs: %v; foreign stops: %v", s.asked, c.due, c.running, on.stops)
	}
}

// TestAskedAgain: each time that the target runs it can be asked, and no stop that was asked for is taken for a signal,
// however late it comes.
func TestAskedAgain(t *testing.T) {
	s := newStub()
	c, on := started(t, s)
	for range 3 {
		s.mu.Lock()
		s.late = true
		s.mu.Unlock()
		if err := c.WhileStopped(func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(false, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	for _, stop := range on.stops {
		if stop != breakpoint {
			t.Errorf("a foreign stop: %+v", stop)
		}
	}
}

// TestNotStarted: a target that has not been started stays stopped, and needs no interrupt.
func TestNotStarted(t *testing.T) {
	s := newStub()
	c := New(s, &target{})
	go c.Run()
	if err := c.WhileStopped(func() error { return nil }); err != nil {
		t.Error(err)
	}
	if what, n := s.last(); n != 0 {
		t.Errorf("resumed by %s", what)
	}
	c.Close(false, func() error { return nil })
}

// TestHold: a ticket keeps the target stopped until it is released.
func TestHold(t *testing.T) {
	s := newStub()
	c, on := started(t, s)
	c.Lock()
	on.hold = 7
	c.Unlock()
	s.stops <- breakpoint
	<-on.handled
	if err := c.WhileStopped(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	c.Release(8)
	if _, n := s.last(); n != 1 {
		t.Errorf("resumed %d times while it was held", n)
	}
	c.Release(7)
	if _, n := s.last(); n != 2 {
		t.Errorf("resumed %d times after it was released", n)
	}
}

// TestResume: a signal is delivered once, with all threads running; a lone thread runs alone.
func TestResume(t *testing.T) {
	s := newStub()
	c, on := started(t, s)
	set := func(fn func()) {
		t.Helper()
		if err := c.WhileStopped(func() error { fn(); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	want := func(actions ...rsp.Action) {
		t.Helper()
		if got, _ := s.last(); got != fmt.Sprint(actions) {
			t.Errorf("resumed with %s, not %v", got, actions)
		}
	}
	set(func() { c.Deliver(9, "t2") })
	want(rsp.Action{Signal: 9, Thread: "t2"}, rsp.Action{})
	set(func() {})
	want(rsp.Action{})
	set(func() { on.lone = "t1" })
	want(rsp.Action{Thread: "t1"})
}

// TestOvertaken: an interrupt that a breakpoint has overtaken is awaited before the target is restored.
func TestOvertaken(t *testing.T) {
	s := newStub()
	s.late = true
	c, on := started(t, s)
	if err := c.Close(false, func() error {
		if s.due || len(s.stops) != 0 || c.due != 0 || c.running {
			t.Error("an interrupt is still due")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(on.stops, []rsp.Stop{breakpoint}) {
		t.Errorf("handled %v", on.stops)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("the session ended with %v", err)
	}
	if err := c.Start(); !errors.Is(err, ErrEnded) {
		t.Errorf("starting it again: %v", err)
	}
}

// TestFailure: a lost connection and a handler's error end the session, and every call says why.
func TestFailure(t *testing.T) {
	broken := errors.New("broken")
	for want, fail := range map[error]func(*stub, *Control, *target){
		errClosed: func(s *stub, _ *Control, _ *target) { s.Close() },
		broken: func(s *stub, c *Control, on *target) {
			c.Lock()
			defer c.Unlock()
			on.err = broken
			s.stops <- breakpoint
		},
	} {
		s := newStub()
		c, on := started(t, s)
		fail(s, c, on)
		<-c.Done()
		for _, err := range []error{c.Wait(), c.Start(), c.WhileStopped(func() error { return nil })} {
			if !errors.Is(err, want) || err.Error() != "explained: "+want.Error() {
				t.Errorf("%v, not %v", err, want)
			}
		}
	}
}

// TestExit: a target that has ended needs no restoring.
func TestExit(t *testing.T) {
	s := newStub()
	c, _ := started(t, s)
	s.stops <- exit
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if err := c.Close(false, func() error { return errors.New("restored") }); err != nil {
		t.Error(err)
	}
}

// TestCloseNow: a target that was asked in vain is left running, soon.
func TestCloseNow(t *testing.T) {
	s := newStub()
	s.deaf = true
	c, _ := started(t, s)
	asking := make(chan error)
	go func() { asking <- c.WhileStopped(func() error { return nil }) }()
	for asked := false; !asked; time.Sleep(time.Millisecond) {
		c.Lock()
		asked = c.asked
		c.Unlock()
	}
	begin := time.Now()
	if err := c.Close(true, func() error { return errors.New("restored") }); !errors.Is(err, errLeftRunning) {
		t.Error(err)
	}
	if took := time.Since(begin); took > stopPatience/2 {
		t.Errorf("it took %v", took)
	}
	if err := <-asking; !errors.Is(err, ErrEnded) {
		t.Errorf("the call that waited: %v", err)
	}
}

// TestRunUntil: the target runs until it is where it should be, and other stops are handled.
func TestRunUntil(t *testing.T) {
	s := newStub()
	c, on := started(t, s)
	err := c.WhileStopped(func() error {
		s.late = true
		n := 0
		return c.RunUntil(func() bool { n++; return n > 4 })
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Lock()
	defer c.Unlock()
	if !slices.Contains(on.stops, breakpoint) {
		t.Errorf("handled %v", on.stops)
	}
}
