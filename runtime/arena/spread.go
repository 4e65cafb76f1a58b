package arena

import (
	"sync/atomic"

	"gotap/runtime/object"
	"gotap/runtime/snapshot"
)

// A spread is the memory of the buckets of all stats (object/spread.go). It is divided into groups: one word, and the
// counts of 16 buckets that lie side by side. A cell has a list of the groups that it needs, mostly a handful, so that
// many keys cost little memory. The first word of a group is
//
//	bits 0–31   the next group of the list, counted from 1; 0 ends it
//	bits 32–63  which buckets it has: the upper bits of their numbers
//
// A group is put at the head of a list by a compare-and-swap, and stays in it. A cell that is emptied, or that gets
// another key, keeps its groups with counts of 0. Of two threads that add one group at the same time, one leaves its
// own unused.
//
// If no group is left, values are still counted, summed up and compared with the extremes. Only quantiles do not know
// them, which is counted as a loss.
type spread struct {
	words []uint64
	used  *uint64 // groups that have been given out
	size  int     // in bytes, as asked for; 0: the default
}

const (
	groupWords  = 1 + object.GroupBuckets
	nextMask    = uint64(1)<<32 - 1
	groupShift  = 32
	longestList = 1<<12 + 128 // groups that a cell may have: exponents of floats with signs, powers of two of integers
	spreadShare = 16          // part of the arena that is set aside
	leastGroups = 64
)

// openSpreadLocked sets memory aside, at the first stats. It is part of the arena's address space, and used when
// touched.
func (a *Arena) openSpreadLocked() {
	if a.spread.words != nil {
		return
	}
	size := a.spread.size
	if size == 0 {
		size = len(a.bytes) / spreadShare
	}
	n := max(size/8/groupWords, leastGroups) * groupWords
	off, ok := a.allocateLocked(uint64(n) * 8)
	if !ok {
		return // all stats do without quantiles
	}
	atomic.StoreUint64(&a.words[wordSpread], off)
	a.spread.words, a.spread.used = a.words[off/8:][:n:n], &a.words[wordGroups]
}

// group returns a group by its number, counted from 1; nil for none. Other processes may have written the number.
func (s *spread) group(n uint64) []uint64 {
	if n == 0 || n > uint64(len(s.words)/groupWords) {
		return nil
	}
	return s.words[(n-1)*groupWords:][:groupWords]
}

// find returns the group with the given buckets in a list; nil if there is none.
func (s *spread) find(first, which uint64) []uint64 {
	for n, i := first, 0; i < longestList; i++ {
		g := s.group(n)
		if g == nil {
			break
		}
		w := atomic.LoadUint64(&g[0])
		if w>>groupShift == which {
			return g
		}
		n = w & nextMask
	}
	return nil
}

// count adds n to a bucket of a cell. The cell's list of bucket groups begins at list. If the bucket's group is
// missing, count appends it; it returns false if the arena has no room for that.
func (s *spread) count(list *uint64, bucket uint32, n uint64) bool {
	which, mine := uint64(bucket/object.GroupBuckets), uint64(0)
	for {
		first := atomic.LoadUint64(list)
		g := s.find(first, which)
		if g == nil {
			if mine == 0 {
				mine = atomic.AddUint64(s.used, 1)
			}
			if g = s.group(mine); g == nil {
				atomic.AddUint64(s.used, ^uint64(0))
				return false
			}
			atomic.StoreUint64(&g[0], first&nextMask|which<<groupShift)
			if !atomic.CompareAndSwapUint64(list, first, mine) {
				continue
			}
		}
		atomic.AddUint64(&g[1+bucket%object.GroupBuckets], n)
		return true
	}
}

// each visits the groups of a list.
func (s *spread) each(first uint64, visit func(which uint64, counts []uint64)) {
	for n, i := first, 0; i < longestList; i++ {
		g := s.group(n)
		if g == nil {
			return
		}
		w := atomic.LoadUint64(&g[0])
		visit(w>>groupShift, g[1:])
		n = w & nextMask
	}
}

// clear sets the counts of a list to 0.
func (s *spread) clear(first uint64) {
	s.each(first, func(_ uint64, counts []uint64) {
		for i := range counts {
			atomic.StoreUint64(&counts[i], 0)
		}
	})
}

// copied is a copy of a cell, and of what it has elsewhere.
type copied struct {
	words []uint64
	bins  []snapshot.Bin // KindStats: buckets that are not empty
}

// copyBins copies the buckets of a cell of stats.
func (st *Storage) copyBins(cell []uint64) (bins []snapshot.Bin) {
	if st.Kind != object.KindStats {
		return nil
	}
	st.spread.each(atomic.LoadUint64(&cell[cellGroups]), func(which uint64, counts []uint64) {
		for i := range counts {
			if n := atomic.LoadUint64(&counts[i]); n != 0 {
				bins = append(bins, snapshot.Bin{Number: uint32(which)*object.GroupBuckets + uint32(i), Count: n})
			}
		}
	})
	return bins
}

// sort counts values in a bucket of a cell of stats.
func (st *Storage) sort(cell []uint64, bucket uint32, n uint64) {
	if !st.spread.count(&cell[cellGroups], bucket, n) {
		atomic.AddUint64(&st.obj.desc[descUnsorted], n)
	}
}
