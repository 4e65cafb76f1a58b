package engine

import (
	"slices"
	"testing"
)

// TestInlineEndsBetweenHits ends sessions while threads are in native code. The hits are complete then, those with
// doorbells included: all programs of the place have counted the same.
func TestInlineEndsBetweenHits(t *testing.T) {
	for _, bell := range []bool{false, true} {
		w := inlineWorld(t, FollowThreads)
		p := start(t, program(t, "target.c"), "spin", "8")
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		w.Start()
		swap, n := w.prepared(slices.Repeat([]string{"work"}, 60)...)
		if bell {
			if err := swap.Add(w.spec(w.rings(w.counter(), w.counter()), "work")); err != nil {
				t.Fatal(err)
			}
			n = append(n, w.preparedIn(swap, "work")...)
		}
		if err := swap.CommitEach(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "hits in native code", func() bool { return n[0].get() > 5000 })
		if err := w.Close(false); err != nil {
			t.Error(err)
		}
		for i := range n {
			want(t, "hits of the next program", n[i].get(), n[0].get())
		}
		want(t, "target", p.end(), "spin bad=0")
	}
}

// TestInlineDisabledRunsNoMore disables a probe while threads are in native code: its program runs no more when Disable
// returns.
func TestInlineDisabledRunsNoMore(t *testing.T) {
	w := inlineWorld(t, FollowThreads)
	p := start(t, program(t, "target.c"), "spin", "8")
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	w.Start()
	swap, n := w.prepared(slices.Repeat([]string{"work"}, 60)...)
	if err := swap.CommitEach(); err != nil {
		t.Fatal(err)
	}
	last := len(n) - 1
	for range 5 {
		hits := n[last].get()
		eventually(t, "hits in native code", func() bool { return n[last].get() > hits+5000 })
		if err := w.Disable(w.next); err != nil {
			t.Fatal(err)
		}
		hits, others := n[last].get(), n[0].get()
		eventually(t, "hits of the others", func() bool { return n[0].get() > others+5000 })
		want(t, "hits of the disabled program", n[last].get(), hits)
		if err := w.Enable(w.next); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(false); err != nil {
		t.Error(err)
	}
	want(t, "target", p.end(), "spin bad=0")
}
