package tracingthread

import (
	"cmp"
	"math"
	"slices"
	"syscall"
	"time"

	"gotap/engine/linux/ptrace"
)

// timer is a function that the thread calls at a time of ptrace.Now.
type timer struct {
	at uint64
	fn func()
}

// never is later than the time of any timer.
const never = math.MaxUint64

// keepProcessor is shorter than the time after which the Go runtime takes the processor of a goroutine away that is in a
// system call, 10 ms (retake in the runtime's proc.go). A thread whose wait is interrupted that often finds its
// processor when the wait is over. Without one it would wake the runtime's monitor, which then looks around every 20 µs
// for a millisecond, and on a busy machine each look interrupts a target.
const keepProcessor = 5 * time.Millisecond

// soon is how long a wait may be that is interrupted for that.
const soon = 50 * time.Millisecond

// After calls fn on the thread after some time, between two stops, unless the thread has ended by then. Any goroutine
// may call it once the thread has started. No other thread is needed for it: those of this program that wake up in
// order to wake the tracing thread take processor time from targets.
func (h *Thread) After(d time.Duration, fn func()) {
	at := ptrace.Now() + uint64(max(d, 0))
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return
	}
	i, _ := slices.BinarySearchFunc(h.timers, at+1, func(t timer, at uint64) int { return cmp.Compare(t.at, at) })
	h.timers = slices.Insert(h.timers, i, timer{at, fn})
	if i == 0 {
		h.setAlarm()
		h.endIdle()
	}
}

// isDue reports whether the time of a function has come.
func (h *Thread) isDue() bool { return ptrace.Now() >= h.next.Load() }

// runTimers calls the functions whose time has come.
func (h *Thread) runTimers() {
	if !h.isDue() {
		return
	}
	h.mu.Lock()
	now := ptrace.Now()
	n, _ := slices.BinarySearchFunc(h.timers, now+1, func(t timer, at uint64) int { return cmp.Compare(t.at, at) })
	due := slices.Clone(h.timers[:n])
	h.timers = slices.Delete(h.timers, 0, n)
	h.setAlarm()
	h.mu.Unlock()
	for _, t := range due {
		t.fn()
	}
}

// makeAlarm makes the alarm. The thread itself calls it, whose Wait it interrupts.
func (h *Thread) makeAlarm() {
	var e syscall.Errno
	h.alarm, e = ptrace.NewAlarm()
	h.noAlarm = e != 0
}

// setAlarm has the thread interrupted when the next function is due. If the signal comes when the thread does not wait
// yet, the next one comes after keepProcessor. The caller holds mu.
func (h *Thread) setAlarm() {
	if len(h.timers) == 0 {
		h.next.Store(never)
		if !h.noAlarm {
			h.alarm.Stop()
		}
		return
	}
	next := h.timers[0].at
	h.next.Store(next)
	now := ptrace.Now()
	if h.noAlarm || h.alarm.Set(firstAlarm(now, next), keepProcessor) != 0 {
		time.AfterFunc(time.Duration(next-min(next, now)), func() { h.Do(func() {}) })
	}
}

// firstAlarm returns when a wait is first interrupted that is to end at next.
func firstAlarm(now, next uint64) uint64 {
	if now < next && next-now <= uint64(soon) {
		return next - (next-now)/uint64(keepProcessor)*uint64(keepProcessor)
	}
	return next
}

// untilNext returns the time until the next function is due, and whether there is one.
func (h *Thread) untilNext() (time.Duration, bool) {
	next := h.next.Load()
	return time.Duration(next - min(next, ptrace.Now())), next != never
}
