package lines

import (
	"maps"
	"path"
	"slices"
)

// Span is a part of a source file: lines from First to Last, and of them what begins in a column, if Column is not 0.
type Span struct {
	File        string
	First, Last int
	Column      int
}

// Place is where to stop for a line.
type Place struct {
	Addr uint64
	Line int
}

// maxSpan bounds the places of a span.
const maxSpan = 100_000

// In returns where to stop for each line of a span that has code, as Addrs does, in the order of lines. The error for a
// span without code is an *Error.
func (lt *Tables) In(span Span) ([]Place, error) {
	s := search{lt: lt, file: path.Clean(span.File), lines: map[int]bool{}, column: span.Column}
	tables, err := s.tables()
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		s.collect(t)
	}
	var places []Place
	for _, line := range slices.Sorted(maps.Keys(s.lines)) {
		if line < span.First || line > span.Last {
			continue
		}
		s.line, s.addrs = line, nil
		for _, t := range tables {
			s.table(t)
		}
		slices.Sort(s.addrs)
		for _, addr := range slices.Compact(s.addrs) {
			if places = append(places, Place{addr, line}); len(places) == maxSpan {
				return places, nil
			}
		}
	}
	if len(places) == 0 {
		return nil, &Error{File: span.File, Line: span.First, Last: span.Last, Column: span.Column, Columns: s.columns(tables, span),
			Nearest: nearestLines(s.lines, span.First), Files: s.similar()}
	}
	return places, nil
}

// collect notes the lines of the file that have code in a unit.
func (s *search) collect(t *Table) {
	for _, row := range t.rows {
		if !row.end && row.Line > 0 && s.matches(t.files[row.File]) {
			s.lines[int(row.Line)] = true
		}
	}
}

// columns are those in which code of the span begins.
func (s *search) columns(tables []*Table, span Span) []int {
	have := map[int]bool{}
	for _, t := range tables {
		for _, row := range t.rows {
			if !row.end && row.column > 0 && int(row.Line) >= span.First && int(row.Line) <= span.Last && s.matches(t.files[row.File]) {
				have[int(row.column)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(have))
}
