package arena

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
)

// floatHandles declares each kind that keeps floats, with keys and without.
func floatHandles(t *testing.T, a *Arena, keys int) map[object.Kind]*Handle {
	list := map[object.Kind]*Handle{}
	for _, kind := range []object.Kind{object.KindSum, object.KindAvg, object.KindStats, object.KindMin, object.KindMax} {
		id, err := a.Declare(object.Object{Name: "f", Kind: kind, Keys: keys, Max: 8})
		if err != nil {
			t.Fatal(err)
		}
		list[kind] = a.Handle(id)
	}
	return list
}

// Floats that are added one after another are what the same additions of doubles give, to the last bit, also after they
// were saved and restored, read and merged.
func TestFloats(t *testing.T) {
	for keys := range 2 {
		a, key := newArena(t), []value.Value{value.Int(5)}[:keys]
		handles := floatHandles(t, a, keys)
		r := rand.New(rand.NewPCG(3, 1))
		sum, squares, list := 0.0, 0.0, []float64{}
		for i := range 500 {
			v := (r.Float64() - 0.3) * math.Pow(10, r.Float64()*6-3)
			sum, squares, list = sum+v, squares+v*v, append(list, v)
			for _, h := range handles {
				if err := h.AddFloat(v, key...); err != nil {
					t.Fatal(err)
				}
				if i == 250 {
					h.Entries()
				}
			}
		}
		slices.Sort(list)
		want := map[object.Kind]float64{object.KindSum: sum, object.KindAvg: sum / 500, object.KindStats: sum / 500, object.KindMin: list[0], object.KindMax: list[499]}
		for round := range 2 {
			for kind, h := range handles {
				d, ok := h.Get(key...)
				if !ok || !d.IsFloat || d.Float != want[kind] || d.Count != 500 {
					t.Errorf("%v: %v %v of %d, want %v", kind, d.IsFloat, d.Float, d.Count, want[kind])
				}
				if kind == object.KindStats {
					compareFloats(t, d, list, sum, squares)
				}
			}
			if round == 0 {
				again := floatHandles(t, newArena(t), keys)
				for kind, h := range handles {
					if err := again[kind].Restore(h.Take()); err != nil {
						t.Fatal(err)
					}
					if d, ok := h.Get(key...); ok {
						t.Errorf("%v: %+v is left", kind, d)
					}
				}
				handles = again
			}
		}
	}
}

func compareFloats(t *testing.T, d snapshot.Data, list []float64, sum, squares float64) {
	s, n := d.Summary(), float64(len(list))
	if s.Total.Float != sum || s.Min.Float != list[0] || s.Max.Float != list[len(list)-1] || s.Variance != (squares-sum/n*sum)/(n-1) {
		t.Errorf("%+v, want a sum of %v, %v to %v", s, sum, list[0], list[len(list)-1])
	}
	for _, part := range []float64{0, 0.1, 0.5, 0.9, 0.99, 1} {
		want := list[max(int(math.Ceil(part*n)), 1)-1]
		if got := d.Quantile(part).Float; math.Abs(got-want) > math.Abs(want)/32 {
			t.Errorf("quantile %g: %g, want %g", part, got, want)
		}
	}
}

// Integers and floats in one aggregation make a float; integers alone stay integers of 64 bits, and what is special
// does no harm.
func TestFloatsAmongIntegers(t *testing.T) {
	handles := floatHandles(t, newArena(t), 0)
	type step struct {
		add  any
		want map[object.Kind]float64
	}
	of := func(sum, avg, min, max float64) map[object.Kind]float64 {
		return map[object.Kind]float64{object.KindSum: sum, object.KindAvg: avg, object.KindStats: avg, object.KindMin: min, object.KindMax: max}
	}
	for i, s := range []step{
		{int64(4), of(4, 4, 4, 4)}, {0.5, of(4.5, 2.25, 0.5, 4)}, {int64(-1), of(3.5, 3.5/3, -1, 4)}, {math.Copysign(0, -1), of(3.5, 3.5/4, -1, 4)},
		{8.5, of(12, 12./5, -1, 8.5)}, {math.Inf(1), of(math.Inf(1), math.Inf(1), -1, math.Inf(1))},
	} {
		for kind, h := range handles {
			if f, ok := s.add.(float64); ok {
				h.AddFloat(f)
			} else {
				h.Add(s.add.(int64))
			}
			d, _ := h.Get()
			if got := d.Value().Number(); got != s.want[kind] || d.IsFloat != (i > 0) {
				t.Errorf("step %d: %v is %v (float: %v), want %v", i, kind, got, d.IsFloat, s.want[kind])
			}
		}
	}
	for kind, h := range handles {
		h.Clear()
		h.AddFloat(math.NaN())
		h.AddFloat(math.Copysign(0, -1))
		d, _ := h.Get()
		if extreme := kind == object.KindMin || kind == object.KindMax; extreme != (d.Float == 0) || extreme == (d.Float != d.Float) {
			t.Errorf("%v of NaN and -0 is %v", kind, d.Float)
		}
		h.Clear()
		h.Add(7)
		if d, _ := h.Get(); d.IsFloat || d.Int != 7 {
			t.Errorf("%v after clear: %+v", kind, d)
		}
	}
}

// Threads that add floats at once lose none of them. The values are such that their sums are exact in any order.
func TestFloatsOfThreads(t *testing.T) {
	handles := floatHandles(t, newArena(t), 0)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 2000 {
				for _, h := range handles {
					h.AddFloat(float64(i)/8 - 7)
					if i%250 == 0 {
						h.Get()
					}
				}
			}
		})
	}
	wg.Wait()
	sum := 4 * (2000*1999/2/8. - 7*2000)
	for kind, want := range map[object.Kind]float64{object.KindSum: sum, object.KindAvg: sum / 8000, object.KindStats: sum / 8000, object.KindMin: -7, object.KindMax: 1999/8. - 7} {
		if d, _ := handles[kind].Get(); d.Float != want || d.Count != 8000 {
			t.Errorf("%v: %v of %d, want %v", kind, d.Float, d.Count, want)
		}
	}
}

// A map of integers takes no float, which would be cut.
func TestMapOfIntegersRefusesFloats(t *testing.T) {
	a := newArena(t)
	id, _ := a.Declare(object.Object{Name: "m", Kind: object.KindMap, Keys: 1})
	h := a.Handle(id)
	h.Set(value.Int(1), value.Int(1))
	if err := h.Set(value.Value{Kind: value.KindFloat, Float: 2.5}, value.Int(1)); errorText(err) != "cannot set map m: the value does not fit: it holds integer" {
		t.Error(err)
	}
}
