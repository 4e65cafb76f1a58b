package engine

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// goStress builds a Go program that keeps its runtime busy.
func goStress(t *testing.T, flags ...string) string {
	t.Helper()
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, "go")
	path := filepath.Join(t.TempDir(), "gostress")
	if out, err := exec.Command("go", append(append([]string{"build", "-o", path}, flags...), "./testdata/gostress")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestInlineGo counts the calls of functions of Go natively and under breakpoints, while stacks move, the collector
// runs, goroutines are preempted and a profile is made: both see each call once, as the program makes them, and the
// program computes as ever.
func TestInlineGo(t *testing.T) {
	const n = 40
	path := goStress(t)
	calls := map[string]int64{"main.deep": 4 * n * 101, "main.build": 4 * n, "main.total": 4 * n, "main.spin": 8 * n, "main.large": 4 * n, "main.main": 1}
	output := fmt.Sprintf("sum %d true\n", 4*n*(49*50/2+100+8))
	for _, e := range []Engine{Step, Inline} {
		counted := map[string]int64{}
		w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
		tg := w.launch(path, fmt.Sprint(n))
		counters := map[string]*counter{}
		for f := range calls {
			counters[f] = w.counter()
			w.probe(f, Handlers{Enter: w.counts(counters[f])})
		}
		w.run()
		for f := range calls {
			counted[f] = counters[f].get()
		}
		if !maps.Equal(counted, calls) {
			t.Errorf("%v: %v, not %v", e, counted, calls)
		}
		want(t, "output", tg.output(), output)
		if s := w.Stats(); e == Inline && (s.Inline < len(calls)-1 || s.Hits > uint64(calls["main.deep"])/4) { // main.main is called once
			t.Errorf("not inline: %+v", s)
		}
	}
}

// TestInlineGoEverywhere has all functions of a Go program run native code that have room for it, the runtime's
// included.
func TestInlineGoEverywhere(t *testing.T) {
	const n = 40
	for _, flags := range []string{"", "-buildmode=pie"} {
		path := goStress(t, strings.Fields(flags)...)
		t.Run(flags, func(t *testing.T) {
			w := newWorld(t, Config{Engine: Inline, Follow: FollowThreads})
			tg := w.launch(path, fmt.Sprint(n))
			all, deep := w.counter(), w.counter()
			w.probe("main.deep", Handlers{Enter: w.counts(deep)})
			id := w.probe("gostress:*", Handlers{Enter: w.counts(all)}, func(p *ProbeSpec) { p.Optional = true })
			w.run()
			want(t, "calls", deep.get(), 4*n*101)
			want(t, "output", tg.output(), fmt.Sprintf("sum %d true\n", 4*n*(49*50/2+100+8)))
			q := w.Query()[id-1]
			t.Logf("%d hits, places %v, %+v", all.get(), q.Strategy, w.Stats())
			if q.Strategy["inline"] < 500 || all.get() < deep.get() {
				t.Errorf("%d hits at %v", all.get(), q.Strategy)
			}
		})
	}
}

// TestInlineGoRefused: what has no room for native code, and calls that are followed, are refused with the reason.
func TestInlineGoRefused(t *testing.T) {
	path := goStress(t)
	w := newWorld(t, Config{Engine: Inline, Follow: FollowThreads})
	w.launch(path, "1")
	n := w.counter()
	if _, err := w.tryProbe("runtime.memmove", Handlers{Enter: w.counts(n)}); err == nil || !strings.Contains(err.Error(), "behind the check") {
		t.Errorf("a function without a check: %v", err)
	}
	if _, err := w.tryProbe("main.deep", Handlers{Leave: w.counts(n)}); err == nil || !strings.Contains(err.Error(), "goroutine") {
		t.Errorf("a followed call: %v", err)
	}
	w.run()
	want(t, "hits", n.get(), 0)
}

// TestInlineManySites counts the calls of all functions of a large program, which need more than one area for native
// code.
func TestInlineManySites(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, "go")
	path, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"env", "GOOS", "GOARCH", "GOROOT"}
	plain, err := exec.Command(path, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, Config{Engine: Inline, Follow: FollowThreads})
	tg := w.launch(path, args...)
	n := w.counter()
	id := w.probe("go:*", Handlers{Enter: w.counts(n)}, func(p *ProbeSpec) { p.Optional = true })
	w.run()
	want(t, "output", tg.output(), string(plain))
	q, s := w.Query()[id-1], w.Stats()
	t.Logf("%d hits at %v, %d stops, stopped for %v", n.get(), q.Strategy, s.Stops, s.Kept)
	if q.Strategy["inline"] < 11000 || q.Strategy["emulated"] > 100 || uint64(n.get()) < 10*s.Hits {
		t.Errorf("%d hits at %v, %d stops", n.get(), q.Strategy, s.Hits)
	}
}
