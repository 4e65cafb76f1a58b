package object

import (
	"math"
	"math/rand/v2"
	"testing"
)

// spreadValues are ends of ranges and random values of all sizes.
func spreadValues() []int64 {
	list := []int64{0, 1, -1, 15, 16, 17, -16, -17, -18, 31, 32, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1 << 62, 1<<62 - 1}
	r := rand.New(rand.NewPCG(4, 2))
	for range 20000 {
		list = append(list, int64(r.Uint64())>>r.IntN(64))
	}
	return list
}

// A value is within its bucket, whose middle is at most 1/32 of the value away, and buckets are ordered as values are.
func TestSpread(t *testing.T) {
	for _, v := range spreadValues() {
		i := SpreadIndex(v)
		lo, hi := SpreadBounds(i)
		if v < lo || v > hi {
			t.Fatalf("%d is in bucket %d, from %d to %d", v, i, lo, hi)
		}
		if off := math.Abs(float64(lo+(hi-lo)/2) - float64(v)); off > math.Abs(float64(v))/32 {
			t.Errorf("%d: the middle of %d to %d is %g away", v, lo, hi, off)
		}
		if lo != math.MinInt64 && SpreadIndex(lo-1) == i || hi != math.MaxInt64 && SpreadIndex(hi+1) == i {
			t.Errorf("bucket %d goes beyond %d to %d", i, lo, hi)
		}
	}
	for i := range uint32(1 << 16) { // whatever a process has written
		if lo, hi := SpreadBounds(i); lo > hi {
			t.Fatalf("bucket %d is from %d to %d", i, lo, hi)
		}
	}
}

// The same of floats. Below the least normal one there are fewer digits.
func TestSpreadOfFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	for range 20000 {
		f := math.Float64frombits(r.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		lo, hi := SpreadFloatBounds(SpreadFloatIndex(f))
		if f < lo || f > hi {
			t.Fatalf("%g is between %g and %g", f, lo, hi)
		}
		if off := math.Abs(lo/2 + hi/2 - f); off > math.Abs(f)/32 && math.Abs(f) > 0x1p-1022 {
			t.Errorf("%g: the middle of %g to %g is %g away", f, lo, hi, off)
		}
	}
	for f, want := range map[float64]float64{math.Copysign(0, -1): 0, math.Inf(1): math.Inf(1), math.Inf(-1): math.Inf(-1)} {
		if lo, hi := SpreadFloatBounds(SpreadFloatIndex(f)); lo != want || want != 0 && hi != want {
			t.Errorf("%g is between %g and %g", f, lo, hi)
		}
	}
	if nan := math.Float64frombits(0xfff8 << 48); SpreadFloatIndex(nan) != SpreadFloatIndex(math.NaN()) {
		t.Error("values that are not numbers have several buckets")
	}
}
