package engine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotap/engine/linux/ptrace"
	"gotap/engine/testenv"
	"gotap/engine/threadstate"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

func requirePython(t testing.TB) { testenv.Require(t, testenv.Python3, testenv.Ptrace, testenv.AMD64) }

// events counts the events of a kind.
func (w *world) count(kind EventKind) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, e := range w.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func TestChildren(t *testing.T) {
	path := program(t, "target.c")
	for _, c := range []struct {
		mode               string
		follow             Follow
		hits, forks, execs int
	}{
		{"fork", FollowChildren, 20, 1, 0}, {"fork", FollowThreads, 10, 1, 0}, {"fork", FollowNone, 10, 1, 0},
		{"vfork", FollowChildren, 20, 1, 1}, {"vfork", FollowThreads, 10, 1, 0},
		{"exec", FollowChildren, 20, 0, 1}, {"exec", FollowThreads, 20, 0, 1},
	} {
		eachEngine(t, func(t *testing.T, e Engine) {
			w := newWorld(t, Config{Engine: e, Follow: c.follow})
			tg := w.launch(path, c.mode, "10")
			n, leaves := w.counter(), w.counter()
			w.probe("work", Handlers{Enter: w.counts(n), Leave: w.counts(leaves)})
			w.probe("run", Handlers{Leave: w.counts(w.counter())})
			w.run()
			what := fmt.Sprintf("%s, follow %d", c.mode, c.follow)
			want(t, what+": hits", int(n.get()), c.hits)
			want(t, what+": leaves", int(leaves.get()), c.hits)
			want(t, what+": forks", w.count(EventFork), c.forks)
			want(t, what+": execs", w.count(EventExec)-1, c.execs)
			want(t, what+": warnings, of a program without fallback above all", len(w.warned), 0)
			if out := tg.output(); !strings.HasSuffix(out, " bad=0\n") {
				t.Errorf("%s: output %q", what, out)
			}
		})
	}
}

func TestShellPipeline(t *testing.T) {
	program(t, "target.c")
	eachEngine(t, func(t *testing.T, e Engine) {
		w := newWorld(t, Config{Engine: e, Follow: FollowChildren})
		tg := w.launch("/bin/sh", "-c", "for i in 1 2 3 4 5; do echo $i | cat; done | sort -r | tr '\\n' ' '; (exit 7); echo $?")
		n := w.counter()
		w.probe("libc:write", Handlers{Enter: w.counts(n), Leave: w.counts(n)})
		w.run()
		want(t, "output", tg.output(), "5 4 3 2 1 7\n")
		if n.get() == 0 {
			t.Error("no hits")
		}
	})
}

func TestLibraries(t *testing.T) {
	path := program(t, "target.c")
	lib := program(t, "late.c", "-shared", "-fPIC")
	eachEngine(t, func(t *testing.T, e Engine) {
		w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
		tg := w.launch(path, "library", "50", lib)
		n, l := w.counter(), w.counter()
		w.probe(lib+":late", Handlers{Enter: w.counts(n)})
		w.probe(filepath.Base(lib)+":late", Handlers{Leave: w.counts(l)}, func(p *ProbeSpec) { p.Optional = true })
		if _, err := w.tryProbe(filepath.Base(lib)+":late", Handlers{Leave: w.counts(l)}); err == nil {
			t.Error("a library that is not there is not missing")
		}
		w.run()
		want(t, "entries", n.get(), 50)
		want(t, "leaves", l.get(), 50)
		want(t, "output", tg.output(), "library bad=0\n")
		mods := 0
		for _, ev := range w.events {
			if ev.Kind == EventModule && ev.Path == lib {
				mods++
			}
		}
		want(t, "module events", mods, 50)
	})
}

func TestReturns(t *testing.T) {
	path := program(t, "target.c")
	for _, c := range []struct {
		mode, spec  string
		n           int
		leaves, sum int64
		enters      int64
	}{
		{"fact", "fact", 12, 12, 522956313, 12}, {"tail", "outer", 10, 10, 165, 10}, {"tail", "inner", 10, 10, 165, 10},
		{"pick", "pick", 12, 12, 126, 12}, {"jump", "through", 10, 5, 25, 10}, {"jump", "jumper", 10, 5, 20, 10},
	} {
		eachEngine(t, func(t *testing.T, e Engine) {
			w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
			tg := w.launch(path, c.mode, strconv.Itoa(c.n))
			enters, leaves, sum, args := w.counter(), w.counter(), w.counter(), w.counter()
			w.probe(c.spec, Handlers{
				Enter: w.code(runtime.Inst{Op: opcode.IncGV, V: enters.offset()}, runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.PopThis}),
				Leave: w.code(runtime.Inst{Op: opcode.IncGV, V: leaves.offset()},
					runtime.Inst{Op: opcode.Retval}, runtime.Inst{Op: opcode.AddGV, V: sum.offset()},
					runtime.Inst{Op: opcode.PushThis}, runtime.Inst{Op: opcode.AddGV, V: args.offset()}),
			}, func(p *ProbeSpec) { p.ThisBytes = 8 })
			w.run()
			want(t, c.spec+": enters", enters.get(), c.enters)
			want(t, c.spec+": leaves", leaves.get(), c.leaves)
			want(t, c.spec+": sum of results", sum.get(), c.sum)
			if c.mode == "fact" {
				want(t, "sum of arguments", args.get(), 78)
			}
			if !strings.HasSuffix(tg.output(), " bad=0\n") {
				t.Errorf("output %q", tg.output())
			}
			t.Log(c.spec, w.Query()[0].Strategy)
		})
	}
}

