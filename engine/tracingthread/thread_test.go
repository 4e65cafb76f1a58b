package tracingthread

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gotap/engine/linux/ptrace"
	"gotap/engine/testenv"
)

// work is the least that a body does: it runs tasks until it is told to stop, and waits between them.
func work(l *Thread, over *atomic.Bool) func() {
	return func() {
		for !over.Load() {
			l.RunTasks()
			if !over.Load() {
				l.Idle()
			}
		}
	}
}

// TestDo: everything that is posted runs on the one thread, in a row, until the thread ends. The kernel knows that
// thread by the number of Tid until Ended returns.
func TestDo(t *testing.T) {
	l, over := New(), new(atomic.Bool)
	l.Start(work(l, over))
	var posters sync.WaitGroup
	n := 0 // without a lock: the race detector sees whether another thread changes it
	for range 8 {
		posters.Go(func() {
			for range 100 {
				err := l.Do(func() {
					n++
					if tid := ptrace.Tid(); tid != l.Tid() {
						t.Errorf("it ran on thread %d, not %d", tid, l.Tid())
					}
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	posters.Wait()
	if n != 800 {
		t.Errorf("%d tasks ran, not 800", n)
	}
	late := make(chan struct{})
	l.After(time.Millisecond, func() { close(late) })
	<-late
	if err := l.Do(func() { over.Store(true) }); err != nil {
		t.Error(err)
	}
	<-l.Dead()
	l.Ended()
	if e := ptrace.SendThread(os.Getpid(), l.Tid(), 0); e != unix.ESRCH {
		t.Errorf("the thread is still there: %v", e)
	}
	if err := l.Do(func() { t.Error("it ran after the end") }); !errors.Is(err, ErrClosed) {
		t.Errorf("posted after the end: %v", err)
	}
}

// TestNoQueuedSignals: a thread that waits for a tracee is woken, by what is posted and by what is due, where the kernel
// queues no signals for this user.
func TestNoQueuedSignals(t *testing.T) {
	testenv.NoQueuedSignals(t)
	l, over := New(), new(atomic.Bool)
	l.Start(trace(t, l, over))
	for range 10 {
		time.Sleep(time.Millisecond) // so that it waits
		if err := l.Do(func() {}); err != nil {
			t.Fatal(err)
		}
	}
	due := make(chan struct{})
	l.After(10*time.Millisecond, func() { close(due) })
	<-due
	l.Do(func() { over.Store(true) })
	<-l.Dead()
}
