package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// unharmed is a program of testdata that does what jumps in its code could harm, and counts what probes are to count.
type unharmed struct {
	w    *world
	tg   *target
	seen *counter // calls of its functions
}

// launchUnharmed launches it with probes on the functions whose calls it counts. With bells their programs end at a
// doorbell.
func launchUnharmed(t *testing.T, bells bool, args string) *unharmed {
	t.Helper()
	w := inlineWorld(t, FollowChildren)
	u := &unharmed{w: w, tg: w.launch(program(t, "unharmed.c"), strings.Fields(args)...), seen: w.counter()}
	for _, f := range []string{"hot", "leaf", "nested"} {
		code := w.counts(u.seen)
		if bells {
			code = w.rings(w.counter(), u.seen)
		}
		w.probe(f, Handlers{Enter: code})
	}
	return u
}

// said returns what the program has printed under a name.
func (u *unharmed) said(name string) (n int64) {
	u.w.t.Helper()
	for _, word := range strings.Fields(u.tg.output()) {
		if k, v, _ := strings.Cut(word, "="); k == name {
			fmt.Sscan(v, &n)
			return n
		}
	}
	u.w.t.Fatalf("no %s in the output %q", name, u.tg.output())
	return 0
}

// inlined makes sure that hits have been counted without a stop.
func (u *unharmed) inlined() {
	u.w.t.Helper()
	for _, q := range u.w.Query()[:3] {
		if q.Strategy["inline"] == 0 {
			u.w.t.Errorf("%s is not inline: %+v", q.Name, q)
		}
	}
}

// TestInlineUnharmed: what the probes count is what the program has counted, and the program computes what it computes
// without probes.
func TestInlineUnharmed(t *testing.T) {
	t.Parallel()
	n := rounds(1, 20)
	for _, args := range []string{"profiled %d00", "profiled %d00 stack", "coroutines %d00", "processes %d LIBRARY"} {
		for _, bells := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %v", args, bells), func(t *testing.T) {
				args := fmt.Sprintf(args, n)
				library := ""
				if strings.Contains(args, "LIBRARY") {
					library = program(t, "late.c", "-shared", "-fPIC")
				}
				u := launchUnharmed(t, bells, strings.ReplaceAll(args, "LIBRARY", library))
				late := u.w.counter()
				if library != "" {
					u.w.probe("late*:late", Handlers{Enter: u.w.counts(late)}, func(s *ProbeSpec) { s.Optional = true })
				}
				u.w.run()
				want(t, "wrong results", u.said("bad"), 0)
				want(t, "calls", u.seen.get(), u.said("calls"))
				if library != "" {
					want(t, "calls of the library", late.get(), int64(n))
				}
				u.inlined()
			})
		}
	}
}

// TestInlineLeftByHandlers has signal handlers leave native code by siglongjmp, before and after it has counted.
func TestInlineLeftByHandlers(t *testing.T) {
	t.Parallel()
	for _, stack := range []string{"", "stack"} {
		for _, bells := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %v", stack, bells), func(t *testing.T) {
				u := launchUnharmed(t, bells, fmt.Sprintf("jumped %d %s", 20*rounds(1, 20), stack))
				u.w.run()
				want(t, "wrong results", u.said("bad"), 0)
				want(t, "whether enough handlers left native code", u.said("outside"), 1)
				if more := u.seen.get() - u.said("calls"); more < 0 || more > u.said("jumps") {
					t.Errorf("%d calls more than the program has counted, and %d handlers that did not return", more, u.said("jumps"))
				}
			})
		}
	}
}

// calculates is a program that calculates with floats, so that there are exceptions and results are rounded, goes on
// with what is given, and counts.
func (w *world) calculates(n *counter, more ...runtime.Inst) *runtime.Code {
	float := func(f float64) runtime.Inst { return runtime.Inst{Op: opcode.PushD, V: math.Float64bits(f)} }
	code := slices.Concat([]runtime.Inst{{Op: opcode.Arg}, {Op: opcode.Itof}, float(3), {Op: opcode.Fdiv}, float(1e300), {Op: opcode.Fmul}, float(1e300), {Op: opcode.Fmul},
		float(0), {Op: opcode.Fmul}, {Op: opcode.Fbool}}, more, []runtime.Inst{{Op: opcode.IncGV, V: n.offset()}})
	return w.code(code...)
}

// TestInlineState runs programs at all instructions of functions that use the red zone and need the flags, and between
// instructions that need all other registers.
func TestInlineState(t *testing.T) {
	for _, programs := range []string{"integers", "bells", "floats", "floats and bells"} {
		t.Run(programs, func(t *testing.T) {
			n := 500 * rounds(1, 20)
			w := inlineWorld(t, FollowThreads)
			u := &unharmed{w: w, tg: w.launch(program(t, "unharmed.c"), "state", fmt.Sprint(n)), seen: w.counter()}
			code, idle := w.counts(w.counter()), w.counts(u.seen)
			switch programs {
			case "bells":
				code, idle = w.rings(w.counter(), w.counter()), w.rings(w.counter(), u.seen)
			case "floats":
				code, idle = w.calculates(w.counter()), w.calculates(u.seen)
			case "floats and bells":
				code, idle = w.calculates(w.counter(), runtime.Inst{Op: opcode.Field, A: uint32(runtime.FieldPpid)}), w.calculates(u.seen, runtime.Inst{Op: opcode.Field, A: uint32(runtime.FieldPpid)})
			}
			w.probe("zone+*", Handlers{Enter: code}, func(s *ProbeSpec) { s.Optional = true })
			w.probe("idle", Handlers{Enter: idle})
			w.run()
			want(t, "wrong results", u.said("bad"), 0)
			want(t, "calls", u.seen.get(), u.said("idle"))
			for _, q := range w.Query() {
				if q.Strategy["inline"] == 0 {
					t.Errorf("%s is not inline: %+v", q.Name, q)
				}
			}
		})
	}
}

