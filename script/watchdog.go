package script

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// watchdog ends callbacks that run too long or take too much memory. One goroutine looks every few milliseconds, and sleeps
// while no callback runs, so that starting and ending a callback costs two uncontended locks.
type watchdog struct {
	interrupt func(reason error) // safe from any goroutine
	clear     func()
	stuck     func(error)
	deadline  time.Duration // of a callback
	heapLimit uint64
	patience  time.Duration                // from the interrupt to giving up
	memory    func() (heap, stacks uint64) // bytes of objects in use, and of garbage; bytes of stacks
	collect   func()                       // makes memory tell what is in use

	collecting atomic.Bool

	mu     sync.Mutex
	limit  errDeadline // of the running callback
	until  time.Time   // when it is over; zero: none runs
	fired  time.Time   // when it was interrupted
	told   bool        // stuck has been called
	depth  int         // nested begins
	asleep bool
	base   uint64 // heap in use when the script was loaded
	wake   chan struct{}
	done   chan struct{}
}

const (
	watchPeriod = 5 * time.Millisecond
	watchIdle   = 200             // periods without a callback before the goroutine sleeps
	stuckAfter  = 3 * time.Second // from the interrupt to giving up
)

func newWatchdog(deadline time.Duration, heapLimit uint64) *watchdog {
	return &watchdog{deadline: deadline, heapLimit: heapLimit, patience: stuckAfter, base: heapInUse(), asleep: true,
		memory: memoryInUse, collect: goruntime.GC, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// loadFactor is how many times as long as a callback the top level of a script may take. No target waits for it, and small machines
// take their time.
const loadFactor = 5

// scriptTop is what an error calls a script whose top level runs.
const scriptTop = "script"

// begin starts the clock of a callback, or of a script's top level.
func (w *watchdog) begin(top bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.depth++; w.depth > 1 {
		return
	}
	w.limit = errDeadline{w.deadline, "callback"}
	if top {
		w.limit = errDeadline{loadFactor * w.deadline, scriptTop}
	}
	w.until, w.fired, w.told = time.Now().Add(w.limit.after), time.Time{}, false
	w.rouse()
}

// rouse has the goroutine look again if it sleeps. The channel has room: it is empty whenever asleep is true. w.mu is held.
func (w *watchdog) rouse() {
	if w.asleep {
		w.asleep = false
		w.wake <- struct{}{}
	}
}

// end stops it. An interrupt that comes too late for this callback does not hit the next one.
func (w *watchdog) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.depth--; w.depth > 0 {
		return
	}
	w.until = time.Time{}
	w.clear()
}

// pause stops the clock while something outside of the script's power is done in a callback: placing probes, reading symbols.
// The result starts it again.
func (w *watchdog) pause() (resume func()) {
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

// within lets callbacks run within the running one, each with a clock of its own, while that of the running one stands still.
// resume goes on with it; inside is false when none runs.
func (w *watchdog) within() (inside bool, resume func()) {
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
		w.rouse() // what was dealt with may have had no callback for long
	}
}

// rebase takes the present size of the heap as the one that growth is measured from.
func (w *watchdog) rebase() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.base = heapInUse()
}

// run is the goroutine; it ends with close.
func (w *watchdog) run() {
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

// sleep notes that the goroutine waits to be woken, unless a callback runs just now.
func (w *watchdog) sleep() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asleep = w.depth == 0
	return w.asleep
}

// look checks the running callback; it reports whether there is one.
func (w *watchdog) look() bool {
	heap, stacks := w.memory()
	w.mu.Lock()
	running := !w.until.IsZero()
	heap -= min(heap, w.base)
	grown, what := running && w.fired.IsZero() && heap > w.heapLimit, w.limit.what
	w.mu.Unlock()
	if !running {
		return false
	}
	if stacks > maxStack {
		w.giveUp(errors.New("cannot interrupt the script: a built-in function nests too deeply"))
		return true
	}
	switch {
	case grown && heap > garbageFactor*w.heapLimit:
		w.fire(errHeap{w.heapLimit, what})
	case grown && w.collecting.CompareAndSwap(false, true):
		go w.weigh()
	}
	w.check()
	return true
}

// garbageFactor is how many times as large as what is in use the heap may be before garbage is collected.
const garbageFactor = 2

// weigh collects garbage before memory is called lost. It is done beside the looking: a text that doubles at each step is gigabytes by the
// time a collection is over, which has to wait for every step.
func (w *watchdog) weigh() {
	defer w.collecting.Store(false)
	w.collect()
	heap, _ := w.memory()
	w.mu.Lock()
	grown, what := heap > w.base+w.heapLimit, w.limit.what
	w.mu.Unlock()
	if grown {
		w.fire(errHeap{w.heapLimit, what})
	}
}

func (w *watchdog) check() {
	now := time.Now()
	w.mu.Lock()
	late := !w.until.IsZero() && now.After(w.until) && w.fired.IsZero()
	hopeless := !w.until.IsZero() && !w.fired.IsZero() && now.Sub(w.fired) > w.patience
	limit := w.limit
	w.mu.Unlock()
	switch {
	case late:
		w.fire(limit)
	case hopeless:
		w.giveUp(fmt.Errorf("cannot interrupt the script: a built-in function went on for %v after it was to end", w.patience))
	}
}

// giveUp reports, once for each callback, that the process cannot go on.
func (w *watchdog) giveUp(reason error) {
	w.mu.Lock()
	first := !w.told && !w.until.IsZero()
	w.told = w.told || first
	w.mu.Unlock()
	if first && w.stuck != nil {
		w.stuck(reason)
	}
}

// maxStack is how many bytes of stacks a built-in function may need. Go ends a process whose stack has to grow beyond 512 MB, and
// nothing can be restored then.
const maxStack = 400 << 20

// fire interrupts the callback that runs, if one still does. The lock is held over the interrupt, so that end cannot
// clear it before it is there.
func (w *watchdog) fire(reason error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.until.IsZero() && w.fired.IsZero() {
		w.fired = time.Now()
		w.interrupt(reason)
	}
}

func (w *watchdog) close() { close(w.done) }

// errDeadline is why a callback, or the top level of a script, that ran too long was ended.
type errDeadline struct {
	after time.Duration
	what  string
}

func (e errDeadline) Error() string {
	return fmt.Sprintf("still running after %v: the %s was ended", e.after, e.what)
}

// errHeap is why a callback that took too much memory was ended.
type errHeap struct {
	limit uint64
	what  string // as of errDeadline
}

func (e errHeap) Error() string {
	then := "its callbacks do not run any more"
	if e.what == scriptTop { // it has none yet
		then = "it was ended"
	}
	return fmt.Sprintf("the script uses more than %d MB of memory: %s", e.limit>>20, then)
}

// heapInUse is the size of live and not yet collected objects.
func heapInUse() uint64 {
	heap, _ := memoryInUse()
	return heap
}

// memoryInUse is the size of live and not yet collected objects, and that of stacks.
func memoryInUse() (heap, stacks uint64) {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64(), samples[1].Value.Uint64()
}
