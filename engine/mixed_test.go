package engine

import (
	"fmt"
	"testing"

	"gotap/engine/testenv"
)

// TestMixedExplains: a place that was hit seldom is what it was, and with Explain what it would have become, when its process has ended as well.
func TestMixedExplains(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	for _, c := range []struct {
		explain  bool
		hits     int
		strategy string
		stops    int
	}{{false, 3, "emulated", 0}, {true, 3, "inline", 1}, {false, 100, "inline", 0}, {true, 100, "inline", 1}} {
		t.Run(fmt.Sprint(c.explain, c.hits), func(t *testing.T) {
			w := newWorld(t, Config{Engine: Mixed, Follow: FollowThreads, Explain: c.explain})
			w.launch(program(t, "target.c"), "work", fmt.Sprint(c.hits))
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
