package diag

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPositions(t *testing.T) {
	s := NewSource("a.js", "let é = 1;\r\n\tx\n")
	for _, c := range []struct{ offset, line, col int }{
		{0, 1, 1}, {4, 1, 5}, {6, 1, 6}, {13, 2, 1}, {14, 2, 2}, {15, 2, 3}, {16, 3, 1}, {99, 3, 1}, {-1, 1, 1},
	} {
		p := s.Position(c.offset)
		if p.Line != c.line || p.Col != c.col {
			t.Errorf("offset %d is at %v, want %d:%d", c.offset, p, c.line, c.col)
		}
		if back := s.Offset(c.line, c.col); c.offset >= 0 && c.offset <= len(s.Text) && back != c.offset {
			t.Errorf("%d:%d is at offset %d, want %d", c.line, c.col, back, c.offset)
		}
	}
	if s.Line(1) != "let é = 1;" || s.Line(2) != "\tx" || s.Line(9) != "" {
		t.Errorf("lines %q %q %q", s.Line(1), s.Line(2), s.Line(9))
	}
}

func TestPrinting(t *testing.T) {
	s := NewSource("a.js", "\té = \x1b[1];\n")
	var l List
	l.Warnf(Span{s, 1, 3}, "", "one character")
	if l.Err() != nil {
		t.Error("a warning is an error")
	}
	l.Errorf(Span{s, 6, 99}, "say it otherwise", "cut at the %s", "end")
	l.Errorf(Span{}, "", "nowhere")
	want := strings.Join([]string{
		"a.js:1:2: warning: one character",
		"  \té = \ufffd[1];",
		"  \t^",
		"a.js:1:6: error: cut at the end",
		"  \té = \ufffd[1];",
		"  \t    ^^^^^",
		"hint: say it otherwise",
		"error: nowhere",
	}, "\n")
	if got := l.Err().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestLongLines shows a piece around the place of a line that would fill the terminal, with the carets under the same text.
func TestLongLines(t *testing.T) {
	for _, before := range []int{0, 50, 1000} {
		text := strings.Repeat("é", before) + "here" + strings.Repeat("x", 5000)
		d := Diagnostic{Span: Span{NewSource("a.js", text), 2 * before, 2*before + 4}, Text: "wrong"}
		lines := strings.Split(d.String(), "\n")
		if n := utf8.RuneCountInString(lines[1]); n > 250 {
			t.Errorf("%d before: %d characters are shown", before, n)
		}
		at := strings.Index(lines[2], "^")
		if shown := string([]rune(lines[1])[at:][:4]); shown != "here" || strings.Count(lines[2], "^") != 4 {
			t.Errorf("%d before: carets under %q\n%s", before, shown, d)
		}
	}
}
