package runtime

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A time series is a table whose keys begin with an interval number: the monotonic clock at the hit divided by the
// length of the interval. Object.Keys counts that part too. Programs build the rest of the key, and Machine.aggregate
// prepends the number. The host supplies the number itself. Intervals that are no longer shown make room for new ones,
// because their keys were written longest ago. Only evicted intervals that are still shown count as loss.
//
// A ring of cells for each key would not do: a cell would have to be emptied when its turn comes again, while other
// threads add to it. The table already handles that.

// Limits of a series.
const (
	MaxIntervals    = 10_000
	minInterval     = int64(100 * time.Microsecond)
	defaultSeries   = 64 // default number of keys
	graphWidth      = 53 // bpftrace's
	graphLabel      = 21
	graphTimeFormat = "15:04:05"
)

// Point is the value of a series in one interval.
type Point struct {
	Start int64 // of the interval, in monotonic nanoseconds
	Value int64
	Empty bool // nothing was added in this interval
}

// checkSeries returns an error if the declaration of a series is invalid.
func (o *Object) checkSeries() error {
	switch {
	case o.Step < minInterval:
		return fmt.Errorf("the interval is %v: it must be at least %v", time.Duration(o.Step), time.Duration(minInterval))
	case o.Size < 1 || o.Size > MaxIntervals:
		return fmt.Errorf("%d intervals: there can be 1 to %d", o.Size, MaxIntervals)
	case o.Keys == 0:
		return errors.New("the number of the interval is part of its key: keys is 0")
	case int64(o.Max)*int64(o.Size) > MaxKeys:
		return fmt.Errorf("%d intervals of %d keys: there can be %d in all", o.Size, o.Max, MaxKeys)
	case o.Full != FullEvict:
		return errors.New("intervals that have passed must make room: full is not FullEvict")
	}
	switch o.Of {
	case KindSum, KindMin, KindMax, KindAvg:
		return nil
	}
	return fmt.Errorf("an interval cannot hold a %v", o.Of)
}

// Interval returns the number of the interval that contains a time in monotonic nanoseconds. Intervals are aligned to
// the wall clock: intervals of one second begin with the second.
func (o *Object) Interval(at int64) int64 { return (at + o.Init) / o.Step }

// UserKeys returns the number of key parts that the script supplies. It is negative while that number is undecided.
func (o *Object) UserKeys() int {
	if o.Kind == KindSeries && o.Keys > 0 {
		return o.Keys - 1
	}
	return o.Keys
}

// RefineUse is Refine for the key that a program builds. For a series the machine prepends the interval number to that
// key.
func (a *Arena) RefineUse(id int, keys []ValueKind, value ValueKind) error {
	if o, _ := a.Lookup(id); o.Kind == KindSeries {
		keys = append([]ValueKind{ValueInt}, keys...)
	}
	return a.Refine(id, keys, value)
}

// rows returns the number of cells of a series whose keys have the given number of parts. It has room for one interval
// more than is shown, because the oldest is evicted only after the newest has arrived.
func (o *Object) rows(parts int) int {
	keys := o.Max
	switch {
	case parts == 1:
		keys = 1
	case keys == 0:
		keys = defaultSeries
	}
	return min(keys*(o.Size+1), MaxKeys)
}

// outdated reports whether an evicted key belongs to an interval that is no longer shown.
func (st *storage) outdated(gone uint64, by []uint64) bool {
	return st.Kind == KindSeries && int64(by[0])-int64(gone) >= int64(st.Size)
}

// Series combines the intervals of a time series. The result has one entry for each key without the interval number;
// the data of an entry are points, oldest first. All entries end with the last interval of any key. They begin Size
// intervals before that, or where the key was first seen. Series returns snapshots of other objects, and snapshots that
// it made itself, unchanged.
func (s Snapshot) Series() Snapshot {
	if s.Object.Kind != KindSeries || len(s.Entries) > 0 && s.Entries[0].Data.Points != nil {
		return s
	}
	last := int64(math.MinInt64)
	for _, e := range s.Entries {
		last = max(last, e.Key[0].Int)
	}
	entries := slices.Clone(s.Entries)
	slices.SortStableFunc(entries, func(a, b Entry) int {
		if c := compareKeys(a.Key[1:], b.Key[1:]); c != 0 {
			return c
		}
		return compareValues(a.Key[0], b.Key[0])
	})
	out := Snapshot{Object: s.Object}
	out.Object.Keys = s.Object.UserKeys()
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && compareKeys(entries[n].Key[1:], entries[0].Key[1:]) == 0 {
			n++
		}
		if points := s.Object.points(entries[:n], last); len(points) > 0 {
			out.Entries = append(out.Entries, Entry{Key: entries[0].Key[1:], Data: s.Object.seriesData(points)})
		}
		entries = entries[n:]
	}
	out.Sort()
	return out
}

