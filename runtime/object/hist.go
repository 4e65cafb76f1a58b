package object

import (
	"fmt"
	"math"
	"math/bits"
)

// Powers is the division of a hist: a bucket for negative values, one for each value below 1<<bits, then 1<<bits equal
// buckets for each power of two. With 0 bits the buckets after the negative one are 0, 1, [2,4), [4,8) … [2^62,2^63).
type Powers struct{ bits int }

// HistBuckets is the number of buckets of a hist of 0 bits.
const HistBuckets = 65

// maxLinear is the maximum number of buckets of an lhist between its ends.
const maxLinear = 4096

// Buckets returns the number of buckets.
func (p Powers) Buckets() int { return p.Index(math.MaxInt64) + 1 }

// Bits returns into how many buckets each power of two is divided, as a power of two.
func (p Powers) Bits() int { return p.bits }

// Index returns the bucket of a value.
func (p Powers) Index(v int64) int {
	if v < 0 {
		return 0
	}
	if v < 1<<p.bits {
		return 1 + int(v)
	}
	shift := bits.Len64(uint64(v)) - 1 - p.bits // the remaining lower bits of the value do not matter
	return 1 + shift<<p.bits + int(v>>shift)
}

// Bounds returns the inclusive bounds of a bucket. open means that it has no lower bound.
func (p Powers) Bounds(i int) (lo, hi int64, open bool) {
	if i == 0 {
		return math.MinInt64, -1, true
	}
	at := i - 1
	if at < 1<<p.bits {
		return int64(at), int64(at), false
	}
	shift := at>>p.bits - 1
	lo = int64(at-shift<<p.bits) << shift
	return lo, lo + (1<<shift - 1), false
}

// check refuses divisions that are too fine.
func (p Powers) check() error {
	if p.bits < 0 || p.bits > MaxBits {
		return fmt.Errorf("bits is %d: it can be 0 to %d", p.bits, MaxBits)
	}
	return nil
}

// Linear is the division of an lhist: a bucket below lo, equal steps, the last of them cut at hi, and a bucket from hi
// upwards.
type Linear struct{ lo, hi, step int64 }

// steps returns the number of buckets between the ends. Differences are unsigned, because hi-lo may exceed the signed
// range.
func (l Linear) steps() uint64 {
	width := uint64(l.hi) - uint64(l.lo)
	return (width-1)/uint64(l.step) + 1
}

// Buckets returns the number of buckets, including those at the ends.
func (l Linear) Buckets() int { return int(l.steps()) + 2 }

// Index returns the bucket of a value.
func (l Linear) Index(v int64) int {
	switch {
	case v < l.lo:
		return 0
	case v >= l.hi:
		return l.Buckets() - 1
	}
	return 1 + int((uint64(v)-uint64(l.lo))/uint64(l.step))
}

// Bounds returns the inclusive bounds of a bucket, and which of them are open.
func (l Linear) Bounds(i int) (lo, hi int64, openLo, openHi bool) {
	switch i {
	case 0:
		return math.MinInt64, l.lo - 1, true, false
	case l.Buckets() - 1:
		return l.hi, math.MaxInt64, false, true
	}
	first := uint64(l.lo) + uint64(i-1)*uint64(l.step)
	last := l.hi - 1
	if uint64(l.hi)-first > uint64(l.step) {
		last = int64(first + uint64(l.step) - 1)
	}
	return int64(first), last, false, false
}

// check refuses divisions that are endless or have too many buckets.
func (l Linear) check() error {
	switch {
	case l.step <= 0:
		return fmt.Errorf("the step is %d: it must be at least 1", l.step)
	case l.hi <= l.lo:
		return fmt.Errorf("the upper end %d is not above the lower end %d", l.hi, l.lo)
	case l.steps() > maxLinear:
		return fmt.Errorf("%d buckets: there can be %d, use a larger step", l.steps(), maxLinear)
	}
	return nil
}

// Form returns the kind whose cell layout an object has.
func (o *Object) Form() Kind {
	if o.Kind == KindSeries {
		return o.Of
	}
	return o.Kind
}

// Powers returns the division of a hist.
func (o *Object) Powers() Powers { return Powers{o.Bits} }

// Linear returns the division of an lhist.
func (o *Object) Linear() Linear { return Linear{o.Lo, o.Hi, o.Step} }
