package output

import (
	"regexp"
	"strings"
	"testing"

	"gotap/compile/diag"
)

// TestPaint: the colours are where they belong, and without them the text is as it was.
func TestPaint(t *testing.T) {
	src := diag.NewSource("a.js", "let x = ^1;\n")
	for _, d := range []diag.Diagnostic{
		{Span: diag.Span{Source: src, Start: 4, End: 5}, Text: "it is error: wrong", Hint: "write hint: no"},
		{Span: diag.Span{Source: src, Start: 8, End: 10}, Severity: diag.Warning, Text: "odd"},
		{Text: "no place"},
	} {
		painted := Paint(d)
		if bare := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(painted, ""); bare != d.String() {
			t.Errorf("painted %q, want %q", bare, d.String())
		}
		if n := strings.Count(painted, plain); n != strings.Count(painted, "\x1b")/2 || n < 1 {
			t.Errorf("%q", painted)
		}
	}
	want := "a.js:1:5: " + red + "error:" + plain + " x\n  let x = ^1;\n      " + green + "^" + plain + "\n" + cyan + "hint:" + plain + " y\n"
	if got := Paint(diag.Diagnostic{Span: diag.Span{Source: src, Start: 4, End: 5}, Text: "x", Hint: "y"}); got != want {
		t.Errorf("painted %q, want %q", got, want)
	}
}

// TestColoursOfText: a sink paints what it was told to paint.
func TestColoursOfText(t *testing.T) {
	var data, complaints strings.Builder
	text := NewText(&data, &complaints)
	text.Error(diag.Diagnostic{Text: "x"})
	text.Colours = true
	text.Error(diag.Diagnostic{Text: "x"})
	if want := "error: x\n" + red + "error:" + plain + " x\n"; complaints.String() != want {
		t.Errorf("%q, want %q", complaints.String(), want)
	}
}
