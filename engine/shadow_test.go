package engine

import "testing"

// TestShadowStacks has a session take all threads for such that have shadow stacks: calls and returns are run at their
// own place, others not.
func TestShadowStacks(t *testing.T) {
	path := program(t, "target.c")
	eachEngine(t, func(t *testing.T, e Engine) {
		w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
		w.do(func() error { w.shadows.Has = func(int) bool { return true }; return nil })
		tg := w.launch(path, "threads", "20", "4")
		n, leaves, all := w.counter(), w.counter(), w.counter()
		w.probe("work", Handlers{Enter: w.counts(n), Leave: w.counts(leaves)})
		w.probe("work+*", Handlers{Enter: w.counts(all)})
		w.run()
		want(t, "output", tg.output(), "threads bad=0\n")
		want(t, "calls, leaves", [2]int64{n.get(), leaves.get()}, [2]int64{80, 80})
		least := n.get()
		if e == Mixed { // native code has copies of returns
			least = 0
		}
		if held := int64(w.Stats().Held); held < least || held >= all.get() { // the engine has points of its own
			t.Errorf("%d steps in place for %d returns of %d instructions", held, n.get(), all.get())
		}
	})
}
