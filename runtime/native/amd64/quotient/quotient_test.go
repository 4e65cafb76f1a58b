package quotient

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// quotientOf does what the code of Divide does until the quotient is rounded.
func quotientOf(n, divisor, factor int64, shift byte) int64 {
	high, _ := bits.Mul64(uint64(n), uint64(factor))
	q := int64(high) - n>>63&factor - factor>>63&n
	switch {
	case divisor > 0 && factor < 0:
		q += n
	case divisor < 0 && factor > 0:
		q -= n
	}
	q >>= shift
	return q + int64(uint64(q)>>63)
}

// TestReciprocals compares with Go's division, above all where the error of a reciprocal is largest: at the last
// multiples of the divisor, minus 1.
func TestReciprocals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for i := range 20_000 {
		d := int64(r.Uint64()) >> r.IntN(63)
		switch {
		case i < 100:
			d = int64(i)
		case i < 200:
			d = -int64(i - 100)
		case i < 260:
			d = 1 << (i - 200)
		}
		if !Multiplies(d) {
			continue
		}
		factor, shift := reciprocal(d)
		last := math.MaxInt64 / d * d
		for _, n := range []int64{0, d, d - 1, last, last - 1, -last, 1 - last, math.MinInt64 / d * d, math.MaxInt64, math.MinInt64,
			int64(r.Uint64()), int64(r.Uint64()) >> r.IntN(64)} {
			if got := quotientOf(n, d, factor, shift); got != n/d {
				t.Fatalf("%d / %d: %d, not %d", n, d, got, n/d)
			}
		}
	}
	for _, d := range []int64{0, 1, -1, math.MinInt64} {
		if Multiplies(d) {
			t.Errorf("%d is divided by", d)
		}
	}
}
