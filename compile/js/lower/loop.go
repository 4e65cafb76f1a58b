package lower

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"gotap/compile/js/operand"
	"gotap/compile/js/tree"
)

// loopBody reads the body of a loop.
func (ss *statements) loopBody(names []string, lp *tree.Loop, body ast.Statement) {
	lp.Next, lp.Done = &tree.Label{}, &tree.Label{}
	ss.targets = append(ss.targets, target{names: names, next: lp.Next, done: lp.Done, plain: true})
	lp.Body = ss.collect(func() { ss.statement(body) })
	ss.targets = ss.targets[:len(ss.targets)-1]
}

// loopTest reads the condition of a loop; nil when it is always true.
func (ss *statements) loopTest(e ast.Expression) *tree.Expr {
	if e == nil {
		return nil
	}
	t := ss.l.test(e)
	if t.IsConst() && t.Cmd.V != 0 {
		return nil
	}
	return t
}

func (ss *statements) addLoop(n ast.Node, lp *tree.Loop) {
	ss.add(tree.Stmt{Code: tree.StmtLoop, At: ss.l.At(n), Loop: lp})
}

func (ss *statements) forStatement(st *ast.ForStatement, names []string) {
	s := ss.l.names.open()
	switch init := st.Initializer.(type) {
	case *ast.ForLoopInitializerExpression:
		ss.effect(init.Expression)
	case *ast.ForLoopInitializerVarDeclList:
		ss.varStatement(init.List)
	case *ast.ForLoopInitializerLexicalDecl:
		ss.announce([]ast.Statement{&init.LexicalDeclaration})
		ss.declaration(init.LexicalDeclaration.List, init.LexicalDeclaration.Token == token.CONST)
	}
	lp := &tree.Loop{Test: ss.loopTest(st.Test)}
	ss.loopBody(names, lp, st.Body)
	if st.Update != nil {
		lp.Post = ss.collect(func() { ss.effect(st.Update) })
	}
	ss.addLoop(st, lp)
	ss.l.names.close(s)
}

func (ss *statements) whileStatement(st *ast.WhileStatement, names []string) {
	lp := &tree.Loop{Test: ss.loopTest(st.Test)}
	ss.loopBody(names, lp, st.Body)
	ss.addLoop(st, lp)
}

func (ss *statements) doStatement(st *ast.DoWhileStatement, names []string) {
	lp := &tree.Loop{TestLast: true}
	ss.loopBody(names, lp, st.Body)
	lp.Test = ss.loopTest(st.Test)
	ss.addLoop(st, lp)
}

// labelled gives a statement a name that break and continue can use.
func (ss *statements) labelled(st *ast.LabelledStatement, names []string) {
	names = append(names, st.Label.Name.String())
	switch inner := st.Statement.(type) {
	case *ast.LabelledStatement:
		ss.labelled(inner, names)
	case *ast.ForStatement:
		ss.forStatement(inner, names)
	case *ast.WhileStatement:
		ss.whileStatement(inner, names)
	case *ast.DoWhileStatement:
		ss.doStatement(inner, names)
	case *ast.SwitchStatement:
		ss.switchStatement(inner, names)
	default:
		done := &tree.Label{}
		ss.targets = append(ss.targets, target{names: names, done: done})
		ss.statement(st.Statement)
		ss.targets = ss.targets[:len(ss.targets)-1]
		ss.add(done.Here())
	}
}

// switchStatement compares the cases in order, then runs from the one found.
func (ss *statements) switchStatement(st *ast.SwitchStatement, names []string) {
	what := ss.l.Value(st.Discriminant)
	s := ss.l.names.open()
	if !ss.l.state.Repeatable(what) {
		x := ss.l.ops.Slots.Take(what.Kind)
		ss.l.names.scope.Names[" switch"] = &operand.Symbol{Slot: x} // freed with the scope
		ss.add(tree.Eval(tree.Set(what.At, x, what)))
		what = tree.Local(what.At, x)
	}
	done := &tree.Label{}
	ss.targets = append(ss.targets, target{names: names, done: done, plain: true})
	ss.cases(st, what, done)
	ss.targets = ss.targets[:len(ss.targets)-1]
	ss.add(done.Here())
	ss.l.names.close(s)
}

// cases reads the tests and bodies of a switch.
func (ss *statements) cases(st *ast.SwitchStatement, what *tree.Expr, done *tree.Label) {
	for _, c := range st.Body {
		ss.announce(c.Consequent)
	}
	starts, otherwise := make([]*tree.Label, len(st.Body)), done
	for i, c := range st.Body {
		starts[i] = &tree.Label{}
		if c.Test == nil {
			otherwise = starts[i]
			continue
		}
		v := ss.l.Value(c.Test)
		same := ss.l.ops.Compare(token.STRICT_EQUAL, v.At, what, v)
		if same.Kind != tree.KindBad {
			ss.add(tree.Stmt{Code: tree.StmtIf, At: v.At, Expr: same, Body: []tree.Stmt{starts[i].Jump(v.At)}})
		}
	}
	ss.add(otherwise.Jump(ss.l.At(st.Discriminant)))
	for i, c := range st.Body {
		ss.add(starts[i].Here())
		ss.statements(c.Consequent)
	}
}
