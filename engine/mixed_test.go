package engine

import (
	"fmt"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// TestMixedExplains: a place that was hit seldom is what it was, and with Explain what it would have become, when its
// process has ended as well.
func TestMixedExplains(t *testing.T) {
	path := program(t, "target.c")
	for _, c := range []struct {
		explain  bool
		hits     int
		strategy string
		stops    int
	}{{false, 3, "emulated", 0}, {true, 3, "inline", 1}, {false, 100, "inline", 0}, {true, 100, "inline", 1}} {
		t.Run(fmt.Sprint(c.explain, c.hits), func(t *testing.T) {
			w := newWorld(t, Config{Engine: Mixed, Follow: FollowThreads, Explain: c.explain})
			w.launch(path, "work", fmt.Sprint(c.hits))
			n, parents := w.counter(), w.counter()
			w.probe("work", Handlers{Enter: w.counts(n)})
			w.probe("main", Handlers{Enter: w.rings(n, parents)})
			w.run()
			want(t, "hits", n.get() > int64(c.hits), true)
			work, main := w.Query()[0], w.Query()[1]
			if work.Hits != uint64(c.hits) || work.Strategy[c.strategy] != 1 || len(work.Stops) > 0 {
				t.Errorf("work: %+v", work)
			}
			if main.Strategy["emulated"] != 1 || len(main.Stops) != c.stops {
				t.Errorf("main: %+v", main)
			}
		})
	}
}

// TestMixedHeedsRings: a place where few hits need the interpreter keeps its jump, one where most do gets its
// breakpoint back, and both count exactly.
func TestMixedHeedsRings(t *testing.T) {
	path := program(t, "target.c")
	for _, c := range []struct {
		mask     uint64 // a hit needs the interpreter if the argument has none of these bits
		strategy string
		hits     int64 // that do
	}{{63, "inline", 157}, {0, "emulated", 10000}} {
		t.Run(c.strategy, func(t *testing.T) {
			w := newWorld(t, Config{Engine: Mixed, Follow: FollowThreads})
			tg := w.launch(path, "work", "10000")
			n := w.counter()
			w.probe("work", Handlers{Enter: w.code(runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.PushD, V: c.mask}, runtime.Inst{Op: opcode.And},
				runtime.Inst{Op: opcode.Jnz, A: 7},
				runtime.Inst{Op: opcode.Field, A: uint32(runtime.FieldPpid)}, runtime.Inst{Op: opcode.Bool}, runtime.Inst{Op: opcode.AddGV, V: n.offset()})})
			w.run()
			want(t, "hits that need the interpreter", n.get(), c.hits)
			want(t, "output", tg.output(), "work bad=0\n")
			q, st := w.Query()[0], w.Stats()
			if q.Hits != 10000 || q.Strategy[c.strategy] != 1 {
				t.Errorf("query: %+v", q)
			}
			if few := st.Hits < 1000; few != (c.strategy == "inline") {
				t.Errorf("%d stops", st.Hits)
			}
		})
	}
}

// TestMixedLimit: a probe with a limit needs a breakpoint as long as it counts. When it has counted enough, the other
// programs of the place no longer stop threads.
func TestMixedLimit(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	for _, limit := range []uint64{1, 100} {
		w := newWorld(t, Config{Engine: Mixed, Follow: FollowThreads})
		tg := w.launch(program(t, "target.c"), "work", "20000")
		few, all := w.counter(), w.counter()
		w.probe("work", Handlers{Enter: w.counts(few)}, func(p *ProbeSpec) { p.Limit = limit })
		w.probe("work", Handlers{Enter: w.counts(all)})
		w.run()
		want(t, "output", tg.output(), "work bad=0\n")
		want(t, "hits of the probe with a limit", few.get(), int64(limit))
		want(t, "hits", all.get(), 20000)
		if q, s := w.Query()[1], w.Stats(); q.Strategy["inline"] != 1 || s.Hits > 1000 {
			t.Errorf("limit %d: %+v, stats %+v", limit, q, s)
		}
	}
}

// TestMixedReturns: the return of a function gets its jump although that has to be in front of the return, so that the
// thread that hits the breakpoint there is behind the jump. Only returns stop the thread by then.
func TestMixedReturns(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	w := newWorld(t, Config{Engine: Mixed, Follow: FollowThreads})
	tg := w.launch(program(t, "changed.c"), "20000")
	calls, results := w.counter(), w.counter()
	w.probe("plus", Handlers{Enter: w.counts(calls), Leave: w.sums(results, opcode.Retval, 0)})
	w.run()
	want(t, "output", tg.output(), "sum 399980000 signals 0\n")
	want(t, "calls", calls.get(), 20000)
	want(t, "sum of results", results.get(), 399980000)
	if st := w.Stats(); st.Inline != 2 || st.Hits > 10000 {
		t.Errorf("%d jumps, %d stops", st.Inline, st.Hits)
	}
}
