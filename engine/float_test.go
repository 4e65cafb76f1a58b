package engine

import (
	"math"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime/opcode"
)

// TestFloatAddress runs x87 instructions under probes, and programs that read the address of the last one: it is never
// that of a copy.
func TestFloatAddress(t *testing.T) {
	for name, flags := range map[string][]string{"64": nil, "fixed": {"-no-pie"}, "32": append([]string{"-no-pie"}, variants["32"]...)} {
		t.Run(name, func(t *testing.T) {
			if name == "32" {
				testenv.Require(t, testenv.M32, testenv.IA32)
			}
			path := program(t, "float.c", flags...)
			want(t, "alone", runPlainly(t, path, "20"), outcome{text: "float bad=0\n"})
			for _, inPlace := range []bool{false, true} {
				eachEngine(t, func(t *testing.T, e Engine) {
					w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
					w.do(func() error { w.patcher.InPlaceOnly(inPlace); return nil })
					tg := w.launch(path, "20")
					n := w.counter()
					w.probe("by_*+*", Handlers{Enter: w.counts(n)})
					w.run()
					want(t, "output", tg.output(), "float bad=0\n")
					if n.get() < 20*5*5 {
						t.Errorf("%d hits", n.get())
					}
				})
			}
		})
	}
}

// TestFloatAfterStep reads a vector register before an instruction that changes it, and after.
func TestFloatAfterStep(t *testing.T) {
	path := program(t, "float.c")
	eachEngine(t, func(t *testing.T, e Engine) {
		w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
		tg := w.launch(path, "1")
		before, after := w.counter(), w.counter()
		w.probe("twice", Handlers{Enter: w.sums(before, opcode.ArgF, 0), Post: w.sums(after, opcode.ArgF, 0)})
		w.run()
		want(t, "output", tg.output(), "float bad=0\n")
		want(t, "before", math.Float64frombits(uint64(before.get())), 1)
		want(t, "after", math.Float64frombits(uint64(after.get())), 2)
	})
}
