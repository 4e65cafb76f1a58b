package scope

import (
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// statements walks a list. Functions declared in it are visible in the whole list, so they are registered at its
// beginning.
func (a *analyzer) statements(list *[]ast.Statement) {
	scope, fn := a.scope, a.fn
	for _, s := range *list {
		if d, ok := s.(*ast.FunctionDeclaration); ok && d.Function.Name != nil {
			a.declare(d.Function.Name, Func, nil, false)
		}
	}
	for _, s := range *list {
		if d, ok := s.(*ast.FunctionDeclaration); ok {
			a.declared(d, list)
			continue
		}
		a.statement(s)
	}
	if scope.top && fn == nil {
		a.info.stmts = append(a.info.stmts, func() { splitDeclarations(list, scope) })
	}
}

// declared walks a function declaration.
func (a *analyzer) declared(d *ast.FunctionDeclaration, list *[]ast.Statement) {
	f := a.function(d.Function, nil)
	if d.Function.Name == nil {
		return
	}
	a.info.stmts = append(a.info.stmts, func() { a.info.registerDeclared(f, d.Function, list) })
}

// block walks a block, or the body of another statement. A body without braces declares no names.
func (a *analyzer) block(s ast.Statement) {
	if s == nil {
		return
	}
	closeScope := a.push(false)
	defer closeScope()
	if b, ok := s.(*ast.BlockStatement); ok {
		a.statements(&b.List)
		return
	}
	a.statement(s)
}

// statement walks one statement. Blocks open a scope. A declaration belongs to the innermost scope, var to that of the
// function.
func (a *analyzer) statement(s ast.Statement) {
	switch s := s.(type) {
	case *ast.ExpressionStatement:
		a.expr(&s.Expression)
	case *ast.LexicalDeclaration:
		a.bindings(s.List, lexical(s.Token))
	case *ast.VariableStatement:
		a.bindings(s.List, Var)
	case *ast.ClassDeclaration:
		if s.Class.Name != nil {
			a.declare(s.Class.Name, Class, nil, false)
		}
		a.class(s.Class)
	case *ast.BlockStatement:
		a.block(s)
	case *ast.IfStatement:
		a.expr(&s.Test)
		a.block(s.Consequent)
		a.block(s.Alternate)
	case *ast.ReturnStatement:
		a.expr(&s.Argument)
	case *ast.ThrowStatement:
		a.expr(&s.Argument)
	case *ast.LabelledStatement:
		a.block(s.Statement)
	case *ast.SwitchStatement:
		a.switches(s)
	case *ast.TryStatement:
		a.try(s)
	default:
		a.loops(s)
	}
}

// lexical returns the kind that let or const declares.
func lexical(t token.Token) Kind {
	if t == token.CONST {
		return Const
	}
	return Let
}

// switches walks a switch, whose cases share one scope.
func (a *analyzer) switches(s *ast.SwitchStatement) {
	a.expr(&s.Discriminant)
	closeScope := a.push(false)
	defer closeScope()
	for _, c := range s.Body {
		a.expr(&c.Test)
		a.statements(&c.Consequent)
	}
}

// try walks a try statement. The parameter of catch and the names of its body share one scope here.
func (a *analyzer) try(s *ast.TryStatement) {
	a.block(s.Body)
	if s.Catch != nil {
		closeScope := a.push(false)
		if s.Catch.Parameter != nil {
			a.target(s.Catch.Parameter, Catch, nil)
		}
		a.statements(&s.Catch.Body.List)
		closeScope()
	}
	if s.Finally != nil {
		a.block(s.Finally)
	}
}

// loops walks the loop statements.
func (a *analyzer) loops(s ast.Statement) {
	switch s := s.(type) {
	case *ast.WhileStatement:
		a.expr(&s.Test)
		a.block(s.Body)
		a.givePlace(&s.Body, s.While)
	case *ast.DoWhileStatement:
		a.block(s.Body)
		a.expr(&s.Test)
		a.givePlace(&s.Body, s.Do)
	case *ast.ForStatement:
		a.forLoop(s)
	case *ast.ForInStatement:
		a.forEach(s.Into, &s.Source, s.Body)
	case *ast.ForOfStatement:
		a.forEach(s.Into, &s.Source, s.Body)
	case *ast.WithStatement:
		a.expr(&s.Object)
		a.block(s.Body)
	}
}

// forLoop walks a for statement. A variable that let declares in its head is a new variable in each round: the update
// in the head does not change the variable that a function made in the body has captured.
func (a *analyzer) forLoop(s *ast.ForStatement) {
	closeScope := a.push(false)
	defer closeScope()
	switch init := s.Initializer.(type) {
	case *ast.ForLoopInitializerExpression:
		a.expr(&init.Expression)
	case *ast.ForLoopInitializerVarDeclList:
		a.bindings(init.List, Var)
	case *ast.ForLoopInitializerLexicalDecl:
		a.bindings(init.LexicalDeclaration.List, lexical(init.LexicalDeclaration.Token))
		for _, v := range a.scope.vars {
			v.loop = s
		}
	}
	a.unshare(s.Initializer)
	a.expr(&s.Test)
	old := a.loop
	a.loop = s
	a.expr(&s.Update)
	a.loop = old
	a.block(s.Body)
	a.givePlace(&s.Body, s.For)
}

// givePlace inserts a statement without effect into an empty loop body. Otherwise an endless loop would have no code
// whose position the engine knows, and when the loop is ended, the preceding statement would be named.
func (a *analyzer) givePlace(body *ast.Statement, loop file.Idx) {
	if empty(*body) {
		a.info.stmts = append(a.info.stmts, func() { *body = &ast.ExpressionStatement{Expression: name(NameVars, loop)} })
	}
}

// empty reports whether a loop's body does nothing.
func empty(s ast.Statement) bool {
	switch s := s.(type) {
	case *ast.EmptyStatement:
		return true
	case *ast.BranchStatement:
		return s.Token == token.CONTINUE && s.Label == nil
	case *ast.BlockStatement:
		return !slices.ContainsFunc(s.List, func(s ast.Statement) bool { return !empty(s) })
	}
	return false
}

// unshare excludes variables that a loop's head declares with var from the shared ones, because the declaration cannot
// be moved out of the head.
func (a *analyzer) unshare(init ast.ForLoopInitializer) {
	list, ok := init.(*ast.ForLoopInitializerVarDeclList)
	if !ok {
		return
	}
	for _, b := range list.List {
		a.unshareTarget(b.Target)
	}
}

// unshareTarget marks a variable as not shareable. It also counts as assigned, so that it is not treated as a constant.
func (a *analyzer) unshareTarget(t ast.BindingTarget) {
	if id, ok := t.(*ast.Identifier); ok {
		if v := a.scope.Lookup(id.Name.String()); v != nil {
			v.Simple = false
			v.Assigned++
		}
	}
}

// forEach walks for…in and for…of. The iterated expression is outside the scope that the head opens.
func (a *analyzer) forEach(into ast.ForInto, source *ast.Expression, body ast.Statement) {
	a.expr(source)
	closeScope := a.push(false)
	defer closeScope()
	switch into := into.(type) {
	case *ast.ForIntoVar:
		a.target(into.Binding.Target, Var, nil)
		a.unshareTarget(into.Binding.Target)
	case *ast.ForDeclaration:
		kind := Let
		if into.IsConst {
			kind = Const
		}
		a.target(into.Target, kind, nil)
	case *ast.ForIntoExpression:
		a.pattern(&into.Expression, role{})
	}
	a.block(body)
}
