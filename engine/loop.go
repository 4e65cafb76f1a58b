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

	"gotap/engine/ptrace"
)

// ErrClosed is what a session answers once it has been closed, or its tracing thread has failed.
var ErrClosed = errors.New("the session is over")

// loop is the tracing thread: it waits for tracees and runs what other goroutines post.
//
// Waking it. The thread sleeps in wait4, which nothing but a tracee's news or a signal ends. A poster queues its closure,
// sets pending, and kicks the thread with a signal that makes wait4 return EINTR. The signal may come in the
// instant between the thread's look at pending and its wait4, and be lost; so the poster repeats it, every
// kickInterval, until the closure has run. No wake-up is lost for longer than that, and the thread pays one atomic
// load per wait for it, no lock, no channel.
type loop struct {
	tid     atomic.Int32
	pending atomic.Bool
	wake    chan struct{} // for the time when there is no tracee to wait for
	dead    chan struct{} // closed when the thread has ended

	mu    sync.Mutex // guards queue and over; nothing else is locked under it
	queue []*task
	over  bool
}

type task struct {
	fn   func()
	done chan struct{}
}

const kickInterval = 500 * time.Microsecond

func newLoop() *loop {
	return &loop{wake: make(chan struct{}, 1), dead: make(chan struct{})}
}

// start runs body on a thread of its own, which ends with it: the kernel then lets go of what that thread still traces.
// The program's first thread will not do, because Go cannot end it; another goroutine sits on it meanwhile.
func (l *loop) start(body func()) {
	ready := make(chan struct{})
	var run func()
	run = func() {
		goruntime.LockOSThread() // for life: never unlocked
		if syscall.Getpid() == ptrace.Tid() {
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

// ended waits until the tracing thread is gone, and with it all tracing: the kernel lets go of what a thread traces before it
// forgets the thread.
func (l *loop) ended() {
	<-l.dead
	for range 10000 {
		if ptrace.SendThread(syscall.Getpid(), int(l.tid.Load()), 0) != 0 {
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// finish answers everybody who still waits.
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
	tick := time.NewTicker(kickInterval)
	defer tick.Stop()
	for {
		l.kick()
		select {
		case <-t.done:
			return
		case <-tick.C:
		}
	}
}

func (l *loop) kick() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
	ptrace.Kick(int(l.tid.Load()))
}

// runTasks runs what was posted. Only the tracing thread calls it, between two stops of tracees.
func (l *loop) runTasks() {
	for l.pending.Load() {
		if t := l.next(); t != nil {
			t.run()
		}
	}
}

// next takes the oldest task.
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

// run runs a task; whoever waits for it is answered even when it panics.
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

// run is the tracing thread's life: until the session is closed, it waits for tracees to stop and deals with each stop.
// A panic, which is a mistake in this program and no reason to harm the targets, ends the session as Close does.
func (s *Session) run() {
	defer s.recoverLoop()
	for !s.closed {
		s.loop.runTasks()
		s.unpause()
		if len(s.backlog) > 0 {
			s.dealWithBacklog()
			continue
		}
		if s.closed {
			return
		}
		tid, e := s.wait()
		switch e {
		case 0:
			came := s.meter.clock()
			s.dispatch(tid, s.status)
			s.settleStop(tid)
			s.unpause()
			s.stopOver(came)
		case syscall.ECHILD:
			s.loop.idle()
		}
	}
}

// wait waits for the next stop. One for a signal is only looked at, so that the signal is delivered if we are killed before
// the thread is resumed; settleStop is to be called when it has been dealt with.
func (s *Session) wait() (int, syscall.Errno) { return s.look(&s.status, true) }

func (s *Session) look(st *ptrace.Status, block bool) (int, syscall.Errno) {
	tid, e := ptrace.Look(-1, st, block)
	if e != 0 || tid <= 0 {
		return tid, e
	}
	s.takeStop(tid, *st)
	return tid, 0
}

// takeStop takes a stop that has been looked at, unless it is one for a signal.
func (s *Session) takeStop(tid int, st ptrace.Status) {
	t := s.threads[tid]
	if t != nil && st.Stopped() && st.Event() == ptrace.EventNone && !st.AtSyscall() {
		t.untaken = true
		return
	}
	ptrace.Poll(tid, &st)
}

// settleStop takes a stop that has been dealt with, when the thread has not been resumed.
func (s *Session) settleStop(tid int) {
	if t := s.threads[tid]; t != nil && t.stopped {
		t.unreported()
	}
}

// waitFor waits for the next stop of one thread; it is for moments in which the rest of the world has to wait.
// ok is false when the thread is gone without a word.
func (s *Session) waitFor(tid int) (st ptrace.Status, ok bool) {
	for {
		_, e := ptrace.Wait(tid, &s.special)
		switch e {
		case 0:
			return s.special, true
		case syscall.EINTR:
		default:
			return 0, false
		}
	}
}

// recoverLoop detaches from everything after a panic.
func (s *Session) recoverLoop() {
	r := recover()
	if r == nil {
		return
	}
	s.failure.Store(&failure{fmt.Errorf("internal error on the tracing thread: %v\n%s", r, debug.Stack())})
	defer func() {
		if again := recover(); again != nil {
			s.failure.Store(&failure{fmt.Errorf("internal error while detaching: %v, after %v", again, r)})
		}
		s.over()
	}()
	s.detachAll()
}

type failure struct{ err error }
