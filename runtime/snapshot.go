package runtime

import (
	"cmp"
	"slices"
)

// Snapshot is the content of an object at one moment, or what Take took out of it.
type Snapshot struct {
	Object  Object
	Entries []Entry // not keyed: at most one, without a key. Ordered as bpftrace prints them: see Sort

	stack NameStack // names stacks in JSON; nil: they are addresses
}

// Entry is one key with what it holds.
type Entry struct {
	Key  []Value
	Data Data
}

// Data is what an object holds for one key. Which fields count depends on the kind.
type Data struct {
	Kind     ObjectKind
	Int      int64    // the value: of a variable or map, count, sum, minimum, maximum, truncated average; histograms: all hits
	Count    int64    // hits (all aggregations but sum's text need it)
	Sum      int64    // KindSum, KindAvg, KindStats
	Min, Max int64    // KindMin; KindMax
	Buckets  []Bucket // KindHist, KindLhist: from the first that is not empty to the last
	Points   []Point  // KindSeries, once Series has put them together
	Float    float64  // KindMap of floats
	Text     string   // KindText, KindMap of text
	Cut      bool     // Text was cut
	IsText   bool     // Text counts, not Int
	IsFloat  bool     // Float counts, not Int
}

// Bucket is a part of a histogram. The bounds are inclusive; an open end is nil.
type Bucket struct {
	Min, Max *int64
	Count    uint64
}

// Sort orders the entries as bpftrace prints maps: by value, ascending (histograms by their
// hits), equal ones by key; texts by key.
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
	case a.IsFloat && b.IsFloat:
		return cmp.Compare(a.Float, b.Float)
	}
	return cmp.Compare(a.Int, b.Int)
}

// compareKeys orders by the parts of the keys, the first one first.
func compareKeys(a, b []Value) int {
	for i := range min(len(a), len(b)) {
		if c := compareValues(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// compareValues orders parts of one kind in the way natural to it.
func compareValues(a, b Value) int {
	switch {
	case a.Kind != b.Kind:
		return cmp.Compare(a.Kind, b.Kind)
	case a.Kind == ValueUint:
		return cmp.Compare(uint64(a.Int), uint64(b.Int))
	case a.Kind == ValueFloat:
		return cmp.Compare(a.Float, b.Float)
	case a.Kind.class() == classText:
		return cmp.Compare(a.Text, b.Text)
	case a.Kind == ValueStack:
		return cmp.Or(cmp.Compare(a.Int, b.Int), slices.Compare(a.Stack, b.Stack))
	}
	return cmp.Compare(a.Int, b.Int)
}
