package arena

import (
	"math"
	"sync/atomic"

	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
)

// A cell stores the data of an object for one key, or of an unkeyed object. Its words are:
//
//	map of numbers, per-thread   value
//	map of texts, shared text    see textCell
//	count                        hits
//	sum, avg                     hits, sum, sum of floats
//	stats                        hits, sum, minimum, maximum, sum of squares (128 bits, the lower ones first), list of buckets (spread.go);
//	                             and the same of floats: sum, minimum, maximum, sum of squares
//	min, max                     hits, extreme (beginning at the far end), extreme of floats
//	hist, lhist                  hits of each bucket
//	tseries                      that of what an interval holds
//	trail                        see trail.go
//
// Integers and floats that are added to one aggregation are kept apart, so that integers stay exact and native code
// adds them in one operation. What an aggregation tells is a float once it has got one.
//
// Programs change cells only with atomic operations.

const (
	cellCount = 0 // hits, also the value of a map and of count
	cellValue = 1 // sum or extreme

	cellLeast   = 2 // of stats
	cellMost    = 3
	cellSquares = 4
	cellGroups  = 6
	cellFloats  = 7 // sum, minimum, maximum and sum of squares
	statsWords  = 11

	cellFloat = 2 // of others than stats: sum or extreme of floats
)

// cellWords returns the size of a cell.
func (st *Storage) cellWords() int {
	switch st.Form() {
	case object.KindSum, object.KindAvg, object.KindMin, object.KindMax:
		return 3
	case object.KindStats:
		return statsWords
	case object.KindHist:
		return st.Powers().Buckets()
	case object.KindLhist:
		return st.Linear().Buckets()
	case object.KindText:
		return textCellWords
	case object.KindTrail:
		return trailRecords + st.Size/8
	case object.KindMap:
		if st.Value.Class() == value.ClassText {
			return textCellWords
		}
	}
	return 1
}

// fresh initializes a cell. Only the caller uses the cell, or concurrent additions are lost intentionally.
func (st *Storage) fresh(cell []uint64) {
	if st.Kind == object.KindTrail {
		cell = cell[:trailRecords] // the records are written before they are read
	}
	if st.Kind == object.KindStats {
		st.spread.clear(atomic.LoadUint64(&cell[cellGroups]))
		atomic.StoreUint64(&cell[cellLeast], math.MaxInt64)
		atomic.StoreUint64(&cell[cellMost], 1<<63)
		clearWords(cell[:cellLeast])
		clearWords(cell[cellSquares:cellGroups]) // the groups stay
		clearWords(cell[cellFloats:])
		return
	}
	clearWords(cell)
	switch st.Form() {
	case object.KindMin:
		atomic.StoreUint64(&cell[cellValue], math.MaxInt64)
	case object.KindMax:
		atomic.StoreUint64(&cell[cellValue], 1<<63)
	case object.KindPerThread:
		atomic.StoreUint64(&cell[cellCount], uint64(st.Init))
	}
}

func loadWords(from, to []uint64) {
	for i := range to {
		to[i] = atomic.LoadUint64(&from[i])
	}
}

func clearWords(words []uint64) {
	for i := range words {
		atomic.StoreUint64(&words[i], 0)
	}
}

// Update adds a value to a cell of an aggregation.
func (st *Storage) Update(cell []uint64, v int64) {
	switch st.Form() {
	case object.KindCount:
		add(&cell[cellCount], 1)
	case object.KindSum, object.KindAvg:
		add(&cell[cellValue], v)
		add(&cell[cellCount], 1)
	case object.KindStats:
		st.sort(cell, object.SpreadIndex(v), 1)
		atomicMin(&cell[cellLeast], v)
		atomicMax(&cell[cellMost], v)
		addWide(cell[cellSquares:], square(v))
		add(&cell[cellValue], v)
		add(&cell[cellCount], 1)
	case object.KindMin:
		atomicMin(&cell[cellValue], v)
		add(&cell[cellCount], 1)
	case object.KindMax:
		atomicMax(&cell[cellValue], v)
		add(&cell[cellCount], 1)
	case object.KindHist:
		add(&cell[st.Powers().Index(v)], 1)
	case object.KindLhist:
		add(&cell[st.Linear().Index(v)], 1)
	}
}

