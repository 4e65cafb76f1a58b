package engine

import "testing"

// TestScalableVectors: a program that works with scalable vectors is attached to, probed at every instruction, and let
// go, and finds all their bits right. The registers themselves are what it compares.
func TestScalableVectors(t *testing.T) {
	p := start(t, program(t, "scalable.c"), "until told")
	if line, err := p.out.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the program says %q, %v", line, err)
	}
	for range 3 {
		w := newWorld(t, Config{Follow: FollowThreads})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		n := w.counter()
		w.probe("spin+*", Handlers{Enter: w.counts(n)})
		w.Start()
		eventually(t, "hits", func() bool { return n.get() > 300 })
		if err := w.Close(false); err != nil {
			t.Error(err)
		}
	}
	want(t, "target", p.end(), "victim bad=0")
}
