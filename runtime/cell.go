package runtime

import (
	"math"
	"sync/atomic"
)

// A cell stores the data of an object for one key, or of an unkeyed object. Its words are:
//
//	map of numbers, per-thread   value
//	map of texts, shared text    see textCell
//	count                        hits
//	sum, avg, stats              hits, sum
//	min, max                     hits, extreme (beginning at the far end)
//	hist, lhist                  hits of each bucket
//	tseries                      that of what an interval holds
//	trail                        see trail.go
//
// Programs change cells only with atomic operations.

const (
	cellCount = 0 // hits, also the value of a map and of count
	cellValue = 1 // sum or extreme
)

// cellWords returns the size of a cell.
func (o *Object) cellWords() int {
	switch o.form() {
	case KindSum, KindAvg, KindStats, KindMin, KindMax:
		return 2
	case KindHist:
		return o.powers().buckets()
	case KindLhist:
		return o.linear().buckets()
	case KindText:
		return textCellWords
	case KindTrail:
		return trailRecords + o.Size/8
	case KindMap:
		if o.Value.class() == classText {
			return textCellWords
		}
	}
	return 1
}

// form returns the kind whose cell layout an object has.
func (o *Object) form() ObjectKind {
	if o.Kind == KindSeries {
		return o.Of
	}
	return o.Kind
}

// powers returns the division of a hist.
func (o *Object) powers() powers { return powers{o.Bits} }

// linear returns the division of an lhist.
func (o *Object) linear() linear { return linear{o.Lo, o.Hi, o.Step} }

// fresh initializes a cell. Only the caller uses the cell, or concurrent additions are lost intentionally.
func (o *Object) fresh(cell []uint64) {
	if o.Kind == KindTrail {
		cell = cell[:trailRecords] // the records are written before they are read
	}
	for i := range cell {
		atomic.StoreUint64(&cell[i], 0)
	}
	switch o.form() {
	case KindMin:
		atomic.StoreUint64(&cell[cellValue], math.MaxInt64)
	case KindMax:
		atomic.StoreUint64(&cell[cellValue], 1<<63)
	case KindPerThread:
		atomic.StoreUint64(&cell[cellCount], uint64(o.Init))
	}
}

// update adds a value to a cell of an aggregation.
func (o *Object) update(cell []uint64, v int64) {
	switch o.form() {
	case KindCount:
		add(&cell[cellCount], 1)
	case KindSum, KindAvg, KindStats:
		add(&cell[cellValue], v)
		add(&cell[cellCount], 1)
	case KindMin:
		atomicMin(&cell[cellValue], v)
		add(&cell[cellCount], 1)
	case KindMax:
		atomicMax(&cell[cellValue], v)
		add(&cell[cellCount], 1)
	case KindHist:
		add(&cell[o.powers().index(v)], 1)
	case KindLhist:
		add(&cell[o.linear().index(v)], 1)
	}
}

// merge adds the contents of a cell of an object with the same declaration.
func (o *Object) merge(cell, from []uint64) {
	switch o.form() {
	case KindMin:
		atomicMin(&cell[cellValue], int64(from[cellValue]))
		add(&cell[cellCount], int64(from[cellCount]))
	case KindMax:
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

// read copies a cell of numbers.
func read(cell, to []uint64) {
	for i := range to {
		to[i] = atomic.LoadUint64(&cell[i])
	}
}

// data returns the values of a copied cell; ok is false if nothing was ever added to it.
func (o *Object) data(cell []uint64) (d Data, ok bool) {
	switch o.form() {
	case KindHist, KindLhist:
		return o.bucketData(cell)
	case KindMap, KindPerThread:
		return o.wordData(cell[cellCount]), true
	}
	d = Data{Kind: o.Kind, Count: int64(cell[cellCount])}
	switch o.form() {
	case KindCount:
		d.Int = d.Count
	case KindMin:
		d.Min, d.Int = int64(cell[cellValue]), int64(cell[cellValue])
	case KindMax:
		d.Max, d.Int = int64(cell[cellValue]), int64(cell[cellValue])
	case KindSum:
		d.Sum, d.Int = int64(cell[cellValue]), int64(cell[cellValue])
	case KindAvg, KindStats:
		d.Sum = int64(cell[cellValue])
		d.Int = average(d.Sum, d.Count)
	}
	// A sum that was taken between the two steps of an addition has no hits yet, and must not be lost.
	return d, d.Count != 0 || d.Sum != 0
}

// wordData returns the value of a map or a per-thread variable.
func (o *Object) wordData(w uint64) Data {
	if o.Kind == KindMap && o.Value == ValueFloat {
		return Data{Kind: o.Kind, Float: math.Float64frombits(w), IsFloat: true}
	}
	return Data{Kind: o.Kind, Int: int64(w)}
}

// average returns the average, truncated toward zero.
func average(sum, count int64) int64 {
	if count == 0 {
		return 0
	}
	return sum / count
}

// bucketData lists the buckets from the first to the last non-empty one.
func (o *Object) bucketData(cell []uint64) (Data, bool) {
	d := Data{Kind: o.Kind}
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
		d.Buckets = append(d.Buckets, o.bucket(i, cell[i]))
	}
	d.Int = d.Count
	return d, true
}

// bucket returns one bucket with its bounds. Only the end buckets of an lhist, and the bucket of negative values, are
// open.
func (o *Object) bucket(i int, count uint64) Bucket {
	var lo, hi int64
	var openLo, openHi bool
	if o.Kind == KindHist {
		lo, hi, openLo = o.powers().bounds(i)
	} else {
		lo, hi, openLo, openHi = o.linear().bounds(i)
	}
	b := Bucket{Count: count}
	if !openLo {
		b.Min = &lo
	}
	if !openHi {
		b.Max = &hi
	}
	return b
}
