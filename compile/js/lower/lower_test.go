package lower

import (
	"strings"
	"testing"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/state"
	"gotap/compile/js/tree"
)

// lowered reads a handler.
func lowered(t *testing.T, text string) (tree.Handler, diag.List) {
	t.Helper()
	prg, err := parser.ParseFile(nil, "test.js", "("+text+")", 0)
	if err != nil {
		t.Fatal(err)
	}
	st := state.New(&js.Unit{Source: &diag.Source{Name: "test.js", Text: "(" + text + ")"}, WordSize: 8}, state.Facts{})
	fn := &js.Function{Node: prg.Body[0].(*ast.ExpressionStatement).Expression, Base: 1}
	return LowerHandler(st, js.Enter, fn), st.Diags
}

func TestStatements(t *testing.T) {
	for _, c := range []struct {
		text string
		want []tree.StmtCode
	}{
		{"c => {}", []tree.StmtCode{tree.StmtEnd}},
		{"c => { const a = c.arg0; }", []tree.StmtCode{tree.StmtEnd}}, // a stands for the command
		{"c => { let a = c.arg0; a++; }", []tree.StmtCode{tree.StmtEval, tree.StmtEval, tree.StmtEnd}},
		{"c => { if (c.arg0) abort(); }", []tree.StmtCode{tree.StmtIf, tree.StmtEnd}},
		{"c => { if (1 > 2) abort(); else log(1); }", []tree.StmtCode{tree.StmtEval, tree.StmtEnd}},
		{"c => { for (let i = 0; i < 3; i++) log(i); }", []tree.StmtCode{tree.StmtEval, tree.StmtLoop, tree.StmtEnd}},
		{"c => c.arg0 && log(1)", []tree.StmtCode{tree.StmtIf, tree.StmtEnd}},
	} {
		h, diags := lowered(t, c.text)
		var got []tree.StmtCode
		for _, s := range h.Body {
			got = append(got, s.Code)
		}
		if len(diags) > 0 || string(codes(got)) != string(codes(c.want)) {
			t.Errorf("%s: %v, not %v; %v", c.text, got, c.want, diags)
		}
	}
}

func codes(list []tree.StmtCode) (all []byte) {
	for _, c := range list {
		all = append(all, byte(c))
	}
	return all
}

func TestErrorsAreFoundAtOnceAndNoneTwice(t *testing.T) {
	_, diags := lowered(t, "c => { const a = [1]; const b = a + nothing; log(a, b); c.wrong; const f = x => x.y; f(1); f(1); }")
	if len(diags) != 4 {
		t.Errorf("%d messages: %v", len(diags), diags)
	}
}

func TestWordsAreFreeAfterABlock(t *testing.T) {
	h, diags := lowered(t, "c => { { let a = 1; a++; } { let b = 2; b++; } let d = 3; d++; }")
	if h.Temps != 1 || len(diags) > 0 {
		t.Errorf("%d words, %v", h.Temps, diags)
	}
}

func TestNestingIsLimited(t *testing.T) {
	if _, diags := lowered(t, "c => log("+strings.Repeat("-(", maxNesting)+"1"+strings.Repeat(")", maxNesting)+")"); !diags.HasErrors() {
		t.Error("nested too deeply, and not refused")
	}
	doubled := "c => { const f0 = x => x + 1"
	for i := 1; i < 20; i++ {
		n := string(rune('a' + i))
		before := "f0"
		if i > 1 {
			before = "f" + string(rune('a'+i-1))
		}
		doubled += "; const f" + n + " = x => " + before + "(x) + " + before + "(x)"
	}
	if _, diags := lowered(t, doubled+"; log(ft(c.arg0)); }"); !diags.HasErrors() {
		t.Error("a program without end is not refused")
	}
}
