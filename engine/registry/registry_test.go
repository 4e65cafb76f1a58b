package registry

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotap/engine/image/module"
	"gotap/engine/place"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/hook"
)

// probe makes a probe whose programs compile to nothing.
func probe(t *testing.T, id uint32, change func(*Spec)) *Probe {
	t.Helper()
	spec := Spec{ID: id, Name: fmt.Sprint("p", id), Specs: []place.Spec{{}}, Compile: func(PlaceInfo) (Handlers, error) { return Handlers{}, nil }}
	if change != nil {
		change(&spec)
	}
	pr, err := New(spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pr
}

// TestAdmit: of a hundred hits those count that after, every and limit leave, by counting them one by one.
func TestAdmit(t *testing.T) {
	for after := range uint64(4) {
		for every := range uint64(4) {
			for limit := range uint64(4) {
				pr := probe(t, 1, func(s *Spec) { s.After, s.Every, s.Limit = after, every, limit })
				var got, want []int
				for hit := 1; hit <= 100; hit++ {
					if due := uint64(hit) - after; uint64(hit) > after && due%max(every, 1) == 0 && (limit == 0 || uint64(len(want)) < limit) {
						want = append(want, hit)
					}
					ok, last := pr.Admit()
					if ok {
						got = append(got, hit)
					}
					if last != (ok && uint64(len(got)) == limit) || last == pr.Enabled && ok {
						t.Fatalf("after %d every %d limit %d: hit %d is the last: %v, enabled: %v", after, every, limit, hit, last, pr.Enabled)
					}
				}
				if !slices.Equal(got, want) || pr.Hits() != uint64(len(want)) {
					t.Errorf("after %d every %d limit %d: %v, not %v; %d hits", after, every, limit, got, want, pr.Hits())
				}
			}
		}
	}
}

// TestRenew: a probe that was enabled again has as many hits before it as the first time.
func TestRenew(t *testing.T) {
	pr := probe(t, 1, func(s *Spec) { s.Limit = 2 })
	for range 4 {
		pr.Enabled = true
		pr.Renew()
		n := 0
		for range 5 {
			if ok, _ := pr.Admit(); ok {
				n++
			}
		}
		if n != 2 {
			t.Errorf("%d hits, not 2", n)
		}
	}
}

// TestOrder: placements run by the order that was asked for, and then as declared, whenever they come.
func TestOrder(t *testing.T) {
	var l List
	var list []*Placement
	for i, at := range []hook.Order{{}, {Position: hook.Last}, {}, {Position: hook.First}, {}} {
		pr := probe(t, uint32(i+1), func(s *Spec) { s.Order = at })
		if err := l.Add(pr); err != nil {
			t.Fatal(err)
		}
		before := slices.Clone(list)
		next, err := Join(list, &Placement{Probe: pr})
		if err != nil || !slices.Equal(before, list) {
			t.Fatalf("%v, and the list changed from %v to %v", err, before, list)
		}
		list = next
	}
	var got []uint32
	for _, pl := range list {
		got = append(got, pl.Probe.Spec.ID)
	}
	if want := []uint32{4, 1, 3, 5, 2}; !slices.Equal(got, want) {
		t.Errorf("they run as %v, not %v", got, want)
	}
	alone := probe(t, 9, func(s *Spec) { s.Order.Position = hook.Only })
	if _, err := Join(list, &Placement{Probe: alone}); err == nil || !strings.Contains(err.Error(), "is to be alone") {
		t.Errorf("one that is to be alone joined the others: %v", err)
	}
	first := probe(t, 10, func(s *Spec) { s.Order.Position = hook.First })
	if _, err := Join(list, &Placement{Probe: first}); err == nil || !strings.Contains(err.Error(), "probe p4") {
		t.Errorf("two are the first: %v", err)
	}
	l.All()[3].Leaving = true
	if _, err := Join(list, &Placement{Probe: first}); err != nil {
		t.Errorf("one that is about to leave is in the way: %v", err)
	}
}

// TestPlace: a probe is compiled once for each place, also when that fails.
func TestPlace(t *testing.T) {
	n := 0
	no := errors.New("no")
	pr := probe(t, 1, func(s *Spec) {
		s.Compile = func(PlaceInfo) (Handlers, error) {
			if n++; n == 2 {
				return Handlers{}, no
			}
			return Handlers{Leave: new(runtime.Code)}, nil
		}
	})
	file := new(module.File)
	at := func(vaddr uint64) (*Placement, error) {
		return pr.Place(place.Target{File: file, Vaddr: vaddr, Symbol: "f"}, nil)
	}
	a, err := at(1)
	if b, again := at(1); a != b || err != nil || again != nil || a.Func != "f" {
		t.Errorf("%v and %v: %v, %v", a, b, err, again)
	}
	for range 2 {
		if _, err := at(2); !errors.Is(err, no) {
			t.Errorf("what does not compile: %v", err)
		}
	}
	if n != 2 {
		t.Errorf("compiled %d times, not twice", n)
	}
	other := &Placement{Probe: probe(t, 2, nil)}
	list := []*Placement{a, other}
	if left, leaves := pr.Without(list); len(left) != 1 || left[0] != other || leaves != 1 || !pr.Has(list) || pr.Has(left) {
		t.Errorf("without it there are %d, of which %d leave", len(left), leaves)
	}
}

// TestStates: what a query says of a probe, from its declaration to its removal.
func TestStates(t *testing.T) {
	var l List
	pr := probe(t, 7, nil)
	if err := l.Add(pr); err != nil {
		t.Fatal(err)
	}
	if err := l.Add(probe(t, 7, nil)); err == nil || !strings.Contains(err.Error(), "number 7 is taken") {
		t.Errorf("a second probe 7: %v", err)
	}
	state := func(want string, places int, where map[string]int) {
		t.Helper()
		if st := pr.State(where, 0); st.State != want || st.Places != places {
			t.Errorf("%s with %d places, not %s with %d", st.State, st.Places, want, places)
		}
	}
	state("pending", 0, nil)
	state("active", 3, map[string]int{"emulated": 1, "in place": 2})
	pr.Last = map[string]int{"emulated": 2}
	state("active", 2, nil)
	pr.Enabled = false
	state("disabled", 2, nil)
	pr.Refuse("a")
	if pr.Refuse("a"); len(pr.Refused) != 1 {
		t.Errorf("told twice: %v", pr.Refused)
	}
	l.Drop(pr)
	state("removed", 0, nil)
	if _, err := l.Find(7); !errors.Is(err, ErrNoProbe) || len(l.All()) != 0 {
		t.Errorf("a probe that was dropped: %v", err)
	}
	for _, spec := range []Spec{{Name: "x"}, {Name: "x", Specs: []place.Spec{{}}}} {
		if _, err := New(spec, nil); err == nil || !strings.Contains(err.Error(), "cannot add probe x") {
			t.Errorf("%+v: %v", spec, err)
		}
	}
}

// TestExchange: new probes take the place of old ones, also the position that only one can have; when one of them
// cannot be registered nothing has changed.
func TestExchange(t *testing.T) {
	var l List
	var list []*Placement
	var kept []string
	no := errors.New("no")
	register := func(pr *Probe) error {
		if pr.Spec.Name == "bad" {
			return no
		}
		joined, err := Join(list, &Placement{Probe: pr})
		if err != nil {
			return err
		}
		list = joined
		return l.Add(pr)
	}
	registerAll := func(add []*Probe) error {
		failed := Failures{}
		for _, pr := range add {
			if err := register(pr); err != nil {
				failed[pr] = err
			}
		}
		for _, pr := range add {
			if len(failed) > 0 && failed[pr] == nil {
				list, _ = pr.Without(list)
				l.Drop(pr)
			}
		}
		return failed.Err(add)
	}
	keep := func(pr *Probe) { kept = append(kept, pr.Spec.Name) }
	drop := func(pr *Probe) { list, _ = pr.Without(list); l.Drop(pr) }
	first := func(id uint32, name string) *Probe {
		return probe(t, id, func(s *Spec) { s.Name, s.Order.Position = name, hook.First })
	}
	names := func() (all []string) {
		for _, pr := range l.All() {
			all = append(all, pr.Spec.Name)
		}
		return all
	}
	if err := register(first(1, "old")); err != nil {
		t.Fatal(err)
	}
	err := l.Exchange([]*Probe{first(2, "new"), probe(t, 3, func(s *Spec) { s.Name = "bad" })}, []uint32{1}, registerAll, keep, drop)
	var of *ProbeError
	if !errors.Is(err, no) || !errors.As(err, &of) || of.ID != 3 || !slices.Equal(names(), []string{"old"}) || l.All()[0].Leaving || kept != nil {
		t.Errorf("an exchange that cannot be: %v, then there are %v", err, names())
	}
	if err := l.Exchange([]*Probe{first(2, "new")}, []uint32{1}, registerAll, keep, drop); err != nil {
		t.Error(err)
	}
	if !slices.Equal(names(), []string{"new"}) || !slices.Equal(kept, []string{"old"}) || len(list) != 1 {
		t.Errorf("after the exchange there are %v; kept %v", names(), kept)
	}
}

// TestRate: what a query says of a probe with a rate is what its gate has counted.
func TestRate(t *testing.T) {
	pr := probe(t, 1, func(s *Spec) { s.Rate = 1; s.After = 2 })
	for range 6 {
		pr.Admit()
	}
	st := pr.State(nil, 0)
	if st.Hits+st.RateLimited != 4 || st.Hits == 0 {
		t.Errorf("%d hits and %d beyond the rate are not the 4 after the first 2", st.Hits, st.RateLimited)
	}
}

// TestCountersInArena: hits that another executor counts in the arena are the probe's.
func TestCountersInArena(t *testing.T) {
	arena, err := arena.New(arena.Options{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer arena.Close()
	one := probe(t, 1, nil)
	pr, err := New(one.Spec, arena)
	if err != nil || pr.Offset() == 0 || one.Offset() != 0 {
		t.Fatalf("counters at %#x, without an arena at %#x; %v", pr.Offset(), one.Offset(), err)
	}
	pr.Admit()
	pr.Reject()
	if pr.Came() != 2 || pr.State(nil, 0).Hits != 1 {
		t.Errorf("%d hits came, and %d counted", pr.Came(), pr.State(nil, 0).Hits)
	}
}