// TestCallerAtReturn: a call is seen to return to where it was made from, however its return is seen.
func TestCallerAtReturn(t *testing.T) {
	path := program(t, "target.c")
	for _, c := range []struct{ mode, spec string }{{"work", "work"}, {"fact", "fact"}, {"tail", "outer"}, {"tail", "inner"}, {"pick", "pick"}} {
		t.Run(c.spec, func(t *testing.T) {
			w := newWorld(t, Config{Follow: FollowThreads})
			w.launch(path, c.mode, "10")
			began, after, ended, leaves := w.counter(), w.counter(), w.counter(), w.counter()
			w.probe(c.spec, Handlers{
				Enter: w.sums(began, opcode.Field, uint32(runtime.FieldCaller)),
				Post:  w.sums(after, opcode.Field, uint32(runtime.FieldCaller)),
				Leave: w.code(runtime.Inst{Op: opcode.IncGV, V: leaves.offset()},
					runtime.Inst{Op: opcode.Field, A: uint32(runtime.FieldCaller)}, runtime.Inst{Op: opcode.AddGV, V: ended.offset()}),
			})
			w.run()
			want(t, "leaves", leaves.get(), 10)
			want(t, "sum of callers at the end", ended.get(), began.get())
			want(t, "sum of callers behind the first instruction", after.get(), began.get())
		})
	}
}

func TestDeepRecursion(t *testing.T) {
	path := program(t, "target.c")
	for _, c := range []struct{ active, leaves, missed int }{{0, 500, 0}, {100, 100, 400}} {
		w := newWorld(t, Config{Follow: FollowThreads})
		w.launch(path, "fact", "500")
		n, l := w.counter(), w.counter()
		id := w.probe("fact", Handlers{Enter: w.counts(n), Leave: w.counts(l)}, func(p *ProbeSpec) { p.MaxActive = c.active })
		w.run()
		want(t, "enters", n.get(), 500)
		want(t, "leaves", int(l.get()), c.leaves)
		want(t, "missed", int(w.Query()[id-1].Missed), c.missed)
	}
}

func TestFilters(t *testing.T) {
	path := program(t, "target.c")
	for _, c := range []struct{ after, every, limit, want uint64 }{
		{0, 0, 0, 100}, {10, 0, 0, 90}, {0, 7, 0, 14}, {10, 10, 0, 9}, {0, 0, 5, 5}, {20, 3, 4, 4},
	} {
		w := newWorld(t, Config{Follow: FollowThreads})
		w.launch(path, "work", "100")
		n, l := w.counter(), w.counter()
		w.probe("work", Handlers{Enter: w.counts(n), Leave: w.counts(l)}, func(p *ProbeSpec) { p.After, p.Every, p.Limit = c.after, c.every, c.limit })
		w.run()
		want(t, fmt.Sprint(c), uint64(n.get()), c.want)
		want(t, fmt.Sprint(c, " leaves"), uint64(l.get()), c.want)
	}
}

