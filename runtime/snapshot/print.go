package snapshot

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"gotap/runtime/object"
	"gotap/runtime/value"
)

// Options change how a snapshot prints.
type Options struct {
	Top   int             // only the entries with the largest values; 0: all
	Div   int             // values are divided by it, truncating; 0: not divided
	Name  string          // instead of the declared name
	Stack value.NameStack // nil: stacks are addresses
	Width int             // of the terminal: bars of histograms get shorter on a narrow one; 0: none
}

// Print writes the text bpftrace writes for a map, the name after the "@". Errors are those of w.
//
// Beyond bpftrace's text: stats have their deviation, extremes and quantiles behind the total, values of 4 GiB and more
// are in the bucket they belong to, units go up to E, and Top and Div apply to averages and stats too. If the range of
// an lhist is not a multiple of its step, its last bucket is a separate one.
func (s Snapshot) Print(w io.Writer, o Options) error {
	s = s.Series()
	p := printer{w: bufio.NewWriter(w), o: o, s: s}
	if p.o.Name == "" {
		p.o.Name = s.Object.Name
	}
	if p.o.Div <= 0 {
		p.o.Div = 1
	}
	entries := s.Entries
	if o.Top > 0 && len(entries) > o.Top {
		entries = entries[len(entries)-o.Top:]
	}
	for _, e := range entries {
		p.entry(e)
	}
	if k := s.Object.Kind; len(entries) > 0 && (k == object.KindAvg || k == object.KindStats) {
		p.w.WriteByte('\n')
	}
	return p.w.Flush()
}

type printer struct {
	w *bufio.Writer
	o Options
	s Snapshot
}

// entry prints one key and its value.
func (p *printer) entry(e Entry) {
	p.w.WriteString("@" + p.o.Name)
	if len(e.Key) > 0 {
		p.w.WriteByte('[')
		for i, v := range e.Key {
			if i > 0 {
				p.w.WriteString(", ")
			}
			p.w.WriteString(v.Format(p.o.Stack))
		}
		p.w.WriteByte(']')
	}
	if e.Data.Points != nil {
		p.w.WriteString(":\n")
		p.points(e.Data.Points)
		p.w.WriteByte('\n')
		return
	}
	p.w.WriteString(": ")
	p.data(e.Data)
}

// data prints a value and the end of the line.
func (p *printer) data(d Data) {
	div := int64(p.o.Div)
	switch {
	case d.Buckets != nil:
		p.w.WriteByte('\n')
		p.buckets(d.Buckets)
		p.w.WriteByte('\n')
	case d.IsText:
		p.w.WriteString(d.marked() + "\n")
	case d.Kind == object.KindStats:
		p.w.WriteString(d.over(div, false).Summary().line() + "\n")
	case d.IsFloat:
		p.w.WriteString(value.Value{Kind: value.KindFloat, Float: d.Float / float64(div)}.Format(nil) + "\n")
	case p.s.Object.Value == value.KindUint && d.Kind == object.KindMap:
		p.w.WriteString(strconv.FormatUint(uint64(d.Int)/uint64(div), 10) + "\n")
	default:
		p.w.WriteString(strconv.FormatInt(d.Int/div, 10) + "\n")
	}
}

// marked returns the text, with the mark if it was cut.
func (d Data) marked() string {
	if d.Cut {
		return d.Text + value.Cutmark
	}
	return d.Text
}

// The length of a full bar, and the shortest that a narrow terminal makes of it.
const (
	barWidth = 52
	leastBar = 8
)

// barLength returns the length of a full bar behind a label and a count.
func (o Options) barLength(label, count int) int {
	if o.Width == 0 {
		return barWidth
	}
	return min(max(o.Width-label-count-len(" ||"), leastBar), barWidth)
}

// buckets prints a histogram. Bars show the counts before they are divided, as in bpftrace.
func (p *printer) buckets(list []Bucket) {
	var most uint64
	for _, b := range list {
		most = max(most, b.Count)
	}
	const count = 8
	width := p.labelWidth(list)
	full := p.o.barLength(width, count)
	for _, b := range list {
		bar := int(float64(b.Count) / float64(most) * float64(full))
		fmt.Fprintf(p.w, "%-*s%*d |%-*s|\n", width, p.label(b), count, b.Count/uint64(p.o.Div), full, strings.Repeat("@", bar))
	}
}

// labelWidth returns the width of labels: that of bpftrace unless labels would not fit. Parts of powers have long ones.
func (p *printer) labelWidth(list []Bucket) int {
	width := 16
	if p.s.Object.Bits == 0 {
		return width
	}
	for _, b := range list {
		width = max(width, len(p.label(b)))
	}
	return width
}

// label returns the range of a bucket, half open as bpftrace writes it.
func (p *printer) label(b Bucket) string {
	unit := powerLabel
	if p.s.Object.Kind == object.KindLhist {
		unit = p.stepLabel
	}
	switch {
	case b.Min == nil:
		return "(..., " + unit(*b.Max+1) + ")"
	case b.Max == nil:
		return "[" + unit(*b.Min) + ", ...)"
	case *b.Min == *b.Max && p.s.Object.Kind == object.KindHist:
		return "[" + unit(*b.Min) + "]"
	case p.s.Object.Kind == object.KindHist && *b.Max == math.MaxInt64:
		return "[" + unit(*b.Min) + ", 8E)" // its end is not a signed number
	}
	return "[" + unit(*b.Min) + ", " + unit(*b.Max+1) + ")"
}

// powerLabel returns a power of two with the largest unit that leaves a whole number, and a part of one ("1.25K") with
// all its digits: such parts are sums of halves, quarters and so on.
func powerLabel(n int64) string {
	unit, value := 0, float64(n)
	for value >= 1024 {
		value /= 1024
		unit++
	}
	return strconv.FormatFloat(value, 'f', -1, 64) + []string{"", "K", "M", "G", "T", "P", "E"}[unit]
}

// stepLabel returns a bound of an lhist. It has K or M if both the step and the bound are multiples of 1024.
func (p *printer) stepLabel(n int64) string {
	const kilo, mega = 1 << 10, 1 << 20
	switch {
	case n == 0 || p.s.Object.Step%kilo != 0:
		return strconv.FormatInt(n, 10)
	case n%mega == 0:
		return strconv.FormatInt(n/mega, 10) + "M"
	case n%kilo == 0:
		return strconv.FormatInt(n/kilo, 10) + "K"
	}
	return strconv.FormatInt(n, 10)
}
