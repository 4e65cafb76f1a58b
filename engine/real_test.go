package engine

import (
	"os/exec"
	"strings"
	"testing"
)

// emulates reports whether this machine's own processes have all their instructions emulated.
func emulates() bool { return hostABIs()[0].emulates != nil }

// TestRealProgram puts a probe on every instruction of a program that does a little of everything. It has to print what it prints
// without.
func TestRealProgram(t *testing.T) {
	path := program(t, "real.c", "-static")
	plain, err := exec.Command(path, "1").Output()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, Config{Follow: FollowThreads})
	tg := w.launch(path, "1")
	n := w.counter()
	id := w.probe("real*:r_*+*", Handlers{Enter: w.counts(n)})
	w.run()
	want(t, "output", tg.output(), string(plain))
	for _, q := range w.Query() {
		if q.ID != id {
			continue
		}
		t.Logf("%d places, %d hits; left out: %s", q.Places, q.Hits, strings.Join(q.Refused, "; "))
		if q.Places < 500 || uint64(n.get()) != q.Hits || q.Hits < 5000 {
			t.Errorf("%d places, %d hits, %d counted", q.Places, q.Hits, n.get())
		}
		if limit := 40; len(q.Refused) > limit {
			t.Errorf("%d places were left out", len(q.Refused))
		}
	}
	oneStopPerHit(t, w.Stats())
}

// oneStopPerHit makes sure that nothing was stepped, and no hit took more than its own stop, but for system calls: those take two more.
func oneStopPerHit(t *testing.T, st Stats) {
	t.Helper()
	t.Logf("%d hits, %d stops (%.4f a hit), %d at system calls or left to the processor", st.Hits, st.Stops, float64(st.Stops)/float64(st.Hits), st.Steps)
	if !emulates() {
		return
	}
	const lifecycle = 40 // exec, threads and their ends, signals
	if st.Stops > st.Hits+2*st.Steps+lifecycle || st.Held > 0 {
		t.Errorf("%d stops for %d hits, %d of them system calls; the world was held %d times", st.Stops, st.Hits, st.Steps, st.Held)
	}
}

// TestOneStopPerHit counts the calls of a function exactly, and stops.
func TestOneStopPerHit(t *testing.T) {
	path := program(t, "plain.c", "-static")
	w := newWorld(t, Config{Follow: FollowThreads})
	tg := w.launch(path, "2000")
	n := w.counter()
	w.probe("work", Handlers{Enter: w.counts(n)})
	w.run()
	want(t, "output", tg.output(), "plain bad=0\n")
	want(t, "calls", n.get(), 2000)
	oneStopPerHit(t, w.Stats())
}
