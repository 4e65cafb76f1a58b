package engine

import (
	"fmt"
	"testing"
	"time"

	"gotap/engine/place"
)

// A call that is under way when its probe is exchanged has its leave from the program that saw its entry, once,
// whatever takes the probe's place; and no breakpoint stays behind.
func TestCallsOutlastAnExchange(t *testing.T) {
	path := program(t, "target.c")
	for name, c := range map[string]struct {
		again, leaveOnly, disabled bool
		place                      string // of what comes
		want                       int64
	}{
		"the same place": {place: "sleeper", want: 1}, "another place": {place: "work", want: 1}, "nothing": {want: 1},
		"twice": {place: "sleeper", again: true, want: 1}, "only a leave": {place: "sleeper", leaveOnly: true, want: 1},
		"disabled before": {place: "sleeper", disabled: true, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Config{Follow: FollowThreads})
			in, hand := pipe(t)
			defer hand.Close()
			w.launchWith(in, path, "nap", "1")
			in.Close()
			enters, leaves, later := w.counter(), w.counter(), w.counter()
			w.probe("sleeper", Handlers{Enter: w.counts(enters)})
			old := Handlers{Enter: w.counts(later), Leave: w.counts(leaves)}
			if c.leaveOnly {
				old.Enter = nil
			}
			id := w.probe("sleeper", old)
			if err := w.Start(); err != nil {
				t.Fatal(err)
			}
			entered := int64(1)
			if c.leaveOnly {
				entered = 0
			}
			// Both handlers of the hit, or what the second one counts would be taken for a later hit.
			eventually(t, "the call", func() bool { return enters.get() > 0 && later.get() >= entered })
			if c.disabled {
				w.Disable(id)
			}
			w.exchange(id, c.place, Handlers{Enter: w.counts(later), Leave: w.counts(later)})
			if c.again {
				w.exchange(w.next, c.place, Handlers{Leave: w.counts(later)})
			}
			hand.Close() // the call ends
			select {
			case <-w.Done():
			case <-time.After(patience()):
				t.Fatalf("the target does not end: %+v", w.Stats())
			}
			if err := w.Wait(); err != nil {
				t.Fatal(err)
			}
			want(t, "leaves", leaves.get(), c.want)
			if c.place != "work" {
				want(t, "hits of what came later", later.get(), entered)
			}
		})
	}
}

// exchange puts one probe in the place of another; without a place only the old one goes.
func (w *world) exchange(old uint32, at string, h Handlers) {
	w.t.Helper()
	var add []ProbeSpec
	if at != "" {
		w.next++
		parsed, err := place.Parse(at)
		if err != nil {
			w.t.Fatal(err)
		}
		add = []ProbeSpec{{ID: w.next, Name: fmt.Sprint("new ", at), Specs: []place.Spec{parsed},
			Compile: func(PlaceInfo) (Handlers, error) { return h, nil }}}
	}
	swap, err := w.Prepare(add, []uint32{old})
	if err == nil {
		err = swap.Commit()
	}
	if err != nil {
		w.t.Fatal(err)
	}
}
