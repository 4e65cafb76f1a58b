// Package ranges tells native code which memory of a process it may read: a table in the arena, one for each address
// space.
//
// The host fills the table from the mappings of the process (Set). Native code reads at an address only if the table
// has it, and otherwise leaves the read to the host. The table may be out of date in both directions. The host reads
// memory that has been mapped since, and then fills the table again. A read faults if the memory is no longer readable;
// the host handles the fault and reads instead. So readers need no consistent table and never wait.
//
// # Finding a range
//
// Ranges are sorted by their start, and unused ones at the end have a start above all addresses. Hints save most
// searches: one bit field of the address selects a hint, which names the range that the last search with this hint
// found. Native code writes the hints, and compares the address with the range that a hint names before it reads.
//
// # Threads
//
// One goroutine at a time calls Set and Clear. Contains is for the same goroutine.
package ranges

import (
	"cmp"
	"errors"
	"slices"
	"sync/atomic"

	"gotap/runtime/arena"
)

// Layout of the table in the arena, in bytes from its start: the hints, each the offset of a range from Ranges; then
// the ranges, each of RangeSize bytes.
const (
	Hints     = 1 << hintBits
	HintShift = 20             // the hint of an address is number address>>HintShift, modulo Hints
	Ranges    = Hints * 8      // offset of the first range
	Max       = 1 << rangeBits // ranges
	RangeSize = 16
	StartAt   = 0 // in a range: its first address
	LimitAt   = 8 // its length minus Wide-1; 0: nothing is readable
	HintMask  = (Max - 1) * RangeSize

	hintBits, rangeBits = 8, 9
)

// Wide is the number of bytes that the longest read has. A read of Wide bytes is in a range if its address minus the
// range's start is below the range's limit, unsigned.
const Wide = 8

// nowhere is the start of unused ranges.
const nowhere = ^uint64(0)

// Range is a range of addresses: End is the first one behind it.
type Range struct{ Start, End uint64 }

// Table is a table of readable ranges.
type Table struct {
	off    uint64
	words  []uint64
	ranges []Range
}

var errNoMemory = errors.New("the arena is full")

// New allocates a table without ranges.
func New(a *arena.Arena) (*Table, error) {
	off, words, ok := a.Reserve(Ranges + Max*RangeSize)
	if !ok {
		return nil, errNoMemory
	}
	t := &Table{off: off, words: words}
	t.write(0)
	return t, nil
}

// Offset returns where the table lies in the arena, in bytes.
func (t *Table) Offset() uint64 { return t.off }

// Set replaces the ranges by those given, which do not overlap. Adjacent ones become one. If there are too many, the
// largest remain.
func (t *Table) Set(list []Range) {
	before := len(t.ranges)
	t.ranges = largest(merge(list))
	t.write(before)
}

// Clear removes all ranges.
func (t *Table) Clear() { t.Set(nil) }

// Contains reports whether the table has the n bytes at an address.
func (t *Table) Contains(addr uint64, n int) bool {
	i, found := slices.BinarySearchFunc(t.ranges, addr, func(r Range, addr uint64) int { return cmp.Compare(r.Start, addr) })
	if !found {
		i--
	}
	return i >= 0 && addr < t.ranges[i].End && uint64(n) <= t.ranges[i].End-addr
}

// merge sorts ranges, makes one of those that touch, and leaves out those that no wide read fits.
func merge(list []Range) (merged []Range) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Range) int { return cmp.Compare(a.Start, b.Start) })
	for _, r := range list {
		if n := len(merged); n > 0 && merged[n-1].End == r.Start {
			merged[n-1].End = r.End
		} else {
			merged = append(merged, r)
		}
	}
	return slices.DeleteFunc(merged, func(r Range) bool { return r.End-r.Start < 2*Wide })
}

// largest leaves out the smallest of too many sorted ranges.
func largest(list []Range) []Range {
	if len(list) <= Max {
		return list
	}
	slices.SortFunc(list, func(a, b Range) int { return cmp.Compare(b.End-b.Start, a.End-a.Start) })
	list = list[:Max]
	slices.SortFunc(list, func(a, b Range) int { return cmp.Compare(a.Start, b.Start) })
	return list
}

// write writes the ranges, and clears those that were used before and are not any more. While a range changes, nothing
// in it is readable.
func (t *Table) write(before int) {
	if before == 0 {
		before = Max // the memory may be anything
	}
	for i := range max(before, len(t.ranges)) {
		word := t.words[(Ranges+i*RangeSize)/8:]
		start, limit := uint64(nowhere), uint64(0)
		if i < len(t.ranges) {
			start, limit = t.ranges[i].Start, t.ranges[i].End-t.ranges[i].Start-(Wide-1)
		}
		if word[StartAt/8] == start && word[LimitAt/8] == limit {
			continue
		}
		atomic.StoreUint64(&word[LimitAt/8], 0)
		atomic.StoreUint64(&word[StartAt/8], start)
		atomic.StoreUint64(&word[LimitAt/8], limit)
	}
}
