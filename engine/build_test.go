package engine

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime/opcode"
)

// TestKindsOfPrograms runs the same program built in different ways.
func TestKindsOfPrograms(t *testing.T) {
	for name, flags := range map[string][]string{
		"pie": nil, "fixed": {"-no-pie"}, "static": {"-static"}, "static pie": {"-static-pie"}, "O0": {"-O0"}, "endbr": {"-fcf-protection=full"},
		"exported": {"-rdynamic", "-s"}, "32": {"-m32"}, "32 fixed": {"-m32", "-no-pie"}, "32 static": {"-m32", "-static"},
	} {
		t.Run(name, func(t *testing.T) {
			if len(flags) > 0 && flags[0] == "-m32" {
				testenv.Require(t, testenv.M32, testenv.IA32)
			}
			path := program(t, "plain.c", flags...)
			eachEngine(t, func(t *testing.T, e Engine) {
				w := newWorld(t, Config{Engine: e, Follow: FollowChildren})
				tg := w.launch(path, "100", "3")
				n, l, sum, every, libc := w.counter(), w.counter(), w.counter(), w.counter(), w.counter()
				w.probe("work", Handlers{Enter: w.counts(n), Leave: w.sums(sum, opcode.Retval, 0)})
				w.probe("fact", Handlers{Leave: w.counts(l)})
				w.probe("main+*", Handlers{Enter: w.counts(every)})
				w.probe("memchr", Handlers{Enter: w.counts(libc)}, func(p *ProbeSpec) { p.Optional = true })
				w.run()
				want(t, "output", tg.output(), "plain bad=0\n")
				want(t, "work", n.get(), 401)
				want(t, "sum of results", sum.get(), 4*100*100+7)
				want(t, "fact", l.get(), 5)
				if every.get() == 0 {
					t.Error("no instruction of main was hit")
				}
				if name == "pie" {
					want(t, "memchr, an indirect function", libc.get() > 0, true)
				}
			})
		})
	}
}

// TestWatchpoints watches a long whose code is probed at every instruction, as wide as it is.
func TestWatchpoints(t *testing.T) {
	testenv.Require(t, testenv.Watched)
	path := program(t, "plain.c")
	long := longSize(t, path)
	eachEngine(t, func(t *testing.T, e Engine) {
		w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
		tg := w.launch(path, "100", "2")
		writes, all, n := w.counter(), w.counter(), w.counter()
		w.probe(fmt.Sprintf("watch:cell/%d/w", long), Handlers{Enter: w.counts(writes)})
		w.probe(fmt.Sprintf("watch:cell/%d/rw", long), Handlers{Enter: w.counts(all)})
		w.probe("work+*", Handlers{Enter: w.counts(n)})
		for i := range 3 {
			_, err := w.tryProbe("watch:cell/4/w", Handlers{Enter: w.counts(n)})
			want(t, "one too many", err != nil, i == 2)
		}
		w.run()
		want(t, "output", tg.output(), "plain bad=0\n")
		want(t, "writes", writes.get(), 300)
		want(t, "accesses", all.get(), 300)
	})
}

// TestWatchedTurns watches bytes in the middle of what an instruction copies that repeats itself and has a probe: each
// turn is stepped, and all but the last are no end of the step.
func TestWatchedTurns(t *testing.T) {
	testenv.Require(t, testenv.Watched)
	path := program(t, "fills.c")
	eachEngine(t, func(t *testing.T, e Engine) {
		for _, inPlace := range []bool{false, true} {
			w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
			w.do(func() error { w.patcher.InPlaceOnly(inPlace); return nil })
			tg := w.launch(path, "20")
			middle, last, n := w.counter(), w.counter(), w.counter()
			w.probe("watch:to+32/1/w", Handlers{Enter: w.counts(middle)})
			w.probe("watch:to+56/8/w", Handlers{Enter: w.counts(last)})
			w.probe("fill+*", Handlers{Enter: w.counts(n)})
			w.run()
			want(t, "output", tg.output(), "fills bad=0\n")
			want(t, "writes of a byte in the middle", middle.get(), 20)
			if !inPlace { // there the turns of an instruction are one hit of a watchpoint
				want(t, "writes of the last eight bytes", last.get(), 20*9)
			}
		}
	})
}

// longSize is the size of a long in a program, in bytes.
func longSize(t *testing.T, path string) int {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Class == elf.ELFCLASS64 {
		return 8
	}
	return 4
}

