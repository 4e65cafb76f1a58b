package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gotap/engine/linux/ptrace"
	"gotap/runtime"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// TestInlineARM64Counts: hits and values are those of stops, in several threads, and the target computes as ever. All
// but a few hits stop nothing.
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

// TestInlineARM64Doorbell: at an operation that native code leaves to the interpreter, the thread stops once, and the
// interpreter has its words, its registers and its predicate. The programs behind run natively.
func TestInlineARM64Doorbell(t *testing.T) {
	calls := int64(emulated(60, 300))
	w := newInlineWorld(t, FollowThreads)
	tg := w.launch(program(t, "plain.c"), fmt.Sprint(calls), "3")
	n, sum, parents, passed := w.counter(), w.counter(), w.counter(), w.counter()
	w.probe("work", Handlers{Enter: w.rings(sum, parents)})
	w.probe("work", Handlers{Enter: w.counts(n)})
	w.probe("work", Handlers{Enter: w.counts(passed), When: w.code(runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.Field, A: uint32(runtime.FieldPpid)}, runtime.Inst{Op: opcode.Bool},
		runtime.Inst{Op: opcode.Sub}, runtime.Inst{Op: opcode.Jgt, A: 6}, runtime.Inst{Op: opcode.Abort}, runtime.Inst{Op: opcode.Exit})})
	w.run()
	want(t, "hits behind the doorbell", n.get(), 4*calls)
	want(t, "hits with a parent", parents.get(), 4*calls)
	want(t, "hits that the predicate let pass", passed.get(), 4*(calls-2))
	want(t, "the sum of the first argument", sum.get(), 4*calls*(calls-1)/2)
	want(t, "output", tg.output(), "plain bad=0\n")
	if q := w.Query(); q[0].Hits != uint64(4*calls) || q[2].Hits != uint64(4*(calls-2)) || w.Stats().Inline != 1 {
		t.Errorf("query %+v, stats %+v", q, w.Stats())
	}
}

// TestInlineARM64Texts: native code counts by texts that it has copied from memory and joined with digits, as the
// interpreter does, and stops only for new keys and memory that it must not read.
func TestInlineARM64Texts(t *testing.T) {
	rounds := emulated(300, 1000)
	var seen [2]string
	var stops [2]uint64
	for i, engine := range []Engine{Auto, Inline} {
		w := newWorld(t, Config{Engine: engine})
		w.launch(program(t, "texts.c"), fmt.Sprint(rounds))
		id, err := w.arena.Declare(object.Object{Name: "counts", Kind: object.KindCount, Keys: 2})
		if err == nil {
			err = w.arena.Refine(id, []value.Kind{value.KindText, value.KindText}, value.KindInt)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, counts := w.arena.Lookup(id)
		key := runtime.Inst{Op: opcode.KeyText, A: uint32(value.KindText)}
		w.probe("name", Handlers{Enter: w.code(runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.PushD, V: 1}, runtime.Inst{Op: opcode.Readable}, runtime.Inst{Op: opcode.Jz, A: 15},
			runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.PushD, V: 3}, runtime.Inst{Op: opcode.Str}, key,
			runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.PushD, V: 4}, runtime.Inst{Op: opcode.Bytes}, key,
			runtime.Inst{Op: opcode.PushD, V: 1}, runtime.Inst{Op: opcode.Agg, V: counts}, runtime.Inst{Op: opcode.Nop})})
		w.run()
		var list []string
		for _, e := range w.arena.Handle(id).Entries().Entries {
			list = append(list, fmt.Sprint(e))
		}
		slices.Sort(list)
		seen[i], stops[i] = strings.Join(list, "\n"), w.Stats().Hits
		if len(list) < 20 || len(w.arena.Lost()) > 0 {
			t.Errorf("%d keys, lost %v", len(list), w.arena.Lost())
		}
	}
	if seen[0] != seen[1] {
		t.Errorf("stopped\n%s\nnative\n%s", seen[0], seen[1])
	}
	if stops[1] > stops[0]/2 {
		t.Errorf("%d stops, and %d when every hit stops", stops[1], stops[0])
	}
}

