package engine

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"gotap/engine/image/module"
	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// inlineWorld is a world whose programs run in the target.
func inlineWorld(t testing.TB, follow Follow) *world {
	t.Helper()
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	return newInlineWorld(t, follow)
}

// newInlineWorld is a world whose programs run in the target, on a processor that has native code.
func newInlineWorld(t testing.TB, follow Follow) *world {
	return newWorld(t, Config{Engine: Inline, Follow: follow})
}

// rings is a program that native code cannot finish: it adds up a value, and counts the parents' numbers that are not
// 0.
func (w *world) rings(sum *counter, parents *counter) *runtime.Code {
	return w.code(runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.AddGV, V: sum.offset()},
		runtime.Inst{Op: opcode.Field, A: uint32(runtime.FieldPpid)}, runtime.Inst{Op: opcode.Bool}, runtime.Inst{Op: opcode.AddGV, V: parents.offset()})
}

// TestInlineCountsAreExact: hits, values and the counters of probes are those of stops, in one thread and in several,
// and the target computes as ever. All but a few hits stop nothing.
func TestInlineCountsAreExact(t *testing.T) {
	for _, args := range []string{"work 20000", "threads 5000 4"} {
		t.Run(args, func(t *testing.T) {
			w := inlineWorld(t, FollowThreads)
			tg := w.launch(program(t, "target.c"), strings.Fields(args)...)
			n, sum := w.counter(), w.counter()
			w.probe("work", Handlers{Enter: w.counts(n)})
			w.probe("work", Handlers{Enter: w.sums(sum, opcode.Arg, 0)})
			w.probe("work", Handlers{Enter: w.counts(n), When: w.code(runtime.Inst{Op: opcode.Abort})})
			w.run()
			want(t, "hits", n.get(), 20000)
			if want := map[string]int64{"work 20000": 20000 * 19999 / 2, "threads 5000 4": 4 * 5000 * 4999 / 2}[args]; sum.get() != want {
				t.Errorf("the sum of the first argument: %d, not %d", sum.get(), want)
			}
			want(t, "output", tg.output(), strings.Fields(args)[0]+" bad=0\n")
			q := w.Query()
			if q[0].Hits != 20000 || q[1].Hits != 20000 || q[2].Hits != 0 || q[0].Strategy["inline"] != 1 {
				t.Errorf("query: %+v", q)
			}
			if s := w.Stats(); s.Hits > 1000 || s.Inline != 1 {
				t.Errorf("stats: %+v", s)
			}
		})
	}
}

// TestInlineDoorbell: where native code cannot go on, the interpreter does, with the registers of the place, and what
// comes after it runs natively again.
func TestInlineDoorbell(t *testing.T) {
	for _, args := range []string{"work 2000", "threads 500 4"} {
		t.Run(args, func(t *testing.T) {
			w := inlineWorld(t, FollowThreads)
			tg := w.launch(program(t, "target.c"), strings.Fields(args)...)
			n, sum, threads := w.counter(), w.counter(), w.counter()
			w.probe("work", Handlers{Enter: w.rings(sum, threads)})
			w.probe("work", Handlers{Enter: w.counts(n)})
			w.run()
			want(t, "hits behind the doorbell", n.get(), 2000)
			want(t, "hits with a parent", threads.get(), 2000)
			if want := map[string]int64{"work 2000": 2000 * 1999 / 2, "threads 500 4": 4 * 500 * 499 / 2}[args]; sum.get() != want {
				t.Errorf("the sum of the first argument: %d, not %d", sum.get(), want)
			}
			want(t, "output", tg.output(), strings.Fields(args)[0]+" bad=0\n")
		})
	}
}

// TestInlineEveryInstruction has programs run at all instructions where a jump fits, in targets that check what they
// compute.
func TestInlineEveryInstruction(t *testing.T) {
	path := program(t, "target.c")
	for _, line := range []string{"work 300", "copy 60", "fact 12", "tail 50", "pick 60", "jump 40", "fault 20", "kernel 30", "nap 30", "storm 20", "threads 60", "fork 30", "vfork 30", "exec 30"} {
		for _, bells := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %v", line, bells), func(t *testing.T) {
				w := inlineWorld(t, FollowChildren)
				tg := w.launch(path, strings.Fields(line)...)
				n := w.counter()
				code := w.counts(n)
				if bells {
					code = w.rings(w.counter(), n)
				}
				places := 0
				for _, f := range []string{"work", "copy", "fact", "outer", "inner", "pick", "jumper", "through", "touch", "kernel", "nap", "tick", "run", "runner", "main"} {
					if _, err := w.tryProbe("target*:"+f+"+*", Handlers{Enter: code}); err != nil {
						t.Log(err)
					}
				}
				w.run()
				for _, q := range w.Query() {
					places += q.Strategy["inline"]
				}
				if !strings.HasSuffix(tg.output(), " bad=0\n") || n.get() == 0 || places < 20 {
					t.Errorf("%d hits, %d places, output %q", n.get(), places, tg.output())
				}
			})
		}
	}
}

