package engine

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotap/arch"
	"gotap/engine/space"
	"gotap/engine/threadstate"
	"gotap/runtime/opcode"
)

// workAddr is where the function work is in a program at a fixed address.
func workAddr(t testing.TB, path string) uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == "work" {
			return s.Value
		}
	}
	t.Fatal("no function work")
	return 0
}

// BenchmarkHit measures a hit that counts, beside a loop written in C that does no more than it has to.
func BenchmarkHit(b *testing.B) {
	for name, e := range map[string]Engine{"emulate": Emulate, "step": Step} {
		b.Run(name, func(b *testing.B) { benchmarkHit(b, name, e) })
	}
}

func benchmarkHit(b *testing.B, name string, e Engine) {
	path := program(b, "target.c", "-no-pie")
	loop := program(b, "loop.c")
	calls := strconv.Itoa(max(b.N, 100))
	out, err := exec.Command(loop, name, calls, path, fmt.Sprintf("%#x", workAddr(b, path))).Output()
	if err != nil {
		b.Fatal(err)
	}
	lines := strings.Fields(string(out))
	reference, err := strconv.ParseFloat(lines[len(lines)-1], 64)
	if err != nil {
		b.Fatal(err)
	}
	w := newWorld(b, Config{Engine: e, Follow: FollowThreads})
	w.launch(path, "work", calls)
	n := w.counter()
	w.probe("work", Handlers{Enter: w.counts(n)})
	b.ResetTimer()
	began := time.Now()
	w.Start()
	<-w.Done()
	took := float64(time.Since(began).Nanoseconds()) / float64(max(b.N, 100))
	b.ReportMetric(reference, "ns/C-loop")
	b.ReportMetric(took/reference, "ratio")
}

// TestHitAllocatesNothing runs the part of a hit that is computed, with a thread that does not exist: the requests
// about it fail, and their failure is taken for its end.
func TestHitAllocatesNothing(t *testing.T) {
	w := newWorld(t, Config{Follow: FollowThreads})
	w.launch(program(t, "target.c"), "work", "1")
	n, l := w.counter(), w.counter()
	w.probe("work", Handlers{Enter: w.counts(n), Leave: w.counts(l)}, func(p *ProbeSpec) { p.ThisBytes = 16 })
	w.do(func() error {
		var p *process
		for _, p = range w.procs {
		}
		th := makeThread(w.Session, p, 1<<29)
		th.state = threadstate.New(threadstate.Running)
		var entry, exit *space.Point
		for _, pt := range p.space.ByAddr {
			if len(pt.Enters) > 0 {
				entry = pt
			}
			if len(pt.Exits) > 0 {
				exit = pt
			}
		}
		sp := p.anyStopped()
		sp.GetRegs()
		for name, e := range map[string]arch.Strategy{"emulated": arch.Emulated} {
			entry.How, exit.How = e, e
			allocs := testing.AllocsPerRun(100, func() {
				th.Regs = sp.Regs
				th.hit(entry)
				th.Regs = sp.Regs
				th.hit(exit)
			})
			if allocs != 0 {
				t.Errorf("%s: %v allocations", name, allocs)
			}
		}
		return nil
	})
	if n.get() < 100 || l.get() < 100 {
		t.Errorf("%d entries, %d leaves", n.get(), l.get())
	}
}

var _ = opcode.Nop

// BenchmarkHitComputed is the part of a hit that is not waiting for the kernel, as in TestHitAllocatesNothing.
func BenchmarkHitComputed(b *testing.B) {
	w := newWorld(b, Config{Follow: FollowThreads})
	w.launch(program(b, "target.c"), "work", "1")
	n := w.counter()
	w.probe("work", Handlers{Enter: w.counts(n)})
	w.do(func() error {
		var p *process
		for _, p = range w.procs {
		}
		th := makeThread(w.Session, p, 1<<29)
		th.state = threadstate.New(threadstate.Running)
		stopped := p.anyStopped()
		stopped.GetRegs()
		for _, pt := range p.space.ByAddr {
			if len(pt.Enters) > 0 {
				for b.Loop() {
					th.Regs = stopped.Regs
					th.hit(pt)
				}
			}
		}
		return nil
	})
}
