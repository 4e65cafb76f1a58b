package lower

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"gotap/compile/js"
	"gotap/compile/js/operand"
	"gotap/compile/js/tree"
)

// effect reads an expression for what it does.
func (ss *statements) effect(e ast.Expression) {
	switch e := e.(type) {
	case *ast.SequenceExpression:
		for _, part := range e.Sequence {
			ss.effect(part)
		}
	case *ast.UnaryExpression:
		if e.Operator == token.INCREMENT || e.Operator == token.DECREMENT {
			ss.effectOf(ss.l.step(e, false))
			return
		}
		ss.effectOf(ss.l.Any(e))
	case *ast.AssignExpression:
		ss.effectOf(ss.l.assign(e, false))
	case *ast.BinaryExpression:
		ss.binaryEffect(e)
	case *ast.ConditionalExpression:
		ss.conditionalEffect(e)
	default:
		ss.effectOf(ss.l.Any(e))
	}
}

// binaryEffect is && and || as statements: if without its name. The right side needs no value there.
func (ss *statements) binaryEffect(e *ast.BinaryExpression) {
	if e.Operator != token.LOGICAL_AND && e.Operator != token.LOGICAL_OR {
		ss.effectOf(ss.l.Any(e))
		return
	}
	test := ss.l.test(e.Left)
	if e.Operator == token.LOGICAL_OR {
		test = ss.l.ops.Not(test)
	}
	ss.add(tree.Stmt{Code: tree.StmtIf, At: ss.l.At(e), Expr: test, Body: ss.collect(func() { ss.effect(e.Right) })})
}

func (ss *statements) conditionalEffect(e *ast.ConditionalExpression) {
	test := ss.l.test(e.Test)
	body := ss.collect(func() { ss.effect(e.Consequent) })
	alt := ss.collect(func() { ss.effect(e.Alternate) })
	ss.add(tree.Stmt{Code: tree.StmtIf, At: ss.l.At(e), Expr: test, Body: body, Alt: alt})
}

// effectOf keeps an expression for what it does. An expression without effect is dropped, unless it may trap.
func (ss *statements) effectOf(e *tree.Expr) {
	if e.Kind != tree.KindBad && !e.IsLeaf() && e.Code != tree.CodeLocal {
		ss.add(tree.Eval(e))
	}
}

// statements collects the statements of a handler as they are read.
type statements struct {
	l       *lowering
	out     *[]tree.Stmt // where statements go
	targets []target
}

// target is what break and continue can go to.
type target struct {
	names []string    // labels of the statement
	next  *tree.Label // nil: a switch or a block, which cannot be continued
	done  *tree.Label
	plain bool // a break without label ends it
}

// add appends a statement.
func (ss *statements) add(s tree.Stmt) { *ss.out = append(*ss.out, s) }

// collect gathers the statements that f adds.
func (ss *statements) collect(f func()) []tree.Stmt {
	var list []tree.Stmt
	before := ss.out
	ss.out = &list
	f()
	ss.out = before
	return list
}

// block reads statements in a scope of their own.
func (ss *statements) block(list []ast.Statement) {
	s := ss.l.names.open()
	ss.announce(list)
	ss.statements(list)
	ss.l.names.close(s)
}

// announce declares what a block declares, before its first statement: functions can be called at once, variables not
// before their declaration.
func (ss *statements) announce(list []ast.Statement) {
	for _, st := range list {
		switch st := st.(type) {
		case *ast.FunctionDeclaration:
			if st.Function.Name == nil {
				continue
			}
			sym := ss.l.names.declare(st.Function.Name.Name.String(), ss.l.At(st.Function.Name))
			sym.Meaning = &operand.Closure{Name: sym.Name, Node: st.Function, Scope: ss.l.names.scope, Fn: ss.l.fn}
		case *ast.LexicalDeclaration:
			for _, b := range st.List {
				ss.l.names.patternNames(b.Target, func(id *ast.Identifier) {
					ss.l.names.declare(id.Name.String(), ss.l.At(id)).Pending = true
				})
			}
		}
	}
}