// TestInlineARM64Caller: without a stop, programs see the return address and the arguments on the stack that they see
// at breakpoints, at the entry and at the end of a function.
func TestInlineARM64Caller(t *testing.T) {
	const calls = 500
	seen := map[Engine]string{}
	for _, e := range []Engine{Auto, Inline} {
		w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
		tg := w.launch(program(t, "plain.c", "-no-pie"), fmt.Sprint(calls))
		entry, end, stacked := w.counter(), w.counter(), w.counter()
		caller := runtime.Inst{Op: opcode.Field, A: uint32(runtime.FieldCaller)}
		w.probe("work", Handlers{Enter: w.code(caller, runtime.Inst{Op: opcode.AddGV, V: entry.offset()}), Leave: w.code(caller, runtime.Inst{Op: opcode.AddGV, V: end.offset()})})
		ninth := runtime.Inst{Op: opcode.Arg, A: 8}
		w.probe("work", Handlers{Enter: w.code(ninth, ninth, runtime.Inst{Op: opcode.Arg, A: 9}, runtime.Inst{Op: opcode.Xor}, runtime.Inst{Op: opcode.Xor}, runtime.Inst{Op: opcode.Bool},
			runtime.Inst{Op: opcode.AddGV, V: stacked.offset()})})
		w.run()
		want(t, "output", tg.output(), "plain bad=0\n")
		want(t, "the caller at the end", end.get(), entry.get())
		seen[e] = fmt.Sprint(entry.get(), stacked.get())
		if s := w.Stats(); e == Inline && (s.Hits > 100 || s.Inline != 2) {
			t.Errorf("stats %+v", s)
		}
		if entry.get() < calls*4096 {
			t.Errorf("the callers add up to %d", entry.get())
		}
	}
	want(t, "what programs see", seen[Inline], seen[Auto])
}

// TestInlineARM64Floats: several threads add halves of integers to a sum and an average of floats, without a stop.
func TestInlineARM64Floats(t *testing.T) {
	w := newInlineWorld(t, FollowThreads)
	tg := w.launch(program(t, "plain.c"), "4000", "3")
	var insts []runtime.Inst
	var ids []int
	for _, k := range []object.Kind{object.KindSum, object.KindAvg, object.KindMax} {
		id, err := w.arena.Declare(object.Object{Kind: k})
		if err != nil {
			t.Fatal(err)
		}
		_, off := w.arena.Lookup(id)
		insts = append(insts, runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.Itof}, runtime.Inst{Op: opcode.PushD, V: math.Float64bits(2)}, runtime.Inst{Op: opcode.Fdiv},
			runtime.Inst{Op: opcode.AggFloat, V: off})
		ids = append(ids, id)
	}
	w.probe("work", Handlers{Enter: w.code(insts...)})
	w.run()
	for i, v := range []float64{4 * 4000 * 3999 / 4, 3999. / 4, 3999. / 2} {
		data, _ := w.arena.Handle(ids[i]).Get()
		want(t, fmt.Sprint("value ", i), data.Float, v)
	}
	want(t, "output", tg.output(), "plain bad=0\n")
	if q := w.Query(); q[0].Hits != 4*4000 || q[0].Strategy["inline"] != 1 || w.Stats().Hits > 100 {
		t.Errorf("query %+v, stats %+v", q, w.Stats())
	}
}

// TestInlineARM64Changes: what programs change at one call of a hundred is changed, whatever the stub has saved, and
// programs that follow see it.
func TestInlineARM64Changes(t *testing.T) {
	const calls, rare = 1000, 10
	const x0 = 0
	store := func(off int64) []runtime.Inst {
		return []runtime.Inst{pushSP, pushWord(off), {Op: opcode.Sub}, pushWord(0), {Op: opcode.Store64}}
	}
	var stores []runtime.Inst
	for off := int64(8); off <= 256; off += 8 {
		stores = append(stores, store(off)...)
	}
	for name, c := range map[string]struct {
		enter, leave  []runtime.Inst
		bad, argument int64
	}{
		"a register":              {enter: []runtime.Inst{pushArg, pushWord(5), {Op: opcode.Add}, setWord(x0)}, bad: rare, argument: 5},
		"below the stack pointer": {enter: stores},
		"a result":                {leave: []runtime.Inst{pushWord(1e6), {Op: opcode.SetRet}}, bad: rare},
		"skip":                    {enter: []runtime.Inst{pushWord(3), {Op: opcode.Skip}}, bad: rare},
	} {
		t.Run(name, func(t *testing.T) {
			w := newInlineWorld(t, FollowThreads)
			tg := w.launch(program(t, "plain.c"), fmt.Sprint(calls))
			before, behind := w.counter(), w.counter()
			w.probe("work", Handlers{Enter: w.sums(before, opcode.Arg, 0)})
			h := Handlers{Enter: w.seldom([]runtime.Inst{pushArg}, c.enter...)}
			if c.leave != nil {
				h = Handlers{Leave: w.seldom([]runtime.Inst{pushRet, pushWord(1), {Op: opcode.Shr}}, c.leave...)}
			}
			w.probe("work", h)
			w.probe("work", Handlers{Enter: w.sums(behind, opcode.Arg, 0)})
			w.run()
			want(t, "output", tg.output(), fmt.Sprintf("plain bad=%d\n", c.bad))
			want(t, "arguments before", before.get(), calls*(calls-1)/2)
			want(t, "arguments behind", behind.get(), calls*(calls-1)/2+c.argument*rare)
			if q, s := w.Query(), w.Stats(); q[1].Hits != calls || s.Inline == 0 || s.Hits > 200 {
				t.Errorf("query %+v, stats %+v", q, s)
			}
		})
	}
}

