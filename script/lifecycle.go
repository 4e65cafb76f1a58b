package script

import (
	"errors"
	"slices"
	"sort"
	"time"

	"github.com/dop251/goja"

	"gotap/compile/diag"
)

// timer is one every(…).
type timer struct {
	nth   int // of the script's timers, from 0
	every time.Duration
	next  time.Time
	fn    goja.Callable
	off   bool
}

// errStop interrupts the callback that called stop.
var errStop = errors.New("the script ends the run")

// isStop reports whether a callback ended because it called stop.
func (s *Script) isStop(err error) bool {
	var e *goja.InterruptedError
	return errors.As(err, &e) && e.Value() == errStop
}

func isHeap(err error) bool {
	var e *goja.InterruptedError
	if !errors.As(err, &e) {
		return false
	}
	_, ok := e.Value().(errHeap)
	return ok
}

// fnArgument is argument n as a callback.
func (s *Script) fnArgument(at site, call goja.FunctionCall, n int, usage string) goja.Callable {
	obj, ok := call.Argument(n).(*goja.Object)
	if ok {
		_, ok = goja.AssertFunction(obj)
	}
	if !ok {
		s.reject(at.argSpan(n), usage, "%s is no function", describe(call.Argument(n)))
		return nil
	}
	return s.callbackOf(obj, at.argSpan(n))
}

// jsBegin is begin(fn).
func (s *Script) jsBegin(call goja.FunctionCall) goja.Value {
	if fn := s.fnArgument(s.site(), call, 0, "begin(() => { … })"); fn != nil {
		s.begins = append(s.begins, fn)
	}
	return nil
}

// jsEnd is end(fn).
func (s *Script) jsEnd(call goja.FunctionCall) goja.Value {
	if fn := s.fnArgument(s.site(), call, 0, "end(() => { … })"); fn != nil {
		s.ends = append(s.ends, fn)
	}
	return nil
}

// EventKind is something that happens to processes and that on() listens to. The table serves the machine, and whoever writes
// typings or help.
type EventKind struct {
	Name   string
	Fields string // what its event has besides pid, tid and time, as TypeScript declares members
	Doc    string
}

// EventKinds lists the table.
func EventKinds() []EventKind { return append([]EventKind(nil), lifecycle...) }

var lifecycle = []EventKind{
	{"exec", "path: string", "a process goes on with another program"},
	{"exit", "status: number; signal: number", "a process has ended: with a status, or by a signal when that is not 0"},
	{"fork", "child: number", "a process has made another, by fork, vfork or clone"},
	{"thread", "child: number", "a process has started a thread"},
	{"signal", "signal: number", "a thread gets a signal"},
	{"module", "path: string", "a process has loaded a library"},
}

var eventKinds = kindsOfEvents()

func kindsOfEvents() []string {
	var names []string
	for _, k := range lifecycle {
		names = append(names, k.Name)
	}
	return names
}

// jsEvery is every(interval, fn); the result has stop().
func (s *Script) jsEvery(call goja.FunctionCall) goja.Value {
	at := s.site()
	d, err := interval(call.Argument(0))
	if err != nil {
		s.reject(at.argSpan(0), `"20ms", "1s", "100us", or a number of milliseconds`, "%v", err)
	}
	fn := s.fnArgument(at, call, 1, `every("1s", () => { … })`)
	t := &timer{nth: s.timersMade, every: d, next: time.Now().Add(d), fn: fn, off: fn == nil || err != nil}
	s.timersMade++
	s.timers = append(s.timers, t)
	obj := s.vm.NewObject()
	obj.Set("stop", s.guarded("stop", func(goja.FunctionCall) goja.Value {
		s.stopTimer(t)
		return nil
	}))
	return obj
}

// stopTimer forgets a timer: a script may make one for every event, to do something a little later.
func (s *Script) stopTimer(t *timer) {
	t.off = true
	s.timers = slices.DeleteFunc(s.timers, func(o *timer) bool { return o == t })
}

// jsStop is stop(code): nothing is delivered after it, and the callback that calls it ends there.
func (s *Script) jsStop(call goja.FunctionCall) goja.Value {
	code := int64(0)
	if v := call.Argument(0); !goja.IsUndefined(v) {
		n, ok := toInt(v)
		if !ok || n < 0 || n > 255 {
			at := s.site()
			s.reject(at.argSpan(0), "", "a status is from 0 to 255, not %s", describe(v))
			return nil
		}
		code = n
	}
	if !s.stopped.Swap(true) {
		s.status = int(code)
		if s.tracer != nil {
			s.outside(func() { s.tracer.Stop(int(code)) })
		}
	}
	s.vm.Interrupt(errStop)
	return nil
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
	var due []*timer
	for _, t := range s.timers {
		if !t.off && !t.next.After(now) {
			due = append(due, t)
		}
	}
	sort.SliceStable(due, func(i, j int) bool { return due[i].next.Before(due[j].next) })
	for _, t := range due {
		if t.off || s.stopped.Load() {
			continue
		}
		if t.next = t.next.Add(t.every); !t.next.After(now) {
			t.next = now.Add(t.every)
		}
		s.journalTimer(t)
		s.call(t.fn)
	}
}

// trackRejection keeps promises that were rejected and that nothing handles.
func (s *Script) trackRejection(p *goja.Promise, op goja.PromiseRejectionOperation) {
	if op == goja.PromiseRejectionReject {
		s.rejected = append(s.rejected, p)
		return
	}
	for i, r := range s.rejected {
		if r == p {
			s.rejected = append(s.rejected[:i], s.rejected[i+1:]...)
			return
		}
	}
}

// rejection explains a promise that was rejected.
func (s *Script) rejection(p *goja.Promise) diag.Diagnostic {
	d := diag.Diagnostic{Text: "a promise was rejected: " + describe(p.Result())}
	if obj, ok := p.Result().(*goja.Object); ok {
		d.Text = "a promise was rejected: " + s.message(obj)
		d.Span = s.stackPlace(property(obj, "stack"))
	}
	return d
}
