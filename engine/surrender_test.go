package engine

import "testing"

// TestDebuggerAsTarget has a target trace children of its own: they are left to it, and everything else is probed.
func TestDebuggerAsTarget(t *testing.T) {
	const calls = 20
	for _, flags := range [][]string{nil, {"-static"}} {
		path := program(t, "debugger.c", flags...)
		for _, mode := range []string{"fork", "vfork"} {
			want(t, "output", runPlainly(t, path, mode, "20").text, mode+" bad=0\n")
			for _, follow := range []Follow{FollowThreads, FollowChildren} {
				w := newWorld(t, Config{Follow: follow})
				tg := w.launch(path, mode, "20")
				n, l := w.counter(), w.counter()
				w.probe("work", Handlers{Enter: w.counts(n), Leave: w.counts(l)})
				w.run()
				want(t, "output", tg.output(), mode+" bad=0\n")
				want(t, "hits", n.get(), 2*calls)
				want(t, "returns", l.get(), 2*calls)
			}
		}
	}
}
