package compiler

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/runtime/object"
)

// expectation is written on the line that must fail: // error `token` regexp, or warning; several may follow each
// other.
var expectation = regexp.MustCompile("(error|warning) `([^`]*)` (.*?)(?: // |$)")

// found is a diagnostic as the tests see it.
type found struct {
	line           int
	severity       diag.Severity
	token, message string
}

// testScope is what the scripts of testdata can name.
func testScope(r *rig) names {
	scope := r.declare(map[string]object.Object{
		"n": {Kind: object.KindCount, Keys: -1}, "byKey": {Kind: object.KindSum, Keys: 2}, "plain": {Kind: object.KindSum, Keys: 0},
		"m": {Kind: object.KindMap, Keys: 1}, "free": {Kind: object.KindMap, Keys: -1}, "mine": {Kind: object.KindPerThread},
		"shared": {Kind: object.KindInt}, "word": {Kind: object.KindText},
	})
	scope["LIMIT"] = js.Binding{Kind: js.BindInt, Int: 10}
	scope["NAME"] = js.Binding{Kind: js.BindText, Text: "x"}
	scope["config"] = js.Binding{Kind: js.BindNamespace, Scope: names{"size": {Kind: js.BindInt, Int: 3}}}
	scope["list"] = js.Binding{Kind: js.BindUnusable, Reason: "an array"}
	scope["local"] = js.Binding{Kind: js.BindUnusable, Reason: "changes after the probe is registered", Hint: "copy it to a const before probe(…)"}
	return scope
}

// TestDiagnostics compiles each statement of the scripts in testdata as a unit of its own. What is reported must be
// exactly what the lines say, with exactly the token underlined, and each error with a hint.
func TestDiagnostics(t *testing.T) {
	files, err := filepath.Glob("testdata/*.js")
	if err != nil || len(files) == 0 {
		t.Fatal("no test scripts", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			checkDiagnostics(t, string(text))
		})
	}
}

func checkDiagnostics(t *testing.T, text string) {
	prg, err := parser.ParseFile(nil, "test.js", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := reported(t, prg, text)
	for i, line := range strings.Split(text, "\n") {
		_, comment, _ := strings.Cut(line, "// ")
		for _, m := range expectation.FindAllStringSubmatch(comment, -1) {
			got = expect(t, got, i+1, m[1], strings.ReplaceAll(m[2], "·", "`"), m[3])
		}
	}
	for _, f := range got {
		t.Errorf("line %d: not expected: `%s` %s", f.line, f.token, f.message)
	}
}

// expect takes one diagnostic out of what was found.
func expect(t *testing.T, got []found, line int, severity, token, message string) []found {
	t.Helper()
	for i, f := range got {
		if f.line == line && (f.severity == diag.Warning) == (severity == "warning") && f.token == token && regexp.MustCompile(message).MatchString(f.message) {
			return append(got[:i:i], got[i+1:]...)
		}
	}
	t.Errorf("line %d: no %s `%s` %s", line, severity, token, message)
	return got
}

// reported compiles every statement of a script.
func reported(t *testing.T, prg *ast.Program, text string) []found {
	r := newRig(t)
	scope := testScope(r)
	var all []found
	whole := *prg
	for _, st := range prg.Body {
		if _, ok := st.(*ast.ExpressionStatement); !ok {
			continue
		}
		whole.Body = nil
		for _, other := range prg.Body {
			if _, ok := other.(*ast.ExpressionStatement); !ok {
				whole.Body = append(whole.Body, other)
			}
		}
		whole.Body = append(whole.Body, st)
		u, _ := unitOf(&whole, text, scope)
		u.Arena = r.arena
		_, diags := Compile(u)
		for _, d := range diags {
			if d.Severity == diag.Error && d.Hint == "" {
				t.Errorf("no hint: %v", d)
			}
			if d.Span.Start < 0 {
				t.Errorf("no position: %v", d)
				continue
			}
			end := max(d.Span.Start, min(d.Span.End, len(text)))
			all = append(all, found{u.Source.Position(d.Span.Start).Line, d.Severity, text[d.Span.Start:end], d.Text + " | " + d.Hint})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].line < all[j].line })
	return all
}
