package snapshot

import (
	"math"

	"gotap/runtime/object"
	"gotap/runtime/value"
)

// FloatWord is a float as cells have it: its bits, with the uppermost inverted. So the word of nothing is 0. It stands
// for negative zero, which changes no sum.
type FloatWord uint64

// WordOf returns a float as a word.
func WordOf(f float64) FloatWord { return FloatWord(math.Float64bits(f) ^ 1<<63) }

// Float returns the float.
func (w FloatWord) Float() float64 { return math.Float64frombits(uint64(w) ^ 1<<63) }

// Floats is what an aggregation has of floats, which it keeps apart from integers: those of its kind, without values 0.
type Floats struct{ Sum, Min, Max, Squares FloatWord }

// SetFloat makes the value of an aggregation a float if it has got floats. form is what its cells hold.
func (d *Data) SetFloat(form object.Kind) {
	if d.Floats == (Floats{}) {
		return
	}
	d.IsFloat = true
	switch form {
	case object.KindMin:
		d.Float = d.least().Float
	case object.KindMax:
		d.Float = d.most().Float
	case object.KindSum:
		d.Float = d.total()
	default:
		d.Float = d.total() / float64(d.Count)
	}
	d.Int = value.FloatToInt(d.Float)
}

// total returns the sum of integers and floats.
func (d Data) total() float64 { return float64(d.Sum) + d.Floats.Sum.Float() }

// real returns a float as a value.
func real(f float64) value.Value { return value.Value{Kind: value.KindFloat, Float: f} }

// sum returns the sum of stats.
func (d Data) sum() value.Value {
	if d.IsFloat {
		return real(d.total())
	}
	return value.Int(d.Sum)
}

// average returns the average of stats.
func (d Data) average() value.Value {
	if d.IsFloat {
		return real(d.Float)
	}
	return value.Int(d.Int)
}

// least returns the minimum. Without integers theirs is at the far end.
func (d Data) least() value.Value {
	switch {
	case !d.IsFloat:
		return value.Int(d.Min)
	case d.Floats.Min == 0 || d.Min != math.MaxInt64 && float64(d.Min) < d.Floats.Min.Float():
		return real(float64(d.Min))
	}
	return real(d.Floats.Min.Float())
}

// most returns the maximum.
func (d Data) most() value.Value {
	switch {
	case !d.IsFloat:
		return value.Int(d.Max)
	case d.Floats.Max == 0 || d.Max != math.MinInt64 && float64(d.Max) > d.Floats.Max.Float():
		return real(float64(d.Max))
	}
	return real(d.Floats.Max.Float())
}
