package timer

import (
	"gotap/script/jsvm"
	"gotap/script/source"
	"slices"
	"sort"
	"time"

	"github.com/dop251/goja"
)

// Timers are the timers of one script.
type Timers struct {
	m    *jsvm.Machine
	due  func(nth int) // notes in the journal that a timer is about to be called
	list []*timer      // that have not ended
	made int
}

// New makes an empty list. due is called before each call of a timer.
func New(m *jsvm.Machine, due func(nth int)) *Timers { return &Timers{m: m, due: due} }

// timer is one every(…), setInterval(…) or setTimeout(…).
type timer struct {
	nth    int // its number in a recording: counted from 0, in the order of creation
	every  time.Duration
	once   bool
	next   time.Time
	fn     goja.Callable
	args   []goja.Value
	handle *goja.Object
	off    bool
}

// add starts a timer: its first call is one interval from now.
func (ts *Timers) add(t *timer) goja.Value {
	t.nth, t.next = ts.made, time.Now().Add(t.every)
	ts.made++
	ts.list = append(ts.list, t)
	t.handle = ts.m.VM.NewObject()
	t.handle.Set("stop", ts.m.Guarded("stop", func(goja.FunctionCall) goja.Value {
		ts.end(t)
		return nil
	}))
	return t.handle
}

// end forgets a timer: a script may start one for every event.
func (ts *Timers) end(t *timer) {
	t.off = true
	ts.list = slices.DeleteFunc(ts.list, func(o *timer) bool { return o == t })
}

// Every implements every(interval, fn); the result has stop().
func (ts *Timers) Every(call goja.FunctionCall) goja.Value {
	at := ts.m.Site()
	d := ts.intervalArgument(at, call, 0)
	fn := ts.m.FnArgument(at, call, 1, `every("1s", () => { … })`)
	return ts.add(&timer{every: d, fn: fn, off: fn == nil || d == 0})
}

// SetInterval implements setInterval(fn, interval, ...args): every, as in browsers and Node.
func (ts *Timers) SetInterval(call goja.FunctionCall) goja.Value {
	at := ts.m.Site()
	fn := ts.m.FnArgument(at, call, 0, `setInterval(() => { … }, 1000)`)
	d := ts.intervalArgument(at, call, 1)
	return ts.add(&timer{every: d, fn: fn, args: callArguments(call, 2), off: fn == nil || d == 0})
}

// SetTimeout implements setTimeout(fn, delay, ...args). No delay, or one of zero or less, is the shortest interval.
func (ts *Timers) SetTimeout(call goja.FunctionCall) goja.Value {
	at := ts.m.Site()
	fn := ts.m.FnArgument(at, call, 0, `setTimeout(() => { … }, 1000)`)
	d := jsvm.MinInterval
	if v := call.Argument(1); !goja.IsUndefined(v) && !soon(v) {
		d = ts.intervalArgument(at, call, 1)
	}
	return ts.add(&timer{every: d, once: true, fn: fn, args: callArguments(call, 2), off: fn == nil || d == 0})
}

// soon reports whether a delay is a number below the shortest interval.
func soon(v goja.Value) bool {
	n, float := v.Export().(float64)
	i, whole := v.Export().(int64)
	return float && n < float64(jsvm.MinInterval)/float64(time.Millisecond) || whole && i <= 0
}

// callArguments copies the arguments of a call from the nth on, since those of a call are on the machine's stack.
func callArguments(call goja.FunctionCall, nth int) []goja.Value {
	return slices.Clone(call.Arguments[min(nth, len(call.Arguments)):])
}

// Clear implements clearTimeout(timer) and clearInterval(timer). Like those of browsers it ignores anything but a
// running timer.
func (ts *Timers) Clear(call goja.FunctionCall) goja.Value {
	if i := slices.IndexFunc(ts.list, func(t *timer) bool { return call.Argument(0).SameAs(t.handle) }); i >= 0 {
		ts.end(ts.list[i])
	}
	return nil
}

// intervalArgument is argument n as an interval; 0 when it is not one, which has been reported then.
func (ts *Timers) intervalArgument(at source.Site, call goja.FunctionCall, n int) time.Duration {
	d, err := jsvm.Interval(call.Argument(n))
	if err != nil {
		ts.m.Reject(at.ArgSpan(n), `"20ms", "1s", "100us", or a number of milliseconds`, "%v", err)
		return 0
	}
	return d
}

// Restart has all intervals begin now.
func (ts *Timers) Restart() {
	now := time.Now()
	for _, t := range ts.list {
		t.next = now.Add(t.every)
	}
}

// Earliest returns the time of the next call, if that is before next. The zero time is after all others.
func (ts *Timers) Earliest(next time.Time) time.Time {
	for _, t := range ts.list {
		if !t.off && (next.IsZero() || t.next.Before(next)) {
			next = t.next
		}
	}
	return next
}

// Tick runs the timers that are due, each once even if it is several intervals late.
func (ts *Timers) Tick(now time.Time) {
	if ts.m.Stopped.Load() {
		return
	}
	for _, t := range ts.overdue(now) {
		if t.off || ts.m.Stopped.Load() {
			continue
		}
		if t.next = t.next.Add(t.every); !t.next.After(now) {
			t.next = now.Add(t.every)
		}
		ts.due(t.nth)
		ts.run(t)
	}
}

// overdue returns the timers that are due, the longest due first.
func (ts *Timers) overdue(now time.Time) (due []*timer) {
	for _, t := range ts.list {
		if !t.off && !t.next.After(now) {
			due = append(due, t)
		}
	}
	sort.SliceStable(due, func(i, j int) bool { return due[i].next.Before(due[j].next) })
	return due
}

// run calls the function of a timer.
func (ts *Timers) run(t *timer) {
	if t.once {
		ts.end(t)
	}
	ts.m.Call(t.fn, t.args...)
}

// Play calls the nth timer of a recording, unless the script does not have it or has stopped it.
func (ts *Timers) Play(nth int) {
	if i := slices.IndexFunc(ts.list, func(t *timer) bool { return t.nth == nth }); i >= 0 && !ts.list[i].off {
		ts.run(ts.list[i])
	}
}