// TestInlineDetach: after a session in the middle of a busy target, its code is as before and nothing of the session is
// mapped or open.
func TestInlineDetach(t *testing.T) {
	t.Parallel()
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	p := start(t, program(t, "target.c"), "spin", "4")
	before, files := text(t, p.pid()), openFiles(t, p.pid())
	for i := range scaled(4, 10) {
		w := inlineWorld(t, FollowThreads)
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		n, threads := w.counter(), w.counter()
		w.probe("work", Handlers{Enter: w.counts(n)})
		w.probe("libc:*", Handlers{Enter: w.counts(n)}, func(s *ProbeSpec) { s.Optional = true })
		w.probe("tick", Handlers{Enter: w.rings(n, threads)}, func(s *ProbeSpec) { s.Optional = true })
		w.Start()
		eventually(t, "hits without a stop", func() bool { return n.get() > 1000 && w.Stats().Inline > 0 })
		if err := w.Close(false); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		untouched(t, p.pid(), before)
		want(t, "open files", openFiles(t, p.pid()), files)
	}
	maps, err := module.Maps(p.pid())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range maps {
		if strings.Contains(m.Path, "gotap-arena") {
			t.Logf("still mapped: %+v", m)
		}
	}
	want(t, "output", p.end(), "spin bad=0")
}

// openFiles lists what a process has open.
func openFiles(t *testing.T, pid int) string {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, e.Name()))
		all = append(all, e.Name()+" "+to)
	}
	return strings.Join(all, "\n")
}

// toggle disables and enables probes in turn. Now and then it waits for hits, which n counts.
func (w *world) toggle(ids []uint32, n *counter, times int) {
	w.t.Helper()
	for i := range times {
		id := ids[i%len(ids)]
		if err := errors.Join(w.Disable(id), w.Enable(id)); err != nil {
			w.t.Fatal(err)
		}
		if i%10 == 0 {
			from := n.get()
			eventually(w.t, "hits", func() bool { return n.get() > from })
		}
	}
}

// TestInlineToggled disables and enables probes while threads run through them.
func TestInlineToggled(t *testing.T) {
	w := inlineWorld(t, FollowThreads)
	p := start(t, program(t, "target.c"), "spin", "4")
	before := text(t, p.pid())
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	n, threads := w.counter(), w.counter()
	first := w.probe("work", Handlers{Enter: w.counts(n)})
	second := w.probe("work", Handlers{Enter: w.rings(w.counter(), threads)})
	w.Start()
	eventually(t, "hits", func() bool { return n.get() > 0 })
	w.toggle([]uint32{first, second}, n, scaled(100, 1000))
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	q := w.Query()
	if d := int64(q[0].Hits) - n.get(); d < -4 || d > 4 { // each thread may have been between the two when the hits were read
		t.Errorf("%d hits, %d counted", q[0].Hits, n.get())
	}
	untouched(t, p.pid(), before)
	want(t, "output", p.end(), "spin bad=0")
}

// TestInlineNeighbour places a probe on an instruction whose bytes a jump has replaced: both count.
func TestInlineNeighbour(t *testing.T) {
	w := inlineWorld(t, FollowThreads)
	p := start(t, program(t, "target.c"), "spin", "2")
	before := text(t, p.pid())
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	n, all := w.counter(), w.counter()
	w.probe("work", Handlers{Enter: w.counts(n)})
	w.Start()
	eventually(t, "hits without a stop", func() bool { return n.get() > 0 && w.Stats().Inline > 0 })
	w.probe("work+*", Handlers{Enter: w.counts(all)}, func(s *ProbeSpec) { s.Optional = true })
	from, fromAll := n.get(), all.get()
	eventually(t, "hits of both", func() bool { return n.get() > from+10 && all.get() > fromAll+10 })
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	untouched(t, p.pid(), before)
	want(t, "output", p.end(), "spin bad=0")
}

// TestInlineRefused: a place that cannot be taken is refused with the reason.
func TestInlineRefused(t *testing.T) {
	w := inlineWorld(t, FollowThreads)
	w.launch(program(t, "target.c"), "work", "10")
	n := w.counter()
	for what, h := range map[string]Handlers{
		"a handler runs after": {Enter: w.counts(n), Post: w.counts(n)},
	} {
		if _, err := w.tryProbe("work", h); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := w.tryProbe("work", Handlers{Enter: w.counts(n)}, func(s *ProbeSpec) { s.Rate = 5 }); err == nil || !strings.Contains(err.Error(), "rate") {
		t.Errorf("a probe with a rate: %v", err)
	}
	w.run()
	want(t, "hits", n.get(), 0)
}
