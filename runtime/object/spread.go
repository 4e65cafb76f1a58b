package object

import (
	"math"
	"math/bits"
)

// Spread is the division of values from which stats tell quantiles. Each power of two is divided into 16 equal buckets,
// those of negative values as those of positive ones, and integers from -16 to 15 have a bucket each. So the middle of
// a bucket differs from each of its values by at most 1/32 of the value.
//
// Buckets have numbers. The upper bits of a number are its group: 16 buckets that are counted in one piece of memory.
const (
	spreadBits   = 4
	GroupBuckets = 1 << spreadBits
	GroupOfMinus = 64 // the group of -1 to -16; the larger negative numbers follow
)

// SpreadIndex returns the bucket of an integer.
func SpreadIndex(v int64) uint32 {
	group, m := uint32(0), uint64(v)
	if v < 0 {
		group, m = GroupOfMinus, ^m
	}
	if m >= GroupBuckets {
		shift := bits.Len64(m) - 1 - spreadBits
		group, m = group+uint32(shift)+1, m>>shift&(GroupBuckets-1)
	}
	return group<<spreadBits | uint32(m)
}

// SpreadBounds returns the inclusive bounds of a bucket of integers. A number that SpreadIndex never returns has those
// of another one.
func SpreadBounds(i uint32) (lo, hi int64) {
	group, m := i>>spreadBits, uint64(i&(GroupBuckets-1))
	minus, shift := group&GroupOfMinus != 0, group&(GroupOfMinus-1)
	first, last := m, m
	if shift > 0 {
		shift = min(shift-1, 62-spreadBits)
		first = (m | GroupBuckets) << shift
		last = first + 1<<shift - 1
	}
	if minus {
		return int64(^last), int64(^first)
	}
	return int64(first), int64(last)
}

// spreadFloats is in the numbers of buckets of floats, which one aggregation may have besides those of integers.
const spreadFloats = 1 << 16

// SpreadOfFloats reports whether a bucket is one of floats.
func SpreadOfFloats(i uint32) bool { return i&spreadFloats != 0 }

// SpreadFloatIndex returns the bucket of a float: its sign, its exponent and the upper bits of its fraction. Both zeros
// have one bucket, and all that are not numbers.
func SpreadFloatIndex(f float64) uint32 {
	switch {
	case f == 0:
		return spreadFloats
	case f != f:
		f = math.NaN()
	}
	return spreadFloats | uint32(math.Float64bits(f)>>SpreadFloatShift)
}

// The parts of SpreadFloatIndex, for executors that compute it themselves: the bits of a float that are left out, those
// of its number that select a bucket of the group, the group of zero, to which those of the others are added, and the
// number of what is not a number.
const (
	SpreadFloatShift = 52 - spreadBits
	SpreadBits       = spreadBits
	GroupOfFloats    = spreadFloats >> spreadBits
	SpreadNoNumber   = 0x7ff8000000000001 >> SpreadFloatShift // of math.NaN
)

// SpreadFloatBounds returns the least and the largest float of a bucket.
func SpreadFloatBounds(i uint32) (lo, hi float64) {
	const rest = 52 - spreadBits
	first := uint64(i&0xffff) << rest
	near, far := math.Float64frombits(first), math.Float64frombits(first|(1<<rest-1))
	if math.IsInf(near, 0) {
		far = near
	}
	if near < 0 || first>>63 != 0 {
		return far, near
	}
	return near, far
}
