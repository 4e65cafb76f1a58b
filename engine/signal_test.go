package engine

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// TestSignals runs programs that check every signal they get, with probes on all their own instructions.
func TestSignals(t *testing.T) {
	t.Parallel()
	path := program(t, "signals.c")
	for _, args := range []string{"queue 50", "trap 10", "divide 10", "illegal 10", "alternate 10", "wait 20", "storm", "answers", "order", "parent 1", "blocked 10", "timer", "interrupted 30", "itself 10", "once 10", "pending 10"} {
		for _, inPlace := range []bool{false, true} {
			eachEngine(t, func(t *testing.T, e Engine) {
				if inPlace && (e != Step || slices.Contains([]string{"timer", "storm", "answers", "order"}, args)) {
					return // signals would come faster than steps in place let them be handled
				}
				if e == Mixed && args == "itself 10" {
					return // the program sees the steps in native code, too: a handler for each of them, with breakpoints in it
				}
				w := newWorld(t, Config{Engine: e, Follow: FollowChildren})
				w.do(func() error { w.patcher.InPlaceOnly(inPlace); return nil })
				args := strings.Fields(args)
				if len(args) == 1 {
					args = append(args, strconv.Itoa(scaled(100, 300)))
				}
				tg := w.launch(path, args...)
				n := w.counter()
				for _, f := range []string{"work+*", "on+*", "on_any+*", "step_itself+*", "divide+*", "own_trap+*", "illegal+*", "main+*"} {
					if _, err := w.tryProbe("signals*:"+f, Handlers{Enter: w.counts(n)}); err != nil {
						t.Error(err)
					}
				}
				w.run()
				if tg.output() != args[0]+" bad=0\n" || n.get() == 0 {
					t.Errorf("%v: %d hits, output %q", args, n.get(), tg.output())
				}
			})
		}
	}
}

// TestTimerOfEntries has a timer come faster than its handler is through, with probes on the entries of functions
// alone: what is withheld from the thread must not grow.
func TestTimerOfEntries(t *testing.T) {
	path := program(t, "signals.c")
	eachEngine(t, func(t *testing.T, e Engine) {
		w := newWorld(t, Config{Engine: e, Follow: FollowChildren})
		tg := w.launch(path, "timer", "1000")
		n := w.counter()
		w.probe("signals*:work", Handlers{Enter: w.counts(n)})
		w.probe("signals*:on_any", Handlers{Enter: w.counts(n)})
		most := 0
		w.do(func() error {
			w.cfg.Notify = func(Event) {
				for _, th := range w.threads {
					most = max(most, th.queue.Len())
				}
			}
			return nil
		})
		w.run()
		want(t, "output", tg.output(), "timer bad=0\n")
		if most > 3 {
			t.Errorf("%d signals of one timer were kept at once", most)
		}
	})
}

// TestDisarmedTimer: a signal that is withheld from a thread, because it would stop the progress of the thread, is
// delivered before a system call by which the program may do away with it.
func TestDisarmedTimer(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"64": nil, "32": variants["32"]} {
		t.Run(name, func(t *testing.T) {
			if flags != nil {
				testenv.Require(t, testenv.M32, testenv.IA32)
			}
			path := program(t, "disarm.c", flags...)
			eachEngine(t, func(t *testing.T, e Engine) {
				w := newWorld(t, Config{Engine: e})
				tg := w.launch(path, strconv.Itoa(scaled(60, 300)))
				n := w.counter()
				for _, f := range []string{"work", "on_tick"} {
					w.probe("disarm*:"+f, Handlers{Enter: w.counts(n), Leave: w.counts(n)})
				}
				w.run()
				want(t, "output", tg.output(), "disarmed\n")
			})
		})
	}
}

// TestUnblockedSignals has threads send themselves signals in a loop, all of which come at one place: behind the call
// that unblocks them, which the session may make for them.
func TestUnblockedSignals(t *testing.T) {
	path := program(t, "unblock.c")
	for _, all := range []bool{false, true} {
		eachEngine(t, func(t *testing.T, e Engine) {
			w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
			tg := w.launch(path)
			n := w.counter()
			w.probe("one", Handlers{Enter: w.counts(n)})
			if all {
				w.probe("rounds+*", Handlers{Enter: w.counts(w.counter())})
				w.probe("on+*", Handlers{Enter: w.counts(w.counter())})
			}
			w.run()
			want(t, "output", tg.output(), "unblock bad=0\n")
			want(t, "hits", n.get(), 3*60)
		})
	}
}
