package snapshot

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"gotap/runtime/object"
	"gotap/runtime/value"
)

// Wide is an unsigned integer of 128 bits.
type Wide struct{ Hi, Lo uint64 }

// Bin counts the values of stats in one bucket, by the number that package object gives it.
type Bin struct {
	Number uint32
	Count  uint64
}

// The quantiles that are shown of stats.
var quantiles = [...]float64{0.5, 0.9, 0.99}

// Quantiles returns the quantiles that are shown of stats.
func Quantiles() []float64 { return quantiles[:] }

// Variance returns the variance of the values of stats, as of a sample of a larger number of values: divided by one
// less than there are. It is 0 for fewer than two values. The sums that it is computed from are exact as long as they
// fit in 64 and 128 bits.
func (d Data) Variance() float64 {
	if d.Count < 2 {
		return 0
	}
	if d.IsFloat {
		squares := math.Ldexp(float64(d.Squares.Hi), 64) + float64(d.Squares.Lo) + d.Floats.Squares.Float()
		v := (squares - d.total()/float64(d.Count)*d.total()) / float64(d.Count-1)
		if v < 0 {
			return 0 // rounded
		}
		return v
	}
	n, sum := big.NewInt(d.Count), big.NewInt(d.Sum)
	squares := new(big.Int).SetUint64(d.Squares.Hi)
	squares.Lsh(squares, 64).Or(squares, new(big.Int).SetUint64(d.Squares.Lo))
	squares.Mul(squares, n).Sub(squares, sum.Mul(sum, sum)) // n² times the variance of the values themselves
	if squares.Sign() < 0 {
		return 0 // a sum did not fit
	}
	v, _ := new(big.Rat).SetFrac(squares, n.Mul(n, big.NewInt(d.Count-1))).Float64()
	return v
}

// Deviation returns the standard deviation: the root of the variance.
func (d Data) Deviation() float64 { return math.Sqrt(d.Variance()) }

// Quantile returns the value of stats that a part of the values, from 0 to 1, does not exceed. It is the middle of a
// bucket, at most 1/32 from the value, and within the minimum and the maximum, which are exact. It is 0 without values.
func (d Data) Quantile(part float64) value.Value {
	switch {
	case d.Count == 0:
		return value.Int(0)
	case part <= 0:
		return d.least()
	case part >= 1:
		return d.most()
	}
	bins, known := slices.Clone(d.Bins), uint64(0)
	slices.SortFunc(bins, func(a, b Bin) int { return d.compare(d.middle(a.Number), d.middle(b.Number)) })
	for _, b := range bins {
		known += b.Count
	}
	rank, at := uint64(math.Ceil(part*float64(known)*(1-1e-12))), uint64(0) // 0.07 of 100 are 7, though the product is more
	for _, b := range bins {
		if at += b.Count; at >= rank {
			v := d.middle(b.Number)
			if d.compare(v, d.least()) < 0 {
				v = d.least()
			}
			if d.compare(v, d.most()) > 0 {
				v = d.most()
			}
			return v
		}
	}
	return d.most()
}

// compare compares two values, which are integers unless the data have floats.
func (d Data) compare(a, b value.Value) int {
	if d.IsFloat {
		return cmp.Compare(a.Float, b.Float)
	}
	return cmp.Compare(a.Int, b.Int)
}

// middle returns the middle of a bucket.
func (d Data) middle(bucket uint32) value.Value {
	if object.SpreadOfFloats(bucket) {
		lo, hi := object.SpreadFloatBounds(bucket)
		if lo == hi {
			return real(lo)
		}
		return real(lo/2 + hi/2)
	}
	lo, hi := object.SpreadBounds(bucket)
	if !d.IsFloat {
		return value.Int(lo + (hi-lo)/2)
	}
	return real(float64(lo)/2 + float64(hi)/2)
}

// Summary is what is shown of stats.
type Summary struct {
	Count                    int64
	Average, Total, Min, Max value.Value
	Variance, Deviation      float64
	Quantiles                []value.Value // for each of Quantiles
}

// Summary returns what is shown of stats.
func (d Data) Summary() Summary {
	div := max(d.div, 1)
	s := Summary{Count: d.Count, Average: d.average(), Total: d.sum(), Min: over(d.least(), div), Max: over(d.most(), div)}
	if d.IsFloat {
		s.Total = over(s.Total, div) // an integer has been divided already
	}
	s.Variance = d.Variance() / float64(div) / float64(div)
	s.Deviation = math.Sqrt(s.Variance)
	for _, part := range quantiles {
		s.Quantiles = append(s.Quantiles, over(d.Quantile(part), div))
	}
	return s
}

// over returns a value divided by a number.
func over(v value.Value, div int64) value.Value {
	v.Int /= div
	v.Float /= float64(div)
	return v
}

// enough is how many values have a distribution worth a line: of fewer, a tenth is less than one value.
const enough = 10

// line returns a summary as text: what bpftrace prints, and of enough values the rest in ascending order.
func (s Summary) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "count %d, average %s, total %s", s.Count, s.Average.Format(nil), s.Total.Format(nil))
	if s.Count < enough {
		return b.String()
	}
	fmt.Fprintf(&b, ", stddev %s, min %s", shortNumber(s.Deviation), s.Min.Format(nil))
	for i, part := range quantiles {
		fmt.Fprintf(&b, ", p%.0f %s", part*100, s.Quantiles[i].Format(nil))
	}
	b.WriteString(", max " + s.Max.Format(nil))
	return b.String()
}

// jsonStats is the JSON form of a summary. Without values it has the first three fields.
type jsonStats struct {
	Count    any `json:"count"`
	Average  any `json:"average"`
	Total    any `json:"total"`
	Variance any `json:"variance,omitempty"`
	Stddev   any `json:"stddev,omitempty"`
	Min      any `json:"min,omitempty"`
	P50      any `json:"p50,omitempty"`
	P90      any `json:"p90,omitempty"`
	P99      any `json:"p99,omitempty"`
	Max      any `json:"max,omitempty"`
}

func (s Summary) json() jsonStats {
	q := s.Quantiles
	return jsonStats{value.JSONInt(s.Count), s.Average.JSON(), s.Total.JSON(), s.Variance, s.Deviation,
		s.Min.JSON(), q[0].JSON(), q[1].JSON(), q[2].JSON(), s.Max.JSON()}
}

// shortNumber returns a number with four digits, or more in front of the point.
func shortNumber(f float64) string {
	digits := 3
	for x := math.Abs(f); x >= 10 && digits > 0; x /= 10 {
		digits--
	}
	scale := math.Pow(10, float64(digits))
	if rounded := math.Round(f*scale) / scale; !math.IsInf(rounded, 0) {
		f = rounded
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
