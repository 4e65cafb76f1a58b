package snapshot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gotap/runtime/object"
	"gotap/runtime/value"
)

// The graph of a series.
const (
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

// Series combines the intervals of a time series. The result has one entry for each key without the interval number;
// the data of an entry are points, oldest first. All entries end with the last interval of any key. They begin Size
// intervals before that, or where the key was first seen. Series returns snapshots of other objects, and snapshots that
// it made itself, unchanged.
func (s Snapshot) Series() Snapshot {
	if s.Object.Kind != object.KindSeries || len(s.Entries) > 0 && s.Entries[0].Data.Points != nil {
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
		return value.Compare(a.Key[0], b.Key[0])
	})
	out := Snapshot{Object: s.Object}
	out.Object.Keys = s.Object.UserKeys()
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && compareKeys(entries[n].Key[1:], entries[0].Key[1:]) == 0 {
			n++
		}
		if points := points(&s.Object, entries[:n], last); len(points) > 0 {
			out.Entries = append(out.Entries, Entry{Key: entries[0].Key[1:], Data: seriesData(&s.Object, points)})
		}
		entries = entries[n:]
	}
	out.Sort()
	return out
}

// points returns the intervals of one key up to the last interval of any key, including those without hits.
func points(o *object.Object, entries []Entry, last int64) []Point {
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
		p.Empty = p.Empty && o.Of != object.KindSum // an empty sum is 0
		list = append(list, p)
	}
	return list
}

// seriesData returns the data of one key. Entries are ordered by its Int: the total for sums, the largest value for
// other kinds.
func seriesData(o *object.Object, points []Point) Data {
	d := Data{Kind: object.KindSeries, Points: points, Count: int64(len(points)), Int: points[0].Value}
	for _, p := range points {
		d.Sum += p.Value
		d.Int = max(d.Int, p.Value)
	}
	if o.Of == object.KindSum {
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
			list = append(list, jsonPoint{at.Format(time.RFC3339Nano), value.JSONInt(p.Value)})
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
