package lower

import (
	"github.com/dop251/goja/ast"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/fetch"
	"gotap/compile/js/operand"
	"gotap/compile/js/operator"
	"gotap/compile/js/report"
	"gotap/compile/js/state"
	"gotap/compile/js/tree"
)

// params is the parameter list of a function of either syntax.
func params(n ast.Node) *ast.ParameterList {
	switch n := n.(type) {
	case *ast.FunctionLiteral:
		return n.ParameterList
	case *ast.ArrowFunctionLiteral:
		return n.ParameterList
	}
	return nil
}

// Limits of what is read. They bound the time that a hostile script can make the compiler run.
const (
	maxNesting = 5_000 // expressions and statements inside one another, inlined calls included
	maxNodes   = 200_000
)

// lowering turns the syntax tree of one handler into a typed tree. It checks everything on the way; after an error it
// goes on with poisoned values, so that all errors are found and none twice. It reads expressions itself.
type lowering struct {
	*report.Report
	state     *state.State
	ops       *operator.Operators
	fetch     *fetch.Fetcher
	stmts     *statements
	names     *binder
	funcs     *functions
	arrowThis bool         // the handler is an arrow function
	fn        *js.Function // whose text is being read
	depth     int          // of the syntax tree, here
}

// newLowering begins a handler.
func newLowering(st *state.State, k js.HandlerKind, fn *js.Function) *lowering {
	f := fetch.New(st, k)
	l := &lowering{Report: st.Report, state: st, ops: f.Ops, fetch: f, fn: fn}
	l.stmts = &statements{l: l, out: &[]tree.Stmt{}}
	l.names = &binder{l: l, scope: &operand.Scope{Names: map[string]*operand.Symbol{}, Fn: fn}, assignments: map[ast.Node]map[string]bool{}}
	l.funcs = &functions{l: l}
	return l
}

// frame is a function whose body is being read: the handler itself, or one that is inlined.
type frame struct {
	node    ast.Node
	name    string
	outer   *frame
	returns []*tree.Expr // of an inlined function: the assignments of its result
	result  *tree.Slot
	done    *tree.Label
}

// LowerHandler lowers a handler.
func LowerHandler(st *state.State, k js.HandlerKind, fn *js.Function) tree.Handler {
	l := newLowering(st, k, fn)
	at := l.At(fn.Node)
	switch n := fn.Node.(type) {
	case *ast.FunctionLiteral:
		if l.funcs.plainFunction(n.Async, n.Generator, at) {
			l.handlerBody(n, n.ParameterList, n.Body.List, n.DeclarationList)
		}
	case *ast.ArrowFunctionLiteral:
		l.arrowThis = true
		if l.funcs.plainFunction(n.Async, false, at) {
			l.arrowBody(n)
		}
	default:
		l.Errorf(at, "give probe a function", "a program must be a function")
	}
	if k == js.When {
		l.stmts.add(l.stmts.turnDown(at))
	}
	return tree.Handler{At: at, Body: append(*l.stmts.out, tree.Stmt{Code: tree.StmtEnd, At: at}), Temps: l.ops.Slots.Most}
}

func (l *lowering) arrowBody(n *ast.ArrowFunctionLiteral) {
	switch b := n.Body.(type) {
	case *ast.BlockStatement:
		l.handlerBody(n, n.ParameterList, b.List, n.DeclarationList)
	case *ast.ExpressionBody:
		l.funcs.frame = &frame{node: n, name: l.fetch.Handler.String()}
		l.names.handlerParams(n.ParameterList)
		if l.fetch.Handler == js.When {
			l.stmts.decide(l.Value(b.Expression), l.At(b.Expression))
			return
		}
		l.stmts.dropped(b.Expression)
	}
}

func (l *lowering) handlerBody(n ast.Node, p *ast.ParameterList, list []ast.Statement, vars []*ast.VariableDeclaration) {
	l.funcs.frame = &frame{node: n, name: l.fetch.Handler.String()}
	l.names.handlerParams(p)
	l.names.functionVars(vars)
	l.stmts.block(list)
}

// At is where a node is.
func (l *lowering) At(n ast.Node) diag.Span { return l.Report.At(l.fn, n) }

// Leave ends what deeper began.
func (l *lowering) Leave() { l.depth-- }

// Deeper guards the recursion over the syntax tree, and the size of what it makes.
func (l *lowering) Deeper(n ast.Node) bool {
	l.state.Nodes++
	switch {
	case l.depth >= maxNesting:
		l.Errorf(l.At(n), "compute parts of it into variables", "expression nested too deeply")
	case l.state.Nodes == maxNodes:
		l.Errorf(l.At(n), "call fewer functions from functions: each call is copied into the program", "the program is too long")
	case l.state.Nodes < maxNodes:
		l.depth++
		return true
	}
	return false
}
