package watchdog

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// Options say what a Watchdog watches and whom it calls.
type Options struct {
	Deadline  time.Duration      // of one callback; the top level of a script has loadFactor times as long
	HeapLimit uint64             // bytes by which the heap may grow
	Interrupt func(reason error) // ends the running callback; safe for concurrent use
	Clear     func()             // takes back an interrupt that came too late
	Stuck     func(error)        // called once for a callback that does not react to Interrupt; may be nil
	Patience  time.Duration      // from Interrupt to Stuck; 0: 3 s
}

// Watchdog ends callbacks that run too long or take too much memory.
type Watchdog struct {
	Options
	memory  func() (heap, stacks uint64) // bytes of objects, garbage included; bytes of stacks
	collect func()                       // collects garbage

	collecting atomic.Bool

	mu       sync.Mutex    // guards what follows
	limit    DeadlineError // of the running callback
	until    time.Time     // its deadline; zero: none runs
	fired    time.Time     // when it was interrupted
	reported bool          // Stuck has been called
	depth    int           // nested Begins
	asleep   bool          // the goroutine waits for wake
	base     uint64        // heap in use when the script was loaded
	wake     chan struct{}
	done     chan struct{}
}

const (
	watchPeriod = 5 * time.Millisecond
	watchIdle   = 200             // periods without a callback before the goroutine sleeps
	stuckAfter  = 3 * time.Second // from the interrupt to Stuck
)

// New makes a Watchdog and starts its goroutine, which ends with Close.
func New(o Options) *Watchdog {
	w := newWatchdog(o)
	go w.run()
	return w
}

func newWatchdog(o Options) *Watchdog {
	if o.Patience == 0 {
		o.Patience = stuckAfter
	}
	return &Watchdog{Options: o, base: heapInUse(), asleep: true,
		memory: memoryInUse, collect: goruntime.GC, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// loadFactor is how many times the deadline of a callback the top level of a script may take: no target waits for it,
// and small machines are slow.
const loadFactor = 5

// scriptTop is how errors name the top level of a script.
const scriptTop = "script"

// Begin starts the clock of a callback, or of the top level of a script.
func (w *Watchdog) Begin(top bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.depth++; w.depth > 1 {
		return
	}
	w.limit = DeadlineError{w.Deadline, "callback"}
	if top {
		w.limit = DeadlineError{loadFactor * w.Deadline, scriptTop}
	}
	w.until, w.fired, w.reported = time.Now().Add(w.limit.after), time.Time{}, false
	w.rouseLocked()
}

// rouseLocked wakes the goroutine if it sleeps. It does not block: wake is empty whenever asleep is true.
func (w *Watchdog) rouseLocked() {
	if w.asleep {
		w.asleep = false
		w.wake <- struct{}{}
	}
}

// End stops the clock. An interrupt that comes too late for this callback does not hit the next one.
func (w *Watchdog) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.depth--; w.depth > 0 {
		return
	}
	w.until = time.Time{}
	w.Clear()
}

// Pause stops the clock while a callback waits for work that the script cannot hurry: placing probes, reading symbols.
// resume starts it again.
func (w *Watchdog) Pause() (resume func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.until.IsZero() || !w.fired.IsZero() {
		return func() {}
	}
	left := time.Until(w.until)
	w.until = time.Time{}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.until = time.Now().Add(left)
	}
}

// Within lets callbacks run within the running one, each with its own clock, while the clock of the outer one stands
// still. resume restarts that; inside is false when no callback runs.
func (w *Watchdog) Within() (inside bool, resume func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left, depth, limit := time.Until(w.until), w.depth, w.limit
	if depth == 0 {
		return false, func() {}
	}
	w.until, w.depth = time.Time{}, 0
	return true, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.until, w.fired, w.depth, w.limit = time.Now().Add(left), time.Time{}, depth, limit
		w.rouseLocked() // it may have fallen asleep if no callback ran meanwhile
	}
}

// Rebase measures the growth of the heap from its present size.
func (w *Watchdog) Rebase() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.base = heapInUse()
}

// run is the goroutine.
func (w *Watchdog) run() {
	ticker := time.NewTicker(watchPeriod)
	defer ticker.Stop()
	for idle := watchIdle; ; {
		if idle >= watchIdle {
			ticker.Stop()
			select {
			case <-w.wake:
				ticker.Reset(watchPeriod)
				idle = 0
			case <-w.done:
				return
			}
		}
		select {
		case <-ticker.C:
		case <-w.done:
			return
		}
		if w.look() {
			idle = 0
		} else if idle++; idle >= watchIdle && !w.sleep() {
			idle = 0
		}
	}
}

