package js

import (
	"strings"

	"github.com/dop251/goja/ast"

	"gotap/compile/diag"
)

// closure is a plain function. It is copied into the program wherever it is called, so that it costs no call and its
// parameters can be things without a value: the context, a map, another function.
type closure struct {
	name  string
	node  ast.Node // *ast.FunctionLiteral or *ast.ArrowFunctionLiteral
	scope *scope   // where it was declared in a program; nil: a function of the script
	fn    *Function
}

// scriptFunction is a function of the script, outside of all programs.
func (l *lowering) scriptFunction(name string, b Binding, at diag.Span) operand {
	if b.Func == nil {
		l.errorf(at, "call it in a callback", "%s is not a function of the script: a program cannot call it", name)
		return bad{}
	}
	return &closure{name: name, node: b.Func.Node, fn: b.Func}
}

// title is the name of a function for messages.
func (f *closure) title() string {
	if f.name == "" {
		return "the function"
	}
	return f.name
}

// inline is the call of a plain function.
func (l *lowering) inline(f *closure, call *ast.CallExpression) *expr {
	at := l.at(call)
	a, ok := l.arguments(f, call)
	defer a.release(l)
	if !ok || l.recursive(f, at) || !l.callable(f, at) {
		return poison(at)
	}
	restore := l.enterFunction(f)
	var v *expr
	body := l.collect(func() {
		if l.bindParams(f, a.values, at) {
			v = l.functionBody(f)
		} else {
			v = poison(at)
		}
	})
	body, v = l.functionValue(at, body, v)
	l.close(l.scope)
	restore()
	return sequence(at, append(a.before, body...), v)
}

// passed is the arguments of a call: what they denote, the statements that compute them, and the words they are kept in.
type passed struct {
	values []operand
	before []stmt
	words  []*slot
}

// arguments reads the arguments of a call in the caller's scope.
func (l *lowering) arguments(f *closure, call *ast.CallExpression) (a passed, ok bool) {
	for _, e := range call.ArgumentList {
		a.values = append(a.values, a.keep(l, l.operand(e), l.at(e)))
	}
	if p := params(f.node); p != nil && len(a.values) > len(p.List) && p.Rest == nil {
		l.errorf(l.at(call.ArgumentList[len(p.List)]), "leave it out", "%s takes %s", f.title(), count(len(p.List), "argument"))
		return a, false
	}
	return a, true
}

// keep puts a value that takes computing into a word of its own, at once: the next argument may use words too.
func (a *passed) keep(l *lowering, o operand, at diag.Span) operand {
	if _, isArgument := o.(argument); isArgument || !hasValue(o) {
		return o
	}
	e := l.valueOf(o, at)
	if e.kind != kindBad && !l.steady(e) {
		x := l.slots.take(e.kind)
		x.fixed = true
		a.words = append(a.words, x)
		a.before = append(a.before, eval(set(e.at, x, e)))
		e = local(e.at, x)
	}
	return value{e}
}

// release gives the words back.
func (a *passed) release(l *lowering) {
	for _, x := range a.words {
		l.slots.free(x)
	}
}

// recursive refuses a call of a function that is being read already.
func (l *lowering) recursive(f *closure, at diag.Span) bool {
	names := []string{f.title()}
	for fr := l.frame; fr != nil; fr = fr.outer {
		names = append(names, fr.name)
		if fr.node != f.node {
			continue
		}
		hint := "functions are copied into the program where they are called: use a loop"
		if len(names) == 2 {
			l.errorf(at, hint, "%s calls itself: recursion is not possible in a program", f.title())
			return true
		}
		for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
			names[i], names[j] = names[j], names[i]
		}
		l.errorf(at, hint, "recursion is not possible in a program: %s", strings.Join(names, " calls "))
		return true
	}
	return false
}

// callable refuses functions that are none of the plain ones.
func (l *lowering) callable(f *closure, at diag.Span) bool {
	switch n := f.node.(type) {
	case *ast.FunctionLiteral:
		return l.plainFunction(n.Async, n.Generator, at)
	case *ast.ArrowFunctionLiteral:
		return l.plainFunction(n.Async, false, at)
	}
	return false
}

