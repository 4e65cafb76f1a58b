package engine

import "testing"

// TestDetachKeepsWhatSignalsCarry detaches from a target that gets signals with values all the time: the one that its
// thread is stopped with when it is let go has its value too.
func TestDetachKeepsWhatSignalsCarry(t *testing.T) {
	p := start(t, program(t, "queued.c"), "")
	if line, err := p.out.ReadString('\n'); err != nil {
		t.Fatalf("the target does not begin: %q, %v", line, err)
	}
	for range 40 {
		w := newWorld(t, Config{Follow: FollowThreads})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		n := w.counter()
		w.probe("work", Handlers{Enter: w.counts(n)})
		w.Start()
		eventually(t, "calls", func() bool { return n.get() > 20 })
		if err := w.Close(false); err != nil {
			t.Error(err)
		}
	}
	want(t, "target", p.end(), "queued bad=0")
}
