package tracingthread

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// TestMonitor: the thread that is taken for the runtime's monitor is the one that sleeps for 20 µs again and again.
func TestMonitor(t *testing.T) {
	monitor := firstThread()
	sleeps := map[int]int{} // by thread: how often it was seen in nanosleep
	for end := time.Now().Add(time.Minute); sleeps[monitor] < 20; {
		for _, tid := range procfs.Threads(syscall.Getpid()) {
			call := procfs.Read(syscall.Getpid(), fmt.Sprintf("task/%d/syscall", tid))
			if strings.HasPrefix(call, strconv.Itoa(unix.SYS_NANOSLEEP)+" ") {
				sleeps[tid]++
			}
		}
		if time.Now().After(end) {
			t.Fatalf("thread %d was rarely seen in nanosleep: %v", monitor, sleeps)
		}
		time.Sleep(100 * time.Microsecond) // the monitor sleeps, too, and starts its short sleeps again
	}
	for tid, n := range sleeps {
		if tid != monitor && n >= sleeps[monitor] {
			t.Errorf("thread %d sleeps, not %d: %v", tid, monitor, sleeps)
		}
	}
}

// TestYieldToTargets: the monitor gets SCHED_BATCH, and a tracing thread that has inherited it takes it back. In a program
// with another policy nothing changes.
func TestYieldToTargets(t *testing.T) {
	done := make(chan struct{})
	l, over := New(), new(atomic.Bool)
	l.Start(work(l, over)) // a thread that is not the main one
	l.Do(func() {
		defer close(done)
		self, monitor, main := ptrace.Tid(), firstThread(), syscall.Getpid()
		check := func(what string, tid, want int) {
			t.Helper()
			if got := policyOf(tid); got != want {
				t.Errorf("the policy of the %s is %d, not %d", what, got, want)
			}
		}
		YieldToTargets()
		check("monitor", monitor, procfs.PolicyBatch)
		setPolicy(self, procfs.PolicyBatch)
		check("tracing thread", self, procfs.PolicyBatch)
		takeBackPolicy()
		check("tracing thread", self, procfs.PolicyOther)

		setPolicy(monitor, procfs.PolicyOther)
		setPolicy(self, procfs.PolicyBatch)
		setPolicy(main, procfs.PolicyBatch)
		YieldToTargets()
		takeBackPolicy()
		check("tracing thread", self, procfs.PolicyBatch)
		check("monitor", monitor, procfs.PolicyOther)
		setPolicy(main, procfs.PolicyOther)
		over.Store(true)
	})
	<-done
}