func TestAbsentPlaces(t *testing.T) {
	w := newWorld(t, Config{Follow: FollowThreads})
	w.launch(program(t, "plain.c"), "1")
	n := w.counter()
	for _, spec := range []string{"wrok", "nosuchlib:work", "work+1", "work+1000000", "0x10", "@nosuch.c:1", "usdt:no:mark", "syscall:nope", "watch:nope/8/w"} {
		if _, err := w.tryProbe(spec, Handlers{Enter: w.counts(n)}); err == nil {
			t.Errorf("%s is taken", spec)
		} else {
			t.Log(err)
		}
	}
	_, err := w.tryProbe("wrok", Handlers{Enter: w.counts(n)}, func(p *ProbeSpec) { p.Optional = true })
	want(t, "an optional place that is absent", err == nil, true)
	w.run()
}

// TestEntryThatCannotBeProbed launches a program at whose first instruction no breakpoint can be: it is kept where the
// kernel starts it.
func TestEntryThatCannotBeProbed(t *testing.T) {
	w := newWorld(t, Config{Follow: FollowThreads})
	tg := w.launch(program(t, "oddentry.c", "-Wl,-e,entry"))
	n := w.counter()
	w.probe("work", Handlers{Enter: w.counts(n)})
	w.run()
	want(t, "hits", n.get(), 1)
	want(t, "output", tg.output(), "")
}

// TestWatchpointsAreTakenOff detaches from a process whose threads meet a watchpoint all the time: one that stayed
// would end it.
func TestWatchpointsAreTakenOff(t *testing.T) {
	testenv.Require(t, testenv.Watched)
	p := start(t, program(t, "victim.c"), "2")
	if line, err := p.out.ReadString('\n'); err != nil {
		t.Fatalf("the target does not begin: %q, %v", line, err)
	}
	for _, access := range []string{"rw", "w", "rw"} {
		w := newWorld(t, Config{Follow: FollowThreads})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		n := w.counter()
		w.probe("watch:table/4/"+access, Handlers{Enter: w.counts(n)})
		w.Start()
		if access == "rw" {
			eventually(t, "accesses", func() bool { return n.get() > 10 })
		}
		if err := w.Close(false); err != nil {
			t.Error(err)
		}
	}
	want(t, "target", p.end(), "victim bad=0")
}

// TestWatchpointsOfSiblings takes watchpoints off while a process and its forked child, which began with the same ones,
// both have them.
func TestWatchpointsOfSiblings(t *testing.T) {
	testenv.Require(t, testenv.Watched)
	w := newWorld(t, Config{Follow: FollowChildren})
	path, enough := program(t, "siblings.c"), filepath.Join(t.TempDir(), "enough")
	tg, long := w.launch(path, enough), longSize(t, path)
	first, second := w.counter(), w.counter()
	id := w.probe(fmt.Sprintf("watch:cell/%d/w", long), Handlers{Enter: w.counts(first)})
	w.probe(fmt.Sprintf("watch:cell/%d/rw", long), Handlers{Enter: w.counts(second)})
	w.Start()
	eventually(t, "both processes", func() bool { return len(w.Pids()) == 2 && first.get() > 10 })
	swap, err := w.Prepare(nil, []uint32{id})
	if err == nil {
		err = swap.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	before, after := first.get(), second.get()
	eventually(t, "hits of the other", func() bool { return second.get() > after+10 })
	want(t, "hits of the one that is gone", first.get(), before)
	touch(t, enough)
	<-w.Done()
	want(t, "output", tg.output(), "siblings end\n")
}

// TestReturnsInSiblings enables a probe after the process has forked: the calls of both processes are seen to end.
func TestReturnsInSiblings(t *testing.T) {
	w := newWorld(t, Config{Follow: FollowChildren})
	enough := filepath.Join(t.TempDir(), "enough")
	tg := w.launch(program(t, "siblings.c"), enough)
	entered, left := w.counter(), w.counter()
	id := w.probe("store", Handlers{Enter: w.counts(entered), Leave: w.counts(left)})
	if err := w.Disable(id); err != nil {
		t.Fatal(err)
	}
	w.Start()
	eventually(t, "both processes", func() bool { return len(w.Pids()) == 2 })
	if err := w.Enable(id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "calls", func() bool { return entered.get() > 100 })
	if err := w.Disable(id); err != nil {
		t.Fatal(err)
	}
	if in, out := entered.get(), left.get(); out < in-2 || out > in { // a call of each may be under way
		t.Errorf("%d calls began, %d ended", in, out)
	}
	touch(t, enough)
	<-w.Done()
	want(t, "output", tg.output(), "siblings end\n")
}
