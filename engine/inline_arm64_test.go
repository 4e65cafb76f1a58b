package engine

import (
	"strings"
	"testing"

	"gotap/runtime"
	"gotap/runtime/opcode"
)

// TestInlineARM64Counts: hits and values are those of stops, in several threads, and the target computes as ever. All but a few hits stop nothing.
func TestInlineARM64Counts(t *testing.T) {
	w := newInlineWorld(t, FollowThreads)
	tg := w.launch(program(t, "plain.c"), "5000", "3")
	n, sum, large := w.counter(), w.counter(), w.counter()
	w.probe("work", Handlers{Enter: w.counts(n)})
	w.probe("work", Handlers{Enter: w.sums(sum, opcode.Arg, 0)})
	w.probe("work", Handlers{Enter: w.counts(large), When: w.code(runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.PushD, V: 3999}, runtime.Inst{Op: opcode.Gt},
		runtime.Inst{Op: opcode.Jnz, A: 5}, runtime.Inst{Op: opcode.Abort}, runtime.Inst{Op: opcode.Exit})})
	w.run()
	want(t, "hits", n.get(), 4*5000)
	want(t, "hits that a predicate let pass", large.get(), 4*1000)
	want(t, "the sum of the first argument", sum.get(), 4*5000*4999/2)
	want(t, "output", tg.output(), "plain bad=0\n")
	q := w.Query()
	if q[0].Hits != 4*5000 || q[2].Hits != 4*1000 || q[0].Strategy["inline"] != 1 || w.Stats().Hits > 100 || w.Stats().Inline != 1 {
		t.Errorf("query %+v, stats %+v", q, w.Stats())
	}
}

// TestInlineARM64EveryInstruction has programs run at all instructions that a jump can replace, in targets that check what they compute.
func TestInlineARM64EveryInstruction(t *testing.T) {
	for _, line := range []string{"copy 60", "fault 20", "storm 20"} {
		t.Run(line, func(t *testing.T) {
			w := newInlineWorld(t, FollowThreads)
			tg := w.launch(program(t, "target.c"), strings.Fields(line)...)
			n := w.counter()
			for _, f := range []string{"work", "copy", "fact", "outer", "inner", "pick", "jumper", "through", "touch", "tick", "runner"} {
				if _, err := w.tryProbe("target*:"+f+"+*", Handlers{Enter: w.counts(n)}); err != nil {
					t.Log(err)
				}
			}
			w.run()
			places := 0
			for _, q := range w.Query() {
				places += q.Strategy["inline"]
			}
			if !strings.HasSuffix(tg.output(), " bad=0\n") || n.get() == 0 || places < 20 {
				t.Errorf("%d hits, %d places, output %q", n.get(), places, tg.output())
			}
		})
	}
}

// TestInlineARM64Detach: after a session in the middle of a busy target, its code is as before and nothing of the session is open. A handler of
// a call's return, and a program that logs, are refused with the reason.
func TestInlineARM64Detach(t *testing.T) {
	w := newInlineWorld(t, FollowThreads)
	p := start(t, program(t, "target.c"), "spin", "2")
	before, files := text(t, p.pid()), openFiles(t, p.pid())
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	n := w.counter()
	for what, h := range map[string]Handlers{
		"does not follow calls": {Leave: w.counts(n)},
		"interpreter":           {Enter: w.rings(w.counter(), n)},
	} {
		if _, err := w.tryProbe("work", h); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	w.probe("work", Handlers{Enter: w.counts(n)})
	w.probe("libc:m*", Handlers{Enter: w.counts(w.counter())}, func(s *ProbeSpec) { s.Optional = true })
	w.Start()
	eventually(t, "hits without a stop", func() bool { return n.get() > 1000 && w.Stats().Inline > 0 })
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	untouched(t, p.pid(), before)
	want(t, "open files", openFiles(t, p.pid()), files)
	want(t, "output", p.end(), "spin bad=0")
}
