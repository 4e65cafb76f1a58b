package script_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotap/compile/diag"
	"gotap/script"
	"gotap/script/scripttest"
)

// expectation is one "//!" comment: what the carets stand under, and what message and hint match.
type expectation struct {
	line              int
	under, text, hint string
}

var expectLine = regexp.MustCompile(`^(.*?)[ \t]*//! (.*)$`)

// testCase is one section of a file in testdata.
type testCase struct {
	name, text string
	want       []expectation
}

// readCases splits a file into sections, and takes the expectations out of the text.
func readCases(t *testing.T, path string) []testCase {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	for _, section := range strings.Split("\n"+string(raw), "\n=== ")[1:] {
		name, body, _ := strings.Cut(section, "\n")
		c := testCase{name: name}
		var lines []string
		for _, line := range strings.Split(body, "\n") {
			if m := expectLine.FindStringSubmatch(line); m != nil {
				line = m[1]
				parts := append(strings.SplitN(m[2], " | ", 3), "", "")
				c.want = append(c.want, expectation{len(lines) + 1, parts[0], parts[1], parts[2]})
			}
			lines = append(lines, line)
		}
		c.text = strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
		cases = append(cases, c)
	}
	return cases
}

// TestDiagnostics loads every section of testdata/*.txt and compares what is wrong with what its lines say is wrong.
func TestDiagnostics(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range files {
		for _, c := range readCases(t, path) {
			t.Run(filepath.Base(path)+"/"+c.name, func(t *testing.T) { checkCase(t, c) })
		}
	}
}

func checkCase(t *testing.T, c testCase) {
	name := "script.js"
	if strings.HasSuffix(c.name, ".ts") {
		name = "script.ts"
	}
	s, list := script.Load(script.Options{Name: name, Text: c.text, Dir: t.TempDir(), Std: scripttest.Std})
	if s != nil {
		defer s.Close()
	}
	if (s == nil) != list.HasErrors() {
		t.Errorf("script %v with errors %v", s != nil, list)
	}
	var errors diag.List
	for _, d := range list {
		if d.Severity == diag.Error && !tolerated(c, d) {
			errors = append(errors, d)
		}
	}
	if len(errors) != len(c.want) {
		t.Errorf("%d errors, want %d:\n%v", len(errors), len(c.want), list)
		return
	}
	for i, d := range errors {
		c.want[i].check(t, d, c.text, name)
	}
}

// tolerated are further errors of a line marked with "//-!" on the next.
func tolerated(c testCase, d diag.Diagnostic) bool {
	if d.Span.Source == nil {
		return false
	}
	lines := strings.Split(c.text, "\n")
	n := d.Span.Source.Position(d.Span.Start).Line
	if n >= len(lines) || !strings.Contains(lines[n], "//-!") {
		return false
	}
	for _, w := range c.want {
		if w.line == n && regexp.MustCompile(w.text).MatchString(d.Text) {
			return false
		}
	}
	return true
}

func (w expectation) check(t *testing.T, d diag.Diagnostic, text, name string) {
	t.Helper()
	if d.Span.Source == nil {
		t.Errorf("no place: %v", d)
		return
	}
	pos := d.Span.Source.Position(d.Span.Start)
	if pos.File != name || pos.Line != w.line {
		t.Errorf("at %v, want line %d: %v", pos, w.line, d)
	}
	if rest := text[min(d.Span.Start, len(text)):]; w.under != "" && !strings.HasPrefix(rest, w.under) {
		t.Errorf("carets under %.20q, want %q:\n%v", rest, w.under, d)
	}
	if !regexp.MustCompile(w.text).MatchString(d.Text) {
		t.Errorf("message %q does not match %q", d.Text, w.text)
	}
	if !regexp.MustCompile(w.hint).MatchString(d.Hint) {
		t.Errorf("hint %q does not match %q", d.Hint, w.hint)
	}
}

// Who writes log("%d", n) means printf, in programs as in callbacks.
func TestFormatsThatNobodyFillsIn(t *testing.T) {
	s, list := script.Load(script.Options{Name: "script.js", Dir: t.TempDir(), Text: `
probe("f", c => { log("n %d", c.arg2); });
begin(() => { console.log("%s and 5% of", "a"); print("5 % discount", 1); console.log("%s"); printf("%d", 1); });
end(() => { const print = (...a) => {}; print("%d", 5); console.error("%5.2f", 1.5); });
`})
	if s == nil {
		t.Fatal(list)
	}
	defer s.Close()
	var got []string
	for _, d := range list {
		if d.Severity == diag.Warning {
			got = append(got, d.Span.Source.Text[d.Span.Start:d.Span.End])
		}
	}
	if want := []string{`"n %d"`, `"%s and 5% of"`, `"%5.2f"`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
