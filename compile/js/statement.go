package js

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// block reads statements in a scope of their own.
func (l *lowering) block(list []ast.Statement) {
	s := l.open()
	l.announce(list)
	l.statements(list)
	l.close(s)
}

// announce declares what a block declares, before its first statement: functions can be called at once, variables not
// before their declaration.
func (l *lowering) announce(list []ast.Statement) {
	for _, st := range list {
		switch st := st.(type) {
		case *ast.FunctionDeclaration:
			if st.Function.Name == nil {
				continue
			}
			sym := l.declare(st.Function.Name.Name.String(), l.at(st.Function.Name))
			sym.what = &closure{name: sym.name, node: st.Function, scope: l.scope, fn: l.fn}
		case *ast.LexicalDeclaration:
			for _, b := range st.List {
				l.patternNames(b.Target, func(id *ast.Identifier) {
					l.declare(id.Name.String(), l.at(id)).pending = true
				})
			}
		}
	}
}

// statement reads one statement. Every kind the syntax tree knows is named here or refused.
func (l *lowering) statement(st ast.Statement) {
	if st == nil || !l.deeper(st) {
		return
	}
	defer func() { l.depth-- }()
	switch st := st.(type) {
	case *ast.ExpressionStatement:
		l.effect(st.Expression)
	case *ast.BlockStatement:
		l.block(st.List)
	case *ast.LexicalDeclaration:
		l.declaration(st.List, st.Token == token.CONST)
	case *ast.VariableStatement:
		l.varStatement(st.List)
	case *ast.IfStatement:
		l.ifStatement(st)
	case *ast.ForStatement:
		l.forStatement(st, nil)
	case *ast.WhileStatement:
		l.whileStatement(st, nil)
	case *ast.DoWhileStatement:
		l.doStatement(st, nil)
	case *ast.SwitchStatement:
		l.switchStatement(st, nil)
	case *ast.LabelledStatement:
		l.labelled(st, nil)
	case *ast.BranchStatement:
		l.branch(st)
	case *ast.ReturnStatement:
		l.returnStatement(st)
	case *ast.EmptyStatement, *ast.FunctionDeclaration:
	default:
		l.refuseStatement(st)
	}
}

// declaration reads let and const.
func (l *lowering) declaration(list []*ast.Binding, fixed bool) {
	for _, b := range list {
		if b.Initializer != nil {
			l.bindPattern(b.Target, l.operand(b.Initializer), fixed)
			continue
		}
		id, ok := b.Target.(*ast.Identifier)
		if !ok {
			continue
		}
		sym := l.scope.names[id.Name.String()]
		if sym == nil {
			sym = l.declare(id.Name.String(), l.at(id))
		}
		sym.pending = false
		sym.slot = l.slots.take(kindNone)
		l.zero(sym)
	}
}

// varStatement reads var: its names were declared when the function began.
func (l *lowering) varStatement(list []*ast.Binding) {
	for _, b := range list {
		id, ok := b.Target.(*ast.Identifier)
		if !ok {
			l.errorf(l.at(b.Target), "use const { … } = …", "var cannot take a pattern in a program")
			continue
		}
		if b.Initializer == nil {
			continue
		}
		l.effectOf(l.assignTo(l.identifier(id), l.at(id), l.value(b.Initializer)))
	}
}

func (l *lowering) ifStatement(st *ast.IfStatement) {
	test := l.test(st.Test)
	body := l.collect(func() { l.statement(st.Consequent) })
	alt := l.collect(func() { l.statement(st.Alternate) })
	if test.isConst() {
		if test.cmd.V != 0 {
			alt = body
		}
		for _, s := range alt {
			l.add(s)
		}
		return
	}
	l.add(stmt{code: stmtIf, at: l.at(st.Test), e: test, body: body, alt: alt})
}

// loopBody reads the body of a loop.
func (l *lowering) loopBody(names []string, lp *loop, body ast.Statement) {
	lp.next, lp.done = &label{}, &label{}
	l.targets = append(l.targets, target{names: names, next: lp.next, done: lp.done, plain: true})
	lp.body = l.collect(func() { l.statement(body) })
	l.targets = l.targets[:len(l.targets)-1]
}

// loopTest reads the condition of a loop. One that is always true is none.
func (l *lowering) loopTest(e ast.Expression) *expr {
	if e == nil {
		return nil
	}
	t := l.test(e)
	if t.isConst() && t.cmd.V != 0 {
		return nil
	}
	return t
}

func (l *lowering) addLoop(n ast.Node, lp *loop) {
	l.add(stmt{code: stmtLoop, at: l.at(n), loop: lp})
}

