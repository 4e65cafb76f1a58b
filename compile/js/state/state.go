package state

import (
	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/report"
	"gotap/compile/js/tree"
)

// State is what the handlers of a unit have in common while they are compiled: the storage of a call, how maps and
// aggregations are used, and what has been learned about types.
type State struct {
	*report.Report
	Unit    *js.Unit
	Facts   Facts
	Learned bool // a fact was added: what is compiled now is thrown away
	Storage storage
	Shapes  shapes
	Result  js.Result
	Nodes   int // of the syntax tree, read so far
}

func New(u *js.Unit, known Facts) *State {
	return &State{Report: report.New(u), Unit: u, Facts: known, Storage: newStorage(), Shapes: shapes{},
		Result: js.Result{AtReturn: u.AtReturn, Programs: map[js.HandlerKind]*compile.Program{}}}
}

// Facts are types that are known only after the text that needs them: "this.name" and "map 3". They
// only ever go from nothing to a type.
type Facts map[string]tree.Kind

// Learn records a fact that earlier text was compiled without. It reports whether that is new.
func (st *State) Learn(name string, k tree.Kind) bool {
	if st.Facts[name] != tree.KindNone {
		return false
	}
	st.Facts[name], st.Learned = k, true
	return true
}

// NeedUnsafe reports something that changes the target when that is not allowed.
func (st *State) NeedUnsafe(at diag.Span, what string) {
	if st.Unit.Sample {
		st.Errorf(at, "change it at a place that you choose: probe(…)", "a sample cannot change the target: it does not know where the thread is")
		return
	}
	if !st.Unit.Unsafe {
		st.Errorf(at, "run it with --unsafe if the target may be changed", "%s changes the target: %s", what, js.NeedsUnsafe)
	}
}

// Repeatable reports whether e may be computed later, or twice, than the text has it. A program that is allowed to
// change registers may do so between.
func (st *State) Repeatable(e *tree.Expr) bool {
	return e.IsLeaf() && (!st.Unit.Unsafe || e.Code != tree.CodeOp)
}