// A hit that the predicate turns down is none: after, every and limit do not see it. Of work(0) to work(99) fifty have
// an odd argument.
func TestPredicateComesFirst(t *testing.T) {
	path := program(t, "target.c")
	for _, c := range []struct{ after, every, limit, want uint64 }{{0, 0, 0, 50}, {10, 0, 0, 40}, {0, 7, 0, 7}, {20, 3, 4, 4}, {0, 0, 1, 1}} {
		for _, atReturn := range []bool{false, true} {
			w := newWorld(t, Config{Follow: FollowThreads})
			w.launch(path, "work", "100")
			n, l := w.counter(), w.counter()
			number := runtime.Inst{Op: opcode.Arg}
			if atReturn {
				number = runtime.Inst{Op: opcode.PushThis}
			}
			odd := w.code(number, runtime.Inst{Op: opcode.PushD, V: 1}, runtime.Inst{Op: opcode.And},
				runtime.Inst{Op: opcode.Jnz, A: 5}, runtime.Inst{Op: opcode.Abort})
			enter := w.code(runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.PopThis}, runtime.Inst{Op: opcode.IncGV, V: n.offset()})
			id := w.probe("work", Handlers{When: odd, AtReturn: atReturn, Enter: enter, Leave: w.counts(l)},
				func(p *ProbeSpec) { p.After, p.Every, p.Limit, p.ThisBytes = c.after, c.every, c.limit, 8 })
			w.run()
			want(t, fmt.Sprint(c, atReturn, " leaves"), uint64(l.get()), c.want)
			want(t, fmt.Sprint(c, atReturn, " hits"), w.Query()[id-1].Hits, c.want)
			if !atReturn {
				want(t, fmt.Sprint(c, " enters"), uint64(n.get()), c.want)
			}
		}
	}
}

func TestOrderAtOnePlace(t *testing.T) {
	w := newWorld(t, Config{Follow: FollowThreads})
	w.launch(program(t, "target.c"), "work", "1")
	trace := w.counter()
	digit := func(d uint64) *runtime.Code { // trace = trace*10 + d
		return w.code(runtime.Inst{Op: opcode.PushGV, V: trace.offset()}, runtime.Inst{Op: opcode.PushD, V: 10}, runtime.Inst{Op: opcode.Mul},
			runtime.Inst{Op: opcode.PushD, V: d}, runtime.Inst{Op: opcode.Add}, runtime.Inst{Op: opcode.PopGV, V: trace.offset()})
	}
	w.probe("work+0x0", Handlers{Enter: digit(1), Post: digit(4)})
	w.probe("work", Handlers{Enter: digit(2), Leave: digit(6)})
	w.probe("work", Handlers{Enter: digit(3), Post: digit(5), Leave: digit(7)})
	w.run()
	want(t, "order", trace.get(), 1234567)
}

func TestFaultingInstructionGivesOneEvent(t *testing.T) {
	path := program(t, "target.c")
	eachEngine(t, func(t *testing.T, e Engine) {
		w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
		tg := w.launch(path, "fault", "8")
		logs := w.code(runtime.Inst{Op: opcode.Item}, runtime.Inst{Op: opcode.Field, A: uint32(runtime.FieldPC)}, runtime.Inst{Op: opcode.LogInt}, runtime.Inst{Op: opcode.EndItem})
		faults := w.counter()
		w.probe("touch+*", Handlers{Enter: logs, Fault: w.counts(faults)})
		w.run()
		pcs := map[int64]int{}
		for {
			rec, ok := w.arena.Next()
			if !ok {
				break
			}
			pcs[rec.Items[0].Values[0].Int]++
		}
		for pc, n := range pcs {
			if n != 8 {
				t.Errorf("%d events at %#x, not 8", n, pc)
			}
		}
		want(t, "faults", faults.get(), 8)
		want(t, "output", tg.output(), "fault bad=0\n")
	})
}

func TestSystemCalls(t *testing.T) {
	path := program(t, "target.c")
	eachEngine(t, func(t *testing.T, e Engine) {
		w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
		tg := w.launch(path, "kernel", "30")
		n, sum, leaves, all, post := w.counter(), w.counter(), w.counter(), w.counter(), w.counter()
		w.probe("syscall:getppid", Handlers{Enter: w.counts(n),
			Leave: w.code(runtime.Inst{Op: opcode.Retval}, runtime.Inst{Op: opcode.AddGV, V: sum.offset()}, runtime.Inst{Op: opcode.IncGV, V: leaves.offset()})})
		w.probe("kernel+*", Handlers{Enter: w.counts(all), Post: w.counts(post)})
		w.run()
		want(t, "calls", n.get(), 60)
		want(t, "ends", leaves.get(), 60)
		want(t, "sum of results", sum.get(), 60*int64(os.Getpid()))
		want(t, "output", tg.output(), "kernel bad=0\n")
		want(t, "post", post.get(), all.get())
	})
}

// TestResultsLikeRestarts: a result is not taken for the kernel's code for a call that it will make again, of which
// only 32 bits are the same.
func TestResultsLikeRestarts(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("results have 32 bits")
	}
	path := program(t, "seeks.c")
	eachEngine(t, func(t *testing.T, e Engine) {
		w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
		tg := w.launch(path, "20")
		n, leaves := w.counter(), w.counter()
		w.probe("syscall:lseek", Handlers{Enter: w.counts(n), Leave: w.counts(leaves)})
		w.run()
		want(t, "calls", n.get(), 20)
		want(t, "ends", leaves.get(), 20)
		want(t, "output", tg.output(), "seeks bad=0\n")
	})
}

