package emit

import (
	"strings"
	"testing"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/state"
	"gotap/compile/js/tree"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

var nowhere diag.Span

// write emits statements, and verifies the program.
func write(t *testing.T, body ...tree.Stmt) *compile.Program {
	t.Helper()
	st := state.New(&js.Unit{}, state.Facts{})
	p := Program(st, "test", tree.Handler{Body: append(body, tree.Stmt{Code: tree.StmtEnd})})
	if p == nil {
		t.Fatal(st.Diags)
	}
	if err := compile.Verify(p).Err(); err != nil {
		t.Fatal(err)
	}
	return p
}

func ops(p *compile.Program) string {
	var names []string
	for _, c := range p.Code {
		names = append(names, opcode.RowOf(c.Op).Name)
	}
	return strings.Join(names, "; ")
}

func TestUnreachableCodeIsNotWritten(t *testing.T) {
	abort := tree.Eval(tree.Apply(nowhere, tree.KindNever, opcode.Abort).With(tree.Writes))
	if p := write(t, abort, abort, abort); len(p.Code) != 1 {
		t.Errorf("%d commands: %s", len(p.Code), ops(p))
	}
}

func TestConditionsBecomeJumps(t *testing.T) {
	arg := tree.Apply(nowhere, tree.KindInt, opcode.Arg)
	test := tree.Apply(nowhere, tree.KindBool, opcode.Lt, arg, tree.Integer(nowhere, 0))
	abort := tree.Eval(tree.Apply(nowhere, tree.KindNever, opcode.Abort).With(tree.Writes))
	p := write(t, tree.Stmt{Code: tree.StmtIf, Expr: test, Body: []tree.Stmt{abort}})
	if len(p.Code) != 4 || p.Code[1].Op != opcode.Jge {
		t.Errorf("%s", ops(p))
	}
}

// A long right side is computed first, so that the stack stays flat.
func TestLongRightSides(t *testing.T) {
	arg := tree.Apply(nowhere, tree.KindInt, opcode.Arg)
	e := arg
	for range 2 * runtime.MaxStack {
		e = tree.Apply(nowhere, tree.KindInt, opcode.Sub, arg, e)
	}
	if p := write(t, tree.Eval(e)); p.Stack > runtime.DefaultStack {
		t.Errorf("the stack has %d words", p.Stack)
	}
}

func TestTooManyWords(t *testing.T) {
	st := state.New(&js.Unit{}, state.Facts{})
	if p := Program(st, "test", tree.Handler{Body: []tree.Stmt{{Code: tree.StmtEnd}}, Temps: runtime.MaxTemps + 1}); p != nil || !st.Diags.HasErrors() {
		t.Error("more scratch words than there are")
	}
}
