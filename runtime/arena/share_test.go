package arena

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"gotap/runtime/gate"
	"gotap/runtime/object"
)

// shared is an arena with blocks for shares of threads.
func shared(t *testing.T, blocks, size int) (a *Arena, first uint64) {
	t.Helper()
	a, err := New(Options{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	off, _, ok := a.Reserve(2 * blocks * size)
	if !ok {
		t.Fatal("no memory")
	}
	a.OpenShares(off, uint64(2*size), uint64(size), uint64(size))
	return a, off
}

// TestShares: what threads add in their blocks, and in the words themselves, is in what the host reads, and is taken
// once.
func TestShares(t *testing.T) {
	const threads, times, size = 4, 20000, 4096
	a, first := shared(t, threads, size)
	id, _ := a.Declare(object.Object{Kind: object.KindSum})
	_, off := a.Lookup(id)
	l, _ := a.LayoutOf(off)
	at, ok := l.Share.Offset()
	if again, _ := l.Share.Offset(); !ok || again != at {
		t.Fatalf("a share at %d and %d", at, again)
	}
	g := a.NewGate(gate.Limits{})
	hits, ok := g.Share()
	if !ok || hits == at {
		t.Fatalf("the share of the gate is at %d, %v", hits, ok)
	}
	var wg sync.WaitGroup
	for n := range threads {
		a.UseShare(n)
		word := func(at uint64) *uint64 { return &a.words[(first+uint64(n)*2*size+at)/8] }
		wg.Go(func() {
			for i := range uint64(times) {
				atomic.AddUint64(word(at+ValueOffset), i)
				atomic.AddUint64(word(at+CountOffset), 1)
				atomic.AddUint64(word(hits+gate.ShareOfHits), 1)
				if i%5 == 0 {
					a.Handle(id).Add(1)
					atomic.AddUint64(word(hits+gate.ShareOfRejected), 1)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	var count, sum int64
	take := func() {
		for _, e := range a.Handle(id).Take().Entries {
			count, sum = count+e.Data.Count, sum+e.Data.Sum
		}
	}
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		before := g.Hits()
		if take(); g.Hits() < before {
			t.Fatal("fewer hits than before")
		}
	}
	take()
	if want := int64(threads * (times*(times-1)/2 + times/5)); count != threads*times*6/5 || sum != want {
		t.Errorf("%d taken, %d in all, not %d", count, sum, want)
	}
	if g.Hits() != threads*times || g.Rejected() != threads*times/5 || g.Seen() != g.Hits() {
		t.Errorf("%d hits, %d rejected", g.Hits(), g.Rejected())
	}
	if _, ok := a.Handle(id).Get(); ok {
		t.Error("something is left")
	}
}

// TestSharesRunOut: what finds no room in the blocks, or may not be counted there, has no share.
func TestSharesRunOut(t *testing.T) {
	share := func(a *Arena, o object.Object) bool {
		id, _ := a.Declare(o)
		_, off := a.Lookup(id)
		l, ok := a.LayoutOf(off)
		if !ok {
			t.Fatalf("%s has no layout", o.Kind)
		}
		_, ok = l.Share.Offset()
		return ok
	}
	none, err := New(Options{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	a, _ := shared(t, 2, 64)
	for _, c := range []struct {
		o    object.Object
		want bool
	}{
		{object.Object{Kind: object.KindCount}, true},
		{object.Object{Kind: object.KindSum}, true},
		{object.Object{Kind: object.KindHist}, false},
		{object.Object{Kind: object.KindLhist, Hi: 1000, Step: 10}, false},
		{object.Object{Kind: object.KindMax}, false},
		{object.Object{Kind: object.KindAvg}, false},
		{object.Object{Kind: object.KindStats}, false},
		{object.Object{Kind: object.KindInt}, false},
		{object.Object{Kind: object.KindCount}, true},
		{object.Object{Kind: object.KindSum}, true},
		{object.Object{Kind: object.KindCount}, false},
	} {
		if share(none, c.o) {
			t.Errorf("%s has a share without blocks", c.o.Kind)
		}
		if got := share(a, c.o); got != c.want {
			t.Errorf("%s has a share: %v", c.o.Kind, got)
		}
	}
	if _, ok := a.NewGate(gate.Limits{Every: 2}).Share(); ok {
		t.Error("a gate with limits has a share")
	}
}

// TestSpoiledShares: the host reads blocks that somebody writes to at random, and empties what it reads.
func TestSpoiledShares(t *testing.T) {
	const size = 4096
	a, first := shared(t, 3, size)
	id, _ := a.Declare(object.Object{Kind: object.KindHist})
	_, off := a.Lookup(id)
	l, _ := a.LayoutOf(off)
	l.Share.Offset()
	a.UseShare(1)
	a.UseShare(0)
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		for i := range uint64(6 * size / 8) {
			atomic.StoreUint64(&a.words[first/8+i], r.Uint64())
		}
		a.Handle(id).Get()
		a.Handle(id).Take()
		if _, ok := a.Handle(id).Get(); ok {
			t.Fatal("it is not empty")
		}
	}
}