// enterFunction makes f the function being read; the result goes back.
func (l *lowering) enterFunction(f *closure) (restore func()) {
	before := *l
	l.scope = &scope{outer: f.scope, names: map[string]*symbol{}, fn: f.fn}
	l.fn = f.fn
	l.frame = &frame{node: f.node, name: f.title(), outer: before.frame, done: &label{}}
	l.targets = nil
	_, arrow := f.node.(*ast.ArrowFunctionLiteral)
	l.inlineThis = before.inlineThis || !arrow || f.scope == nil
	return func() {
		l.scope, l.fn, l.frame, l.targets, l.inlineThis = before.scope, before.fn, before.frame, before.targets, before.inlineThis
	}
}

// bindParams gives the parameters their values.
func (l *lowering) bindParams(f *closure, args []operand, at diag.Span) bool {
	p := params(f.node)
	if p.Rest != nil {
		l.errorf(l.at(p.Rest), "name the parameters", "a function called in a program cannot have a rest parameter")
		return false
	}
	for i, b := range p.List {
		switch {
		case i < len(args):
			l.bindPattern(b.Target, args[i], false)
		case b.Initializer != nil:
			l.bindPattern(b.Target, l.operand(b.Initializer), false)
		default:
			l.errorf(at, "give it, or a default where the function is declared", "argument %d of %s is missing", i+1, f.title())
			return false
		}
	}
	return true
}

// functionBody reads the body; the value is that of an arrow's expression, otherwise nil.
func (l *lowering) functionBody(f *closure) *expr {
	switch n := f.node.(type) {
	case *ast.FunctionLiteral:
		l.functionVars(n.DeclarationList)
		l.block(n.Body.List)
	case *ast.ArrowFunctionLiteral:
		if e, ok := n.Body.(*ast.ExpressionBody); ok {
			return l.any(e.Expression)
		}
		l.functionVars(n.DeclarationList)
		l.block(n.Body.(*ast.BlockStatement).List)
	}
	return nil
}

// returnValue is return in an inlined function.
func (l *lowering) returnValue(st *ast.ReturnStatement) {
	at := l.at(st)
	if st.Argument != nil {
		v := l.any(st.Argument)
		if v.kind == kindVoid || v.kind == kindNever {
			l.effectOf(v)
		} else {
			if l.frame.result == nil {
				l.frame.result = l.slots.take(kindNone)
			}
			r := set(at, l.frame.result, v)
			l.frame.returns = append(l.frame.returns, r)
			l.add(eval(r))
		}
	}
	l.add(l.frame.done.jump(at))
}

// functionValue ends an inlined function: where it returns is here, and what it returned is the value.
func (l *lowering) functionValue(at diag.Span, body []stmt, v *expr) ([]stmt, *expr) {
	fr, falls := l.frame, !ends(body)
	if n := len(body); n > 0 && body[n-1].code == stmtJump && body[n-1].label == fr.done {
		body = body[:n-1]
		fr.done.jumps--
	}
	if v != nil || fr.result == nil {
		if fr.done.jumps > 0 {
			body = append(body, fr.done.here())
		}
		return body, v
	}
	defer l.slots.free(fr.result)
	n := len(body)
	if fr.done.jumps == 0 && len(fr.returns) == 1 && n > 0 && body[n-1].e == fr.returns[0] {
		return body[:n-1], fr.returns[0].args[0]
	}
	if !l.unifyReturns() {
		return nil, poison(at)
	}
	if falls { // off the end: zero of the type
		z := &expr{code: codeZero, kind: fr.result.kind, at: at, slot: fr.result, need: 1}
		body = append(body, eval(set(at, fr.result, z)))
	}
	return append(body, fr.done.here()), local(at, fr.result)
}

// unifyReturns makes all returns of a function give the same type.
func (l *lowering) unifyReturns() bool {
	fr := l.frame
	k := fr.returns[0].args[0].kind
	for _, r := range fr.returns[1:] {
		next, ok := unify(k, r.args[0].kind)
		if !ok {
			l.errorf(r.at, "return the same type everywhere", "%s returns %s here and %s elsewhere", fr.name, r.args[0].kind, k)
			return false
		}
		k = next
	}
	if k.silent() {
		return false
	}
	fr.result.kind = k
	for _, r := range fr.returns {
		r.args[0] = convert(r.args[0], k)
		r.kind = k
	}
	return true
}
