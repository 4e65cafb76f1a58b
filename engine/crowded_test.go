package engine

import (
	"testing"

	"gotap/engine/image/module"
	"gotap/engine/testenv"
)

// TestCrowded: where a program has no room within reach of its own code, only the instructions there are stepped in
// place, and one warning names the place. Those of the C library are stepped in slots.
func TestCrowded(t *testing.T) {
	own, library, warned := slotsOf(t, "around")
	want(t, "instructions in slots near the program", own, 0)
	want(t, "instructions in slots near the C library", library, 1)
	want(t, "warnings", len(warned), 1)
}

// TestSlotsAfterTrapFlag: a thread that single-steps itself as it meets the first breakpoint cannot map memory, which
// the next one does.
func TestSlotsAfterTrapFlag(t *testing.T) {
	own, library, warned := slotsOf(t, "itself")
	if own < 2 || library != 1 || len(warned) != 0 {
		t.Errorf("%d instructions of the program and %d of the C library in slots; warned: %q", own, library, warned)
	}
}

// slotsOf traces the program crowded in a mode, and counts the instructions of its own and of the C library that are
// stepped in slots.
func slotsOf(t *testing.T, mode string) (own, library int, warned []string) {
	t.Helper()
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, testenv.GCC)
	p := start(t, program(t, "crowded.c"), mode, "20")
	if line, err := p.out.ReadString('\n'); err != nil {
		t.Fatalf("the target does not begin: %q, %v", line, err)
	}
	before := text(t, p.pid())
	w := newWorld(t, Config{Engine: Step, Follow: FollowThreads})
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	works, rands := w.counter(), w.counter()
	w.probe("crowded*:work+*", Handlers{Enter: w.counts(works)})
	w.probe("libc:rand", Handlers{Enter: w.counts(rands)})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		want(t, "output", p.end(), "crowded bad=0")
	}
	w.do(func() error {
		for _, pt := range w.procs[p.pid()].space.ByAddr {
			switch {
			case len(pt.Enters) == 0 || pt.Slot == 0:
			case module.Find(pt.Space.Modules, pt.Addr) == &pt.Space.Modules[0]:
				own++
			default:
				library++
			}
		}
		return nil
	})
	if err := w.Close(false); err != nil {
		t.Error(err)
	}
	if works.get() < 2*2*20 || rands.get() != 2*20 {
		t.Errorf("%d instructions of the program and %d calls of the C library were hit", works.get(), rands.get())
	}
	untouched(t, p.pid(), before)
	return own, library, w.warned
}
