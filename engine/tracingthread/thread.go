package tracingthread

import (
	"errors"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// ErrClosed is returned for what is posted to a thread that has ended.
var ErrClosed = errors.New("the session is over")

// Thread is a tracing thread. Its body waits for tracees and runs what other goroutines post.
//
// Waking it. The thread sleeps in wait4, which only a tracee's report or a signal ends. A poster queues its closure,
// sets pending, and kicks the thread with a signal that makes wait4 return EINTR. The signal may come between the
// thread's check of pending and its wait4, and be lost. So the poster repeats it, first after kickInterval, until the
// closure has run. No wake-up is lost for longer than that. The thread pays a few atomic operations per wait for it,
// but no lock and no channel.
//
// Each signal costs the thread a run of a handler. If many posters all kicked the thread while it is busy, a slow machine
// would run only these handlers, while more posters start to wait. So only the poster of the oldest closure kicks, only
// while the thread waits for tracees, and less and less often.
type Thread struct {
	tid     atomic.Int32
	pending atomic.Bool
	waiting atomic.Bool   // it waits for a tracee, or will do so after one more check of pending
	wake    chan struct{} // wakes the thread when it has no tracee to wait for
	dead    chan struct{} // closed when the thread has ended

	next    atomic.Uint64 // when the first of timers is due
	alarm   ptrace.Alarm
	noAlarm bool        // the kernel has none for this program
	brief   atomic.Bool // the alarm ends each wait soon

	mu     sync.Mutex // guards what follows; no other lock is taken under it
	queue  []*task
	timers []timer // by time
	over   bool
}

type task struct {
	fn   func()
	done chan struct{}
}

// kickInterval is the time between the first kick and the second. The interval doubles after each kick, up to
// longestKick.
const (
	kickInterval = 500 * time.Microsecond
	longestKick  = 64 * time.Millisecond
)

// New returns a thread that has not started.
func New() *Thread {
	h := &Thread{wake: make(chan struct{}, 1), dead: make(chan struct{})}
	h.next.Store(never)
	return h
}

// Start runs body on a thread of its own, which ends with body: the kernel then detaches what that thread still traces.
// The program's first thread is not suitable, because Go cannot end it. A thread that has started a process for another
// caller is not suitable either: wait would report that child's stops and end to us, and take them from its owner.
// Other goroutines occupy such threads until a suitable one is found.
func (h *Thread) Start(body func()) {
	ready := make(chan struct{})
	var run func()
	run = func() {
		goruntime.LockOSThread() // forever: never unlocked
		if syscall.Getpid() == ptrace.Tid() || procfs.IsParent(ptrace.Tid()) {
			go run()
			<-ready
			goruntime.UnlockOSThread()
			return
		}
		h.tid.Store(int32(ptrace.Tid()))
		ptrace.QuietStops()
		h.makeAlarm()
		close(ready)
		defer h.finish()
		body()
	}
	go run()
	<-ready
}

// Ended waits until the thread has ended, and all tracing with it: the kernel detaches what a thread traces
// before it removes the thread.
func (h *Thread) Ended() {
	<-h.dead
	for range 10000 {
		if ptrace.SendThread(syscall.Getpid(), int(h.tid.Load()), 0) != 0 {
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// finish wakes all callers that still wait.
func (h *Thread) finish() {
	h.mu.Lock()
	h.over = true
	queue := h.queue
	h.queue, h.timers = nil, nil
	if !h.noAlarm {
		h.alarm.Delete()
	}
	h.mu.Unlock()
	for _, t := range queue {
		close(t.done)
	}
	close(h.dead)
}

// Tid returns the thread's number in the kernel.
func (h *Thread) Tid() int { return int(h.tid.Load()) }

// Dead returns a channel that is closed when the body has returned: nothing that is posted runs any more.
func (h *Thread) Dead() <-chan struct{} { return h.dead }

// Do runs fn on the thread and returns when it has run. It returns ErrClosed if the thread ends before it does. It must
// not be called on that thread.
func (h *Thread) Do(fn func()) error {
	t := &task{done: make(chan struct{})}
	ran := false
	t.fn = func() { fn(); ran = true }
	h.mu.Lock()
	if h.over {
		h.mu.Unlock()
		return ErrClosed
	}
	h.queue = append(h.queue, t)
	h.pending.Store(true)
	h.mu.Unlock()
	h.await(t)
	if !ran {
		return ErrClosed
	}
	return nil
}

// await kicks until a task is done.
func (h *Thread) await(t *task) {
	interval := kickInterval
	again := time.NewTimer(interval)
	defer again.Stop()
	for {
		if h.kick(t) {
			interval = min(2*interval, longestKick)
		}
		select {
		case <-t.done:
			return
		case <-again.C:
			again.Reset(interval)
		}
	}
}

// kick wakes the thread for a task, if the task is the oldest and the thread waits. It reports whether it did.
func (h *Thread) kick(t *task) bool {
	h.endIdle()
	if !h.waiting.Load() || !h.oldest(t) {
		return false
	}
	ptrace.Kick(int(h.tid.Load()))
	return true
}

// oldest reports whether a task is the next to run.
func (h *Thread) oldest(t *task) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.queue) > 0 && h.queue[0] == t
}

// MayWait announces to posters that the thread is about to wait for tracees. It returns false if the thread must not
// wait, because something has been posted or is due: a poster either finds waiting set, or has set pending before MayWait
// checks it. After the wait the thread calls Waited. Only the thread itself calls it.
func (h *Thread) MayWait() bool {
	h.waiting.Store(true)
	if h.pending.Load() || h.isDue() {
		h.waiting.Store(false)
		return false
	}
	return true
}

// Waited ends what MayWait announced. Only the thread itself calls it.
func (h *Thread) Waited() { h.waiting.Store(false) }

// RunTasks runs what was posted, and what is due. Only the thread itself calls it, between two stops of tracees.
func (h *Thread) RunTasks() {
	h.runTimers()
	for h.pending.Load() {
		if t := h.nextTask(); t != nil {
			t.run()
		}
	}
}

// nextTask takes the oldest task from the queue.
func (h *Thread) nextTask() *task {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.queue) == 0 {
		h.pending.Store(false)
		return nil
	}
	t := h.queue[0]
	h.queue = h.queue[1:]
	return t
}

// run runs a task. The caller that waits for it is woken even if the task panics.
func (t *task) run() {
	defer close(t.done)
	t.fn()
}

// Idle waits for a task, or until something is due, when there is nothing to trace. Only the thread itself calls it.
func (h *Thread) Idle() {
	if h.pending.Load() {
		return
	}
	wait, any := h.untilNext()
	if !any {
		<-h.wake
		return
	}
	due := time.NewTimer(wait)
	defer due.Stop()
	select {
	case <-h.wake:
	case <-due.C:
	}
}

// endIdle ends the Idle of now, or the next one.
func (h *Thread) endIdle() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}