// TestInlineARM64Logs: a program that logs under a condition stops only then, and the record is that of a stop.
func TestInlineARM64Logs(t *testing.T) {
	w := newInlineWorld(t, FollowThreads)
	tg := w.launch(program(t, "plain.c"), "2000", "1")
	w.probe("work", Handlers{Enter: w.code(runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.PushD, V: 500}, runtime.Inst{Op: opcode.Rem}, runtime.Inst{Op: opcode.Jnz, A: 8},
		runtime.Inst{Op: opcode.Item}, runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.LogInt}, runtime.Inst{Op: opcode.EndItem})})
	next := map[uint32]int64{}
	w.records(func(r record.Record) {
		if v := r.Items[0].Values[0].Int; v != next[r.Tid] || int(r.Pid) != tg.pid {
			t.Errorf("%+v after %d", r, next[r.Tid]-500)
		}
		next[r.Tid] += 500
	})
	for tid, v := range next {
		if v != 2000 {
			t.Errorf("thread %d has logged up to %d", tid, v)
		}
	}
	want(t, "threads", len(next), 2)
	want(t, "output", tg.output(), "plain bad=0\n")
	if q := w.Query(); q[0].Hits != 2*2000 || q[0].Strategy["inline"] != 1 || w.Stats().Hits > 100 {
		t.Errorf("query %+v, stats %+v", q, w.Stats())
	}
}

// TestInlineARM64Records: records of several threads, written without a stop, arrive in order, with the number and the
// name of their thread.
func TestInlineARM64Records(t *testing.T) {
	recordsOfThreads(t, newInlineWorld(t, FollowThreads))
}

// TestInlineARM64Thread: programs know their thread and the time, and threads have variables of their own, without a
// stop.
func TestInlineARM64Thread(t *testing.T) {
	w := newInlineWorld(t, FollowThreads)
	tg := w.launch(program(t, "plain.c"), "3000", "3")
	id, err := w.arena.Declare(object.Object{Kind: object.KindPerThread, Max: 64})
	if err != nil {
		t.Fatal(err)
	}
	_, own := w.arena.Lookup(id)
	n, time := w.counter(), w.counter()
	// Each thread counts its hits in its variable, and adds up the parity of its number.
	w.probe("work", Handlers{Enter: w.code(runtime.Inst{Op: opcode.PushD, V: 1}, runtime.Inst{Op: opcode.AddPT, V: own}, runtime.Inst{Op: opcode.PushPT, V: own}, runtime.Inst{Op: opcode.PushD, V: 3000},
		runtime.Inst{Op: opcode.Eq}, runtime.Inst{Op: opcode.AddGV, V: n.offset()}, runtime.Inst{Op: opcode.Field, A: uint32(runtime.FieldTime)}, runtime.Inst{Op: opcode.PopGV, V: time.offset()})})
	began := ptrace.Now()
	w.run()
	want(t, "threads with 3000 hits", n.get(), 4)
	if at := uint64(time.get()); at < began || at > ptrace.Now() {
		t.Errorf("the time is %d, and not between %d and %d", at, began, ptrace.Now())
	}
	want(t, "output", tg.output(), "plain bad=0\n")
	if q := w.Query(); q[0].Hits != 4*3000 || q[0].Strategy["inline"] != 1 || w.Stats().Hits > 1000 {
		t.Errorf("query %+v, stats %+v", q, w.Stats())
	}
}

// TestInlineARM64Calls: native code sees the calls that stops see, each with its own storage, whatever becomes of the
// stack.
func TestInlineARM64Calls(t *testing.T) {
	compareCalls(t, "work 100", "fact 12", "pick 20", "jump 20", "kernel 10", "fork 5", "vfork 5", "exec 5", "threads 50 4", "tree 3")
}