// merge adds the contents of a cell of an object with the same declaration.
func (st *Storage) merge(cell []uint64, c copied) {
	from := c.words
	switch st.Form() {
	case object.KindStats:
		for _, b := range c.bins {
			st.sort(cell, b.Number, b.Count)
		}
		atomicMin(&cell[cellLeast], int64(from[cellLeast]))
		atomicMax(&cell[cellMost], int64(from[cellMost]))
		addWide(cell[cellSquares:], snapshot.Wide{Lo: from[cellSquares], Hi: from[cellSquares+1]})
		mergeFloats(cell, from)
		add(&cell[cellValue], int64(from[cellValue]))
		add(&cell[cellCount], int64(from[cellCount]))
	case object.KindSum, object.KindAvg:
		addFloat(&cell[cellFloat], from[cellFloat])
		add(&cell[cellValue], int64(from[cellValue]))
		add(&cell[cellCount], int64(from[cellCount]))
	case object.KindMin:
		leastFloat(&cell[cellFloat], from[cellFloat])
		atomicMin(&cell[cellValue], int64(from[cellValue]))
		add(&cell[cellCount], int64(from[cellCount]))
	case object.KindMax:
		mostFloat(&cell[cellFloat], from[cellFloat])
		atomicMax(&cell[cellValue], int64(from[cellValue]))
		add(&cell[cellCount], int64(from[cellCount]))
	default:
		for i, w := range from {
			if w != 0 {
				add(&cell[i], int64(w))
			}
		}
	}
}

// copy returns a copy of a cell of numbers, whose words are in the given memory.
func (st *Storage) copy(cell, to []uint64) copied {
	loadWords(cell, to)
	return copied{to, st.copyBins(cell)}
}

// data returns the values of a copied cell; ok is false if nothing was ever added to it.
func (st *Storage) data(c copied) (d snapshot.Data, ok bool) {
	cell := c.words
	switch st.Form() {
	case object.KindHist, object.KindLhist:
		return st.bucketData(cell)
	case object.KindMap, object.KindPerThread:
		return st.wordData(cell[cellCount]), true
	}
	d = snapshot.Data{Kind: st.Kind, Count: int64(cell[cellCount])}
	switch st.Form() {
	case object.KindCount:
		d.Int = d.Count
	case object.KindMin:
		d.Min, d.Int = int64(cell[cellValue]), int64(cell[cellValue])
	case object.KindMax:
		d.Max, d.Int = int64(cell[cellValue]), int64(cell[cellValue])
	case object.KindSum:
		d.Sum, d.Int = int64(cell[cellValue]), int64(cell[cellValue])
	case object.KindAvg, object.KindStats:
		d.Sum = int64(cell[cellValue])
		d.Int = average(d.Sum, d.Count)
	}
	if st.Kind == object.KindStats && d.Count != 0 {
		d.Min, d.Max = int64(cell[cellLeast]), int64(cell[cellMost])
		d.Squares, d.Bins = snapshot.Wide{Lo: cell[cellSquares], Hi: cell[cellSquares+1]}, c.bins
	}
	if st.hasFloats() {
		d.Floats = st.floatsIn(cell)
		d.SetFloat(st.Form())
	}
	// A sum that was taken between the two steps of an addition has no hits yet, and must not be lost.
	return d, d.Count != 0 || d.Sum != 0
}

// wordData returns the value of a map or a per-thread variable.
func (st *Storage) wordData(w uint64) snapshot.Data {
	if st.Kind == object.KindMap && st.Value == value.KindFloat {
		return snapshot.Data{Kind: st.Kind, Float: math.Float64frombits(w), IsFloat: true}
	}
	return snapshot.Data{Kind: st.Kind, Int: int64(w)}
}

// average returns the average, truncated toward zero.
func average(sum, count int64) int64 {
	if count == 0 {
		return 0
	}
	return sum / count
}

// bucketData lists the buckets from the first to the last non-empty one.
func (st *Storage) bucketData(cell []uint64) (snapshot.Data, bool) {
	d := snapshot.Data{Kind: st.Kind}
	first, last := -1, -1
	for i, n := range cell {
		if n == 0 {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
		d.Count += int64(n)
	}
	if first < 0 {
		return d, false
	}
	for i := first; i <= last; i++ {
		d.Buckets = append(d.Buckets, st.bucket(i, cell[i]))
	}
	d.Int = d.Count
	return d, true
}

// bucket returns one bucket with its bounds. Only the end buckets of an lhist, and the bucket of negative values, are
// open.
func (st *Storage) bucket(i int, count uint64) snapshot.Bucket {
	var lo, hi int64
	var openLo, openHi bool
	if st.Kind == object.KindHist {
		lo, hi, openLo = st.Powers().Bounds(i)
	} else {
		lo, hi, openLo, openHi = st.Linear().Bounds(i)
	}
	b := snapshot.Bucket{Count: count}
	if !openLo {
		b.Min = &lo
	}
	if !openHi {
		b.Max = &hi
	}
	return b
}
