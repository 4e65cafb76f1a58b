package unwind_test

import (
	"debug/elf"
	"testing"

	"gotap/engine/testenv"
	"gotap/engine/unwind"
)

// BenchmarkWalk walks the deepest stack of the test program, with rows cached.
func BenchmarkWalk(b *testing.B) {
	testenv.Require(b, testenv.GDB, testenv.GCC, testenv.AMD64, testenv.Ptrace)
	p, stops := record(b, build(b, "frames.c", "-O2", "-fomit-frame-pointer"), elf.EM_X86_64, 1, "mark")
	w := unwind.NewWalker(layout(b, elf.EM_X86_64))
	var deepest *stop
	for i := range stops {
		if deepest == nil || len(stops[i].Chain) > len(deepest.Chain) {
			deepest = &stops[i]
		}
	}
	p.stack = *deepest
	regs, out := deepest.regs(elf.EM_X86_64), make([]uint64, 60)
	b.ReportAllocs()
	for b.Loop() {
		w.Walk(regs, p, p.find, out)
	}
	b.ReportMetric(float64(len(deepest.Chain)), "frames")
}
