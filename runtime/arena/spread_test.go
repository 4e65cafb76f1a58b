package arena

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
)

func declareStats(t *testing.T, a *Arena, keys, most int) *Handle {
	t.Helper()
	id, err := a.Declare(object.Object{Name: "s", Kind: object.KindStats, Keys: keys, Max: most, Full: object.FullEvict})
	if err != nil {
		t.Fatal(err)
	}
	return a.Handle(id)
}

// compare compares what stats tell with what the values themselves tell.
func compare(t *testing.T, d snapshot.Data, values []int64) {
	t.Helper()
	slices.Sort(values)
	sum, n := int64(0), len(values)
	for _, v := range values {
		sum += v
	}
	if d.Count != int64(n) || d.Sum != sum || d.Min != values[0] || d.Max != values[n-1] {
		t.Fatalf("count %d, sum %d, %d to %d; want %d, %d, %d to %d", d.Count, d.Sum, d.Min, d.Max, n, sum, values[0], values[n-1])
	}
	variance, mean := 0.0, 0.0 // of the differences from the least one, which keep their digits
	for _, v := range values {
		mean += float64(v-values[0]) / float64(n)
	}
	for _, v := range values {
		variance += math.Pow(float64(v-values[0])-mean, 2) / float64(max(n-1, 1))
	}
	if got := d.Variance(); math.Abs(got-variance) > 1e-9*variance {
		t.Errorf("variance %g, want %g", got, variance)
	}
	for _, part := range []float64{0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1} {
		want := values[max(int(math.Ceil(part*float64(n)*(1-1e-12))), 1)-1]
		if got := d.Quantile(part).Int; math.Abs(float64(got)-float64(want)) > math.Abs(float64(want))/32 {
			t.Errorf("quantile %g: %d, want %d", part, got, want)
		}
	}
}

func TestQuantiles(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for name, next := range map[string]func() int64{
		"small":   func() int64 { return r.Int64N(40) - 20 },
		"times":   func() int64 { return int64(math.Exp(r.NormFloat64()*2 + 12)) },
		"nearly":  func() int64 { return 1e15 + r.Int64N(100) },
		"any":     func() int64 { return (r.Int64() - 1<<62) >> r.IntN(40) / 1000 },
		"neither": func() int64 { return []int64{3, 1 << 40}[r.IntN(2)] },
	} {
		t.Run(name, func(t *testing.T) {
			a := newArena(t)
			whole, keyed := declareStats(t, a, 0, 0), declareStats(t, a, 1, 8)
			var values []int64
			for range 3000 {
				v := next()
				values = append(values, v)
				whole.Add(v)
				keyed.Add(v, value.Int(3))
				if r.IntN(1000) == 0 {
					whole.Entries() // changes the bank
				}
			}
			d, _ := whole.Get()
			compare(t, d, values)
			d, _ = keyed.Get(value.Int(3))
			compare(t, d, values)
			other := declareStats(t, newArena(t), 0, 0)
			if err := other.Restore(whole.Take()); err != nil {
				t.Fatal(err)
			}
			d, _ = other.Get()
			compare(t, d, values)
			whole.Add(5)
			d, _ = whole.Get()
			compare(t, d, []int64{5})
		})
	}
}

// A key that gets the slot of another one has nothing of it, and its groups of buckets are used again.
func TestSpreadOfEvictedKeys(t *testing.T) {
	a := newArena(t)
	h := declareStats(t, a, 1, 4)
	for k := range int64(2000) {
		for i := range int64(10) {
			h.Add(100*k+i, value.Int(k))
		}
	}
	for k := int64(1996); k < 2000; k++ {
		d, ok := h.Get(value.Int(k))
		if !ok {
			t.Fatalf("key %d is gone", k)
		}
		var want []int64
		for i := range int64(10) {
			want = append(want, 100*k+i)
		}
		compare(t, d, want)
	}
	if n := a.load(wordGroups); n > 8*20 {
		t.Errorf("%d groups for 8 slots and 20 powers of two", n)
	}
}

// Threads that add at once lose nothing.
func TestSpreadOfThreads(t *testing.T) {
	a := newArena(t)
	whole, keyed := declareStats(t, a, 0, 0), declareStats(t, a, 1, 64)
	var wg sync.WaitGroup
	const threads, each = 4, 4000
	var values []int64
	for i := range int64(each) {
		for range threads {
			values = append(values, i*i*i-1000)
		}
	}
	for range threads {
		wg.Go(func() {
			for i := range int64(each) {
				whole.Add(i*i*i - 1000)
				keyed.Add(i*i*i-1000, value.Int(i%2))
				if i%500 == 0 {
					whole.Entries()
				}
			}
		})
	}
	wg.Wait()
	d, _ := whole.Get()
	compare(t, d, slices.Clone(values))
	known := uint64(0)
	for _, b := range d.Bins {
		known += b.Count
	}
	if known != threads*each {
		t.Errorf("quantiles know %d of %d values", known, threads*each)
	}
	both := snapshot.Data{Min: math.MaxInt64, Max: math.MinInt64}
	for k := range int64(2) {
		d, _ := keyed.Get(value.Int(k))
		both.Count, both.Sum, both.Min, both.Max = both.Count+d.Count, both.Sum+d.Sum, min(both.Min, d.Min), max(both.Max, d.Max)
		both.Bins = append(both.Bins, d.Bins...)
		if both.Squares.Lo += d.Squares.Lo; both.Squares.Lo < d.Squares.Lo {
			both.Squares.Hi++
		}
		both.Squares.Hi += d.Squares.Hi
	}
	compare(t, both, values)
}

// When the memory of buckets is full, everything but quantiles stays exact, and the loss is told.
func TestSpreadFull(t *testing.T) {
	a, err := NewOn(make([]uint64, 4<<20/8), minRing)
	if err != nil {
		t.Fatal(err)
	}
	h := declareStats(t, a, 1, 1000)
	sum := int64(0)
	for k := range int64(1000) {
		for bit := range 30 {
			h.Add(1<<bit, value.Int(k))
			sum += 1 << bit
		}
	}
	s := h.Entries()
	for _, e := range s.Entries {
		if e.Data.Count != 30 || e.Data.Sum != 1<<30-1 || e.Data.Min != 1 || e.Data.Max != 1<<29 {
			t.Fatalf("%+v", e)
		}
		if q := e.Data.Quantile(0.5).Int; q < 1 || q > 1<<29 {
			t.Fatalf("half at %d", q)
		}
	}
	lost := a.Lost()
	for cause, n := range lost {
		if len(lost) != 1 || !strings.Contains(cause, "stats s: values missing in quantiles") || n < 20000 || n > 29000 {
			t.Errorf("lost %v", lost)
		}
	}
	if len(lost) == 0 {
		t.Error("nothing is told")
	}
}
