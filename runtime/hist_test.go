package runtime

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPowers: whatever the bits, every value lies within the bounds of its bucket, buckets follow each other without a gap, and
// none is wider than a part of where it begins.
func TestPowers(t *testing.T) {
	for bits := range MaxBits + 1 {
		p := powers{bits}
		next := int64(0)
		for i := 1; i < p.buckets(); i++ {
			lo, hi, open := p.bounds(i)
			if open || lo != next || hi < lo || p.index(lo) != i || p.index(hi) != i {
				t.Fatalf("bits %d: bucket %d is %d to %d, open %v; values %d, %d lie in %d, %d", bits, i, lo, hi, open, lo, hi, p.index(lo), p.index(hi))
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
			lo, hi, _ := p.bounds(p.index(v))
			if v < lo || v > hi {
				t.Fatalf("bits %d: %d lies in %d to %d", bits, v, lo, hi)
			}
		}
	}
	if err := (powers{MaxBits + 1}).check(); err == nil {
		t.Error("too many bits are taken")
	}
}

// TestBitsOfZeroAreAsBefore: without bits the buckets are bpftrace's.
func TestBitsOfZeroAreAsBefore(t *testing.T) {
	p := powers{}
	for v, want := range map[int64]int{-1: 0, math.MinInt64: 0, 0: 1, 1: 2, 2: 3, 3: 3, 4: 4, 1 << 61: 63, 1<<62 - 1: 63, 1 << 62: 64, math.MaxInt64: 64} {
		if got := p.index(v); got != want {
			t.Errorf("%d lies in bucket %d, not %d", v, got, want)
		}
	}
	if p.buckets() != histBuckets {
		t.Errorf("%d buckets", p.buckets())
	}
}

// TestPrintBits: parts of powers are labelled exactly, and the columns stay in line.
func TestPrintBits(t *testing.T) {
	a, err := NewArena(ArenaOptions{Size: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	id, err := a.Declare(Object{Name: "ns", Kind: KindHist, Bits: 4})
	if err != nil {
		t.Fatal(err)
	}
	h := a.Handle(id)
	for _, v := range []int64{15, 1024, 1088, 1151, 1152, 1152} {
		if err := h.Add(v); err != nil {
			t.Fatal(err)
		}
	}
	snap := h.Take()
	if err := h.Restore(snap); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	h.Entries().Print(&b, PrintOptions{Name: "ns"})
	text := b.String()
	for _, want := range []string{
		"[15]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n",
		"[1K, 1.0625K)           1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n",
		"[1.0625K, 1.125K)       2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n",
		"[1.125K, 1.1875K)       2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
