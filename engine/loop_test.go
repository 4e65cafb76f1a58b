package engine

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestKicksDoNotPileUp posts from many goroutines to a tracing thread that does not come to run. The signals that are to wake it
// are queued by the kernel: a slow machine must not find so many of them that it gets to nothing else.
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
	l := newLoop()
	ready, goOn := make(chan struct{}), make(chan struct{})
	l.start(func() {
		all := unix.Sigset_t{}
		for i := range all.Val {
			all.Val[i] = ^all.Val[i]
		}
		var old unix.Sigset_t
		unix.PthreadSigmask(unix.SIG_SETMASK, &all, &old)
		l.mayWait()
		close(ready)
		<-goOn
		l.waiting.Store(false)
		l.runTasks()
		unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	})
	<-ready
	before := queued()
	var posters sync.WaitGroup
	for range 64 {
		posters.Go(func() { l.do(func() {}) })
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
