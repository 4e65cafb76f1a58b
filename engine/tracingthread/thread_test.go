package tracingthread

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gotap/engine/linux/ptrace"
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

// TestKicksDoNotPileUp posts from many goroutines to a tracing thread that does not come to run. The signals that are
// to wake it are queued by the kernel: a slow machine must not find so many of them that it gets to nothing else.
func TestKicksDoNotPileUp(t *testing.T) {
	queued := func() int {
		text, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, field, _ := strings.Cut(string(text), "SigQ:")
		n, _ := strconv.Atoi(strings.TrimSpace(strings.Split(field, "/")[0]))
		return n
	}
	l := New()
	ready, goOn := make(chan struct{}), make(chan struct{})
	l.Start(func() {
		all := unix.Sigset_t{}
		for i := range all.Val {
			all.Val[i] = ^all.Val[i]
		}
		var old unix.Sigset_t
		unix.PthreadSigmask(unix.SIG_SETMASK, &all, &old)
		l.MayWait()
		close(ready)
		<-goOn
		l.Waited()
		l.RunTasks()
		unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	})
	<-ready
	before := queued()
	var posters sync.WaitGroup
	for range 64 {
		posters.Go(func() { l.Do(func() {}) })
	}
	time.Sleep(200 * time.Millisecond)
	n := queued() - before
	close(goOn)
	posters.Wait()
	<-l.dead
	if n > 64 {
		t.Errorf("%d signals are queued", n)
	}
	t.Logf("%d signals were queued", n)
}
