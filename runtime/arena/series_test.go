package arena

import (
	"fmt"
	"sync"
	"testing"

	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
)

// newSeries declares a series of seconds whose wall clock is one second ahead.
func newSeries(t testing.TB, a *Arena, of object.Kind, intervals, keys, most int) *Handle {
	t.Helper()
	id, err := a.Declare(object.Object{Name: "s", Kind: object.KindSeries, Of: of, Step: 1e9, Size: intervals, Keys: keys + 1, Max: most, Full: object.FullEvict, Init: 1e9})
	if err != nil {
		t.Fatal(err)
	}
	return a.Handle(id)
}

func addTo(t testing.TB, h *Handle, second, v int64, key ...value.Value) {
	t.Helper()
	if err := h.Add(v, append([]value.Value{value.Int(second)}, key...)...); err != nil {
		t.Fatal(err)
	}
}

// TestSeriesForgets adds far more intervals than are kept: what nobody would see makes room without being told of, and
// what somebody would is told.
func TestSeriesForgets(t *testing.T) {
	a := newArena(t)
	h := newSeries(t, a, object.KindSum, 5, 0, 0)
	for second := range int64(1000) {
		addTo(t, h, second, second)
	}
	points := h.Entries().Series().Entries[0].Data.Points
	if len(points) != 5 || points[0].Value != 995 || points[4].Value != 999 || points[4].Start != 998e9 {
		t.Errorf("points %v", points)
	}
	keyed := newSeries(t, a, object.KindSum, 5, 1, 3)
	for second := range int64(100) {
		for k := range int64(3) {
			addTo(t, keyed, second, k, value.Int(k))
		}
	}
	if lost := a.Lost(); len(lost) != 0 {
		t.Errorf("lost %v", lost)
	}
	for _, e := range keyed.Entries().Series().Entries {
		if len(e.Data.Points) != 5 || e.Data.Sum != 5*e.Key[0].Int {
			t.Errorf("%v has %v", e.Key, e.Data)
		}
	}
	for k := range int64(100) {
		addTo(t, keyed, 100, 1, value.Int(k))
	}
	if lost := a.Lost(); lost["tseries s evicted"] == 0 {
		t.Errorf("keys that were seen went, and lost is %v", lost)
	}
}

// TestSeriesUnderConcurrency adds from several goroutines while the host takes: nothing gets lost or doubled.
func TestSeriesUnderConcurrency(t *testing.T) {
	const threads, each = 8, 5000
	a := newArena(t)
	h := newSeries(t, a, object.KindSum, 100, 1, 4)
	var wg sync.WaitGroup
	for n := range threads {
		wg.Go(func() {
			for i := range int64(each) {
				h.Add(1, value.Int(i/100), value.Int(int64(n%4)))
			}
		})
	}
	total := int64(0)
	count := func(s snapshot.Snapshot) {
		seen := map[string]bool{}
		for _, e := range s.Entries {
			if key := fmt.Sprint(e.Key); seen[key] {
				t.Errorf("%s twice in one snapshot", key)
			} else {
				seen[key] = true
			}
		}
		for _, e := range s.Series().Entries {
			total += e.Data.Sum
		}
	}
	for range 200 {
		count(h.Take())
	}
	wg.Wait()
	count(h.Take())
	if total != threads*each {
		t.Errorf("%d of %d, lost %v", total, threads*each, a.Lost())
	}
}

// TestSeriesMoves keeps a series through a reload and a recording.
func TestSeriesMoves(t *testing.T) {
	a := newArena(t)
	h := newSeries(t, a, object.KindAvg, 5, 0, 0)
	addTo(t, h, 1, 10)
	addTo(t, h, 2, 20)
	for name, move := range map[string]func(to *Handle) error{
		"copied":   func(to *Handle) error { return to.CopyFrom(h) },
		"restored": func(to *Handle) error { return to.Restore(h.Entries()) },
	} {
		to := newSeries(t, a, object.KindAvg, 5, 0, 0)
		if err := move(to); err != nil {
			t.Fatal(name, err)
		}
		addTo(t, to, 2, 40)
		points := to.Entries().Series().Entries[0].Data.Points
		if len(points) != 2 || points[0].Value != 10 || points[1].Value != 30 {
			t.Errorf("%s: %v", name, points)
		}
	}
	if err := newSeries(t, a, object.KindMin, 5, 0, 0).CopyFrom(h); err == nil {
		t.Error("a series of minima took averages")
	}
}
