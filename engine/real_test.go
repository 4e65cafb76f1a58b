package engine

import (
	"os/exec"
	"strings"
	"testing"

	"gotap/engine/abi"
	"gotap/engine/space"
	"gotap/engine/testenv"
)

// emulates reports whether this machine's own processes have all their instructions emulated.
func emulates() bool { return abi.Host()[0].Stepless }

// TestRealProgram puts a probe on every instruction of a program that does a little of everything. It has to print what
// it prints without.
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

// oneStopPerHit makes sure that nothing was stepped, and no hit took more than its own stop, but for system calls:
// those take two more.
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

// TestWatchpointsAlone watches data of a program whose code nobody probes, so that its own accesses are seen.
func TestWatchpointsAlone(t *testing.T) {
	testenv.Require(t, testenv.Watched)
	w := newWorld(t, Config{Follow: FollowThreads})
	tg := w.launch(program(t, "plain.c"), "100", "2")
	writes, all := w.counter(), w.counter()
	w.probe("watch:cell/4/w", Handlers{Enter: w.counts(writes)})
	w.probe("watch:cell/4/rw", Handlers{Enter: w.counts(all)})
	w.run()
	want(t, "output", tg.output(), "plain bad=0\n")
	want(t, "writes", writes.get(), 300)
	want(t, "accesses", all.get(), 300)
}

// TestWatchpointNowhere: an address that no program can have is refused, when the probe is added and when it is
// enabled, and the watchpoint that there was stays.
func TestWatchpointNowhere(t *testing.T) {
	testenv.Require(t, testenv.Watched)
	const kernel = "watch:0xffffffff81000000/8/w"
	w := newWorld(t, Config{Follow: FollowThreads})
	tg := w.launch(program(t, "plain.c"), "100", "2")
	writes := w.counter()
	w.probe("watch:cell/4/w", Handlers{Enter: w.counts(writes)})
	if _, err := w.tryProbe(kernel, Handlers{Enter: w.counts(writes)}); err == nil || !strings.Contains(err.Error(), "no such address") {
		t.Errorf("Add: %v", err)
	}
	id := w.probe(kernel, Handlers{Enter: w.counts(writes)}, func(p *ProbeSpec) { p.Disabled = true })
	if err := w.Enable(id); err == nil || !strings.Contains(err.Error(), "no such address") {
		t.Errorf("Enable: %v", err)
	}
	w.run()
	want(t, "output", tg.output(), "plain bad=0\n")
	want(t, "writes", writes.get(), 300)
	if len(w.warned) > 0 {
		t.Errorf("warned: %q", w.warned)
	}
}

// TestStacks unwinds recursive calls by call-frame information.
func TestStacks(t *testing.T) {
	path := program(t, "plain.c")
	w := newWorld(t, Config{Follow: FollowThreads})
	tg := w.launch(path, "1")
	depth := 0
	w.probe("fact", Handlers{Enter: w.code()})
	err := w.do(func() error {
		for _, p := range w.procs {
			for _, pt := range p.space.ByAddr {
				if len(pt.Enters) > 0 {
					pt.Internal = internally(func(th *thread, _ *space.Point) bool {
						var pcs [64]uint64
						n := th.view.Stack(pcs[:])
						inFact := 0
						for _, s := range w.symbols(p.pid, pcs[:n]) {
							if s == "fact" {
								inFact++
							}
						}
						depth = max(depth, inFact)
						return false
					})
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.run()
	want(t, "output", tg.output(), "plain bad=0\n")
	want(t, "calls of fact in one stack", depth, 5)
}

// symbols names the functions of return addresses.
func (w *world) symbols(pid int, pcs []uint64) []string {
	var names []string
	for i, pc := range pcs {
		if i > 0 {
			pc--
		}
		names = append(names, w.Symbol(pid, pc).Func)
	}
	return names
}