// TestInPlace forces all steps to be made in place.
func TestInPlace(t *testing.T) {
	path := program(t, "target.c")
	for _, args := range []string{"work 200", "threads 40 4", "copy 40", "storm 20", "fault 10", "kernel 20", "nap 20", "fork 20", "vfork 20", "stop 5"} {
		w := newWorld(t, Config{Engine: Step, Follow: FollowChildren})
		w.do(func() error { w.patcher.InPlaceOnly(true); return nil })
		args := strings.Fields(args)
		tg := w.launch(path, args...)
		n := w.counter()
		for _, f := range []string{"work+*", "run+*", "copy+*", "kernel+*", "nap+*", "touch+*", "tick+*"} {
			w.probe("target*:"+f, Handlers{Enter: w.counts(n)})
		}
		if args[0] == "stop" {
			w.Start()
			eventually(t, "the target to stop itself", func() bool {
				listening := false
				w.do(func() error {
					listening = w.threads[tg.pid] != nil && w.threads[tg.pid].state.Now() == threadstate.JobStopped
					return nil
				})
				return listening
			})
			signalled(t, tg.pid, "CONT")
		}
		w.run()
		if !strings.HasSuffix(tg.output(), " bad=0\n") || n.get() == 0 {
			t.Errorf("%v: %d hits, output %q", args, n.get(), tg.output())
		}
		want(t, "slots", w.stats.Held > 0, true)
	}
}

func TestLimitOnPoints(t *testing.T) {
	w := newWorld(t, Config{Follow: FollowThreads, MaxProbes: 3})
	w.launch(program(t, "target.c"), "work", "10")
	n := w.counter()
	_, err := w.tryProbe("main+*", Handlers{Enter: w.counts(n)})
	if err == nil || !strings.Contains(err.Error(), "--max-probes") || !strings.Contains(err.Error(), "3") {
		t.Errorf("error: %v", err)
	} else if n := strings.Count(err.Error(), "--max-probes"); n != 1 { // and not once for each place beyond the limit
		t.Errorf("told %d times", n)
	}
	w.probe("work", Handlers{Enter: w.counts(n)})
	want(t, "points", w.Stats().Points, 1)
	w.run()
	want(t, "hits", n.get(), 10)
}

// TestLimitOnInlinePoints: a limit that is given holds for places that stop nothing, too.
func TestLimitOnInlinePoints(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	w := newWorld(t, Config{Engine: Inline, Follow: FollowThreads, MaxProbes: 3})
	w.launch(program(t, "target.c"), "work", "10")
	n := w.counter()
	if _, err := w.tryProbe("main+*", Handlers{Enter: w.counts(n)}); err == nil || !strings.Contains(err.Error(), "--max-probes") {
		t.Errorf("error: %v", err)
	}
	w.probe("work", Handlers{Enter: w.counts(n)})
	w.run()
	want(t, "hits", n.get(), 10)
}

func TestEnableAndDisableUnderLoad(t *testing.T) {
	p := start(t, program(t, "target.c"), "spin", "4")
	before := text(t, p.pid())
	w := newWorld(t, Config{Follow: FollowThreads})
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	w.Start()
	n := w.counter()
	ids := []uint32{w.probe("work", Handlers{Enter: w.counts(n), Leave: w.counts(n)}), w.probe("work+*", Handlers{Enter: w.counts(n)})}
	for i := range 200 {
		if err := w.Disable(ids[i%2]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i%3) * time.Millisecond)
		if err := w.Enable(ids[i%2]); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range ids {
		w.Disable(id)
	}
	want(t, "text while disabled", text(t, p.pid()) == before, false) // the watch on the loader stays
	w.Close(false)
	untouched(t, p.pid(), before)
	want(t, "target", p.end(), "spin bad=0")
}

// signalled sends a signal by name.
func signalled(t testing.TB, pid int, name string) {
	t.Helper()
	if err := exec.Command("kill", "-"+name, strconv.Itoa(pid)).Run(); err != nil {
		t.Fatal(err)
	}
}

// TestNoMemory: of a process whose memory could not be opened, nothing can be read, and it can be let go.
func TestNoMemory(t *testing.T) {
	s := &Session{}
	sp := s.patcher.NewSpace(&ptrace.Memory{}, nil)
	sp.Users = 1
	if n := sp.Read(0x1000, make([]byte, 4)); n != 0 {
		t.Errorf("read %d bytes", n)
	}
	s.dropSpace(sp)
	p := unopened(s)
	if p.Mem == nil {
		t.Error("a process that was just started has no memory at all")
	}
}
