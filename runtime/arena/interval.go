package arena

import (
	"gotap/runtime/object"
	"gotap/runtime/value"
)

// A time series is a table whose keys begin with an interval number: the monotonic clock at the hit divided by the
// length of the interval. Object.Keys counts that part too. Programs build the rest of the key, and Machine.aggregate
// prepends the number. The host supplies the number itself. Intervals that are no longer shown make room for new ones,
// because their keys were written longest ago. Only evicted intervals that are still shown count as loss.
//
// A ring of cells for each key would not do: a cell would have to be emptied when its turn comes again, while other
// threads add to it. The table already handles that.

// RefineUse is Refine for the key that a program builds. For a series the machine prepends the interval number to that
// key.
func (a *Arena) RefineUse(id int, keys []value.Kind, v value.Kind) error {
	if o, _ := a.Lookup(id); o.Kind == object.KindSeries {
		keys = append([]value.Kind{value.KindInt}, keys...)
	}
	return a.Refine(id, keys, v)
}

// outdated reports whether an evicted key belongs to an interval that is no longer shown.
func (st *Storage) outdated(gone uint64, by []uint64) bool {
	return st.Kind == object.KindSeries && int64(by[0])-int64(gone) >= int64(st.Size)
}
