package ranges

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gotap/runtime/arena"
)

func newTable(t *testing.T) *Table {
	t.Helper()
	a, err := arena.New(arena.Options{Size: 2 << 20, Ring: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	table, err := New(a)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// reads does what native code does without a hint.
func (t *Table) reads(addr uint64, n int) bool {
	at := 0
	for step := Max / 2; step > 0; step /= 2 {
		if addr >= t.words[(Ranges+(at+step)*RangeSize+StartAt)/8] {
			at += step
		}
	}
	word := t.words[(Ranges+at*RangeSize)/8:]
	off, limit := addr-word[StartAt/8], word[LimitAt/8]
	return off < limit || off-uint64(Wide-n) < limit
}

// TestReads compares what native code finds with the mappings, for random ones that come and go.
func TestReads(t *testing.T) {
	table, r := newTable(t), rand.New(rand.NewPCG(1, 2))
	const page, pages = 4096, 60
	for range 200 {
		mapped, list := [pages]bool{}, []Range{}
		for i := range mapped {
			if mapped[i] = r.IntN(2) == 0; mapped[i] {
				list = append(list, Range{uint64(i+1) * page, uint64(i+2) * page})
			}
		}
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		readable := func(addr uint64) bool { return addr >= page && addr < page*(pages+1) && mapped[addr/page-1] }
		table.Set(list)
		for range 300 {
			addr, n := r.Uint64N(page*(pages+2)), 1<<r.IntN(4)
			if r.IntN(2) == 0 {
				addr = addr&^(page-1) + r.Uint64N(16) - 8
			}
			want := readable(addr) && readable(addr+uint64(n)-1) && addr < addr+uint64(n)
			if got := table.reads(addr, n); got != want || table.Contains(addr, n) != want {
				t.Fatalf("%d bytes at %#x: %v and %v, not %v: %x", n, addr, got, table.Contains(addr, n), want, table.ranges)
			}
		}
	}
	table.Clear()
	for _, addr := range []uint64{0, 1, page, 1 << 47, ^uint64(0), ^uint64(7)} {
		for _, n := range []int{1, 2, 4, 8} {
			if table.reads(addr, n) || table.Contains(addr, n) {
				t.Errorf("%d bytes at %#x are readable in an empty table", n, addr)
			}
		}
	}
}

// TestTooMany: of more ranges than there is room for, the largest remain.
func TestTooMany(t *testing.T) {
	table := newTable(t)
	var list []Range
	for i := range uint64(2 * Max) {
		list = append(list, Range{i << 20, i<<20 + 4096*(1+i%2)})
	}
	table.Set(list)
	if len(table.ranges) != Max || slices.ContainsFunc(table.ranges, func(r Range) bool { return r.End-r.Start != 8192 }) {
		t.Errorf("%x", table.ranges)
	}
	if !table.reads(1<<20, 8) || table.reads(2<<20, 1) {
		t.Error("the ranges that native code finds are others")
	}
}
