package engine

import (
	"strings"
	"testing"
	"time"
)

// TestPanicHarmsNobody lets the tracing thread panic in the middle of hits: the session ends with the reason, and the target is as
// it was and goes on.
func TestPanicHarmsNobody(t *testing.T) {
	path := program(t, "target.c")
	eachEngine(t, func(t *testing.T, e Engine) {
		p := start(t, path, "spin", "4")
		before := text(t, p.pid())
		w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		n := w.counter()
		for _, f := range []string{"work+*", "run+*", "runner+*"} {
			w.probe(f, Handlers{Enter: w.counts(n), Leave: nil})
		}
		w.Start()
		time.Sleep(50 * time.Millisecond)
		if w.do(func() error { panic("a mistake") }) == nil {
			t.Error("the task that panicked is said to have succeeded")
		}
		w.fails = true
		if err := w.Close(false); err == nil || !strings.Contains(err.Error(), "a mistake") {
			t.Errorf("Close: %v", err)
		}
		untouched(t, p.pid(), before)
		want(t, "target", p.end(), "spin bad=0")
	})
}

// TestForksWithoutEnd traces a program whose children fork children: 127 processes, many of them at once.
func TestForksWithoutEnd(t *testing.T) {
	path := program(t, "target.c")
	for _, follow := range []Follow{FollowChildren, FollowThreads} {
		eachEngine(t, func(t *testing.T, e Engine) {
			w := newWorld(t, Config{Engine: e, Follow: follow})
			tg := w.launch(path, "tree", "6")
			n := w.counter()
			w.probe("work", Handlers{Enter: w.counts(n)})
			w.run()
			hits := 127 // 2^7-1 processes, each works once
			if follow == FollowThreads {
				hits = 1
			}
			want(t, "hits", int(n.get()), hits)
			want(t, "output", tg.output(), "tree 127 bad=0\n")
		})
	}
}
