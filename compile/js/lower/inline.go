package lower

import (
	"strings"

	"github.com/dop251/goja/ast"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/operand"
	"gotap/compile/js/report"
	"gotap/compile/js/tree"
)

// scriptFunction is a function of the script, outside of all programs.
func (l *lowering) scriptFunction(name string, b js.Binding, at diag.Span) operand.Operand {
	if b.Func == nil {
		l.Errorf(at, "call it in a callback", "%s is not a function of the script: a program cannot call it", name)
		return operand.Bad{}
	}
	return &operand.Closure{Name: name, Node: b.Func.Node, Fn: b.Func}
}

// functions are those whose bodies are being read: the handler, and what is copied into it.
type functions struct {
	l          *lowering
	frame      *frame
	inlineThis bool // a function without a this of its own is being read
}

// inline is the call of a plain function.
func (fs *functions) inline(f *operand.Closure, call *ast.CallExpression) *tree.Expr {
	at := fs.l.At(call)
	a, ok := fs.arguments(f, call)
	defer a.release(&fs.l.ops.Slots)
	if !ok || fs.recursive(f, at) || !fs.callable(f, at) {
		return tree.Poison(at)
	}
	restore, done := fs.enterFunction(f), fs.l.Called(at)
	var v *tree.Expr
	body := fs.l.stmts.collect(func() {
		if fs.bindParams(f, a.values, at) {
			v = fs.functionBody(f)
		} else {
			v = tree.Poison(at)
		}
	})
	body, v = fs.functionValue(at, body, v)
	fs.l.names.close(fs.l.names.scope)
	done()
	restore()
	return tree.Sequence(at, append(a.before, body...), v)
}

// passed is the arguments of a call: what they denote, the statements that compute them, and the words they are kept
// in.
type passed struct {
	values []operand.Operand
	before []tree.Stmt
	words  []*tree.Slot
}

// arguments reads the arguments of a call in the caller's scope.
func (fs *functions) arguments(f *operand.Closure, call *ast.CallExpression) (a passed, ok bool) {
	for _, e := range call.ArgumentList {
		a.values = append(a.values, a.keep(fs.l, fs.l.Operand(e), fs.l.At(e)))
	}
	if p := params(f.Node); p != nil && len(a.values) > len(p.List) && p.Rest == nil {
		fs.l.Errorf(fs.l.At(call.ArgumentList[len(p.List)]), "leave it out", "%s takes %s", f.Title(), report.Count(len(p.List), "argument"))
		return a, false
	}
	return a, true
}

// keep puts a value that takes computing into a word of its own, at once: the next argument may use words too.
func (a *passed) keep(l *lowering, o operand.Operand, at diag.Span) operand.Operand {
	if _, isArgument := o.(operand.PathConst); isArgument || !operand.HasValue(o) {
		return o
	}
	e := l.ValueOf(o, at)
	if e.Kind != tree.KindBad && !l.state.Repeatable(e) {
		x := l.ops.Slots.Take(e.Kind)
		x.Fixed = true
		a.words = append(a.words, x)
		a.before = append(a.before, tree.Eval(tree.Set(e.At, x, e)))
		e = tree.Local(e.At, x)
	}
	return operand.Value{Expr: e}
}

// release gives the words back.
func (a *passed) release(words *tree.Slots) {
	for _, x := range a.words {
		words.Free(x)
	}
}

// recursive refuses a call of a function that is being read already.
func (fs *functions) recursive(f *operand.Closure, at diag.Span) bool {
	names := []string{f.Title()}
	for fr := fs.frame; fr != nil; fr = fr.outer {
		names = append(names, fr.name)
		if fr.node != f.Node {
			continue
		}
		hint := "functions are copied into the program where they are called: use a loop"
		if len(names) == 2 {
			fs.l.Errorf(at, hint, "%s calls itself: recursion is not possible in a program", f.Title())
			return true
		}
		for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
			names[i], names[j] = names[j], names[i]
		}
		fs.l.Errorf(at, hint, "recursion is not possible in a program: %s", strings.Join(names, " calls "))
		return true
	}
	return false
}

// callable refuses async functions and generators.
func (fs *functions) callable(f *operand.Closure, at diag.Span) bool {
	switch n := f.Node.(type) {
	case *ast.FunctionLiteral:
		return fs.plainFunction(n.Async, n.Generator, at)
	case *ast.ArrowFunctionLiteral:
		return fs.plainFunction(n.Async, false, at)
	}
	return false
}

// enterFunction makes f the function being read; the result goes back.
func (fs *functions) enterFunction(f *operand.Closure) (restore func()) {
	scopeBefore, fnBefore, targetsBefore, before := fs.l.names.scope, fs.l.fn, fs.l.stmts.targets, *fs
	fs.l.names.scope = &operand.Scope{Outer: f.Scope, Names: map[string]*operand.Symbol{}, Fn: f.Fn}
	fs.l.fn = f.Fn
	fs.frame = &frame{node: f.Node, name: f.Title(), outer: before.frame, done: &tree.Label{}}
	fs.l.stmts.targets = nil
	_, arrow := f.Node.(*ast.ArrowFunctionLiteral)
	fs.inlineThis = before.inlineThis || !arrow || f.Scope == nil
	return func() {
		fs.l.names.scope, fs.l.fn, fs.frame, fs.l.stmts.targets, fs.inlineThis = scopeBefore, fnBefore, before.frame, targetsBefore, before.inlineThis
	}
}

