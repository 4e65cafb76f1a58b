package arena

import (
	"errors"
	"math/rand/v2"
	"testing"

	"gotap/runtime/object"
	"gotap/runtime/value"
)

// keyedHandle declares an object keyed by one integer.
func keyedHandle(t testing.TB, a *Arena, o object.Object) *Handle {
	t.Helper()
	o.Keys = 1
	id, err := a.Declare(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Refine(id, []value.Kind{value.KindInt}, value.KindInt); err != nil {
		t.Fatal(err)
	}
	return a.Handle(id)
}

// TestTableAgainstMap does random things to a map object and to a Go map.
func TestTableAgainstMap(t *testing.T) {
	a := newArena(t)
	const limit = 100
	h := keyedHandle(t, a, object.Object{Name: "m", Kind: object.KindMap, Max: limit})
	truth, r := map[int64]int64{}, rand.New(rand.NewPCG(1, 1))
	dropped := uint64(0)
	for i := range 200_000 {
		k, v := r.Int64N(300), r.Int64()
		_, have := truth[k]
		switch r.IntN(5) {
		case 0, 1:
			if err := h.Set(value.Int(v), value.Int(k)); err == nil {
				truth[k] = v
			} else if !errors.Is(err, ErrFull) || have || len(truth) != limit {
				t.Fatalf("step %d: %v with %d keys", i, err, len(truth))
			} else {
				dropped++
			}
		case 2:
			if h.Delete(value.Int(k)) != have {
				t.Fatalf("step %d: delete of %d", i, k)
			}
			delete(truth, k)
		case 3:
			if have {
				h.Add(3, value.Int(k))
				truth[k] += 3
			}
		case 4:
			if d, ok := h.Get(value.Int(k)); ok != have || ok && d.Int != truth[k] {
				t.Fatalf("step %d: get of %d: %v %v", i, k, d.Int, ok)
			}
		}
		if h.Len() != len(truth) {
			t.Fatalf("step %d: %d keys, want %d", i, h.Len(), len(truth))
		}
	}
	if got := a.Lost()["map m full"]; got != dropped || dropped == 0 {
		t.Errorf("lost %d, want %d", got, dropped)
	}
	for _, e := range h.Take().Entries {
		if truth[e.Key[0].Int] != e.Data.Int {
			t.Errorf("key %v: %d", e.Key, e.Data.Int)
		}
		delete(truth, e.Key[0].Int)
	}
	if len(truth) != 0 || h.Len() != 0 {
		t.Errorf("not taken: %v", truth)
	}
}

// TestProbesStayShort: a million keys that come and go leave no long searches behind.
func TestProbesStayShort(t *testing.T) {
	a := newArena(t)
	h := keyedHandle(t, a, object.Object{Kind: object.KindMap, Max: 1000})
	for i := range int64(300_000) {
		if err := h.Set(value.Int(1), value.Int(i*16)); err != nil {
			t.Fatal(err)
		}
		if i >= 900 {
			h.Delete(value.Int((i - 900) * 16))
		}
	}
	reach := uint64(0)
	for _, w := range h.obj.storage.Load().table.home {
		reach = max(reach, w>>reachShift)
	}
	if reach > 64 {
		t.Errorf("a search looks at up to %d slots", reach)
	}
}

// TestEvictionIsExact compares with a list ordered by last write.
func TestEvictionIsExact(t *testing.T) {
	a := newArena(t)
	h := keyedHandle(t, a, object.Object{Kind: object.KindMap, Max: 200, Full: object.FullEvict})
	var order []int64 // oldest first
	r := rand.New(rand.NewPCG(9, 9))
	for range 20_000 {
		k := r.Int64N(400)
		h.Set(value.Int(k), value.Int(k))
		for i, x := range order {
			if x == k {
				order = append(order[:i], order[i+1:]...)
				break
			}
		}
		if order = append(order, k); len(order) > 200 {
			order = order[1:]
		}
	}
	for _, k := range order {
		if _, ok := h.Get(value.Int(k)); !ok {
			t.Fatalf("%d is gone, and is not among the oldest", k)
		}
	}
	if h.Len() != len(order) {
		t.Fatalf("%d keys", h.Len())
	}
}
