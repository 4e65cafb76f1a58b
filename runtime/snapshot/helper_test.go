package snapshot_test

import (
	"testing"

	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/value"
)

// newArena is an arena in ordinary memory, with the objects whose contents are printed.
func newArena(t testing.TB) *arena.Arena {
	t.Helper()
	a, err := arena.NewOn(make([]uint64, 24<<20/8), 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// newSeries declares a series of seconds whose wall clock is one second ahead.
func newSeries(t testing.TB, a *arena.Arena, of object.Kind, intervals, keys, most int) *arena.Handle {
	t.Helper()
	id, err := a.Declare(object.Object{Name: "s", Kind: object.KindSeries, Of: of, Step: 1e9, Size: intervals, Keys: keys + 1, Max: most,
		Full: object.FullEvict, Init: 1e9})
	if err != nil {
		t.Fatal(err)
	}
	return a.Handle(id)
}

func addTo(t testing.TB, h *arena.Handle, second, v int64, key ...value.Value) {
	t.Helper()
	if err := h.Add(v, append([]value.Value{value.Int(second)}, key...)...); err != nil {
		t.Fatal(err)
	}
}
