package tracingthread

import (
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotap/engine/linux/ptrace"
)

// trace is a body that waits for a tracee, as a session does. The tracee is killed at the end.
func trace(t *testing.T, l *Thread, over *atomic.Bool) func() {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return func() {
		if e := ptrace.Seize(cmd.Process.Pid, 0); e != 0 {
			t.Error(e)
			return
		}
		for !over.Load() {
			l.RunTasks()
			if !over.Load() && l.MayWait() {
				var st ptrace.Status
				ptrace.PeekStop(-1, &st, l.Patience())
				l.Waited()
			}
		}
	}
}

// TestAfter: functions run on the thread, at their time and in the order of their times, however the thread waits, and
// whoever asks for them. The same holds if the kernel gives the thread no alarm.
func TestAfter(t *testing.T) {
	for name, waits := range map[string]struct{ idle, noAlarm bool }{
		"in wait4": {}, "idle": {idle: true}, "in wait4, without an alarm": {noAlarm: true}, "idle, without an alarm": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			l, over := New(), new(atomic.Bool)
			body := work(l, over)
			if !waits.idle {
				body = trace(t, l, over)
			}
			l.Start(body)
			l.Do(func() {
				if waits.noAlarm {
					l.alarm.Stop()
					l.noAlarm = true
				}
			})
			var ran []int // only on the thread
			var all sync.WaitGroup
			after := func(ms int) {
				at := ptrace.Now() + uint64(ms)*uint64(time.Millisecond)
				l.After(time.Duration(ms)*time.Millisecond, func() {
					defer all.Done()
					if now := ptrace.Now(); now < at || ptrace.Tid() != l.Tid() {
						t.Errorf("%d ms: at %d, not %d, on thread %d", ms, now, at, ptrace.Tid())
					}
					ran = append(ran, ms)
				})
			}
			all.Add(6)
			after(120)
			after(60)
			after(7)
			after(80)
			l.Do(func() { after(0); after(90) })
			all.Wait()
			l.Do(func() {
				if want := []int{0, 7, 60, 80, 90, 120}; !slices.Equal(ran, want) {
					t.Errorf("they ran in the order %v", ran)
				}
				l.After(time.Hour, func() { t.Error("it ran after the end") })
				over.Store(true)
			})
			<-l.Dead()
			l.After(0, func() { t.Error("it ran after the end") })
		})
	}
}

// TestAfterAgain: a function that has itself called again each time, with the shortest times, does not keep others from
// running.
func TestAfterAgain(t *testing.T) {
	l, over := New(), new(atomic.Bool)
	l.Start(trace(t, l, over))
	n, done := 0, make(chan struct{})
	var again func()
	again = func() {
		if n++; n == 1000 {
			close(done)
		}
		if n < 1000 {
			l.After(0, again)
		}
	}
	l.After(time.Microsecond, again)
	for range 100 {
		if err := l.Do(func() {}); err != nil {
			t.Fatal(err)
		}
	}
	<-done
	l.Do(func() { over.Store(true) })
	<-l.Dead()
}

// TestPatience: only a wait that the alarm ends soon is brief.
func TestPatience(t *testing.T) {
	l, over := New(), new(atomic.Bool)
	l.Start(trace(t, l, over))
	check := func(what string, want ptrace.Patience) {
		t.Helper()
		if got := l.Patience(); got != want {
			t.Errorf("%s: patience %d, not %d", what, got, want)
		}
	}
	brief := ptrace.BriefWait
	if runtime.GOMAXPROCS(0) == 1 { // others could not run meanwhile
		brief = ptrace.LongWait
	}
	l.Do(func() {
		check("nothing is due", ptrace.LongWait)
		l.After(time.Hour, func() {})
		check("due later", ptrace.LongWait)
		l.After(soon, func() {
			check("nothing else is due soon", ptrace.LongWait)
			l.alarm.Stop()
			l.noAlarm = true
			l.After(soon, func() { over.Store(true) })
			check("due soon, without an alarm", ptrace.LongWait)
		})
		check("due soon", brief)
	})
	<-l.Dead()
}

// TestFirstAlarm: a wait that ends soon is interrupted before, so often that the Go runtime leaves the thread its
// processor, and always when the function is due.
func TestFirstAlarm(t *testing.T) {
	const now, keep = 1e9, uint64(keepProcessor)
	for wait := range uint64(2 * soon / time.Microsecond) {
		next := now + wait*uint64(time.Microsecond)
		first := firstAlarm(now, next)
		switch {
		case first > next || first < now || (next-first)%keep != 0:
			t.Fatalf("due in %d µs, first at %d", wait, first-now)
		case wait > uint64(soon/time.Microsecond) && first != next:
			t.Fatalf("due in %d µs, already interrupted at %d", wait, first-now)
		case wait <= uint64(soon/time.Microsecond) && first-now >= keep:
			t.Fatalf("due in %d µs, first interrupted at %d", wait, first-now)
		}
	}
	if first := firstAlarm(now, now-5); first != now-5 {
		t.Errorf("of a time that has passed: %d", first)
	}
}
