// Package diag is how the compiler talks to the person who wrote the text: a place, a message, and what to do instead.
//
// A Source knows its lines; a Diagnostic keeps compact byte offsets into it, which become line and column only when
// it is printed. Columns count from 1, in characters, not bytes. Printed form:
//
//	trace.js:3:9: error: cannot use an array in a program
//	  const a = [1, 2];
//	            ^^^^^^
//	called from trace.js:9:14
//	hint: use a map(), or separate variables
//
// The calls are there in a function that is copied into a program where it is called: what is wrong may depend on the
// call.
package diag

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// Source is one text that is compiled. It is immutable.
type Source struct {
	Name  string // as the user knows it: the path given, or "-e"
	Text  string
	lines []int // byte offset of each line's start
}

// NewSource indexes the lines of a text.
func NewSource(name, text string) *Source {
	s := &Source{Name: name, Text: text, lines: []int{0}}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// Position is a place in a source, for people.
type Position struct {
	File string
	Line int // from 1
	Col  int // from 1, in characters
}

func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }

// Position converts a byte offset, which is clamped to the text.
func (s *Source) Position(offset int) Position {
	offset = max(0, min(offset, len(s.Text)))
	line := sort.SearchInts(s.lines, offset+1) - 1
	return Position{s.Name, line + 1, utf8.RuneCountInString(s.Text[s.lines[line]:offset]) + 1}
}

// Offset is the byte offset of a line and a column counted in characters, both from 1.
func (s *Source) Offset(line, col int) int {
	if line < 1 || line > len(s.lines) {
		return len(s.Text)
	}
	at := s.lines[line-1]
	for ; col > 1 && at < len(s.Text); col-- {
		_, n := utf8.DecodeRuneInString(s.Text[at:])
		at += n
	}
	return at
}

// Line is the text of a line, counted from 1, without its end.
func (s *Source) Line(n int) string {
	if n < 1 || n > len(s.lines) {
		return ""
	}
	text := s.Text[s.lines[n-1]:]
	if end := strings.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	return strings.TrimSuffix(text, "\r")
}

// Span is a piece of a source, as byte offsets.
type Span struct {
	Source     *Source
	Start, End int
	Call       *Span // in a function that is copied into a program: the call; nil in the program itself
}

// Severity distinguishes errors from warnings.
type Severity uint8

// The severities.
const (
	Error Severity = iota
	Warning
)

// Diagnostic is one thing that is wrong.
type Diagnostic struct {
	Span     Span // Source nil: no place known
	Severity Severity
	Text     string // lower case, no full stop
	Hint     string // what to do instead; may be ""
	columns  int    // of the terminal, if it is narrow
}

// wide is the number of columns from which a terminal is wide enough for lines of scripts: what does not fit goes on in
// the next line.
const wide = 80

// Fit returns the diagnostic as it is printed on a terminal of so many columns: on a narrow one the source line is cut
// around the place, so that the carets stay below it. Without a terminal, columns is 0.
func (d Diagnostic) Fit(columns int) Diagnostic {
	if d.columns = 0; columns >= narrowest && columns < wide {
		d.columns = columns
	}
	return d
}

// Fit returns the list with each diagnostic made to fit.
func (l List) Fit(columns int) List {
	fitting := make(List, len(l))
	for i, d := range l {
		fitting[i] = d.Fit(columns)
	}
	return fitting
}

// List is all that a stage found, in the order found. As an error it prints whole.
type List []Diagnostic

// Errorf adds an error.
func (l *List) Errorf(at Span, hint, format string, args ...any) {
	*l = append(*l, Diagnostic{Span: at, Severity: Error, Text: fmt.Sprintf(format, args...), Hint: hint})
}

// Warnf adds a warning.
func (l *List) Warnf(at Span, hint, format string, args ...any) {
	*l = append(*l, Diagnostic{Span: at, Severity: Warning, Text: fmt.Sprintf(format, args...), Hint: hint})
}

// HasErrors reports whether there is anything worse than a warning.
func (l List) HasErrors() bool {
	for _, d := range l {
		if d.Severity == Error {
			return true
		}
	}
	return false
}

// Err is the list as an error, or nil when it holds no error.
func (l List) Err() error {
	if !l.HasErrors() {
		return nil
	}
	return l
}

