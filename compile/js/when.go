package js

import (
	"github.com/dop251/goja/ast"

	"gotap/compile/diag"
	"gotap/runtime"
)

// A predicate is a program of its own, run before the probe's others and before the hit is counted: so a hit that it turns
// down leaves no trace in after, every and limit. It says no by aborting, which every executor can tell from its outcome;
// a trap in it says no too, since nobody knows what the answer would have been.

// decide ends the predicate with an answer.
func (l *lowering) decide(answer *expr, at diag.Span) {
	if answer.kind == kindBad {
		return
	}
	refuse := stmt{code: stmtIf, at: at, e: l.not(l.truth(answer)), body: []stmt{l.turnDown(at)}}
	l.add(refuse)
	l.add(stmt{code: stmtEnd, at: at})
}

// turnDown ends the predicate with no.
func (l *lowering) turnDown(at diag.Span) stmt {
	return eval(apply(at, kindNever, runtime.OpAbort).with(effWrite))
}

// decideReturn is a return of the predicate. One without a value gives undefined, which is not true.
func (l *lowering) decideReturn(st *ast.ReturnStatement) {
	if st.Argument == nil {
		l.add(l.turnDown(l.at(st)))
		return
	}
	l.decide(l.value(st.Argument), l.at(st))
}

// speaks are the builtins that a predicate cannot use: what it did for a hit that it then turns down would have to be undone.
// abort is none of them; it turns the hit down.
var speaks = map[string]bool{"log": true, "print": true, "console.log": true, "printf": true, "exit": true, "exit.hold": true,
	"exit.dump": true, "exit.stop": true, "remove": true, "skip": true, "signal": true}

// onlyDecides refuses what a predicate cannot do, by the name of the builtin or method.
func (s *site) onlyDecides(name string, at diag.Span) bool {
	if s.l.handler != When {
		return true
	}
	s.l.errorf(at, "do it in enter or leave: they run for the hits that when lets through", "%s cannot be used in when, which only decides", name)
	return false
}
