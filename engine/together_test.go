package engine

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"syscall"
	"testing"

	"gotap/engine/backend"
	"gotap/engine/place"
	"gotap/engine/space"
)

// prepared prepares probes that count the entries of functions, as those of one script.
func (w *world) prepared(functions ...string) (*Swap, []*counter) {
	w.t.Helper()
	swap, err := w.Prepare(nil, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return swap, w.preparedIn(swap, functions...)
}

// preparedIn adds such probes to those that are prepared.
func (w *world) preparedIn(swap *Swap, functions ...string) []*counter {
	w.t.Helper()
	var counters []*counter
	for _, f := range functions {
		n := w.counter()
		w.next++
		err := swap.Add(ProbeSpec{ID: w.next, Name: fmt.Sprint(f, w.next), Specs: []place.Spec{mustParse(w.t, f)},
			Compile: func(PlaceInfo) (Handlers, error) { return Handlers{Enter: w.counts(n)}, nil }})
		if err != nil {
			w.t.Fatal(err)
		}
		counters = append(counters, n)
	}
	return counters
}

// TestProbesOfOneScriptCountAlike attaches to a busy program with threads. Probes on one function that were committed
// together have equal counts at the end. Between a function and the one that it calls the counts differ by no more than
// one for each thread, which may be between the two when the breakpoints are written and when they are taken out.
func TestProbesOfOneScriptCountAlike(t *testing.T) {
	const threads = 4
	path := program(t, "busy.c")
	for i := range 20 {
		p := start(t, path, "spin", fmt.Sprint(threads))
		w := newWorld(t, Config{Engine: []Engine{Auto, Mixed}[i%2], Follow: FollowThreads})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		w.Start()
		swap, n := w.prepared("outer", "inner", "outer", "inner", "outer")
		if err := swap.CommitEach(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "hits", func() bool { return n[0].get() > 100 })
		if err := w.Close(false); err != nil {
			t.Fatal(err)
		}
		want(t, "second probe on outer", n[2].get(), n[0].get())
		want(t, "third probe on outer", n[4].get(), n[0].get())
		want(t, "second probe on inner", n[3].get(), n[1].get())
		if d := n[0].get() - n[1].get(); d < -threads || d > threads {
			t.Errorf("outer was entered %d times, inner, which it calls, %d times", n[0].get(), n[1].get())
		}
		p.cmd.Process.Kill()
	}
}

// TestPlantedTogether: nothing of what is prepared is in the code before it is committed; then all of it is, and the
// text is as it was when the probes are gone.
func TestPlantedTogether(t *testing.T) {
	p := start(t, program(t, "busy.c"), "spin", "4")
	before := text(t, p.pid())
	w := newWorld(t, Config{Follow: FollowThreads})
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	w.Start()
	swap, _ := w.prepared("outer+*", "inner+*", "run+*")
	points := w.Stats().Points
	want(t, "points while probes are prepared", points, 0)
	if err := swap.Commit(); err != nil {
		t.Fatal(err)
	}
	if points = w.Stats().Points; points < 6 {
		t.Errorf("%d points", points)
	}
	want(t, "points by the states of probes", points, sum(w.Query(), func(s ProbeState) int { return s.Places }))
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	untouched(t, p.pid(), before)
}

// TestCommitIsAllOrNothing: where one of several probes cannot be armed for the limit on points, Commit arms none, and
// CommitEach the others.
func TestCommitIsAllOrNothing(t *testing.T) {
	for _, each := range []bool{false, true} {
		p := start(t, program(t, "busy.c"), "spin", "2")
		before := text(t, p.pid())
		w := newWorld(t, Config{Follow: FollowThreads, MaxProbes: 3})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		w.Start()
		swap, n := w.prepared("outer", "run+*", "inner")
		commit, armed := swap.Commit, 0
		if each {
			commit, armed = swap.CommitEach, 2
		}
		var many backend.TooManyError
		if err := commit(); !errors.As(err, &many) {
			t.Errorf("error %v, not one of the limit", err)
		}
		want(t, "points", w.Stats().Points, armed)
		want(t, "probes", len(w.Query()), armed)
		if each {
			eventually(t, "hits", func() bool { return n[0].get() > 10 && n[2].get() > 10 })
		}
		w.Close(false)
		untouched(t, p.pid(), before)
	}
}

// sum adds up what is in a list.
func sum[T any](list []T, of func(T) int) (n int) {
	for _, v := range list {
		n += of(v)
	}
	return n
}

// TestPlacingIsInterrupted: when Quit is closed nothing more is compiled, and nothing planted: neither where a probe is
// prepared nor where it is armed.
func TestPlacingIsInterrupted(t *testing.T) {
	p := start(t, program(t, "busy.c"), "spin", "2")
	for _, at := range []string{"prepared", "armed"} {
		quit := make(chan struct{})
		w := newWorld(t, Config{Follow: FollowThreads, Quit: quit})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		w.Start()
		compiled := 0
		swap, err := w.Prepare(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = swap.Add(ProbeSpec{ID: 1, Name: "all", Specs: []place.Spec{mustParse(t, "libc:*")}, Compile: func(PlaceInfo) (Handlers, error) {
			if compiled++; compiled == 10 && at == "prepared" {
				close(quit)
			}
			return Handlers{Enter: w.counts(w.counter())}, nil
		}})
		if at == "armed" {
			if err != nil {
				t.Fatal(err)
			}
			close(quit)
			err = swap.CommitEach()
		} else {
			want(t, "places compiled", compiled, 10)
		}
		if !errors.Is(err, ErrInterrupted) {
			t.Errorf("while probes are %s: %v", at, err)
		}
		want(t, "points", w.Stats().Points, 0)
		want(t, "probes", len(w.Query()), 0)
		if err := w.Close(false); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRestoreLeavesWhatOthersWrote: taking breakpoints out a page at a time puts back what each displaced, but not
// where somebody else has written since; and a breakpoint that is left is found among many.
func TestRestoreLeavesWhatOthersWrote(t *testing.T) {
	const foreign = 0x90
	w := newWorld(t, Config{})
	tg := w.launch(program(t, "busy.c"), "spin", "1")
	defer syscall.Kill(tg.pid, syscall.SIGKILL)
	swap, _ := w.prepared("outer+*", "run+*", "inner+*")
	if err := swap.Commit(); err != nil {
		t.Fatal(err)
	}
	err := w.do(func() error {
		sp := w.procs[tg.pid].space
		var points []*space.Point
		for _, p := range sp.ByAddr {
			if p.Planted && p.Internal == nil {
				points = append(points, p)
			}
		}
		if len(points) < 6 || !w.world.allStill(sp) || !sp.Private(points[0].Addr) {
			t.Fatalf("%d points, not to be written a page at a time", len(points))
		}
		changed := points[len(points)/2]
		if err := sp.Mem.Poke(changed.Addr, []byte{foreign}, 0); err != nil {
			return err
		}
		if err := w.patcher.RestoreAll(sp); err != nil {
			return err
		}
		want(t, "points that count", w.patcher.Points, 0)
		for _, p := range points {
			expect := p.Orig
			if p == changed {
				expect = []byte{foreign}
			}
			if now, err := p.Present(); err != nil || !bytes.Equal(now, expect) {
				t.Errorf("at %#x is %x, not %x (%v)", p.Addr, now, expect, err)
			}
		}
		want(t, "breakpoints left", len(space.StillPatched(slices.Collect(maps.Values(sp.ByAddr)))), 0)
		if err := sp.Mem.Poke(changed.Addr, changed.Trap, 0); err != nil {
			return err
		}
		if left := space.StillPatched(slices.Collect(maps.Values(sp.ByAddr))); len(left) != 1 || left[0] != changed {
			t.Errorf("found %d breakpoints, not the one that is left", len(left))
		}
		return sp.Mem.Poke(changed.Addr, changed.Orig, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
}
