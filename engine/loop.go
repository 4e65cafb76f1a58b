package engine

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// ErrClosed is returned by a session that has been closed, or whose tracing thread has failed.
var ErrClosed = errors.New("the session is over")

// loop is the tracing thread: it waits for tracees and runs what other goroutines post.
//
// Waking it. The thread sleeps in wait4, which only a tracee's report or a signal ends. A poster queues its closure,
// sets pending, and kicks the thread with a signal that makes wait4 return EINTR. The signal may come between the
// thread's check of pending and its wait4, and be lost. So the poster repeats it, first after kickInterval, until the
// closure has run. No wake-up is lost for longer than that. The thread pays a few atomic operations per wait for it,
// but no lock and no channel.
//
// The kernel queues this signal, so each one costs the thread a run of a handler. If many posters all kicked the thread
// while it is busy, a slow machine would run only these handlers, while more posters start to wait. So only the poster
// of the oldest closure kicks, only while the thread waits for tracees, and less and less often.
type loop struct {
	tid     atomic.Int32
	pending atomic.Bool
	waiting atomic.Bool   // it waits for a tracee, or will do so after one more check of pending
	wake    chan struct{} // used while there is no tracee to wait for
	dead    chan struct{} // closed when the thread has ended

	mu    sync.Mutex // guards queue and over; no other lock is taken under it
	queue []*task
	over  bool
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

func newLoop() *loop {
	return &loop{wake: make(chan struct{}, 1), dead: make(chan struct{})}
}

// start runs body on a thread of its own, which ends with body: the kernel then detaches what that thread still traces.
// The program's first thread is not suitable, because Go cannot end it. A thread that has started a process for another
// caller is not suitable either: wait would report that child's stops and end to us, and take them from its owner.
// Other goroutines occupy such threads until a suitable one is found.
func (l *loop) start(body func()) {
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
		l.tid.Store(int32(ptrace.Tid()))
		ptrace.QuietStops()
		close(ready)
		defer l.finish()
		body()
	}
	go run()
	<-ready
}

// ended waits until the tracing thread has ended, and all tracing with it: the kernel detaches what a thread traces
// before it removes the thread.
func (l *loop) ended() {
	<-l.dead
	for range 10000 {
		if ptrace.SendThread(syscall.Getpid(), int(l.tid.Load()), 0) != 0 {
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// finish wakes all callers that still wait.
func (l *loop) finish() {
	l.mu.Lock()
	l.over = true
	queue := l.queue
	l.queue = nil
	l.mu.Unlock()
	for _, t := range queue {
		close(t.done)
	}
	close(l.dead)
}

// do runs fn on the tracing thread and returns when it has run. It must not be called on that thread.
func (l *loop) do(fn func()) error {
	t := &task{done: make(chan struct{})}
	ran := false
	t.fn = func() { fn(); ran = true }
	l.mu.Lock()
	if l.over {
		l.mu.Unlock()
		return ErrClosed
	}
	l.queue = append(l.queue, t)
	l.pending.Store(true)
	l.mu.Unlock()
	l.await(t)
	if !ran {
		return ErrClosed
	}
	return nil
}

// await kicks until a task is done.
func (l *loop) await(t *task) {
	interval := kickInterval
	again := time.NewTimer(interval)
	defer again.Stop()
	for {
		if l.kick(t) {
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
func (l *loop) kick(t *task) bool {
	select {
	case l.wake <- struct{}{}:
	default:
	}
	if !l.waiting.Load() || !l.oldest(t) {
		return false
	}
	ptrace.Kick(int(l.tid.Load()))
	return true
}

// oldest reports whether a task is the next to run.
func (l *loop) oldest(t *task) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue) > 0 && l.queue[0] == t
}

// mayWait announces to posters that the thread is about to wait for tracees. It returns false if the thread must not
// wait, because something has been posted: a poster either finds waiting set, or has set pending before mayWait checks
// it.
func (l *loop) mayWait() bool {
	l.waiting.Store(true)
	if l.pending.Load() {
		l.waiting.Store(false)
		return false
	}
	return true
}

// runTasks runs what was posted. Only the tracing thread calls it, between two stops of tracees.
func (l *loop) runTasks() {
	for l.pending.Load() {
		if t := l.next(); t != nil {
			t.run()
		}
	}
}

// next takes the oldest task from the queue.
func (l *loop) next() *task {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		l.pending.Store(false)
		return nil
	}
	t := l.queue[0]
	l.queue = l.queue[1:]
	return t
}

// run runs a task. The caller that waits for it is woken even if the task panics.
func (t *task) run() {
	defer close(t.done)
	t.fn()
}

// idle waits for a task when there is nothing to trace.
func (l *loop) idle() {
	if !l.pending.Load() {
		<-l.wake
	}
}

// run is the main function of the tracing thread: until the session is closed, it waits for tracees to stop and handles
// each stop. A panic, which is a bug in this program and must not harm the targets, ends the session as Close does.
func (s *Session) run() {
	defer s.recoverLoop()
	s.patcher.enableJumps()
	for !s.life.closed {
		s.loop.runTasks()
		s.world.unpause()
		if len(s.stops.backlog) > 0 {
			s.stops.dealWithBacklog()
			continue
		}
		if s.life.closed {
			return
		}
		if !s.loop.mayWait() {
			continue
		}
		tid, e := s.stops.wait()
		s.loop.waiting.Store(false)
		switch e {
		case 0:
			came := s.throttle.Now()
			s.dispatch(tid, s.stops.status)
			s.stops.settleStop(tid)
			s.world.unpause()
			s.throttle.StopOver(came)
			s.affinity.Stopped(came)
		case syscall.ECHILD:
			s.loop.idle()
		}
	}
}

// recoverLoop detaches from everything after a panic.
func (s *Session) recoverLoop() {
	r := recover()
	if r == nil {
		return
	}
	s.life.failure.Store(&failure{fmt.Errorf("internal error on the tracing thread: %v\n%s", r, debug.Stack())})
	defer func() {
		if again := recover(); again != nil {
			s.life.failure.Store(&failure{fmt.Errorf("internal error while detaching: %v, after %v", again, r)})
		}
		s.life.over()
	}()
	s.life.detachAll()
}

type failure struct{ err error }