// sleep reports whether the goroutine may sleep: no callback runs. From then on Begin wakes it.
func (w *Watchdog) sleep() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asleep = w.depth == 0
	return w.asleep
}

// look checks the running callback; it reports whether one runs.
func (w *Watchdog) look() bool {
	heap, stacks := w.memory()
	w.mu.Lock()
	running := !w.until.IsZero()
	heap -= min(heap, w.base)
	grown, what := running && w.fired.IsZero() && heap > w.HeapLimit, w.limit.what
	w.mu.Unlock()
	if !running {
		return false
	}
	if stacks > maxStack {
		w.giveUp(errors.New("cannot interrupt the script: a built-in function nests too deeply"))
		return true
	}
	switch {
	case grown && heap > garbageFactor*w.HeapLimit:
		w.fire(HeapError{w.HeapLimit, what})
	case grown && w.collecting.CompareAndSwap(false, true):
		go w.weigh()
	}
	w.check()
	return true
}

// garbageFactor: a heap larger than this times the limit is not collected first; the callback ends at once.
const garbageFactor = 2

// weigh collects garbage before it decides that the script uses too much memory. It runs beside run: a collection waits
// for each step of the script, and a text that doubles at each step has gigabytes by the time it ends.
func (w *Watchdog) weigh() {
	defer w.collecting.Store(false)
	w.collect()
	heap, _ := w.memory()
	w.mu.Lock()
	grown, what := heap > w.base+w.HeapLimit, w.limit.what
	w.mu.Unlock()
	if grown {
		w.fire(HeapError{w.HeapLimit, what})
	}
}

// check interrupts the running callback if its time is over. It decides and interrupts with the lock held: otherwise
// the callback could end in between, and the interrupt would hit the next one.
func (w *Watchdog) check() {
	w.mu.Lock()
	now := time.Now()
	running := !w.until.IsZero()
	if running && now.After(w.until) {
		w.fireLocked(w.limit)
	}
	hopeless := running && !w.fired.IsZero() && now.Sub(w.fired) > w.Patience
	w.mu.Unlock()
	if hopeless {
		w.giveUp(fmt.Errorf("cannot interrupt the script: a built-in function went on for %v after it was to end", w.Patience))
	}
}

// giveUp calls Stuck, once for each callback.
func (w *Watchdog) giveUp(reason error) {
	w.mu.Lock()
	first := !w.reported && !w.until.IsZero()
	w.reported = w.reported || first
	w.mu.Unlock()
	if first && w.Stuck != nil {
		w.Stuck(reason)
	}
}

// maxStack is how many bytes of stack a built-in function may need. Go ends a process whose stack grows beyond 512 MB,
// and targets could not be restored then.
const maxStack = 400 << 20

// fire interrupts the running callback, if there is one.
func (w *Watchdog) fire(reason error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fireLocked(reason)
}

// fireLocked interrupts the running callback, if there is one, once. The lock is held over the interrupt, so that End
// cannot clear the interrupt before it is set.
func (w *Watchdog) fireLocked(reason error) {
	if !w.until.IsZero() && w.fired.IsZero() {
		w.fired = time.Now()
		w.Interrupt(reason)
	}
}

// Close ends the goroutine. No callback may run.
func (w *Watchdog) Close() { close(w.done) }

// DeadlineError is the reason of an interrupt after the deadline.
type DeadlineError struct {
	after time.Duration
	what  string
}

func (e DeadlineError) Error() string {
	return fmt.Sprintf("still running after %v: the %s was ended", e.after, e.what)
}

// HeapError is the reason of an interrupt at the memory limit.
type HeapError struct {
	limit uint64
	what  string // as in DeadlineError
}

func (e HeapError) Error() string {
	then := "its callbacks do not run any more"
	if e.what == scriptTop { // no callback is registered yet
		then = "it was ended"
	}
	return fmt.Sprintf("the script uses more than %d MB of memory: %s", e.limit>>20, then)
}

// heapInUse returns the size of live and not yet collected objects.
func heapInUse() uint64 {
	heap, _ := memoryInUse()
	return heap
}

// memoryInUse returns the size of live and not yet collected objects, and that of stacks.
func memoryInUse() (heap, stacks uint64) {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64(), samples[1].Value.Uint64()
}
