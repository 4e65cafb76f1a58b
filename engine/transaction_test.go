package engine

import (
	"fmt"
	"os/exec"
	"testing"

	"gotap/arch"
	"gotap/arch/x86"
	"gotap/engine/isa"
	"gotap/engine/testenv"
)

// TestTransactions probes every instruction of a function with a transaction, as on a processor that reports them: each
// xbegin is emulated, whatever the engine, with watchpoints too, so that it does not matter whether this one has.
// Transactions abort at once.
func TestTransactions(t *testing.T) {
	useArch(t, x86.WithTransactions(x86.New64()), x86.WithTransactions(x86.New32()))
	probeTransactions(t)
}

// TestTransactionsUnreported does the same as on a processor that executes xbegin and does not report it: xbegin is
// stepped.
func TestTransactionsUnreported(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.GCC)
	if err := exec.Command(program(t, "transaction.c"), "1").Run(); err != nil {
		t.Logf("the processor does not execute xbegin: %v", err)
		return
	}
	useArch(t, x86.New64(), x86.New32())
	probeTransactions(t)
}

// useArch makes sessions of the test take the processor for another one.
func useArch(t *testing.T, long, short arch.Arch) {
	for a, other := range map[*isa.ISA]arch.Arch{isa.AMD64: long, isa.I386: short} {
		before := a.Arch
		a.Arch = other
		t.Cleanup(func() { a.Arch = before })
	}
}

func probeTransactions(t *testing.T) {
	testenv.Require(t, testenv.Watched)
	for name, flags := range map[string][]string{"64": nil, "32": variants["32"]} {
		t.Run(name, func(t *testing.T) {
			start := 7 // where the function has its xbegin
			if name == "32" {
				testenv.Require(t, testenv.M32, testenv.IA32)
				start = 5
			}
			path := program(t, "transaction.c", flags...)
			for _, inPlace := range []bool{false, true} {
				eachEngine(t, func(t *testing.T, e Engine) {
					w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
					w.do(func() error { w.patcher.InPlaceOnly(inPlace); return nil })
					tg := w.launch(path, "20")
					begun, inside, behind, writes := w.counter(), w.counter(), w.counter(), w.counter()
					w.probe("tx+*", Handlers{Enter: w.counts(w.counter())})
					w.probe(fmt.Sprintf("tx+%d", start), Handlers{Enter: w.counts(begun)})
					w.probe(fmt.Sprintf("tx+%d", start+6), Handlers{Enter: w.counts(inside)})
					w.probe(fmt.Sprintf("tx+%d", start+11), Handlers{Enter: w.counts(behind)})
					w.probe("watch:failed/4/w", Handlers{Enter: w.counts(writes)})
					w.run()
					want(t, "output", tg.output(), "transaction bad=0\n")
					want(t, "begun, inside, behind, writes", [4]int64{begun.get(), inside.get(), behind.get(), writes.get()}, [4]int64{20, 0, 20, 20})
				})
			}
		})
	}
}

// TestStackSegment steps, in place and elsewhere, an instruction that holds traps back until the next one has run. That
// has a probe, too, except that a breakpoint of the program's own cannot have one.
func TestStackSegment(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, testenv.GCC)
	path := program(t, "segment.c", "-O1")
	for _, inPlace := range []bool{false, true} {
		eachEngine(t, func(t *testing.T, e Engine) {
			w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
			w.do(func() error { w.patcher.InPlaceOnly(inPlace); return nil })
			tg := w.launch(path)
			n, m := w.counter(), w.counter()
			w.probe("segment+*", Handlers{Enter: w.counts(n)})
			for _, name := range []string{"trapped+2", "called+7"} { // the load
				w.probe(name, Handlers{Enter: w.counts(m)})
			}
			w.run()
			want(t, "output", tg.output(), "segment bad=0\n")
			if hits := n.get(); hits%10 != 0 || hits < 50 { // each instruction of at least five, ten times
				t.Errorf("%d hits", hits)
			}
			want(t, "hits of loads", m.get(), 20)
		})
	}
}