// statement reads one statement. Every kind the syntax tree knows is named here or refused.
func (ss *statements) statement(st ast.Statement) {
	if st == nil || !ss.l.Deeper(st) {
		return
	}
	defer ss.l.Leave()
	switch st := st.(type) {
	case *ast.ExpressionStatement:
		ss.effect(st.Expression)
	case *ast.BlockStatement:
		ss.block(st.List)
	case *ast.LexicalDeclaration:
		ss.declaration(st.List, st.Token == token.CONST)
	case *ast.VariableStatement:
		ss.varStatement(st.List)
	case *ast.IfStatement:
		ss.ifStatement(st)
	case *ast.ForStatement:
		ss.forStatement(st, nil)
	case *ast.WhileStatement:
		ss.whileStatement(st, nil)
	case *ast.DoWhileStatement:
		ss.doStatement(st, nil)
	case *ast.SwitchStatement:
		ss.switchStatement(st, nil)
	case *ast.LabelledStatement:
		ss.labelled(st, nil)
	case *ast.BranchStatement:
		ss.branch(st)
	case *ast.ReturnStatement:
		ss.returnStatement(st)
	case *ast.EmptyStatement, *ast.FunctionDeclaration:
	default:
		ss.l.refuseStatement(st)
	}
}

// declaration reads let and const.
func (ss *statements) declaration(list []*ast.Binding, fixed bool) {
	for _, b := range list {
		if b.Initializer != nil {
			ss.l.names.bindPattern(b.Target, ss.l.Operand(b.Initializer), fixed)
			continue
		}
		id, ok := b.Target.(*ast.Identifier)
		if !ok {
			continue
		}
		sym := ss.l.names.scope.Names[id.Name.String()]
		if sym == nil {
			sym = ss.l.names.declare(id.Name.String(), ss.l.At(id))
		}
		sym.Pending = false
		sym.Slot = ss.l.ops.Slots.Take(tree.KindNone)
		ss.l.names.zero(sym)
	}
}

// varStatement reads var: its names were declared when the function began.
func (ss *statements) varStatement(list []*ast.Binding) {
	for _, b := range list {
		id, ok := b.Target.(*ast.Identifier)
		if !ok {
			ss.l.Errorf(ss.l.At(b.Target), "use const { … } = …", "var cannot take a pattern in a program")
			continue
		}
		if b.Initializer == nil {
			continue
		}
		ss.effectOf(ss.l.assignTo(ss.l.names.identifier(id), ss.l.At(id), ss.l.Value(b.Initializer)))
	}
}

func (ss *statements) ifStatement(st *ast.IfStatement) {
	test := ss.l.test(st.Test)
	if ss.l.decides(test) {
		if test.Cmd.V != 0 {
			ss.statement(st.Consequent)
		} else {
			ss.statement(st.Alternate)
		}
		return
	}
	body := ss.collect(func() { ss.statement(st.Consequent) })
	alt := ss.collect(func() { ss.statement(st.Alternate) })
	if test.IsConst() {
		if test.Cmd.V != 0 {
			alt = body
		}
		for _, s := range alt {
			ss.add(s)
		}
		return
	}
	ss.add(tree.Stmt{Code: tree.StmtIf, At: ss.l.At(st.Test), Expr: test, Body: body, Alt: alt})
}

// branch reads break and continue. The parser has made sure that there is something to go to; an inlined function
// cannot see the loops around its call, because it begins with no targets.
func (ss *statements) branch(st *ast.BranchStatement) {
	for i := len(ss.targets) - 1; i >= 0; i-- {
		t := &ss.targets[i]
		if st.Label != nil && !t.named(st.Label.Name.String()) {
			continue
		}
		if st.Token == token.CONTINUE && t.next != nil {
			ss.add(t.next.Jump(ss.l.At(st)))
			return
		}
		if st.Token == token.BREAK && (t.plain || st.Label != nil) {
			ss.add(t.done.Jump(ss.l.At(st)))
			return
		}
	}
	ss.l.Errorf(ss.l.At(st), "use it inside a loop", "%s has nothing to go to", st.Token)
}

func (t *target) named(name string) bool {
	for _, n := range t.names {
		if n == name {
			return true
		}
	}
	return false
}

func (ss *statements) returnStatement(st *ast.ReturnStatement) {
	if ss.l.funcs.frame.done != nil {
		ss.returnValue(st)
		return
	}
	if ss.l.fetch.Handler == js.When {
		ss.decideReturn(st)
		return
	}
	if st.Argument != nil {
		ss.dropped(st.Argument)
	}
	ss.add(tree.Stmt{Code: tree.StmtEnd, At: ss.l.At(st)})
}

// dropped is effect of what a program returns, which nobody gets. It warns of a value that is computed for nothing else.
func (ss *statements) dropped(e ast.Expression) {
	switch e.(type) {
	case *ast.Identifier, *ast.DotExpression, *ast.BracketExpression, *ast.NumberLiteral, *ast.StringLiteral, *ast.TemplateLiteral:
		ss.l.Warnf(ss.l.At(e), "log(x) prints it, exit({ x }) sends it to the exit callback", "what a program returns is dropped")
	}
	ss.effect(e)
}
