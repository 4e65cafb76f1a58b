package engine

import (
	"testing"

	"gotap/runtime/opcode"
)

// TestMixedARM64: without a choice of the user's, programs run in several threads without a stop once their place has
// been hit often, and calls are followed from the entry to the return.
func TestMixedARM64(t *testing.T) {
	const calls, threads = 5000, 4
	w := newWorld(t, Config{Engine: Mixed, Follow: FollowThreads})
	tg := w.launch(program(t, "plain.c"), "5000", "3")
	n, results := w.counter(), w.counter()
	w.probe("work", Handlers{Enter: w.counts(n), Leave: w.sums(results, opcode.Retval, 0)})
	w.run()
	want(t, "hits", n.get(), threads*calls)
	want(t, "the sum of results", results.get(), threads*calls*calls)
	want(t, "output", tg.output(), "plain bad=0\n")
	if q, s := w.Query(), w.Stats(); q[0].Hits != threads*calls || q[0].Strategy["inline, returns by return sites"] != 1 || s.Hits > 1000 || s.Inline != 2 {
		t.Errorf("query %+v, stats %+v", q, s)
	}
}

// TestMixedTilted: where the stack pointer is misaligned, no native code runs, because it would fault as soon as it
// uses the stack.
func TestMixedTilted(t *testing.T) {
	w := newWorld(t, Config{Engine: Mixed, Follow: FollowThreads})
	tg := w.launch(program(t, "tilted.c"), "1000")
	places := []string{"tilt", "tilt+4", "tilt+8", "tilt+12"}
	var hits []*counter
	for _, at := range places {
		n := w.counter()
		hits = append(hits, n)
		w.probe(at, Handlers{Enter: w.counts(n)})
	}
	w.run()
	want(t, "output", tg.output(), "tilted bad=0\n")
	for i, q := range w.Query() {
		want(t, "hits of "+places[i], hits[i].get(), 1000)
		how := "inline"
		if i == 1 || i == 2 {
			how = "emulated"
		}
		if q.Strategy[how] != 1 {
			t.Errorf("%s: %+v", places[i], q)
		}
	}
}
