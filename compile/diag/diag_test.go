package diag

import (
	"encoding/json"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"gotap/engine/testenv"
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

// On a narrow terminal no source line is wider than it, and the carets stand under the place.
func TestFit(t *testing.T) {
	line := "\tprobe(\"libc:malloc\", c => { const 長い名前 = c.arg0 + c.arg1; missing(長い名前, c.arg2); }); // and a comment"
	s := NewSource("a.js", line)
	for _, word := range []string{"probe", "c.arg0", "長い名前", "missing", "comment", line} {
		at := strings.Index(line, word)
		whole := Diagnostic{Span: Span{Source: s, Start: at, End: at + len(word)}, Text: "wrong"}
		if whole.Fit(0).String() != whole.String() || whole.Fit(200).String() != whole.String() {
			t.Errorf("%s: cut where there is room", word)
		}
		lines := strings.Split(whole.Fit(40).String(), "\n")
		if len(lines) != 4 || Columns(lines[1]) > 40 || Columns(lines[2]) > 40 {
			t.Errorf("%s: %q", word, lines)
			continue
		}
		carets := strings.Index(lines[2], "^")
		under := []rune(lines[1])[utf8.RuneCountInString(lines[2][:carets]):]
		if want := []rune(strings.ReplaceAll(word, "\t", " ")); Columns(lines[2][:carets]) != Columns(string([]rune(lines[1])[:len([]rune(lines[1]))-len(under)])) || under[0] != want[0] {
			t.Errorf("%s: the carets are under %q\n%s", word, string(under), strings.Join(lines, "\n"))
		}
	}
}

func TestPrinting(t *testing.T) {
	s := NewSource("a.js", "\té = \x1b[1];\n")
	var l List
	l.Warnf(Span{Source: s, Start: 1, End: 3}, "", "one character")
	if l.Err() != nil {
		t.Error("a warning is an error")
	}
	l.Errorf(Span{Source: s, Start: 6, End: 99}, "say it otherwise", "cut at the %s", "end")
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

// Wide characters take two columns of a terminal and marks none: what wcwidth of the C library says.
func TestWideLines(t *testing.T) {
	text := "f(\"漢字 e\u0301 😀\", 名前);"
	at := strings.Index(text, "名前")
	got := strings.Split(Diagnostic{Span: Span{Source: NewSource("a.js", text), Start: at, End: at + len("名前")}, Text: "wrong"}.String(), "\n")
	under := "   \u3000\u3000   \u3000   " // of the mark on the e there is nothing
	if got[0] != "a.js:1:14: error: wrong" || got[2] != "  "+under+"^^^^" || Columns(under) != Columns(text[:at]) {
		t.Errorf("%q", got)
	}
}

// TestColumns compares with the C library, which an interpreter asks.
func TestColumns(t *testing.T) {
	testenv.Require(t, testenv.Python3)
	texts := []string{"", "abc", "漢字", "é", "e\u0301", "한글", "ｆｕｌｌ", "カナ", "ﾊﾝｶｸ", "😀", "ü\u0308", "\u200b", "→…│", "Ω", "עברית", "𠀀"}
	program := "import ctypes, json, locale, sys\nlocale.setlocale(locale.LC_ALL, 'C.UTF-8')\nlibc = ctypes.CDLL(None)\n" +
		"print(' '.join(str(libc.wcswidth(ctypes.c_wchar_p(s), 1000)) for s in json.loads(sys.argv[1])))"
	arg, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	want, err := exec.Command("python3", "-c", program, string(arg)).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range strings.Fields(string(want)) {
		if got := Columns(texts[i]); strconv.Itoa(got) != n {
			t.Errorf("%q takes %d columns, the C library says %s", texts[i], got, n)
		}
	}
}

// TestLongLines shows a piece around the place of a line that would fill the terminal, with the carets under the same
// text.
func TestLongLines(t *testing.T) {
	for _, before := range []int{0, 50, 1000} {
		text := strings.Repeat("é", before) + "here" + strings.Repeat("x", 5000)
		d := Diagnostic{Span: Span{Source: NewSource("a.js", text), Start: 2 * before, End: 2*before + 4}, Text: "wrong"}
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

// Calls by which a place was reached are below the carets, the innermost first, and in one line where that is the text.
func TestCalls(t *testing.T) {
	s := NewSource("a.js", "f(1);\ng();\n")
	d := Diagnostic{Span: Span{s, 2, 3, &Span{s, 6, 9, nil}}, Text: "wrong", Hint: "right"}
	if want := "a.js:1:3: error: wrong\n  f(1);\n    ^\ncalled from a.js:2:1\nhint: right\n"; d.String() != want {
		t.Errorf("%q, want %q", d.String(), want)
	}
	if got := Through(d.Span.Calls()); got != ", called from a.js:2:1" {
		t.Errorf("%q", got)
	}
	for range 6 {
		d.Span.Call = &Span{s, 0, 1, d.Span.Call}
	}
	if got := d.String(); !strings.HasSuffix(got, "called from a.js:1:1\nand through 1 more\nhint: right\n") || strings.Count(got, "called from") != 6 {
		t.Errorf("%q", got)
	}
	if got := Through(d.Span.Calls()); strings.Count(got, ", a.js:1:1") != 5 || !strings.HasSuffix(got, ", a.js:1:1 and through 1 more") {
		t.Errorf("%q", got)
	}
	if got := Through(nil); got != "" {
		t.Errorf("%q", got)
	}
}