// Error prints every diagnostic, as the user is to see it.
func (l List) Error() string {
	var b strings.Builder
	for _, d := range l {
		b.WriteString(d.String())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// String is the diagnostic with its source line and carets, ending in a newline.
func (d Diagnostic) String() string {
	var b strings.Builder
	word := [...]string{"error", "warning"}[d.Severity]
	if d.Span.Source == nil {
		fmt.Fprintf(&b, "%s: %s\n", word, Escape(d.Text))
	} else {
		pos := d.Span.Source.Position(d.Span.Start)
		fmt.Fprintf(&b, "%s: %s: %s\n", Escape(pos.String()), word, Escape(d.Text))
		b.WriteString(d.echo(pos))
	}
	b.WriteString(d.Span.callLines())
	if d.Hint != "" {
		fmt.Fprintf(&b, "hint: %s\n", Escape(d.Hint))
	}
	return b.String()
}

// echo is the source line with carets under the span, as far as it lies on that line.
func (d Diagnostic) echo(pos Position) string {
	line := d.Span.Source.Line(pos.Line)
	if strings.TrimSpace(line) == "" {
		return ""
	}
	before, rest := split(line, pos.Col-1)
	width := utf8.RuneCountInString(d.Span.Source.text(d.Span))
	width = max(1, min(width, utf8.RuneCountInString(rest)))
	line, before, width = narrow(line, before, width)
	if d.columns > 0 {
		line, before, width = fitted(line, before, width, d.columns-indent)
	}
	under, _ := split(line[min(len(before), len(line)):], width)
	return "  " + printable(line) + "\n  " + blank(before) + strings.Repeat("^", max(1, Columns(under))) + "\n"
}

// Of a long line, as in generated scripts and in binary files, only the part around the place is shown.
const (
	widest  = 300 // characters that are shown whole
	context = 100 // before and after the place in a longer line
	more    = "…"
)

const (
	indent    = 2  // blanks before the source line
	narrowest = 20 // columns of a terminal; nothing is cut on one that has fewer
)

// fitted cuts a line to so many columns around the place, and what is before the place in it.
func fitted(line, before string, width, columns int) (string, string, int) {
	line, before = strings.ReplaceAll(line, "\t", " "), strings.ReplaceAll(before, "\t", " ")
	runes, at := []rune(line), utf8.RuneCountInString(before)
	if Columns(line) <= columns {
		return line, before, width
	}
	room := columns - 2*Columns(more)
	first, last := at, at
	for last < len(runes) && last < at+width && Columns(string(runes[first:last+1])) <= room {
		last++
	}
	width = max(1, last-first)
	for grown := true; grown; { // on both sides in turn
		grown = false
		if first > 0 && Columns(string(runes[first-1:last])) <= room {
			first, grown = first-1, true
		}
		if last < len(runes) && Columns(string(runes[first:last+1])) <= room {
			last, grown = last+1, true
		}
	}
	line, before = piece(runes, first, at, last)
	return line, before, width
}

// narrow cuts a long line, and what is before the place in it, to a piece around the place.
func narrow(line, before string, width int) (string, string, int) {
	runes := []rune(line)
	if len(runes) <= widest {
		return line, before, width
	}
	at := utf8.RuneCountInString(before)
	width = min(width, context)
	first, last := max(0, at-context), min(len(runes), at+width+context)
	line, before = piece(runes, first, at, last)
	return line, before, width
}

// piece returns a part of a line with marks where it is cut, and what is in it before a place.
func piece(runes []rune, first, at, last int) (text, before string) {
	head, tail := "", ""
	if first > 0 {
		head = more
	}
	if last < len(runes) {
		tail = more
	}
	return head + string(runes[first:last]) + tail, head + string(runes[first:at])
}

// text is the first line of a span.
func (s *Source) text(sp Span) string {
	start, end := max(0, min(sp.Start, len(s.Text))), max(0, min(sp.End, len(s.Text)))
	if end < start {
		return ""
	}
	first, _, _ := strings.Cut(s.Text[start:end], "\n")
	return first
}

func split(line string, chars int) (before, rest string) {
	for i := range line {
		if chars == 0 {
			return line[:i], line[i:]
		}
		chars--
	}
	return line, ""
}

// blank takes as much room as a text, wherever it is shown: under tabs are tabs and under wide characters the blank
// that is as wide as they are, in fonts as well that have them a little more or less than two columns wide. So the
// carets stand in the diagnostic's column for who counts characters too.
func blank(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch columns := columnsOf(r); {
		case r == '\t':
			b.WriteRune(r)
		case columns == 2:
			b.WriteRune('\u3000')
		default:
			b.WriteString(" "[:columns])
		}
	}
	return b.String()
}

// printable keeps control characters of a source from reaching the terminal.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if IsControl(r) {
			return '\ufffd'
		}
		return r
	}, line)
}
