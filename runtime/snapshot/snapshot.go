package snapshot

import (
	"cmp"
	"slices"

	"gotap/runtime/object"
	"gotap/runtime/value"
)

// Snapshot is the content of an object at one moment, or what Take removed from it.
type Snapshot struct {
	Object  object.Object
	Entries []Entry // unkeyed: at most one, without a key. Ordered as bpftrace prints them: see Sort

	stack value.NameStack // names stacks in JSON; nil: addresses
}

// Entry is one key with its data.
type Entry struct {
	Key  []value.Value
	Data Data
}

// Data is the data of an object for one key. The kind determines which fields are used.
type Data struct {
	Kind     object.Kind
	Int      int64    // the value: of a variable or map, count, sum, minimum, maximum, truncated average; histograms: all hits
	Count    int64    // hits (all aggregations but sum's text need it)
	Sum      int64    // KindSum, KindAvg, KindStats
	Min, Max int64    // KindMin, KindStats; KindMax, KindStats
	Squares  Wide     // KindStats: sum of the squares
	Floats   Floats   // KindSum, KindAvg, KindStats, KindMin, KindMax: of floats that were added; the fields above are of integers then
	Bins     []Bin    // KindStats: buckets that are not empty, in any order
	Buckets  []Bucket // KindHist, KindLhist: from the first to the last non-empty one
	Points   []Point  // KindSeries, after Series has combined them
	Float    float64  // KindMap of floats, and aggregations that have got floats, as Int
	Text     string   // KindText, KindMap of text
	Cut      bool     // Text was cut
	IsText   bool     // Text is valid, not Int
	IsFloat  bool     // Float is valid, not Int

	div int64 // KindStats: Summary divides by it; 0: not divided
}

// Bucket is a part of a histogram. The bounds are inclusive; an open end is nil.
type Bucket struct {
	Min, Max *int64
	Count    uint64
}

// Sort orders the entries as bpftrace prints maps: by value, ascending (histograms by their hits), and equal ones by
// key; texts by key.
func (s Snapshot) Sort() {
	slices.SortStableFunc(s.Entries, func(a, b Entry) int {
		return cmp.Or(compareData(a.Data, b.Data), compareKeys(a.Key, b.Key))
	})
}

// compareData orders by value; texts have no order of their own.
func compareData(a, b Data) int {
	switch {
	case a.IsText || b.IsText:
		return 0
	case a.IsFloat || b.IsFloat:
		return cmp.Compare(a.Value().Number(), b.Value().Number())
	}
	return cmp.Compare(a.Int, b.Int)
}

// compareKeys orders by the parts of the keys, the first one first.
func compareKeys(a, b []value.Value) int {
	for i := range min(len(a), len(b)) {
		if c := value.Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// Value returns the value of a variable or a map entry.
func (d Data) Value() value.Value {
	switch {
	case d.IsText:
		return value.Value{Kind: value.KindText, Text: d.Text, Cut: d.Cut}
	case d.IsFloat:
		return value.Value{Kind: value.KindFloat, Float: d.Float}
	}
	return value.Int(d.Int)
}