// TestInlineThrows has exceptions pass through functions with probes.
func TestInlineThrows(t *testing.T) {
	path := builtWith(t, testenv.GXX, "thrower", "g++", "-O2", "-g", "-o", "OUT", "testdata/thrower.cc")
	n := int64(30 * rounds(1, 20))
	plain, err := exec.Command(path, fmt.Sprint(n)).Output()
	if err != nil {
		t.Fatal(err)
	}
	w := inlineWorld(t, FollowThreads)
	tg := w.launch(path, fmt.Sprint(n))
	counted := map[string]*counter{}
	for _, f := range []string{"deepest", "between", "rethrows", "catches"} {
		c := w.counter()
		if _, err := w.tryProbe(f, Handlers{Enter: w.counts(c)}); err == nil { // calls may be checked by the processor
			counted[f] = c
		}
	}
	library := w.probe("libstdc*:*", Handlers{Enter: w.counts(w.counter())}, func(s *ProbeSpec) { s.Optional = true })
	w.run()
	want(t, "output", tg.output(), string(plain))
	for f, c := range counted {
		want(t, "calls of "+f, c.get(), n)
	}
	if len(counted) < 2 || w.stateOf(library).Strategy["inline"] == 0 {
		t.Errorf("%d functions are counted; the library: %+v", len(counted), w.stateOf(library))
	}
}

// TestInlineToggledAmongThreads has 100 threads run through a thousand places, while probes there come and go. A probe
// that stays counts every call.
func TestInlineToggledAmongThreads(t *testing.T) {
	t.Parallel()
	const groups = 10
	in, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer end.Close()
	w := inlineWorld(t, FollowThreads)
	u := &unharmed{w: w, tg: w.launchWith(in, program(t, "unharmed.c"), "threads", "100"), seen: w.counter()}
	w.probe("site*", Handlers{Enter: w.counts(u.seen)})
	toggled := w.counter()
	var ids []uint32
	for g := range groups {
		ids = append(ids, w.probe(fmt.Sprintf("site%d*", g), Handlers{Enter: w.counts(toggled)}, func(s *ProbeSpec) { s.Disabled = true }))
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "hits without a stop", func() bool { return w.Stats().Inline > 0 })
	on := [groups]bool{}
	random := rand.New(rand.NewPCG(1, 2))
	for range rounds(80, 10000) {
		g := random.IntN(groups)
		change := w.Enable
		if on[g] {
			change = w.Disable
		}
		if err := change(ids[g]); err != nil {
			t.Fatal(err)
		}
		on[g] = !on[g]
	}
	end.Close()
	<-w.Done()
	if err := w.Wait(); err != nil {
		t.Fatal(err)
	}
	want(t, "wrong results", u.said("bad"), 0)
	want(t, "calls", u.seen.get(), u.said("sites"))
	if n := toggled.get(); n > u.said("sites") {
		t.Errorf("the probes that came and went have counted %d calls of %d", n, u.said("sites"))
	}
	t.Log(w.Query()[0].Strategy, w.Stats())
}

// TestInlineConfined: a process that forbids itself what gotap needs is stopped instead, and the reason is said.
func TestInlineConfined(t *testing.T) {
	for by, why := range map[string]string{"eperm": "seccomp", "kill": "seccomp", "limit": "cannot allocate memory", "locked": "locks its memory", "mdwe": ""} {
		t.Run(by, func(t *testing.T) {
			u := launchUnharmed(t, false, "confined 100 "+by)
			u.w.run()
			want(t, "wrong results", u.said("bad"), 0)
			want(t, "calls", u.seen.get(), u.said("calls"))
			if why == "" {
				u.inlined()
				return
			}
			for _, q := range u.w.Query() {
				if q.Strategy["inline"] != 0 {
					t.Errorf("%s is inline: %+v", q.Name, q)
				}
			}
			if said := strings.Join(u.w.warned, "\n"); !strings.Contains(said, why) {
				t.Errorf("what is said is %q", said)
			}
		})
	}
}

// TestMaskInMissingPage: a call that blocks all signals is made without SIGTRAP, also when an argument is in a page
// that is not in memory yet, as the sets of the C library are when a program begins. A thread that hit a breakpoint
// with SIGTRAP blocked would end its process if the session were killed before.
func TestMaskInMissingPage(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, testenv.GCC)
	w := newWorld(t, Config{Follow: FollowThreads})
	tg := w.launch(program(t, "missing.c"))
	n := w.counter()
	w.probe("work", Handlers{Enter: w.counts(n)})
	w.run()
	want(t, "output", tg.output(), "blocked open\n")
	want(t, "hits", n.get(), 1)
}
