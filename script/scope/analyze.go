package scope

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// analyzer walks one tree.
type analyzer struct {
	info  *Info
	opts  Options
	scope *Scope
	fn    *Function
	refs  []*reference
	loop  *ast.ForStatement // set inside the update of a loop's head
	name  string            // the variable that the next expression initialises
	quiet string            // why the next function literal cannot be a program
}

// Analyze resolves all names of a tree. It does not change the tree; Rewrite does.
func Analyze(tree *ast.Program, o Options) *Info {
	top := &Scope{vars: map[string]*Variable{}, top: true, hoist: true}
	a := &analyzer{info: &Info{Top: top, Calls: map[file.Idx]Call{}}, opts: o, scope: top}
	a.statements(&tree.Body)
	a.resolve()
	return a.info
}

// resolve assigns every reference its variable, then decides which variables are shared.
func (a *analyzer) resolve() {
	for _, r := range a.refs {
		v := r.scope.Lookup(r.id.Name.String())
		if v == nil {
			continue
		}
		if r.member {
			v.Mutated = true
			continue
		}
		if r.write && !(r.loop != nil && r.loop == v.loop && v.Kind == Let) {
			v.Assigned++
		}
		for f := r.fn; f != nil && within(f.Scope, v.scope); f = f.outer {
			if f.Why == "" {
				v.inFunc = true
			}
			if f.seen == nil {
				f.seen = map[*Variable]bool{}
			}
			if !f.seen[v] {
				f.seen[v] = true
				f.Captures = append(f.Captures, v)
			}
		}
	}
	a.share()
	for _, f := range a.info.Functions {
		f.Captures = withoutSlots(f.Captures)
	}
	for _, r := range a.refs {
		if v := r.scope.Lookup(r.id.Name.String()); v != nil && v.Slot >= 0 && r.edit != nil {
			a.info.edits[r.order] = r.edit(v.Slot)
		}
	}
}

// within reports whether scope s is target or lies inside it. A function whose enclosing scope is s captures the names
// of target.
func within(s, target *Scope) bool {
	for ; s != nil; s = s.Outer {
		if s == target {
			return true
		}
	}
	return false
}

// share numbers the top-level variables that programs may share with the host.
func (a *analyzer) share() {
	for _, v := range a.info.Slots {
		v.Slot = -1
	}
	var slots []*Variable
	for _, v := range a.info.Slots {
		if v.Simple && (v.inFunc || a.opts.Keep && v.lasting()) {
			v.Slot = a.opts.FirstSlot + len(slots)
			slots = append(slots, v)
		}
	}
	a.info.Slots = slots
}

// withoutSlots drops the variables that are read through their slot, because a getter would keep a copy of their value.
func withoutSlots(vars []*Variable) []*Variable {
	kept := vars[:0]
	for _, v := range vars {
		if v.Slot < 0 {
			kept = append(kept, v)
		}
	}
	return kept
}

// later reserves the next place in the order of edits: inner nodes come before the nodes that contain them.
func (a *analyzer) later(edit func()) int {
	a.info.edits = append(a.info.edits, edit)
	return len(a.info.edits) - 1
}

// refer records a use of a name. If the name turns out to be a shared variable, edit makes the necessary change.
func (a *analyzer) refer(id *ast.Identifier, write bool, edit func(slot int) func()) {
	a.refs = append(a.refs, &reference{scope: a.scope, fn: a.fn, id: id, write: write, loop: a.loop, edit: edit, order: a.later(nil)})
}

// mutates records an assignment to a member of a name's value: a.b.c = 1 changes the value of a.
func (a *analyzer) mutates(e ast.Expression) {
	for {
		switch n := e.(type) {
		case *ast.DotExpression:
			e = n.Left
			continue
		case *ast.BracketExpression:
			e = n.Left
			continue
		case *ast.Identifier:
			a.refs = append(a.refs, &reference{scope: a.scope, fn: a.fn, id: n, member: true})
		}
		return
	}
}

// declare adds a name to the scope in which it is declared.
func (a *analyzer) declare(id *ast.Identifier, kind Kind, init ast.Expression, simple bool) *Variable {
	s := a.scope
	for kind == Var && !s.hoist {
		s = s.Outer
	}
	name := id.Name.String()
	if v := s.vars[name]; v != nil {
		if init != nil {
			v.Assigned++
		}
		return v
	}
	v := &Variable{Name: name, Kind: kind, At: id.Idx, Init: init, Simple: simple, Top: s.top, Slot: -1, scope: s}
	s.vars[name] = v
	if s.top && (kind == Let || kind == Var) {
		a.info.Slots = append(a.info.Slots, v)
	}
	return v
}

// push opens a scope and returns the function that closes it.
func (a *analyzer) push(hoist bool) func() {
	old := a.scope
	a.scope = &Scope{Outer: old, vars: map[string]*Variable{}, fn: a.fn, hoist: hoist}
	return func() { a.scope = old }
}

