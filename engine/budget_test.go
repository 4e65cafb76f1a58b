package engine

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotap/engine/testenv"
	"gotap/engine/throttle"
)

// steps collects what a session tells of its budget.
type steps struct {
	mu  sync.Mutex
	all []Overload
}

func (s *steps) add(o Overload) { s.mu.Lock(); s.all = append(s.all, o); s.mu.Unlock() }

func (s *steps) list() []Overload {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Overload(nil), s.all...)
}

// slowClock makes a session believe that every look at the clock comes a time after the one before.
func (w *world) slowClock(each time.Duration) {
	w.do(func() error {
		now := w.throttle.Now()
		w.throttle.SetClock(func() uint64 { now += uint64(each); return now })
		return nil
	})
}

// TestBudgetSamples has hits take a thousandth of a window each: after some, probes rest. The target does not notice.
func TestBudgetSamples(t *testing.T) {
	eachEngine(t, func(t *testing.T, e Engine) {
		var told steps
		w := newWorld(t, Config{Engine: e, Follow: FollowThreads, Budget: 0.3, Overloaded: told.add})
		tg := w.launch(program(t, "target.c"), "threads", "2000000", "4")
		w.slowClock(throttle.Window / 1000)
		n, l := w.counter(), w.counter()
		id := w.probe("work", Handlers{Enter: w.counts(n), Leave: w.counts(l)})
		w.run()
		want(t, "output", tg.output(), "threads bad=0\n")
		st := w.Stats()
		if st.Rests == 0 || n.get() == 0 || n.get() > 100000 || uint64(n.get()) != w.stateOf(id).Hits {
			t.Errorf("%d windows with rests, %d hits seen", st.Rests, n.get())
		}
		if missed := w.stateOf(id).Missed; uint64(n.get()) < uint64(l.get()) || uint64(n.get()) != uint64(l.get())+missed {
			t.Errorf("%d calls, %d returns, %d of them missed", n.get(), l.get(), missed)
		}
		if all := told.list(); len(all) != 1 || all[0].Step != OverloadSampling || all[0].Share < 0.3 {
			t.Errorf("told %+v", all)
		}
	})
}

func (w *world) stateOf(id uint32) ProbeState {
	for _, q := range w.Query() {
		if q.ID == id {
			return q
		}
	}
	return ProbeState{}
}

// TestBudgetDisables has a watchpoint be hotter than the budget allows, which cannot rest: it is disabled, and as
// nothing is left then, the session ends and the target goes on.
func TestBudgetDisables(t *testing.T) {
	testenv.Require(t, testenv.Watched)
	var told steps
	w := newWorld(t, Config{Follow: FollowThreads, Budget: 0.01, Overloaded: told.add})
	path := program(t, "plain.c")
	tg, cell := w.launch(path, "30000"), fmt.Sprintf("watch:cell/%d/w", longSize(t, path))
	w.slowClock(throttle.Window / 1000)
	n, calls := w.counter(), w.counter()
	w.probe(cell, Handlers{Enter: w.counts(n)})
	w.probe("nowhere", Handlers{Enter: w.counts(calls)}, func(p *ProbeSpec) { p.Optional, p.Disabled = true, true })
	w.run()
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(tg.pid, &ws, 0, nil); err == nil { // else it ended before the session let go
		want(t, "status of the target", ws, 0)
	}
	want(t, "output", tg.output(), "plain bad=0\n")
	all := told.list()
	if len(all) != 3 || all[0].Step != OverloadSampling || all[1].Step != OverloadDisabled || all[1].Probe != cell || all[2].Step != OverloadDetached {
		t.Errorf("told %+v", all)
	}
	if n.get() < throttle.StrainWindows || n.get() >= 30000 {
		t.Errorf("%d hits", n.get())
	}
}

// TestSlowTargetIsTold has targets be stopped most of the time, without a budget.
func TestSlowTargetIsTold(t *testing.T) {
	var told steps
	w := newWorld(t, Config{Follow: FollowThreads, Overloaded: told.add})
	tg := w.launch(program(t, "target.c"), "work", "10000")
	w.slowClock(throttle.Window / 1000)
	n := w.counter()
	w.probe("work", Handlers{Enter: w.counts(n)})
	w.run()
	want(t, "output", tg.output(), "work bad=0\n")
	want(t, "hits", n.get(), 10000)
	if all := told.list(); len(all) != 1 || all[0].Step != OverloadSlow || all[0].Share < 0.5 {
		t.Errorf("told %+v", all)
	}
}
