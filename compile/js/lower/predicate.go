package lower

import (
	"github.com/dop251/goja/ast"

	"gotap/compile/diag"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

// A predicate is a program of its own, run before the probe's others and before the hit is counted: so a hit that it
// rejects leaves no trace in after, every and limit. It says no by aborting, which every executor can see from its
// outcome; a trap in it says no too, since nobody knows what the answer would have been.

// decide ends the predicate with an answer.
func (ss *statements) decide(answer *tree.Expr, at diag.Span) {
	if answer.Kind == tree.KindBad {
		return
	}
	refuse := tree.Stmt{Code: tree.StmtIf, At: at, Expr: ss.l.ops.Not(ss.l.ops.Truth(answer)), Body: []tree.Stmt{ss.turnDown(at)}}
	ss.add(refuse)
	ss.add(tree.Stmt{Code: tree.StmtEnd, At: at})
}

// turnDown ends the predicate with no.
func (ss *statements) turnDown(at diag.Span) tree.Stmt {
	return tree.Eval(tree.Apply(at, tree.KindNever, opcode.Abort).With(tree.Writes))
}

// decideReturn is a return of the predicate. One without a value gives undefined, which is not true.
func (ss *statements) decideReturn(st *ast.ReturnStatement) {
	if st.Argument == nil {
		ss.add(ss.turnDown(ss.l.At(st)))
		return
	}
	ss.decide(ss.l.Value(st.Argument), ss.l.At(st))
}
