package engine

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"gotap/arch/x86"
	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// seldom makes a program that runs instructions at one hit of a hundred: where the word that the first ones push has
// the remainder 7.
func (w *world) seldom(word []runtime.Inst, rare ...runtime.Inst) *runtime.Code {
	list := append(word, runtime.Inst{Op: opcode.PushD, V: 100}, runtime.Inst{Op: opcode.Rem}, runtime.Inst{Op: opcode.PushD, V: 7},
		runtime.Inst{Op: opcode.Sub})
	list = append(list, runtime.Inst{Op: opcode.Jnz, A: uint32(len(list) + 1 + len(rare))})
	c := w.code(append(list, rare...)...)
	c.Unsafe = true
	return c
}

// change is a way to change calls of plus(i, &cell, 0, 0) in changed.c.
type change struct {
	enter, leave []runtime.Inst
	added        int64 // what a changed call returns in addition, unless results is set
	result       int64 // what it returns
	results      bool
	argument     int64 // what programs that follow see in addition in the first argument
	signals      int64
	skips        bool
}

var (
	pushSP  = runtime.Inst{Op: opcode.Field, A: uint32(runtime.FieldSP)}
	pushArg = runtime.Inst{Op: opcode.Arg}
	pushRet = runtime.Inst{Op: opcode.Retval}
)

func pushWord(v int64) runtime.Inst { return runtime.Inst{Op: opcode.PushD, V: uint64(v)} }

// setWord changes a register.
func setWord(register int) runtime.Inst {
	return runtime.Inst{Op: opcode.PopR, V: uint64(register)<<16 | 64}
}

// clears writes zeros below the stack pointer, where native code saves registers.
func clears() (list []runtime.Inst) {
	for off := int64(136); off <= 600; off += 8 {
		list = append(list, pushSP, pushWord(off), runtime.Inst{Op: opcode.Sub}, pushWord(0), runtime.Inst{Op: opcode.Store64})
	}
	return append(list, pushWord(50), setWord(x86.RCX))
}

var changes = map[string]change{
	"memory":        {enter: []runtime.Inst{{Op: opcode.Arg, A: 1}, pushWord(1000), {Op: opcode.Store64}}, added: 1000},
	"registers":     {enter: []runtime.Inst{pushArg, pushWord(5), {Op: opcode.Add}, setWord(x86.RDI), pushWord(7), setWord(x86.RCX), pushWord(20), setWord(x86.RDX)}, added: 37, argument: 5},
	"saved":         {enter: clears(), added: 50},
	"a result":      {leave: []runtime.Inst{pushWord(1e6), {Op: opcode.SetRet}}, result: 1e6, results: true},
	"skip":          {enter: []runtime.Inst{pushWord(3), {Op: opcode.Skip}}, result: 3, results: true, skips: true},
	"a signal":      {enter: []runtime.Inst{pushWord(int64(unix.SIGUSR1)), {Op: opcode.Signal}}, signals: 1},
	"at the return": {leave: []runtime.Inst{pushWord(int64(unix.SIGUSR1)), {Op: opcode.Signal}, pushRet, pushWord(4), {Op: opcode.Add}, setWord(x86.RAX)}, added: 4, signals: 1},
}

// TestInlineChanges: what programs change in the target is changed, and what they let alone is not, whatever runs them.
// Programs that follow see the change.
func TestInlineChanges(t *testing.T) {
	t.Parallel()
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	path := program(t, "changed.c")
	for name, c := range changes {
		for _, engine := range []Engine{Step, Inline, Mixed} {
			for _, follows := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %v %v", name, engine, follows), func(t *testing.T) { c.test(t, path, engine, follows) })
			}
		}
	}
}

// test has one engine run it. follows says that calls are followed to their return by the probe that changes them.
func (c change) test(t *testing.T, path string, engine Engine, follows bool) {
	const calls, threads = 1200, 2
	const rare = calls / 100 * threads
	w := newWorld(t, Config{Engine: engine, Follow: FollowThreads})
	tg := w.launch(path, fmt.Sprint(calls), fmt.Sprint(threads))
	before, behind, left := w.counter(), w.counter(), w.counter()
	w.probe("plus", Handlers{Enter: w.sums(before, opcode.Arg, 0)})
	h := Handlers{Enter: w.seldom([]runtime.Inst{pushArg}, c.enter...)}
	if c.leave != nil {
		h = Handlers{Leave: w.seldom([]runtime.Inst{pushRet, pushWord(1), {Op: opcode.Shr}}, c.leave...)}
	} else if follows {
		h.Leave = w.counts(left)
	}
	w.probe("plus", h)
	w.probe("plus", Handlers{Enter: w.sums(behind, opcode.Arg, 0)})
	w.run()
	var sum, rareSum int64
	for i := int64(0); i < calls; i++ {
		result := 2 * i
		if i%100 == 7 {
			if rareSum += i; c.results {
				result = c.result
			}
			result += c.added
		}
		sum += threads * result
	}
	want(t, "output", tg.output(), fmt.Sprintf("sum %d signals %d\n", sum, c.signals*rare))
	want(t, "arguments before", before.get(), threads*calls*(calls-1)/2)
	want(t, "arguments behind", behind.get(), threads*calls*(calls-1)/2+c.argument*rare)
	if follows && c.leave == nil {
		leaves := int64(threads * calls)
		if c.skips {
			leaves -= rare
		}
		want(t, "leaves", left.get(), leaves)
	}
	for _, q := range w.Query() {
		inline := q.Strategy["inline"] + q.Strategy["inline, returns by return sites"]
		if q.Hits != threads*calls || q.Missed != 0 || engine == Inline && inline != 1 {
			t.Errorf("query: %+v", q)
		}
	}
	if s := w.Stats(); engine != Step && s.Inline == 0 || engine == Inline && s.Hits > threads*calls/2 {
		t.Errorf("stats: %+v", s)
	}
}

// TestInlineChangesDetach attaches to busy threads, whose registers programs replace by themselves, and detaches from
// them, also while one of them has rung.
func TestInlineChangesDetach(t *testing.T) {
	t.Parallel()
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	p := start(t, program(t, "short.c"), "spin", "4")
	before := text(t, p.pid())
	for i := range rounds(6, 200) {
		w := newWorld(t, Config{Engine: Inline, Follow: FollowThreads})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		n, left := w.counter(), w.counter()
		rare := append(clears()[:5*50], pushArg, setWord(x86.RDI))
		for _, f := range shorts {
			if f != "empty" {
				w.probe(f, Handlers{Enter: w.seldom([]runtime.Inst{pushArg}, rare...), Leave: w.seldom([]runtime.Inst{pushRet}, pushRet, setWord(x86.RAX),
					runtime.Inst{Op: opcode.IncGV, V: left.offset()})})
			}
			w.probe(f, Handlers{Enter: w.counts(n)})
		}
		w.Start()
		eventually(t, "hits without a stop", func() bool { return n.get() > 10000 && left.get() > 20 && w.Stats().Inline > len(shorts) })
		if err := w.Close(i%2 == 0); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		untouched(t, p.pid(), before)
	}
	want(t, "output", p.end(), "spin bad=0")
}
