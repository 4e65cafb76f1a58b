package js

import (
	"github.com/dop251/goja/ast"

	"gotap/compile/diag"
	"gotap/runtime"
)

// lowering turns the syntax tree of one handler into a typed tree. It checks everything on the way; after an error it
// goes on with poisoned values, so that all errors are found and none twice.
type lowering struct {
	*compiler
	handler     HandlerKind
	arrowThis   bool      // the handler is an arrow function
	fn          *Function // whose text is being read
	scope       *scope
	frame       *frame
	out         *[]stmt // where statements go
	slots       slots
	targets     []target
	inlineThis  bool                         // a function without a this of its own is being read
	assignments map[ast.Node]map[string]bool // names assigned to, by function
}

// frame is a function whose body is being read: the handler itself, or one that is inlined.
type frame struct {
	node    ast.Node
	name    string
	outer   *frame
	returns []*expr // of an inlined function: the assignments of its result
	result  *slot
	done    *label
}

// target is what break and continue can go to.
type target struct {
	names []string // labels of the statement
	next  *label   // nil: a switch or a block, which cannot be continued
	done  *label
	plain bool // a break without label ends it
}

// check lowers a handler.
func (c *compiler) check(k HandlerKind, fn *Function) tree {
	l := &lowering{compiler: c, handler: k, fn: fn, assignments: map[ast.Node]map[string]bool{}}
	var body []stmt
	l.out = &body
	t := tree{kind: k, at: l.at(fn.Node)}
	l.scope = &scope{names: map[string]*symbol{}, fn: fn}
	switch n := fn.Node.(type) {
	case *ast.FunctionLiteral:
		if l.plainFunction(n.Async, n.Generator, t.at) {
			l.handlerBody(n, n.ParameterList, n.Body.List, n.DeclarationList)
		}
	case *ast.ArrowFunctionLiteral:
		l.arrowThis = true
		if l.plainFunction(n.Async, false, t.at) {
			l.arrowBody(n)
		}
	default:
		l.errorf(t.at, "give probe a function", "a program is a function, not this")
	}
	if k == When {
		l.add(l.turnDown(t.at))
	}
	t.body, t.temps = append(body, stmt{code: stmtEnd, at: t.at}), l.slots.most
	return t
}

func (l *lowering) arrowBody(n *ast.ArrowFunctionLiteral) {
	switch b := n.Body.(type) {
	case *ast.BlockStatement:
		l.handlerBody(n, n.ParameterList, b.List, n.DeclarationList)
	case *ast.ExpressionBody:
		l.frame = &frame{node: n, name: l.handler.String()}
		l.handlerParams(n.ParameterList)
		if l.handler == When {
			l.decide(l.value(b.Expression), l.at(b.Expression))
			return
		}
		l.effect(b.Expression)
	}
}

// plainFunction refuses functions that stop and go on.
func (l *lowering) plainFunction(async, generator bool, at diag.Span) bool {
	switch {
	case async:
		l.errorf(at, "a program runs while the target is stopped and cannot wait: drop async", "a program cannot be an async function")
	case generator:
		l.errorf(at, "use a plain function", "a program cannot be a generator function")
	}
	return !async && !generator
}

func (l *lowering) handlerBody(n ast.Node, p *ast.ParameterList, list []ast.Statement, vars []*ast.VariableDeclaration) {
	l.frame = &frame{node: n, name: l.handler.String()}
	l.handlerParams(p)
	l.functionVars(vars)
	l.block(list)
}

// handlerParams binds the parameters of a handler: one is the context, or a pattern of what is wanted of it;
// several mirror the parameters of the function that is probed.
func (l *lowering) handlerParams(p *ast.ParameterList) {
	if p.Rest != nil {
		l.errorf(l.at(p.Rest), "name the arguments that are wanted, or take the context: c => …", "a program cannot have a rest parameter")
	}
	if len(p.List) == 1 {
		l.contextParam(p.List[0])
		return
	}
	for i, b := range p.List {
		l.mirror(i, b)
	}
}

func (l *lowering) contextParam(b *ast.Binding) {
	if b.Initializer != nil {
		l.errorf(l.at(b.Initializer), "drop it: the context is always there", "the context cannot have a default")
	}
	l.bindPattern(b.Target, context{}, true)
}

// mirror binds parameter i of a handler that mirrors the probed function: it is argument i.
func (l *lowering) mirror(i int, b *ast.Binding) {
	at := l.at(b.Target)
	id, ok := b.Target.(*ast.Identifier)
	switch {
	case !ok:
		l.errorf(at, "with one parameter alone it is the context: ({ arg0, arg1 }) => …", "a parameter that stands for an argument has a plain name")
		l.bindBad(b.Target)
		return
	case b.Initializer != nil:
		l.errorf(l.at(b.Initializer), "drop the default", "an argument is always there")
	case l.handler == Leave:
		l.errorf(at, "take the context alone: leave(c) { … c.ret … }", "the arguments are gone when the function returns")
		l.bindBad(b.Target)
		return
	case i >= maxArgs:
		l.errorf(at, "read the stack: u64(c.sp + …)", "only %d arguments can be had", maxArgs)
		l.bindBad(b.Target)
		return
	}
	sym := l.declare(id.Name.String(), at)
	l.initialise(sym, l.argument(i, at), l.assigned(id.Name.String()))
}

// functionVars declares what var declares in a function: the whole function knows it, and it is 0 at first.
func (l *lowering) functionVars(vars []*ast.VariableDeclaration) {
	for _, v := range vars {
		for _, b := range v.List {
			l.patternNames(b.Target, func(id *ast.Identifier) {
				name := id.Name.String()
				if l.scope.names[name] == nil {
					sym := l.declare(name, l.at(id))
					sym.slot = l.slots.take(kindNone)
					l.zero(sym)
				}
			})
		}
	}
}

// zero makes a variable without initialiser 0, whatever its type turns out to be.
func (l *lowering) zero(sym *symbol) {
	z := &expr{code: codeZero, kind: kindInt, at: sym.at, slot: sym.slot, need: 1}
	l.add(eval(set(sym.at, sym.slot, z)))
}

// add appends a statement.
func (l *lowering) add(s stmt) { *l.out = append(*l.out, s) }

// collect gathers the statements that f adds.
func (l *lowering) collect(f func()) []stmt {
	var list []stmt
	before := l.out
	l.out = &list
	f()
	l.out = before
	return list
}

// at is where a node is.
func (l *lowering) at(n ast.Node) diag.Span {
	if id, ok := n.(*ast.Identifier); ok {
		return l.span(l.fn, id.Idx, id.Idx+idx(len(id.Name.String())))
	}
	return l.span(l.fn, l.start(n), l.end(n))
}

// deeper guards the recursion over the syntax tree, and the size of what it makes.
func (l *lowering) deeper(n ast.Node) bool {
	l.nodes++
	switch {
	case l.depth >= maxNesting:
		l.errorf(l.at(n), "compute parts of it into variables", "expression nested too deeply")
	case l.nodes == maxNodes:
		l.errorf(l.at(n), "call fewer functions from functions: each call is copied into the program", "the program is too long")
	case l.nodes < maxNodes:
		l.depth++
		return true
	}
	return false
}

// constText is a constant text of the script.
func (l *lowering) constText(at diag.Span, s string) *expr {
	if len(s) > runtime.MaxText {
		l.errorf(at, "shorten it", "text of more than %d bytes", runtime.MaxText)
		return poison(at)
	}
	return text(at, s)
}
