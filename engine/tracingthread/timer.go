package tracingthread

import (
	"cmp"
	"math"
	goruntime "runtime"
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

// keepProcessor is how often a wait is interrupted that is a brief one. Brief waits end soon, so the thread keeps its
// processor, P, of the Go runtime. In a long one the runtime takes it away. Each time a thread then comes back, the
// runtime's monitor looks around every 20 µs for a millisecond (sysmon in its proc.go), and on a busy machine each look
// interrupts a target: with 200 samples a second that was most of what they cost. The price is that a garbage
// collection, which stops all goroutines, may have to wait for so long.
const keepProcessor = 5 * time.Millisecond

// soon is how long a wait may last that is divided into brief ones.
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
		h.brief.Store(false)
		if !h.noAlarm {
			h.alarm.Stop()
		}
		return
	}
	next := h.timers[0].at
	h.next.Store(next)
	now := ptrace.Now()
	if h.noAlarm || h.alarm.Set(firstAlarm(now, next), keepProcessor) != 0 {
		h.brief.Store(false)
		time.AfterFunc(time.Duration(next-min(next, now)), func() { h.Do(func() {}) })
		return
	}
	h.brief.Store(now < next && next-now <= uint64(soon) && goruntime.GOMAXPROCS(0) > 1)
}

// Patience returns how the thread may wait for tracees now. Only the thread itself calls it.
func (h *Thread) Patience() ptrace.Patience {
	if h.brief.Load() {
		return ptrace.BriefWait
	}
	return ptrace.LongWait
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
