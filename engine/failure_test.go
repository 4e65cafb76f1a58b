package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"gotap/engine/abi"
	"gotap/engine/executor"
	"gotap/engine/linux/ptrace"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/space"
	"gotap/engine/testenv"
)

// TestPanicHarmsNobody lets the tracing thread panic in the middle of hits: the session ends with the reason, and the
// target is as it was and goes on.
func TestPanicHarmsNobody(t *testing.T) {
	path := program(t, "target.c")
	eachEngine(t, func(t *testing.T, e Engine) {
		p := start(t, path, "spin", "4")
		before := text(t, p.pid())
		w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		n := w.counter()
		for _, f := range []string{"work+*", "run+*", "runner+*"} {
			w.probe(f, Handlers{Enter: w.counts(n), Leave: nil})
		}
		w.Start()
		eventually(t, "hits", func() bool { return n.get() > 100 })
		if w.do(func() error { panic("a mistake") }) == nil {
			t.Error("the task that panicked is said to have succeeded")
		}
		w.fails = true
		if err := w.Close(false); err == nil || !strings.Contains(err.Error(), "a mistake") {
			t.Errorf("Close: %v", err)
		}
		untouched(t, p.pid(), before)
		want(t, "target", p.end(), "spin bad=0")
	})
}

// TestForksWithoutEnd traces a program whose children fork children: 127 processes, many of them at once.
func TestForksWithoutEnd(t *testing.T) {
	path := program(t, "target.c")
	for _, follow := range []Follow{FollowChildren, FollowThreads} {
		eachEngine(t, func(t *testing.T, e Engine) {
			w := newWorld(t, Config{Engine: e, Follow: follow})
			tg := w.launch(path, "tree", "6")
			n := w.counter()
			w.probe("work", Handlers{Enter: w.counts(n)})
			w.run()
			hits := 127 // 2^7-1 processes, each works once
			if follow == FollowThreads {
				hits = 1
			}
			want(t, "hits", int(n.get()), hits)
			want(t, "output", tg.output(), "tree 127 bad=0\n")
		})
	}
}

// TestForksWithoutFiles traces a program whose children fork children while no file can be opened: they are let go,
// without the breakpoints that they begin with, and the program has its output.
func TestForksWithoutFiles(t *testing.T) {
	path := program(t, "target.c")
	eachEngine(t, func(t *testing.T, e Engine) {
		w := newWorld(t, Config{Engine: e, Follow: FollowChildren})
		tg := w.launch(path, "tree", "4")
		n := w.counter()
		w.probe("work", Handlers{Enter: w.counts(n)})
		more := noMoreFiles(t)
		w.run()
		more()
		if n := n.get(); n < 1 || n == 31 { // a file of an earlier test may be closed meanwhile, which makes room for one child
			t.Errorf("%d hits", n)
		}
		want(t, "output", tg.output(), "tree 31 bad=0\n")
		if !slices.ContainsFunc(w.warned, func(text string) bool { return strings.Contains(text, "too many files") }) {
			t.Errorf("warned: %q", w.warned)
		}
	})
}

// noMoreFiles lets this program open no further file until more is called, or the test is over.
func noMoreFiles(t *testing.T) (more func()) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	last, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	none := before
	none.Cur = uint64(last.Fd())
	last.Close()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	more = func() { syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before) }
	t.Cleanup(more)
	return more
}

// TestMakersKilled traces a program that kills processes which make children all the time. A child whose maker was
// killed before it could report it still runs and is traced: the target waits for it, or the session does.
func TestMakersKilled(t *testing.T) {
	t.Parallel()
	path := program(t, "orphans.c")
	for _, args := range [][]string{{"150"}, {"150", "reaps"}} {
		w := newWorld(t, Config{Follow: FollowChildren})
		tg := w.launch(path, args...)
		n := w.counter()
		w.probe("work", Handlers{Enter: w.counts(n)})
		w.run()
		worked := 0
		if _, err := fmt.Sscanf(tg.output(), "worked %d\n", &worked); err != nil || worked == 0 {
			t.Errorf("%v: output %q", args, tg.output())
		}
		if len(args) > 1 {
			want(t, "hits", int(n.get()), worked)
		}
	}
}

// TestArmedAtItsEnd: a process that ends while a probe is placed in it keeps the probe from nobody else.
func TestArmedAtItsEnd(t *testing.T) {
	w := newWorld(t, Config{})
	tg := w.launch(program(t, "target.c"), "work", "1")
	spec, err := place.Parse("work")
	if err != nil {
		t.Fatal(err)
	}
	h := Handlers{Enter: w.counts(w.counter())}
	pr, err := registry.New(ProbeSpec{ID: 1, Name: "work", Specs: []place.Spec{spec}, Compile: func(PlaceInfo) (Handlers, error) { return h, nil }}, nil)
	if err != nil {
		t.Fatal(err)
	}
	procs, err := w.snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.places.Prepare(pr, pr.Spec.Specs, procs); err != nil {
		t.Fatal(err)
	}
	if err := w.do(func() error {
		syscall.Kill(tg.pid, syscall.SIGKILL)
		for end := time.Now().Add(patience()); !w.procs[tg.pid].space.Mem.Gone(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				return errors.New("its memory stays")
			}
		}
		return w.Register(pr)
	}); err != nil {
		t.Error(err)
	}
}

// TestWhatCannotBeUndone: a session that was closed by nobody who listens (as one is that cannot keep its budget) tells
// the next who closes it what it could not undo. The breakpoint is in a page of a file that may not be written, as no
// process has it.
func TestWhatCannotBeUndone(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	name := filepath.Join(t.TempDir(), "page")
	if err := os.WriteFile(name, []byte{0xcc}, 0o400); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	page, err := syscall.Mmap(int(f.Fd()), 0, 1, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(page)
	addr := uint64(uintptr(unsafe.Pointer(&page[0])))
	w := newWorld(t, Config{})
	w.fails = true
	if err := w.do(func() error {
		mem, err := ptrace.OpenMemory(os.Getpid())
		if err != nil {
			return err
		}
		sp := &space.Space{Mem: mem, ABI: abi.Host()[0], ByAddr: map[uint64]*space.Point{}}
		sp.ByAddr[addr] = &space.Point{Space: sp, Length: 1, Spot: executor.Spot{Addr: addr, Trap: []byte{0xcc}, Orig: []byte{0x90}, By: w.patcher.Executors[0], Planted: true}}
		w.newProcess(-1, sp, sp.ABI)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"nobody", "somebody"} {
		if err := w.Close(true); err == nil || !strings.Contains(err.Error(), "cannot restore the instruction") {
			t.Errorf("closed by %s: %v", who, err)
		}
	}
}