// function walks a function literal. slot is its place in the tree, nil for declarations and methods of classes.
func (a *analyzer) function(node ast.Expression, slot *ast.Expression) *Function {
	f := &Function{ID: a.opts.FirstFunction + len(a.info.Functions), Node: node, Scope: a.scope, Why: a.quiet, Callback: a.quiet != "", outer: a.fn}
	a.info.Functions = append(a.info.Functions, f)
	a.quiet, a.name = "", ""
	oldFn, oldLoop := a.fn, a.loop
	a.fn, a.loop = f, nil
	closeScope := a.push(true)
	switch n := node.(type) {
	case *ast.FunctionLiteral:
		f.unusable(n.Async, n.Generator)
		if n.Name != nil && slot != nil {
			a.declare(n.Name, Func, nil, false)
		}
		a.parameters(n.ParameterList)
		a.statements(&n.Body.List)
	case *ast.ArrowFunctionLiteral:
		f.unusable(n.Async, false)
		a.parameters(n.ParameterList)
		a.body(n.Body)
	}
	closeScope()
	a.fn, a.loop = oldFn, oldLoop
	if slot != nil {
		a.later(func() { a.info.wrap(f, slot) })
	}
	return f
}

// unusable records that a function continues after it has returned, which no program can do.
func (f *Function) unusable(async, generator bool) {
	switch {
	case async:
		f.Why = "an async function"
	case generator:
		f.Why = "a generator"
	}
}

// body walks the body of an arrow function.
func (a *analyzer) body(b ast.ConciseBody) {
	switch b := b.(type) {
	case *ast.BlockStatement:
		a.statements(&b.List)
	case *ast.ExpressionBody:
		a.expr(&b.Expression)
	}
}

// parameters declares the parameters of a function. It walks defaults in the scope of the body, which is accurate
// enough, because they rarely use names that the body declares.
func (a *analyzer) parameters(list *ast.ParameterList) {
	if list == nil {
		return
	}
	for _, b := range list.List {
		a.target(b.Target, Param, nil)
		a.expr(&b.Initializer)
	}
	if list.Rest != nil {
		a.pattern(&list.Rest, declares(Param))
	}
}

// bindings walks the declarators of one declaration.
func (a *analyzer) bindings(list []*ast.Binding, kind Kind) {
	for _, b := range list {
		if id, ok := b.Target.(*ast.Identifier); ok {
			a.name = id.Name.String()
		}
		init := b.Initializer
		a.expr(&b.Initializer)
		a.name = ""
		a.target(b.Target, kind, init)
	}
}

// target declares the names of a binding.
func (a *analyzer) target(t ast.BindingTarget, kind Kind, init ast.Expression) {
	if id, ok := t.(*ast.Identifier); ok {
		a.declare(id, kind, init, true)
		return
	}
	var e ast.Expression = t
	a.pattern(&e, declares(kind))
}

// role says whether the names of a pattern are declared or assigned.
type role struct {
	declare bool
	kind    Kind
}

// declares returns the role of names that a pattern declares.
func declares(k Kind) role { return role{true, k} }

// quietCallees never use their function arguments as programs, so wrapping those would only cost time.
var quietCallees = map[string]bool{"begin": true, "end": true, "every": true, "on": true, "facility": true, "stop": true,
	"setTimeout": true, "setInterval": true}

var quietMethods = map[string]bool{"map": true, "filter": true, "forEach": true, "reduce": true, "reduceRight": true,
	"sort": true, "toSorted": true, "find": true, "findIndex": true, "findLast": true, "findLastIndex": true, "some": true,
	"every": true, "flatMap": true, "then": true, "catch": true, "finally": true, "replace": true, "replaceAll": true}

// hostOnly returns why functions passed to this callee are callbacks, or "".
func (a *analyzer) hostOnly(callee ast.Expression) string {
	switch c := callee.(type) {
	case *ast.Identifier:
		if quietCallees[c.Name.String()] && a.scope.Lookup(c.Name.String()) == nil {
			return "a callback of " + c.Name.String() + "()"
		}
	case *ast.DotExpression:
		if quietMethods[c.Identifier.Name.String()] {
			return "a callback of ." + c.Identifier.Name.String() + "()"
		}
	}
	return ""
}

// isProbe reports a direct call of probe, whose "exit" is a callback.
func (a *analyzer) isProbe(callee ast.Expression) bool {
	id, ok := callee.(*ast.Identifier)
	return ok && id.Name == "probe" && a.scope.Lookup("probe") == nil
}

// assignOp returns the operator of a compound assignment, 0 for a plain one.
func assignOp(op token.Token) token.Token {
	if op == token.ASSIGN {
		return 0
	}
	return op
}
