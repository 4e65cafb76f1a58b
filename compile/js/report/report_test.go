package report

import (
	"errors"
	"testing"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"gotap/compile/diag"
	"gotap/compile/js"
)

// function parses a text whose only statement is a function.
func function(t *testing.T, text string) (*js.Function, *diag.Source) {
	t.Helper()
	prg, err := parser.ParseFile(nil, "test.js", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &js.Function{Node: prg.Body[0].(*ast.ExpressionStatement).Expression, Base: 1}, &diag.Source{Name: "test.js", Text: text}
}

func TestSpansCoverTheirText(t *testing.T) {
	for _, text := range []string{"if (x) { y; }", "if /* if */ (x) y;", "if (x === 1) y;"} {
		fn, source := function(t, "(c => { "+text+" })")
		r := New(&js.Unit{Source: source})
		body := fn.Node.(*ast.ArrowFunctionLiteral).Body.(*ast.BlockStatement).List[0]
		if at := r.At(fn, body); source.Text[at.Start:at.Start+2] != "if" {
			t.Errorf("%q begins at %q", text, source.Text[at.Start:])
		}
	}
	fn, source := function(t, "(c => größe.länge)")
	e := fn.Node.(*ast.ArrowFunctionLiteral).Body.(*ast.ExpressionBody).Expression
	if at := New(&js.Unit{Source: source}).At(fn, e); source.Text[at.Start:at.End] != "größe.länge" {
		t.Errorf("the member is %q", source.Text[at.Start:at.End])
	}
}

func TestMappedSpans(t *testing.T) {
	original := &diag.Source{Name: "test.ts", Text: "const limit: number = 3; limit + 1"}
	fn, source := function(t, "(c => limit)")
	u := &js.Unit{Source: source, Map: func(int) (*diag.Source, int) { return original, 25 }}
	e := fn.Node.(*ast.ArrowFunctionLiteral).Body.(*ast.ExpressionBody).Expression
	if at := New(u).At(fn, e); at.Source != original || original.Text[at.Start:at.End] != "limit" {
		t.Errorf("%+v", at)
	}
}

func TestMessagesOnce(t *testing.T) {
	r := New(&js.Unit{})
	at := diag.Span{Start: 1, End: 2}
	for range 2 {
		r.Errorf(at, "", "wrong")
		r.WarnProvisionally(at, "", "perhaps")
		r.Warnf(at, "", "surely")
	}
	if len(r.Diags) != 3 {
		t.Fatalf("%d messages", len(r.Diags))
	}
	r.Withdraw()
	if len(r.Diags) != 2 || r.Diags[1].Text != "surely" {
		t.Errorf("%v", r.Diags)
	}
}

func TestSuggestion(t *testing.T) {
	known := []string{"startsWith", "length", "pid", "tid", "arg0"}
	for _, c := range []struct{ name, want string }{
		{"lenght", "did you mean length?"}, {"PID", "did you mean pid?"}, {"startswith", "did you mean startsWith?"}, {"ar0", "did you mean arg0?"},
		{"x", "none"}, {"completely", "none"},
	} {
		if got := Suggestion(c.name, known, "none"); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

type hinted struct{ error }

func (hinted) Hint() string { return "do this" }

func TestHintOf(t *testing.T) {
	if h := HintOf(errors.Join(hinted{errors.New("no")})); h != "do this" {
		t.Error(h)
	}
	if h := HintOf(errors.New("no")); h != "" {
		t.Error(h)
	}
}
