package runtime

import (
	"math"
	"math/bits"
)

// A log2 histogram has a bucket for negative values, one for 0, one for 1, then [2,4), [4,8) …
// [2^62,2^63).
const histBuckets = 65

// maxLinear is the most buckets an lhist may have between its ends.
const maxLinear = 4096

// histIndex is the bucket of a value.
func histIndex(v int64) int {
	if v < 0 {
		return 0
	}
	return 1 + bits.Len64(uint64(v))
}

// histBounds are the inclusive bounds of a bucket; open says that there is no lower one.
func histBounds(i int) (lo, hi int64, open bool) {
	switch i {
	case 0:
		return math.MinInt64, -1, true
	case 1:
		return 0, 0, false
	}
	lo = 1 << (i - 2)
	return lo, lo + (lo - 1), false
}

// linear is the division of an lhist: a bucket below Lo, equal steps, the last of them cut at
// Hi, and a bucket from Hi on.
type linear struct{ lo, hi, step int64 }

// steps is how many buckets lie between the ends. Differences are unsigned: Hi-Lo may exceed
// the signed range.
func (l linear) steps() uint64 {
	width := uint64(l.hi) - uint64(l.lo)
	return (width-1)/uint64(l.step) + 1
}

// buckets counts those at the ends too.
func (l linear) buckets() int { return int(l.steps()) + 2 }

// index is the bucket of a value.
func (l linear) index(v int64) int {
	switch {
	case v < l.lo:
		return 0
	case v >= l.hi:
		return l.buckets() - 1
	}
	return 1 + int((uint64(v)-uint64(l.lo))/uint64(l.step))
}

// bounds are the inclusive bounds of a bucket and which of them are open.
func (l linear) bounds(i int) (lo, hi int64, openLo, openHi bool) {
	switch i {
	case 0:
		return math.MinInt64, l.lo - 1, true, false
	case l.buckets() - 1:
		return l.hi, math.MaxInt64, false, true
	}
	first := uint64(l.lo) + uint64(i-1)*uint64(l.step)
	last := l.hi - 1
	if uint64(l.hi)-first > uint64(l.step) {
		last = int64(first + uint64(l.step) - 1)
	}
	return int64(first), last, false, false
}