// points returns the intervals of one key up to the last interval of any key, including those without hits.
func (o *Object) points(entries []Entry, last int64) []Point {
	for len(entries) > 0 && last-entries[0].Key[0].Int >= int64(o.Size) {
		entries = entries[1:]
	}
	if len(entries) == 0 {
		return nil
	}
	var list []Point
	for n := entries[0].Key[0].Int; n <= last; n++ {
		p := Point{Start: n*o.Step - o.Init, Empty: true}
		if len(entries) > 0 && entries[0].Key[0].Int == n {
			p.Value, p.Empty = entries[0].Data.Int, false
			entries = entries[1:]
		}
		p.Empty = p.Empty && o.Of != KindSum // an empty sum is 0
		list = append(list, p)
	}
	return list
}

// seriesData returns the data of one key. Entries are ordered by its Int: the total for sums, the largest value for
// other kinds.
func (o *Object) seriesData(points []Point) Data {
	d := Data{Kind: KindSeries, Points: points, Count: int64(len(points)), Int: points[0].Value}
	for _, p := range points {
		d.Sum += p.Value
		d.Int = max(d.Int, p.Value)
	}
	if o.Of == KindSum {
		d.Int = d.Sum
	}
	return d
}

// pointsJSON returns a list of points without the intervals that have no value.
func (s Snapshot) pointsJSON(points []Point) []jsonPoint {
	list := []jsonPoint{}
	for _, p := range points {
		if !p.Empty {
			at := time.Unix(0, p.Start+s.Object.Init).UTC()
			list = append(list, jsonPoint{at.Format(time.RFC3339Nano), JSONInt(p.Value)})
		}
	}
	return list
}

// points prints a series as bpftrace does: time runs downwards, and a star marks the value between the minimum and the
// maximum.
func (p *printer) points(list []Point) {
	lo, hi := extremes(list)
	digits, unit := fraction(p.s.Object.Step)
	clock := "hh:mm:ss" + unit
	wide := len(graphTimeFormat) + digits
	div := int64(p.o.Div)
	scale := fmt.Sprintf("%*s %-*d%*d\n", wide, "", graphLabel, lo/div, graphWidth-graphLabel, hi/div)
	p.w.WriteString(scale)
	fmt.Fprintf(p.w, "%-*s |%s|\n", wide, clock, strings.Repeat("_", graphWidth-2))
	for _, point := range list {
		p.w.WriteString(clockText(point.Start+p.s.Object.Init, digits) + " ")
		p.w.WriteString(graphLine(point, lo, hi))
		if point.Empty {
			p.w.WriteString(" -\n")
			continue
		}
		p.w.WriteString(" " + strconv.FormatInt(point.Value/div, 10) + "\n")
	}
	fmt.Fprintf(p.w, "%*s v%sv\n", wide, "", strings.Repeat("_", graphWidth-2))
	p.w.WriteString(scale)
}

// extremes returns the minimum and the maximum value. It always returns two different values.
func extremes(list []Point) (lo, hi int64) {
	lo, hi = math.MaxInt64, math.MinInt64
	for _, p := range list {
		if !p.Empty {
			lo, hi = min(lo, p.Value), max(hi, p.Value)
		}
	}
	if lo != hi {
		return lo, hi
	}
	if lo != 0 && lo != math.MinInt64 {
		lo-- // so that the value 0 stays the lower edge: counts are not negative
	}
	if hi != math.MaxInt64 {
		hi++
	}
	return lo, hi
}

// graphLine returns one line of the graph: its edges, a dot at zero if zero is between the extremes, and the star.
func graphLine(p Point, lo, hi int64) string {
	line := []byte("|" + strings.Repeat(" ", graphWidth-2) + "|")
	if lo < 0 && hi > 0 {
		line[graphColumn(0, lo, hi)] = '.'
	}
	if !p.Empty {
		line[graphColumn(p.Value, lo, hi)] = '*'
	}
	return string(line)
}

// graphColumn returns the column of a value between the extremes.
func graphColumn(v, lo, hi int64) int {
	at := (float64(v) - float64(lo)) / (float64(hi) - float64(lo)) * (graphWidth - 1)
	return min(max(int(at), 0), graphWidth-1)
}

// fraction returns how many characters the fraction of a second needs for an interval, including the decimal point, and
// the placeholder for them.
func fraction(step int64) (digits int, unit string) {
	switch {
	case step%int64(time.Second) == 0:
		return 0, ""
	case step%int64(time.Millisecond) == 0:
		return 4, ".ms"
	}
	return 7, ".us"
}

// clockText formats a time of the wall clock in the local time zone.
func clockText(at int64, digits int) string {
	format := graphTimeFormat
	if digits > 0 {
		format += "." + strings.Repeat("0", digits-1)
	}
	return time.Unix(0, at).Format(format)
}
