package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/place"
	"gotap/engine/probes"
	"gotap/runtime"
	"gotap/runtime/opcode"
	rtoutcome "gotap/runtime/outcome"
)

// spawned is a dynamic program that stands before its loader's first instruction.
func (w *world) spawned(args ...string) int {
	w.t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	defer null.Close()
	pid, err := w.Spawn(Command{Path: program(w.t, "target.c"), Args: append([]string{"target"}, args...), Stdin: null, Stdout: null})
	if err != nil {
		w.t.Fatal(err)
	}
	return pid
}

// spec is a probe at several places, with one program for all.
func (w *world) spec(enter *runtime.Code, places ...string) ProbeSpec {
	w.t.Helper()
	w.next++
	p := ProbeSpec{ID: w.next, Name: places[0], Compile: func(PlaceInfo) (Handlers, error) { return Handlers{Enter: enter}, nil }}
	for _, text := range places {
		parsed, err := place.Parse(text)
		if err != nil {
			w.t.Fatal(err)
		}
		p.Specs = append(p.Specs, parsed)
	}
	return p
}

func (w *world) begin(spec ProbeSpec, armed int) {
	w.t.Helper()
	if n, err := w.Begin(spec); n != armed || err != nil {
		w.t.Fatalf("%s: %d begun, %v", spec.Name, n, err)
	}
}

// TestBegunProbeIsCompleted begins a probe on a system call and a function, and adds it.
func TestBegunProbeIsCompleted(t *testing.T) {
	w := newWorld(t, Config{})
	pid := w.spawned("work", "10")
	n := w.counter()
	spec := w.spec(w.counts(n), "syscall:openat", "work")
	w.begin(spec, 1)
	want(t, "hits before the loader runs", n.get(), 0)
	if err := w.Settle(pid); err != nil {
		t.Fatal(err)
	}
	early := n.get()
	if early == 0 {
		t.Error("the loader opened nothing")
	}
	if err := w.Add(spec); err != nil {
		t.Fatal(err)
	}
	if err := w.Add(spec); err == nil {
		t.Error("added twice")
	}
	w.run()
	if got := n.get(); got < early+10 {
		t.Errorf("%d hits, %d of them in the loader", got, early)
	}
	if q := w.Query(); len(q) != 1 || q[0].Hits != uint64(n.get()) {
		t.Errorf("%d hits, %+v", n.get(), q)
	}
}

// TestBegunProbeThatCannotBeAdded tells which of a probe's places is wrong, by its position in the whole list, and goes
// on with what is right when that is wanted.
func TestBegunProbeThatCannotBeAdded(t *testing.T) {
	w := newWorld(t, Config{})
	pid := w.spawned("work", "10")
	n, m := w.counter(), w.counter()
	spec, never := w.spec(w.counts(n), "syscall:openat", "nosuch", "work"), w.spec(w.counts(m), "syscall:openat")
	w.begin(spec, 1)
	w.begin(never, 1)
	if err := w.Settle(pid); err != nil {
		t.Fatal(err)
	}
	early := n.get()
	want(t, "hits of the second probe", m.get(), early)
	var at *place.ListedError
	if err := w.Add(spec); !errors.As(err, &at) || at.Index != 1 {
		t.Fatalf("%v", err)
	}
	spec.Optional = true
	if err := w.Add(spec); err != nil {
		t.Fatal(err)
	}
	w.run()
	if n.get() < early+10 {
		t.Errorf("%d hits, %d of them in the loader", n.get(), early)
	}
	want(t, "hits of the probe that was never added", m.get(), early)
	if q := w.Query(); len(q) != 1 || q[0].ID != spec.ID {
		t.Errorf("%+v", q)
	}
}

// TestBegunProbeChanges has a probe disabled, and another removed, before they are added: so they stay.
func TestBegunProbeChanges(t *testing.T) {
	w := newWorld(t, Config{})
	pid := w.spawned("work", "10")
	n := w.counter()
	specs := []ProbeSpec{w.spec(w.counts(n), "work"), w.spec(w.counts(n), "work")}
	for _, spec := range specs {
		w.begin(spec, 0)
	}
	if err := errors.Join(w.Disable(specs[0].ID), w.Remove(specs[1].ID), w.Settle(pid)); err != nil {
		t.Fatal(err)
	}
	for _, spec := range specs {
		if err := w.Add(spec); err != nil {
			t.Fatal(err)
		}
	}
	w.run()
	want(t, "hits", n.get(), 0)
	states := ""
	for _, q := range w.Query() {
		states += q.State + " "
	}
	want(t, "states", states, "disabled removed ")
}

