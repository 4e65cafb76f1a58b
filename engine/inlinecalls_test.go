package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotap/runtime"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// called is what programs have seen of the calls of one function.
type called struct{ entered, left, mixed *counter }

// follow places a probe that stores the stack pointer in each call of a function, and counts the calls that find
// another one at their end.
func (w *world) follow(spec string) (called, error) {
	c := called{w.counter(), w.counter(), w.counter()}
	field := func(f runtime.Field) runtime.Inst { return runtime.Inst{Op: opcode.Field, A: uint32(f)} }
	enter := w.code(field(runtime.FieldSP), runtime.Inst{Op: opcode.PopThis}, runtime.Inst{Op: opcode.IncGV, V: c.entered.offset()})
	leave := w.code(runtime.Inst{Op: opcode.PushThis}, field(runtime.FieldFrame), runtime.Inst{Op: opcode.Ne}, runtime.Inst{Op: opcode.AddGV, V: c.mixed.offset()},
		runtime.Inst{Op: opcode.IncGV, V: c.left.offset()})
	_, err := w.tryProbe(spec, Handlers{Enter: enter, Leave: leave}, func(p *ProbeSpec) { p.ThisBytes = 8 })
	return c, err
}

// TestInlineCalls: native code sees the calls that stops see, each with its own storage, whatever becomes of the stack.
func TestInlineCalls(t *testing.T) {
	compareCalls(t, "work 300", "fact 12", "fact 40", "pick 60", "jump 40", "kernel 30", "fork 30", "vfork 30", "exec 30", "threads 200 4", "tree 3")
}

// compareCalls runs programs with stops and without, and compares what is seen of their calls.
func compareCalls(t *testing.T, lines ...string) {
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			var seen [2][]string
			for i, engine := range []Engine{Step, Inline} {
				w := newWorld(t, Config{Engine: engine, Follow: FollowChildren})
				tg := w.launch(program(t, "target.c"), strings.Fields(line)...)
				var all []called
				for _, f := range []string{"work", "fact", "pick", "jumper", "kernel", "run"} {
					c, err := w.follow("target*:" + f)
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, c)
				}
				w.run()
				for _, c := range all {
					seen[i] = append(seen[i], fmt.Sprint(c.entered.get(), " ", c.left.get(), " ", c.mixed.get()))
				}
				if !strings.HasSuffix(tg.output(), " bad=0\n") {
					t.Errorf("output %q", tg.output())
				}
				for j, q := range w.Query() {
					seen[i] = append(seen[i], fmt.Sprint(q.Hits, " ", q.Missed))
					if engine == Inline && q.Hits > 0 && q.Strategy["inline, returns by return sites"] == 0 {
						t.Errorf("probe %d: %+v", j, q)
					}
				}
			}
			if fmt.Sprint(seen[0]) != fmt.Sprint(seen[1]) {
				t.Errorf("stepped %q, inline %q", seen[0], seen[1])
			}
		})
	}
}

// TestInlineFrames: calls that longjmp leaves, that coroutines and signal handlers interleave, and those of threads
// that come and go are counted as often as they happen, and none ends with the storage of another.
func TestInlineFrames(t *testing.T) {
	countFrames(t, "jumps 200", "hops 90", "routines 60", "handler 200", "escape 200", "threads 12")
}

// countFrames runs programs that count their calls themselves, and compares.
func countFrames(t *testing.T, lines ...string) {
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			w := newInlineWorld(t, FollowThreads)
			tg := w.launch(program(t, "frames.c"), strings.Fields(line)...)
			var all []called
			for _, f := range []string{"leaf", "down", "turn", "handler", "hop"} {
				c, err := w.follow("frames*:" + f)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, c)
			}
			w.run()
			got := "bad=0"
			for _, c := range all {
				got += fmt.Sprintf(" %d/%d", c.entered.get(), c.left.get())
				want(t, "calls with the storage of another", c.mixed.get(), 0)
			}
			out := strings.TrimSpace(tg.output())
			if strings.HasPrefix(line, "escape") { // it counts some entries that siglongjmp has left before they were counted, or the reverse
				var entered, returned int64
				fmt.Sscanf(out, "bad=0 %d/%d", &entered, &returned)
				if d := all[0].entered.get() - entered; d < 0 || d > 200 || all[0].left.get() > all[0].entered.get() {
					t.Errorf("%s, the target says %s", got, out)
				}
				return
			}
			want(t, "calls", got, out)
		})
	}
}

// TestInlineTimes: what a program measures is the same whether the interpreter goes on with it or not: not how long the
// stop takes. Statistics by key lack the buckets for a time at first, and the interpreter then goes back to where the
// key begins, where the time had not been read.
func TestInlineTimes(t *testing.T) { measureTimes(t, 20000) }

func measureTimes(t *testing.T, calls int64) {
	elapsed := []runtime.Inst{{Op: opcode.Field, A: uint32(runtime.FieldElapsed)}}
	since := []runtime.Inst{{Op: opcode.Field, A: uint32(runtime.FieldTime)}, {Op: opcode.PushThis}, {Op: opcode.Sub}}
	for name, took := range map[string][]runtime.Inst{"elapsed": elapsed, "since a time": since} {
		t.Run(name, func(t *testing.T) { w := newInlineWorld(t, FollowThreads); w.measures(took, calls) })
	}
}

// measures places a probe that adds the duration of each call to statistics by key.
func (w *world) measures(took []runtime.Inst, calls int64) {
	w.t.Helper()
	id, err := w.arena.Declare(object.Object{Name: "times", Kind: object.KindStats, Keys: 1})
	if err == nil {
		err = w.arena.Refine(id, []value.Kind{value.KindInt}, value.KindInt)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	_, times := w.arena.Lookup(id)
	tg := w.launch(program(w.t, "target.c"), "work", fmt.Sprint(calls))
	insts := slices.Concat([]runtime.Inst{{Op: opcode.PushD, V: 7}, {Op: opcode.KeyInt}}, took, []runtime.Inst{{Op: opcode.Agg, V: times}})
	w.probe("work", Handlers{
		Enter: w.code(runtime.Inst{Op: opcode.Field, A: uint32(runtime.FieldTime)}, runtime.Inst{Op: opcode.PopThis}),
		Leave: w.code(insts...)}, func(p *ProbeSpec) { p.ThisBytes = 8 })
	w.run()
	want(w.t, "output", tg.output(), "work bad=0\n")
	if all, ok := w.arena.Handle(id).Get(value.Int(7)); !ok || all.Count != calls {
		w.t.Fatalf("%+v", all)
	}
	if s := w.Stats(); s.Hits > uint64(calls)/10 {
		w.t.Errorf("%d of %d calls rang", s.Hits, calls)
	}
}