// TestInlineARM64Times: what a program measures does not depend on whether the interpreter goes on with it.
func TestInlineARM64Times(t *testing.T) { measureTimes(t, 3000) }

// TestInlineARM64Frames: calls that longjmp leaves, and that coroutines and signal handlers interleave, are counted as
// often as they happen.
func TestInlineARM64Frames(t *testing.T) {
	n := emulated(20, 50)
	countFrames(t, fmt.Sprint("jumps ", n), "routines 20", fmt.Sprint("handler ", n), fmt.Sprint("escape ", n), "threads 12")
}

// TestInlineARM64Reads: memory that native code has read is not readable any more at the next hit. The program gets no
// signal, and its actions and masks stay.
func TestInlineARM64Reads(t *testing.T) { readsFault(t) }

// TestInlineARM64Keys: several threads add to aggregations with a key, of one word and of several, and to a map. Only
// new keys ring, and a thread that takes the place of another one in the middle of an addition.
func TestInlineARM64Keys(t *testing.T) {
	w := newInlineWorld(t, FollowThreads)
	tg := w.launch(program(t, "plain.c"), "4000", "3")
	ids := map[uint64]int{}
	declare := func(k object.Kind) uint64 {
		id, err := w.arena.Declare(object.Object{Kind: k, Keys: 1})
		if err == nil {
			err = w.arena.Refine(id, []value.Kind{value.KindInt}, value.KindInt)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, off := w.arena.Lookup(id)
		ids[off] = id
		return off
	}
	count, hist, numbers := declare(object.KindCount), declare(object.KindHist), declare(object.KindMap)
	arg, last := runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.PushD, V: 7}
	var insts []runtime.Inst
	for _, use := range []runtime.Inst{{Op: opcode.Agg, V: count}, {Op: opcode.Agg, V: hist}, {Op: opcode.MapAdd, V: numbers}} {
		insts = append(insts, arg, last, runtime.Inst{Op: opcode.And}, runtime.Inst{Op: opcode.KeyInt}, arg, use)
	}
	w.probe("work", Handlers{Enter: w.code(append(insts, runtime.Inst{Op: opcode.Drop, A: 1})...)})
	w.run()
	for off, id := range ids {
		h := w.arena.Handle(id)
		for _, e := range h.Entries().Entries {
			sum := int64(4 * 500)
			if off == numbers {
				sum *= 4*499 + e.Key[0].Int
			}
			want(t, fmt.Sprintf("%v of key %d", h.Object().Kind, e.Key[0].Int), e.Data.Int, sum)
		}
		want(t, "keys", h.Len(), 8)
	}
	want(t, "output", tg.output(), "plain bad=0\n")
	if q := w.Query(); q[0].Hits != 4*4000 || q[0].Strategy["inline"] != 1 || w.Stats().Hits > 1000 {
		t.Errorf("query %+v, stats %+v", q, w.Stats())
	}
}

// TestInlineARM64EveryInstruction has programs run at all instructions that a jump can replace, in targets that check
// what they compute: programs that count, and those that ring.
func TestInlineARM64EveryInstruction(t *testing.T) {
	for _, line := range []string{"copy 60", "fault 20", "storm 20", "copy 6 rings"} {
		t.Run(line, func(t *testing.T) {
			w := newInlineWorld(t, FollowThreads)
			line, rings := strings.CutSuffix(line, " rings")
			tg := w.launch(program(t, "target.c"), strings.Fields(line)...)
			n := w.counter()
			code := w.counts(n)
			if rings {
				code = w.rings(w.counter(), n)
			}
			for _, f := range []string{"work", "copy", "fact", "outer", "inner", "pick", "jumper", "through", "touch", "tick", "runner"} {
				if _, err := w.tryProbe("target*:"+f+"+*", Handlers{Enter: code}); err != nil {
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

// TestInlineARM64Detach: after a session in the middle of a busy target, its code is as before and nothing of the
// session is open. Calls are followed.
func TestInlineARM64Detach(t *testing.T) {
	w := newInlineWorld(t, FollowThreads)
	p := start(t, program(t, "target.c"), "spin", "2")
	before, files := text(t, p.pid()), openFiles(t, p.pid())
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	n := w.counter()
	w.probe("work", Handlers{Enter: w.counts(n), Leave: w.counts(w.counter())})
	w.probe("work", Handlers{Enter: w.rings(w.counter(), w.counter())}) // the session ends while threads are at doorbells
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
