package top

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gotap/compile/diag"
	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
	"gotap/script/output"
	"gotap/script/output/picture"
)

// A section is a table of the screen.
type section struct {
	title   string
	columns []string
	rows    []row
	fixed   bool // the rows have an order of their own, as ranges
	bars    int  // the column whose values are bars as well; -1: none
}

// A row is a line, and what is below it when it is expanded.
type row struct {
	id     string // tells it from others of the section
	cells  []cell
	detail []string
}

// A cell is a text, or a number with its text.
type cell struct {
	text   string
	number float64
	is     bool // a number
}

func textCell(s string) cell {
	return cell{text: strings.ReplaceAll(diag.Escape(s), "\n", " ")}
}

func intCell(n int64) cell { return cell{strconv.FormatInt(n, 10), float64(n), true} }

// sectionsOf returns what a picture has, tables before aggregations. Single numbers are together in the first section.
func sectionsOf(p *picture.Picture) (all []section) {
	single := section{title: "values", columns: []string{"name", "value"}, bars: -1}
	for _, t := range p.Tables {
		all = append(all, tableSection(t))
	}
	for _, a := range p.Aggregates {
		s := a.Snapshot.With(a.Options)
		switch {
		case s.Object.Kind == object.KindHist || s.Object.Kind == object.KindLhist:
			all = append(all, histograms(s, a.Options.Stack)...)
		case s.Object.Kind == object.KindSeries:
			all = append(all, graphs(s, a.Options.Stack)...)
		case s.Object.UserKeys() == 0 && s.Object.Kind != object.KindMap && s.Object.Kind != object.KindStats:
			single.rows = append(single.rows, singleRow(s))
		default:
			all = append(all, keyed(s, a.Options.Stack))
		}
	}
	if len(single.rows) > 0 {
		all = append([]section{single}, all...)
	}
	return all
}

func singleRow(s snapshot.Snapshot) row {
	v := intCell(0)
	if len(s.Entries) > 0 {
		v = dataCell(s.Entries[0].Data, s.Object)
	}
	return row{id: s.Object.Name, cells: []cell{textCell("@" + s.Object.Name), v}}
}

// dataCell returns the value of an entry that is one value.
func dataCell(d snapshot.Data, o object.Object) cell {
	switch {
	case d.IsText:
		return textCell(d.Text)
	case d.IsFloat:
		return cell{value.NumberText(d.Float), d.Float, true}
	case o.Kind == object.KindMap && o.Value.Class() == value.ClassWord:
		v := value.FromWord(o.Value, uint64(d.Int))
		return cell{v.Format(nil), float64(d.Int), true}
	}
	return intCell(d.Int)
}

// keyed returns a section with a row for each key, the largest value first.
func keyed(s snapshot.Snapshot, stack value.NameStack) section {
	sec := section{title: "@" + diag.Escape(s.Object.Name), bars: -1}
	if len(s.Entries) > 0 {
		for i := range s.Entries[0].Key {
			name := "key"
			if len(s.Entries[0].Key) > 1 {
				name += strconv.Itoa(i + 1)
			}
			sec.columns = append(sec.columns, name)
		}
	}
	stats := s.Object.Kind == object.KindStats
	if sec.bars = len(sec.columns); stats {
		sec.columns = append(sec.columns, "count", "average", "total", "p50", "p99", "max")
	} else {
		sec.columns = append(sec.columns, "value")
	}
	for _, e := range slices.Backward(s.Entries) {
		r := keyRow(e.Key, stack)
		if stats {
			sum := e.Data.Summary()
			r.cells = append(r.cells, intCell(sum.Count))
			for _, v := range []value.Value{sum.Average, sum.Total, sum.Quantiles[0], sum.Quantiles[2], sum.Max} {
				r.cells = append(r.cells, cell{v.Format(nil), v.Number(), true})
			}
		} else {
			r.cells = append(r.cells, dataCell(e.Data, s.Object))
		}
		sec.rows = append(sec.rows, r)
	}
	return sec
}

// keyRow returns a row with a key. Of a stack the innermost function is in the row and the rest is its detail.
func keyRow(key []value.Value, stack value.NameStack) (r row) {
	for _, v := range key {
		if v.Kind != value.KindStack {
			c := textCell(v.Format(nil))
			r.cells, r.id = append(r.cells, c), r.id+c.text+"\x00"
			continue
		}
		frames := v.Frames(stack)
		name := "(no stack)"
		for i, f := range frames {
			f = textCell(strings.TrimSpace(f)).text
			if i == 0 {
				name = textCell(picture.FrameName(f)).text
			}
			r.detail, r.id = append(r.detail, f), r.id+f+"\x00"
		}
		r.cells = append(r.cells, textCell(name))
	}
	return r
}

