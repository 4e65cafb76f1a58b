package script

import (
	"slices"
	"sort"
	"time"

	"github.com/dop251/goja"
)

// timer is one every(…), setInterval(…) or setTimeout(…).
type timer struct {
	nth    int // counted from 0, in the order of their making: a recording knows it by that
	every  time.Duration
	once   bool
	next   time.Time
	fn     goja.Callable
	args   []goja.Value
	handle *goja.Object
	off    bool
}

// addTimer makes a timer whose first turn is one interval from now.
func (s *Script) addTimer(t *timer) goja.Value {
	t.nth, t.next = s.timersMade, time.Now().Add(t.every)
	s.timersMade++
	s.timers = append(s.timers, t)
	t.handle = s.vm.NewObject()
	t.handle.Set("stop", s.guarded("stop", func(goja.FunctionCall) goja.Value {
		s.endTimer(t)
		return nil
	}))
	return t.handle
}

// endTimer forgets a timer: a script may make one for every event, to do something a little later.
func (s *Script) endTimer(t *timer) {
	t.off = true
	s.timers = slices.DeleteFunc(s.timers, func(o *timer) bool { return o == t })
}

// jsEvery is every(interval, fn); the result has stop().
func (s *Script) jsEvery(call goja.FunctionCall) goja.Value {
	at := s.site()
	d := s.intervalArgument(at, call, 0)
	fn := s.fnArgument(at, call, 1, `every("1s", () => { … })`)
	return s.addTimer(&timer{every: d, fn: fn, off: fn == nil || d == 0})
}

// jsSetInterval is setInterval(fn, interval, ...args): every, as browsers and Node spell it.
func (s *Script) jsSetInterval(call goja.FunctionCall) goja.Value {
	at := s.site()
	fn := s.fnArgument(at, call, 0, `setInterval(() => { … }, 1000)`)
	d := s.intervalArgument(at, call, 1)
	return s.addTimer(&timer{every: d, fn: fn, args: callArguments(call, 2), off: fn == nil || d == 0})
}

// jsSetTimeout is setTimeout(fn, delay, ...args). As elsewhere no delay, or one below zero, is the least there is.
func (s *Script) jsSetTimeout(call goja.FunctionCall) goja.Value {
	at := s.site()
	fn := s.fnArgument(at, call, 0, `setTimeout(() => { … }, 1000)`)
	d := minInterval
	if v := call.Argument(1); !goja.IsUndefined(v) && !soon(v) {
		d = s.intervalArgument(at, call, 1)
	}
	return s.addTimer(&timer{every: d, once: true, fn: fn, args: callArguments(call, 2), off: fn == nil || d == 0})
}

// soon reports whether a delay is a number that is shorter than the least interval.
func soon(v goja.Value) bool {
	n, float := v.Export().(float64)
	i, whole := v.Export().(int64)
	return float && n < float64(minInterval)/float64(time.Millisecond) || whole && i <= 0
}

// callArguments are the arguments of a call from the nth on, to keep: those of a call lie on the machine's stack.
func callArguments(call goja.FunctionCall, nth int) []goja.Value {
	return slices.Clone(call.Arguments[min(nth, len(call.Arguments)):])
}

// jsClearTimer is clearTimeout(timer) and clearInterval(timer); what is no timer, or has ended, is let alone as it is elsewhere.
func (s *Script) jsClearTimer(call goja.FunctionCall) goja.Value {
	if i := slices.IndexFunc(s.timers, func(t *timer) bool { return call.Argument(0).SameAs(t.handle) }); i >= 0 {
		s.endTimer(s.timers[i])
	}
	return nil
}

// intervalArgument is argument n as an interval; 0 when it is none, which has been reported then.
func (s *Script) intervalArgument(at site, call goja.FunctionCall, n int) time.Duration {
	d, err := interval(call.Argument(n))
	if err != nil {
		s.reject(at.argSpan(n), `"20ms", "1s", "100us", or a number of milliseconds`, "%v", err)
		return 0
	}
	return d
}

// restartTimers lets all timers begin now.
func (s *Script) restartTimers() {
	now := time.Now()
	for _, t := range s.timers {
		t.next = now.Add(t.every)
	}
}

// nextTick is how long the next timer of this script or a guest waits.
func (s *Script) nextTick() (time.Duration, bool) {
	next := s.earliest(time.Time{})
	for _, g := range s.host.guests {
		next = g.earliest(next)
	}
	if next.IsZero() || s.stopped.Load() {
		return 0, false
	}
	return max(0, time.Until(next)), true
}

// earliest is the time of the first timer, if that is before next; no time is after all others.
func (s *Script) earliest(next time.Time) time.Time {
	for _, t := range s.timers {
		if !t.off && (next.IsZero() || t.next.Before(next)) {
			next = t.next
		}
	}
	return next
}

// tick runs the timers that are due, each once however late it is.
func (s *Script) tick(now time.Time) {
	if s.stopped.Load() {
		return
	}
	for _, t := range s.dueTimers(now) {
		if t.off || s.stopped.Load() {
			continue
		}
		if t.next = t.next.Add(t.every); !t.next.After(now) {
			t.next = now.Add(t.every)
		}
		s.journalTimer(t)
		s.runTimer(t)
	}
}

// dueTimers are those whose time has come, the longest due first.
func (s *Script) dueTimers(now time.Time) (due []*timer) {
	for _, t := range s.timers {
		if !t.off && !t.next.After(now) {
			due = append(due, t)
		}
	}
	sort.SliceStable(due, func(i, j int) bool { return due[i].next.Before(due[j].next) })
	return due
}

// runTimer calls the function of a timer whose time has come.
func (s *Script) runTimer(t *timer) {
	if t.once {
		s.endTimer(t)
	}
	s.call(t.fn, t.args...)
}
