package engine

import (
	"fmt"
	"maps"
	"math/rand"
	"testing"

	"gotap/engine/space"
)

// TestInlineRoom: a place whose jump would replace the instruction of another probe gets a shorter one, whichever of
// the two probes comes first, and while threads run. The programs of both stop nothing.
func TestInlineRoom(t *testing.T) {
	for _, order := range []string{"enter first", "leave first"} {
		t.Run(order, func(t *testing.T) {
			w := inlineWorld(t, FollowThreads)
			p := start(t, program(t, "short.c"), "spin", "4")
			before := text(t, p.pid())
			if err := w.Attach(p.pid()); err != nil {
				t.Fatal(err)
			}
			entered, left := w.counter(), w.counter()
			probes := []Handlers{{Enter: w.counts(entered)}, {Leave: w.counts(left)}}
			if order == "leave first" {
				probes[0], probes[1] = probes[1], probes[0]
			}
			w.Start()
			id := w.probe("room", probes[0])
			eventually(t, "a jump", func() bool { return w.Stats().Inline > 0 })
			w.probe("room", probes[1])
			inside := func() {
				var from, fromLeft int64
				var stops int
				eventually(t, "hits of both without a stop", func() bool {
					more := entered.get() > from+100 && left.get() > fromLeft+100 && int(w.Stats().Hits) == stops
					from, fromLeft, stops = entered.get(), left.get(), int(w.Stats().Hits)
					return more
				})
			}
			inside()
			w.toggle([]uint32{id}, entered, scaled(20, 500))
			inside()
			for _, q := range w.Query() {
				if len(q.Refused) > 0 {
					t.Errorf("%s is refused: %v", q.Name, q.Refused)
				}
			}
			if err := w.Close(false); err != nil {
				t.Fatal(err)
			}
			untouched(t, p.pid(), before)
			want(t, "output", p.end(), "spin bad=0")
		})
	}
}

// TestInlineQuestions: to ask whether the return of a function gets a jump leaves the room of the entry's jump as it is,
// although that would be another one now: a probe is about to be placed among the instructions that the jump replaces.
func TestInlineQuestions(t *testing.T) {
	w := inlineWorld(t, FollowThreads)
	p := start(t, program(t, "short.c"), "spin", "4")
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	n := w.counter()
	w.probe("wide", Handlers{Enter: w.counts(n), Leave: w.counts(n)})
	w.Start()
	eventually(t, "both jumps", func() bool { return w.Stats().Inline == 2 })
	err := w.do(func() error {
		for sp := range w.spaces() {
			for addr, exit := range maps.Clone(sp.ByAddr) {
				if len(exit.Exits) == 0 {
					continue
				}
				entry := exit.Exits[0].Entry().At.(*space.Point)
				inside, err := w.patcher.PointAt(sp, entry.Jump.Window.Insns[1].Addr, nil)
				if err != nil {
					return err
				}
				inside.Queued = true
				before := fmt.Sprintf("%+v", entry.Jump.Room)
				err = w.natives.Fits(exit)
				want(t, fmt.Sprintf("the room, when %#x had been asked for (%v)", addr, err), fmt.Sprintf("%+v", entry.Jump.Room), before)
				inside.Queued = false
				n = nil
			}
		}
		return nil
	})
	if err != nil || n != nil {
		t.Errorf("%v, or no return", err)
	}
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	want(t, "output", p.end(), "spin bad=0")
}

// TestInlineRoomShared places, toggles and removes probes at random that share the room of short functions and their
// padding, while threads run there. No probe that was taken is refused when it is enabled again, the target computes as
// ever, and all of its code is as before when the session has ended.
func TestInlineRoomShared(t *testing.T) {
	for seed := range int64(rounds(8, 100)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewSource(seed))
			w := inlineWorld(t, FollowThreads)
			p := start(t, program(t, "short.c"), "spin", "4")
			before := text(t, p.pid())
			if err := w.Attach(p.pid()); err != nil {
				t.Fatal(err)
			}
			n := w.counter()
			var ids []uint32
			for range 4 {
				ids = append(ids, w.shortProbe(r, n)...)
			}
			w.Start()
			for k := range 10 {
				w.toggle(some(r, ids, 6), n, 6)
				if k%3 == 0 {
					ids = append(ids, w.shortProbe(r, n)...)
				}
				if i := r.Intn(2 * len(ids)); i < len(ids) && len(ids) > 1 {
					if err := w.Remove(ids[i]); err != nil {
						t.Fatal(err)
					}
					ids = append(ids[:i], ids[i+1:]...)
				}
			}
			if err := w.Close(false); err != nil {
				t.Fatal(err)
			}
			untouched(t, p.pid(), before)
			want(t, "output", p.end(), "spin bad=0")
		})
	}
}

// some returns several of ids, chosen at random.
func some(r *rand.Rand, ids []uint32, count int) (chosen []uint32) {
	for range count {
		chosen = append(chosen, ids[r.Intn(len(ids))])
	}
	return chosen
}

// shortProbe adds a probe of any kind on a short function, unless that is refused, and returns its number.
func (w *world) shortProbe(r *rand.Rand, n *counter) []uint32 {
	f, h := shorts[r.Intn(len(shorts))], Handlers{Enter: w.counts(n)}
	switch r.Intn(5) {
	case 0, 1:
		h = Handlers{Leave: w.counts(n)}
	case 2:
		h.Leave = w.counts(n)
	case 3:
		f += "+*"
	}
	id, err := w.tryProbe(f, h)
	if err != nil {
		w.t.Logf("%s: %v", f, err)
		return nil
	}
	return []uint32{id}
}
