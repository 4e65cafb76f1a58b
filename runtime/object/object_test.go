package object

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPowers: whatever the bits, every value lies within the bounds of its bucket, buckets follow each other without a
// gap, and none is wider than a part of where it begins.
func TestPowers(t *testing.T) {
	for bits := range MaxBits + 1 {
		p := Powers{bits}
		next := int64(0)
		for i := 1; i < p.Buckets(); i++ {
			lo, hi, open := p.Bounds(i)
			if open || lo != next || hi < lo || p.Index(lo) != i || p.Index(hi) != i {
				t.Fatalf("bits %d: bucket %d is %d to %d, open %v; values %d, %d lie in %d, %d", bits, i, lo, hi, open, lo, hi, p.Index(lo), p.Index(hi))
			}
			if width := uint64(hi) - uint64(lo) + 1; width > max(1, uint64(lo)>>bits) {
				t.Fatalf("bits %d: bucket %d to %d is %d wide", bits, lo, hi, width)
			}
			next = hi + 1
		}
		if next != math.MinInt64 { // one after the last
			t.Errorf("bits %d: the last bucket ends before %d", bits, next)
		}
		for range 10000 {
			v := int64(rand.Uint64() >> rand.IntN(64))
			lo, hi, _ := p.Bounds(p.Index(v))
			if v < lo || v > hi {
				t.Fatalf("bits %d: %d lies in %d to %d", bits, v, lo, hi)
			}
		}
	}
	if err := (Powers{MaxBits + 1}).check(); err == nil {
		t.Error("too many bits are taken")
	}
}

// TestBitsOfZeroAreAsBefore: without bits the buckets are bpftrace's.
func TestBitsOfZeroAreAsBefore(t *testing.T) {
	p := Powers{}
	for v, want := range map[int64]int{-1: 0, math.MinInt64: 0, 0: 1, 1: 2, 2: 3, 3: 3, 4: 4, 1 << 61: 63, 1<<62 - 1: 63, 1 << 62: 64, math.MaxInt64: 64} {
		if got := p.Index(v); got != want {
			t.Errorf("%d lies in bucket %d, not %d", v, got, want)
		}
	}
	if p.Buckets() != HistBuckets {
		t.Errorf("%d buckets", p.Buckets())
	}
}