// TestHeldInLoader keeps a program in its loader until somebody releases it.
func TestHeldInLoader(t *testing.T) {
	w := newWorld(t, Config{})
	pid := w.spawned("work", "1")
	hold := w.code(runtime.Inst{Op: opcode.Item}, runtime.Inst{Op: opcode.PushD, V: 7}, runtime.Inst{Op: opcode.LogInt},
		runtime.Inst{Op: opcode.EndItem}, runtime.Inst{Op: opcode.Exit, A: uint32(rtoutcome.ExitHold)})
	w.begin(w.spec(hold, "syscall:openat"), 1)
	done := make(chan struct{})
	held := 0
	released := make(chan struct{})
	go func() {
		defer close(released)
		for w.arena.Wait(done) {
			for rec, ok := w.arena.Next(); ok; rec, ok = w.arena.Next() {
				held++
				w.Release(rec.Hold)
			}
		}
	}()
	if err := w.Settle(pid); err != nil {
		t.Fatal(err)
	}
	close(done)
	<-released
	if held == 0 {
		t.Error("nothing was held")
	}
	w.run()
}

// TestNotBegun are the probes that have to wait: those that may leave the process stopped, and all in programs without
// a loader.
func TestNotBegun(t *testing.T) {
	w := newWorld(t, Config{})
	pid := w.spawned("work", "1")
	stop := w.code(runtime.Inst{Op: opcode.Exit, A: uint32(rtoutcome.ExitStop)})
	if _, err := w.Begin(w.spec(stop, "syscall:openat")); !errors.Is(err, probes.ErrStops) {
		t.Errorf("%v", err)
	}
	if err := w.Settle(pid); err != nil {
		t.Fatal(err)
	}
	none := w.code()
	if _, err := w.Begin(w.spec(none, "syscall:openat")); !errors.Is(err, ErrSettled) {
		t.Errorf("%v", err)
	}
	want(t, "probes", len(w.Query()), 0)
	w.run()

	w = newWorld(t, Config{})
	pid, err := w.Spawn(Command{Path: program(t, "plain.c", "-static")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Begin(w.spec(none, "syscall:openat")); !errors.Is(err, ErrSettled) {
		t.Errorf("%v", err)
	}
	if err := w.Settle(pid); err != nil {
		t.Fatal(err)
	}
	w.run()
}

// TestKilledBeforeItsLoader ends a program before anything of it has run.
func TestKilledBeforeItsLoader(t *testing.T) {
	w := newWorld(t, Config{})
	pid := w.spawned("work", "1")
	ptrace.SendProcess(pid, ptrace.SIGKILL)
	var failed *LaunchError
	if err := w.Settle(pid); !errors.As(err, &failed) {
		t.Errorf("%v", err)
	}
}

// TestExecutedHasFallback: so it is in a program that a target executes, also while system calls are traced.
func TestExecutedHasFallback(t *testing.T) {
	for _, places := range [][]string{nil, {"syscall:getppid"}} {
		w := newWorld(t, Config{Follow: FollowChildren})
		tg := w.launch("/bin/sh", "-c", "/bin/cat /proc/self/status; exec cat /proc/self/status")
		for _, text := range places {
			w.probe(text, Handlers{Enter: w.counts(w.counter())})
		}
		w.run()
		if got := strings.Count(tg.output(), "SigCgt:\t0000000000000010\n"); got != 2 {
			t.Errorf("%v: %d programs of two have a handler for SIGTRAP", places, got)
		}
	}
}

// TestLoaderProbedHasFallback puts a probe into a program's loader: the handler that keeps the program alive is there
// before it is hit, with LateFallback too.
func TestLoaderProbedHasFallback(t *testing.T) {
	w := newWorld(t, Config{LateFallback: true})
	pid := w.spawned("work", "1")
	if procfs.SignalSet(pid, "SigCgt")&ptrace.TrapBit != 0 {
		t.Error("there is a handler for SIGTRAP already")
	}
	loader := ""
	for _, word := range strings.Fields(procfs.Read(pid, "maps")) {
		if strings.HasPrefix(filepath.Base(word), "ld") {
			loader = word
		}
	}
	n := w.counter()
	w.begin(w.spec(w.counts(n), loader+":_dl_debug_state"), 1)
	if procfs.SignalSet(pid, "SigCgt")&ptrace.TrapBit == 0 {
		t.Error("there is no handler for SIGTRAP")
	}
	if err := w.Settle(pid); err != nil {
		t.Fatal(err)
	}
	if n.get() == 0 {
		t.Error("nothing was hit")
	}
	w.run()
}

// TestLaunchedHasFallback: the handler that keeps a program alive is there before its first instruction.
func TestLaunchedHasFallback(t *testing.T) {
	w := newWorld(t, Config{})
	pid := w.spawned("work", "1")
	if procfs.SignalSet(pid, "SigCgt")&ptrace.TrapBit == 0 {
		t.Error("there is no handler for SIGTRAP")
	}
	if err := w.Settle(pid); err != nil {
		t.Fatal(err)
	}
	w.run()
}
