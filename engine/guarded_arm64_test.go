package engine

import (
	"fmt"
	"testing"

	"gotap/engine/linux/hostcpu"
	"gotap/runtime/opcode"
)

// TestGuarded: functions that are built for branch protection begin with instructions at which indirect branches may
// land. Where the processor checks in guarded code that they do, entries keep their breakpoints; elsewhere they get
// jumps. Either way calls and results are those of a run without.
func TestGuarded(t *testing.T) {
	const calls = 1000
	checks := hostcpu.ChecksBranchTargets()
	w := newWorld(t, Config{Engine: Mixed, Follow: FollowThreads})
	tg := w.launch(program(t, "guarded.c"), fmt.Sprint(calls))
	places := []string{"leaf", "leaf+4", "outer", "outer+4"}
	var hits []*counter
	for _, at := range places {
		n := w.counter()
		hits = append(hits, n)
		w.probe(at, Handlers{Enter: w.halves(n)})
	}
	results := w.counter()
	w.probe("outer", Handlers{Leave: w.sums(results, opcode.Retval, 0)})
	w.run()
	out, extra := "guarded bad=0 checks=0\n", int64(0)
	if checks {
		out = "guarded bad=0 checks=1\n"
	} else {
		extra = 1 // the program has called leaf+4
	}
	want(t, "output", tg.output(), out)
	want(t, "the sum of results", results.get(), 3*calls*(calls+1)/2)
	for i, q := range w.Query()[:len(places)] {
		entry, n := i%2 == 0, int64(calls)
		if i == 1 {
			n += extra
		}
		want(t, "hits of "+places[i], hits[i].get(), n)
		if (q.Strategy["inline"]+q.Strategy["inline, returns by return sites"] == 1) != (!entry || !checks) {
			t.Errorf("the processor checks branches: %v; %+v", checks, q)
		}
	}
}
