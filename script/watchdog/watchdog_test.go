package watchdog

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// What takes memory faster than garbage is collected is ended without waiting for the collection: it may have to wait
// for the script.
func TestMemoryBeforeCollection(t *testing.T) {
	const limit = 1 << 20
	interrupted, collection, collecting := make(chan error, 1), make(chan bool), make(chan bool, 1)
	w := newWatchdog(Options{Deadline: time.Hour, HeapLimit: limit})
	w.Interrupt, w.Clear = func(reason error) { interrupted <- reason }, func() {}
	size := w.base + limit + 1
	w.memory = func() (uint64, uint64) { return size, 0 }
	w.collect = func() { collecting <- true; <-collection }
	defer close(collection)
	w.Begin(false)
	w.look()
	<-collecting
	select {
	case reason := <-interrupted:
		t.Fatalf("ended before the collection told whether it is garbage: %v", reason)
	default:
	}
	size = w.base + garbageFactor*limit + 1
	w.look()
	if reason := <-interrupted; !errors.As(reason, new(HeapError)) {
		t.Errorf("ended because %v", reason)
	}
}

// A callback that goes on after others have run within it, or none of them for so long that nobody looks any more, is
// looked at again.
func TestWatchAfterOthersWithin(t *testing.T) {
	w := newWatchdog(Options{Deadline: time.Hour, HeapLimit: 1 << 20})
	w.Interrupt, w.Clear = func(error) {}, func() {}
	w.Begin(false)
	<-w.wake // the goroutine, which is not there
	inside, resume := w.Within()
	if !inside || !w.sleep() {
		t.Fatalf("inside is %v, and looking goes on while no callback runs", inside)
	}
	resume()
	select {
	case <-w.wake:
	default:
		t.Error("nobody looks at the callback that goes on")
	}
	if w.End(); !w.sleep() {
		t.Error("looking goes on when the callback has ended")
	}
}

// A built-in whose recursion fills the stack is reported before Go ends the process.
func TestStackOfBuiltin(t *testing.T) {
	var reported []error
	w := newWatchdog(Options{Deadline: time.Hour, HeapLimit: 1 << 40})
	w.Interrupt, w.Clear, w.Stuck = func(error) {}, func() {}, func(err error) { reported = append(reported, err) }
	stacks := uint64(maxStack)
	w.memory = func() (uint64, uint64) { return 0, stacks }
	w.Begin(false)
	if w.look(); len(reported) != 0 {
		t.Fatalf("reported %v at the limit", reported)
	}
	stacks++
	w.look()
	w.look()
	w.End()
	w.look() // nothing runs
	if len(reported) != 1 || !strings.Contains(errors.Join(reported...).Error(), "nests too deeply") {
		t.Errorf("reported %v", reported)
	}
}

// TestNextCallback: an interrupt is for the callback whose time is over, and never hits the next one, which begins at
// once.
func TestNextCallback(t *testing.T) {
	const deadline = 20 * time.Microsecond
	w := newWatchdog(Options{Deadline: deadline, HeapLimit: 1 << 40})
	interrupts := 0
	w.Clear = func() {}
	w.Interrupt = func(error) {
		interrupts++
		if left := time.Until(w.until); left > 0 {
			t.Errorf("interrupted %v before the end of its time", left)
		}
	}
	w.asleep = false // nobody has to be woken
	over := make(chan struct{})
	go func() {
		defer close(over)
		for n := 0; n < 30; {
			w.Begin(false)
			for begin := time.Now(); time.Since(begin) < deadline; {
			}
			w.End()
			w.mu.Lock()
			n = interrupts
			w.mu.Unlock()
		}
	}()
	for {
		select {
		case <-over:
			return
		default:
			w.check()
		}
	}
}