// bindParams gives the parameters their values.
func (fs *functions) bindParams(f *operand.Closure, args []operand.Operand, at diag.Span) bool {
	p := params(f.Node)
	if p.Rest != nil {
		fs.l.Errorf(fs.l.At(p.Rest), "name the parameters", "a function called in a program cannot have a rest parameter")
		return false
	}
	for i, b := range p.List {
		switch {
		case i < len(args):
			fs.l.names.bindPattern(b.Target, args[i], false)
		case b.Initializer != nil:
			fs.l.names.bindPattern(b.Target, fs.l.Operand(b.Initializer), false)
		default:
			fs.l.Errorf(at, "give it, or a default where the function is declared", "argument %d of %s is missing", i+1, f.Title())
			return false
		}
	}
	return true
}

// functionBody reads the body; the value is that of an arrow's expression, otherwise nil.
func (fs *functions) functionBody(f *operand.Closure) *tree.Expr {
	switch n := f.Node.(type) {
	case *ast.FunctionLiteral:
		fs.l.names.functionVars(n.DeclarationList)
		fs.l.stmts.block(n.Body.List)
	case *ast.ArrowFunctionLiteral:
		if e, ok := n.Body.(*ast.ExpressionBody); ok {
			return fs.l.Any(e.Expression)
		}
		fs.l.names.functionVars(n.DeclarationList)
		fs.l.stmts.block(n.Body.(*ast.BlockStatement).List)
	}
	return nil
}

// returnValue is return in an inlined function.
func (ss *statements) returnValue(st *ast.ReturnStatement) {
	at := ss.l.At(st)
	if st.Argument != nil {
		v := ss.l.Any(st.Argument)
		if v.Kind == tree.KindVoid || v.Kind == tree.KindNever {
			ss.effectOf(v)
		} else {
			if ss.l.funcs.frame.result == nil {
				ss.l.funcs.frame.result = ss.l.ops.Slots.Take(tree.KindNone)
			}
			r := tree.Set(at, ss.l.funcs.frame.result, v)
			ss.l.funcs.frame.returns = append(ss.l.funcs.frame.returns, r)
			ss.add(tree.Eval(r))
		}
	}
	ss.add(ss.l.funcs.frame.done.Jump(at))
}

// functionValue ends an inlined function: where it returns is here, and what it returned is the value.
func (fs *functions) functionValue(at diag.Span, body []tree.Stmt, v *tree.Expr) ([]tree.Stmt, *tree.Expr) {
	fr, falls := fs.frame, !tree.NeverFallsThrough(body)
	if n := len(body); n > 0 && body[n-1].Code == tree.StmtJump && body[n-1].Label == fr.done {
		body = body[:n-1]
		fr.done.Jumps--
	}
	if v != nil || fr.result == nil {
		if fr.done.Jumps > 0 {
			body = append(body, fr.done.Here())
		}
		return body, v
	}
	defer fs.l.ops.Slots.Free(fr.result)
	n := len(body)
	if fr.done.Jumps == 0 && len(fr.returns) == 1 && n > 0 && body[n-1].Expr == fr.returns[0] {
		return body[:n-1], fr.returns[0].Args[0]
	}
	if !fs.unifyReturns() {
		return nil, tree.Poison(at)
	}
	if falls { // off the end: zero of the type
		z := &tree.Expr{Code: tree.CodeZero, Kind: fr.result.Kind, At: at, Slot: fr.result, StackNeed: 1}
		body = append(body, tree.Eval(tree.Set(at, fr.result, z)))
	}
	return append(body, fr.done.Here()), tree.Local(at, fr.result)
}

// unifyReturns makes all returns of a function give the same type.
func (fs *functions) unifyReturns() bool {
	fr := fs.frame
	k := fr.returns[0].Args[0].Kind
	for _, r := range fr.returns[1:] {
		next, ok := tree.Unify(k, r.Args[0].Kind)
		if !ok {
			fs.l.Errorf(r.At, "return the same type everywhere", "%s returns %s here and %s elsewhere", fr.name, r.Args[0].Kind, k)
			return false
		}
		k = next
	}
	if k.Silent() {
		return false
	}
	fr.result.Kind = k
	for _, r := range fr.returns {
		r.Args[0] = tree.Convert(r.Args[0], k)
		r.Kind = k
	}
	return true
}

// plainFunction refuses functions that can be suspended: async functions and generators.
func (fs *functions) plainFunction(async, generator bool, at diag.Span) bool {
	switch {
	case async:
		fs.l.Errorf(at, "a program runs while the target is stopped and cannot wait: drop async", "a program cannot be an async function")
	case generator:
		fs.l.Errorf(at, "use a plain function", "a program cannot be a generator function")
	}
	return !async && !generator
}
