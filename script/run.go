package script

import (
	"time"

	"github.com/dop251/goja"

	"gotap/runtime/record"
	"gotap/script/jsvm"
	"gotap/script/recorder"
)

// hosted is a script as its host sees it.
type hosted struct{ *Script }

// Tick runs the timers of the script and its guests.
func (h hosted) Tick(now time.Time) {
	h.lib.timers.Tick(now)
	h.tellTraps(now)
	for _, g := range h.guests {
		g.lib.timers.Tick(now)
		g.tellTraps(now)
	}
}

// NextTick returns how long the next timer of the script or a guest waits.
func (h hosted) NextTick() (time.Duration, bool) {
	next := h.lib.timers.Earliest(time.Time{})
	next = h.nextErrors(next)
	for _, g := range h.guests {
		next = g.nextErrors(g.lib.timers.Earliest(next))
	}
	if next.IsZero() || h.Stopped() {
		return 0, false
	}
	return max(0, time.Until(next)), true
}

// Drop releases the thread that waits for a record.
func (h hosted) Drop(rec record.Record) {
	if rec.Flags&record.FlagHold != 0 {
		h.release(rec.Hold)
	}
}

// Flush writes out what has been printed.
func (h hosted) Flush() { h.out.Flush() }

// Begin runs the begin callbacks. It is called before the first target may run.
func (s *Script) Begin() {
	for _, fn := range s.begins {
		s.machine.Call(fn)
	}
	s.out.Flush()
}

// Start hands the machine to a goroutine of its own, which delivers records and runs timers until End.
func (s *Script) Start() {
	s.machine.Dog.Rebase()
	s.lib.timers.Restart()
	s.host.Start()
}

// Lifecycle reports an event of a process. Safe for concurrent use; it does not block: an event that finds the queue
// full is counted as lost.
func (s *Script) Lifecycle(e Event) {
	if s.Stopped() {
		return
	}
	dumps := s.lib.recorders.Capture(e)
	if l := s.lib.listeners; !l.Knows(e.Kind) || !l.Armed(e.Kind) && s.joined.Load() == 0 && len(dumps) == 0 {
		return
	}
	s.host.Event(func() {
		s.deliverEvent(e, dumps)
		for _, g := range s.guests {
			g.deliverEvent(e, g.lib.recorders.Capture(e))
		}
	})
}

// Armed reports whether a callback of the script itself gets events of a kind. Safe for concurrent use.
func (s *Script) Armed(kind string) bool { return s.lib.listeners.Armed(kind) }

// Listens reports whether a callback, also of a script that has joined, may get events of a kind. Safe for concurrent
// use.
func (s *Script) Listens(kind string) bool { return s.Armed(kind) || s.joined.Load() > 0 }

// deliverEvent calls the listeners, then delivers what the recorders held when the event happened.
func (s *Script) deliverEvent(e Event, dumps []recorder.Dump) {
	if s.world.Journal != nil {
		s.world.Journal.Event(e)
	}
	s.lib.listeners.Dispatch(e)
	for _, d := range dumps {
		s.lib.recorders.Report(d)
	}
}

// Lost counts what this package has dropped, by cause. Safe for concurrent use.
func (s *Script) Lost() map[string]uint64 { return s.host.Lost() }

// PrintAll prints the present content of every aggregation, of guests too, and then calls more, on the host's
// goroutine. Nothing is cleared, and what the script has not printed itself still prints at the end. It does not block;
// a call that has not run yet stands for a further one too. Safe for concurrent use.
func (s *Script) PrintAll(more func()) {
	s.host.Ask(func() {
		s.lib.aggregates.PrintAll()
		for _, g := range s.guests {
			g.lib.aggregates.PrintAll()
		}
		more()
	})
}

// End ends the run: it delivers what is in the ring, for ten seconds at most, runs the end callbacks, prints the
// aggregations that were not printed, and writes everything out. It is called once, after Start or instead of it.
func (s *Script) End() {
	s.host.Stop()
	for _, g := range s.guests {
		g.conclude()
	}
	s.conclude()
}

// conclude runs the end callbacks and prints what was not printed.
func (s *Script) conclude() {
	s.tellTraps(s.errors.next)
	s.journalEnd()
	s.machine.Stopped.Store(false) // stop ends events, not the end callbacks
	for _, fn := range s.ends {
		s.machine.Call(fn)
	}
	s.lib.recorders.End()
	s.machine.Stopped.Store(true)
	s.lib.aggregates.PrintRest()
	s.lib.expect.Run()
	s.machine.Faults.Summary(s.out)
	s.out.Flush()
}

// Faults counts the exceptions of callbacks so far: of this script, its earlier versions and its guests. The host must
// not be running.
func (s *Script) Faults() uint64 {
	n := s.machine.Faults.Total + s.machine.Faults.Earlier
	for _, g := range s.guests {
		n += g.Faults()
	}
	return n
}

// exhausted ends the run of a script that used too much memory.
func (s *Script) exhausted() {
	if s.tracer != nil {
		s.tracer.Stop(1)
	}
	s.status = 1
}

// jsBegin implements begin(fn).
func (s *Script) jsBegin(call goja.FunctionCall) goja.Value {
	if fn := s.machine.FnArgument(s.machine.Site(), call, 0, "begin(() => { … })"); fn != nil {
		s.begins = append(s.begins, fn)
	}
	return nil
}

// jsEnd implements end(fn).
func (s *Script) jsEnd(call goja.FunctionCall) goja.Value {
	if fn := s.machine.FnArgument(s.machine.Site(), call, 0, "end(() => { … })"); fn != nil {
		s.ends = append(s.ends, fn)
	}
	return nil
}

// jsStop implements stop(code): nothing is delivered after it, and the callback that calls it ends there.
func (s *Script) jsStop(call goja.FunctionCall) goja.Value {
	m, code := s.machine, int64(0)
	if v := call.Argument(0); !goja.IsUndefined(v) {
		n, ok := jsvm.ToInt(v)
		if !ok || n < 0 || n > 255 {
			m.Reject(m.Site().ArgSpan(0), "", "a status is from 0 to 255, not %s", jsvm.Describe(v))
			return nil
		}
		code = n
	}
	if !m.Stopped.Swap(true) {
		s.status = int(code)
		if s.tracer != nil {
			m.Outside(func() { s.tracer.Stop(int(code)) })
		}
	}
	m.Interrupt()
	return nil
}
