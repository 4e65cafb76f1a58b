package unwind_test

import (
	"debug/elf"
	"slices"
	"sync"
	"testing"

	"gotap/engine/image/unwind"
	"gotap/engine/testenv"
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

// TestTableIsShared walks the same stacks from several goroutines over the same tables.
func TestTableIsShared(t *testing.T) {
	testenv.Require(t, testenv.GDB, testenv.GCC, testenv.AMD64, testenv.Ptrace)
	p, stops := record(t, build(t, "frames.c", "-O2"), elf.EM_X86_64, 1, "mark")
	p.stack = stops[0]
	unwind.NewWalker(layout(t, elf.EM_X86_64)).Walk(stops[0].regs(elf.EM_X86_64), p, p.find, make([]uint64, 60)) // opens the files
	var done sync.WaitGroup
	for range 8 {
		done.Add(1)
		go func() {
			defer done.Done()
			w, out := unwind.NewWalker(layout(t, elf.EM_X86_64)), make([]uint64, 60)
			mine := &process{maps: p.maps, images: p.images, tables: p.tables}
			for i := range stops {
				mine.stack = stops[i]
				n := w.Walk(stops[i].regs(elf.EM_X86_64), mine, mine.find, out)
				if !slices.Equal(out[:n], stops[i].Chain) {
					t.Errorf("chain %x, gdb has %x", out[:n], stops[i].Chain)
				}
			}
		}()
	}
	done.Wait()
}