func (l *lowering) forStatement(st *ast.ForStatement, names []string) {
	s := l.open()
	switch init := st.Initializer.(type) {
	case *ast.ForLoopInitializerExpression:
		l.effect(init.Expression)
	case *ast.ForLoopInitializerVarDeclList:
		l.varStatement(init.List)
	case *ast.ForLoopInitializerLexicalDecl:
		l.announce([]ast.Statement{&init.LexicalDeclaration})
		l.declaration(init.LexicalDeclaration.List, init.LexicalDeclaration.Token == token.CONST)
	}
	lp := &loop{test: l.loopTest(st.Test)}
	l.loopBody(names, lp, st.Body)
	if st.Update != nil {
		lp.post = l.collect(func() { l.effect(st.Update) })
	}
	l.addLoop(st, lp)
	l.close(s)
}

func (l *lowering) whileStatement(st *ast.WhileStatement, names []string) {
	lp := &loop{test: l.loopTest(st.Test)}
	l.loopBody(names, lp, st.Body)
	l.addLoop(st, lp)
}

func (l *lowering) doStatement(st *ast.DoWhileStatement, names []string) {
	lp := &loop{testLast: true}
	l.loopBody(names, lp, st.Body)
	lp.test = l.loopTest(st.Test)
	l.addLoop(st, lp)
}

// labelled gives a statement a name that break and continue can use.
func (l *lowering) labelled(st *ast.LabelledStatement, names []string) {
	names = append(names, st.Label.Name.String())
	switch inner := st.Statement.(type) {
	case *ast.LabelledStatement:
		l.labelled(inner, names)
	case *ast.ForStatement:
		l.forStatement(inner, names)
	case *ast.WhileStatement:
		l.whileStatement(inner, names)
	case *ast.DoWhileStatement:
		l.doStatement(inner, names)
	case *ast.SwitchStatement:
		l.switchStatement(inner, names)
	default:
		done := &label{}
		l.targets = append(l.targets, target{names: names, done: done})
		l.statement(st.Statement)
		l.targets = l.targets[:len(l.targets)-1]
		l.add(done.here())
	}
}

// branch reads break and continue. The parser has made sure that there is something to go to; an inlined function
// cannot see the loops around its call, because it begins with no targets.
func (l *lowering) branch(st *ast.BranchStatement) {
	for i := len(l.targets) - 1; i >= 0; i-- {
		t := &l.targets[i]
		if st.Label != nil && !t.named(st.Label.Name.String()) {
			continue
		}
		if st.Token == token.CONTINUE && t.next != nil {
			l.add(t.next.jump(l.at(st)))
			return
		}
		if st.Token == token.BREAK && (t.plain || st.Label != nil) {
			l.add(t.done.jump(l.at(st)))
			return
		}
	}
	l.errorf(l.at(st), "use it inside a loop", "%s has nothing to go to", st.Token)
}

func (t *target) named(name string) bool {
	for _, n := range t.names {
		if n == name {
			return true
		}
	}
	return false
}

// switchStatement compares the cases in order, then runs from the one found.
func (l *lowering) switchStatement(st *ast.SwitchStatement, names []string) {
	what := l.value(st.Discriminant)
	s := l.open()
	if !l.steady(what) {
		x := l.slots.take(what.kind)
		l.scope.names[" switch"] = &symbol{slot: x} // freed with the scope
		l.add(eval(set(what.at, x, what)))
		what = local(what.at, x)
	}
	done := &label{}
	l.targets = append(l.targets, target{names: names, done: done, plain: true})
	l.cases(st, what, done)
	l.targets = l.targets[:len(l.targets)-1]
	l.add(done.here())
	l.close(s)
}

// cases reads the tests and bodies of a switch.
func (l *lowering) cases(st *ast.SwitchStatement, what *expr, done *label) {
	for _, c := range st.Body {
		l.announce(c.Consequent)
	}
	starts, otherwise := make([]*label, len(st.Body)), done
	for i, c := range st.Body {
		starts[i] = &label{}
		if c.Test == nil {
			otherwise = starts[i]
			continue
		}
		v := l.value(c.Test)
		same := l.compare(token.STRICT_EQUAL, v.at, what, v)
		if same.kind != kindBad {
			l.add(stmt{code: stmtIf, at: v.at, e: same, body: []stmt{starts[i].jump(v.at)}})
		}
	}
	l.add(otherwise.jump(l.at(st.Discriminant)))
	for i, c := range st.Body {
		l.add(starts[i].here())
		l.statements(c.Consequent)
	}
}

func (l *lowering) returnStatement(st *ast.ReturnStatement) {
	if l.frame.done != nil {
		l.returnValue(st)
		return
	}
	if l.handler == When {
		l.decideReturn(st)
		return
	}
	if st.Argument != nil {
		l.effect(st.Argument)
	}
	l.add(stmt{code: stmtEnd, at: l.at(st)})
}