// keyTitle names one key of an aggregation.
func keyTitle(s snapshot.Snapshot, e snapshot.Entry, stack value.NameStack) string {
	title := "@" + diag.Escape(s.Object.Name)
	if len(e.Key) == 0 {
		return title
	}
	var parts []string
	for _, c := range keyRow(e.Key, stack).cells {
		parts = append(parts, c.text)
	}
	return title + "[" + strings.Join(parts, ", ") + "]"
}

// histograms returns a section for each key, the one with the most hits first.
func histograms(s snapshot.Snapshot, stack value.NameStack) (all []section) {
	for _, e := range slices.Backward(s.Entries) {
		sec := section{title: keyTitle(s, e, stack), columns: []string{"range", "count"}, fixed: true, bars: 1}
		for _, b := range e.Data.Buckets {
			r := textCell(rangeText(b))
			sec.rows = append(sec.rows, row{id: r.text, cells: []cell{r, {strconv.FormatUint(b.Count, 10), float64(b.Count), true}}})
		}
		all = append(all, sec)
	}
	return all
}

func rangeText(b snapshot.Bucket) string {
	switch {
	case b.Min == nil && b.Max == nil:
		return "all"
	case b.Min == nil:
		return fmt.Sprintf("to %d", *b.Max)
	case b.Max == nil:
		return fmt.Sprintf("from %d", *b.Min)
	case *b.Min == *b.Max:
		return strconv.FormatInt(*b.Min, 10)
	}
	return fmt.Sprintf("%d to %d", *b.Min, *b.Max)
}

// mostPoints is how many intervals of a time series are shown, the latest.
const mostPoints = 20

// graphs returns a section with the latest intervals for each key.
func graphs(s snapshot.Snapshot, stack value.NameStack) (all []section) {
	for _, e := range slices.Backward(s.Entries) {
		sec := section{title: keyTitle(s, e, stack), columns: []string{"from", "value"}, fixed: true, bars: 1}
		points := e.Data.Points
		for _, p := range points[max(0, len(points)-mostPoints):] {
			c := intCell(p.Value)
			if p.Empty {
				c = textCell("-")
			}
			from := time.Unix(0, p.Start+s.Object.Init).Format("15:04:05.000")
			sec.rows = append(sec.rows, row{id: from, cells: []cell{textCell(from), c}})
		}
		all = append(all, sec)
	}
	return all
}

// tableSection returns a table of the script. A stack in a cell is the detail of its row.
func tableSection(t output.Table) section {
	sec := section{title: diag.Escape(cmp.Or(t.Name, "table")), bars: -1}
	for _, c := range t.Columns {
		sec.columns = append(sec.columns, textCell(c).text)
	}
	for _, cells := range t.Rows {
		var r row
		for _, v := range cells {
			c, lines := anyCell(v)
			r.cells, r.detail = append(r.cells, c), append(r.detail, lines...)
			if !c.is {
				r.id += c.text + "\x00"
			}
		}
		sec.rows = append(sec.rows, r)
	}
	return sec
}

// anyCell returns a cell of a table, and its lines when it has several.
func anyCell(v any) (c cell, lines []string) {
	switch v := v.(type) {
	case nil:
		return textCell("-"), nil
	case int:
		return intCell(int64(v)), nil
	case int64:
		return intCell(v), nil
	case uint64:
		return cell{strconv.FormatUint(v, 10), float64(v), true}, nil
	case float64:
		return cell{value.NumberText(v), v, true}, nil
	case []any:
		for _, one := range v {
			lines = append(lines, textCell(fmt.Sprint(one)).text)
		}
	case []string:
		for _, one := range v {
			lines = append(lines, textCell(one).text)
		}
	default:
		for _, one := range strings.Split(fmt.Sprint(v), "\n") {
			lines = append(lines, textCell(one).text)
		}
	}
	if len(lines) < 2 {
		return textCell(strings.Join(lines, "")), nil
	}
	return textCell(lines[0]), lines
}

// arrange returns the rows that a filter leaves, in an order: by a column, -1 the script's own.
func (s section) arrange(filter string, column int, down bool) []row {
	rows := slices.Clone(s.rows)
	if filter != "" {
		filter = strings.ToLower(filter)
		rows = slices.DeleteFunc(rows, func(r row) bool { return !r.matches(filter) })
	}
	if s.fixed || column < 0 {
		return rows
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		c := compare(a.at(column), b.at(column))
		if down {
			return -c
		}
		return c
	})
	return rows
}

func (r row) at(column int) cell {
	if column < len(r.cells) {
		return r.cells[column]
	}
	return cell{}
}

// matches reports whether a text in lower case is in the row or its detail.
func (r row) matches(filter string) bool {
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), filter) }
	return slices.ContainsFunc(r.cells, func(c cell) bool { return has(c.text) }) || slices.ContainsFunc(r.detail, has)
}

func compare(a, b cell) int {
	if a.is && b.is {
		return cmp.Compare(a.number, b.number)
	}
	return cmp.Compare(a.text, b.text)
}
