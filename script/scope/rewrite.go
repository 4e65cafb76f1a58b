package scope

import (
	"fmt"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// The names that rewritten scripts use. The host defines them as globals, and a script cannot write them itself.
const (
	NameRegister = "%reg"     // (id, function, i => value of capture i)
	NameVars     = "%vars"    // array of shared variables
	NameAdd      = "%add"     // (slot, amount, postfix)
	NamePower    = "%power"   // (base, exponent)
	NamePowerAt  = "%powerat" // (object, key, exponent)
	NameShift    = "%shift"   // (number of places)
)

// Rewrite changes the analyzed tree. It must be called only once.
func (i *Info) Rewrite() {
	for _, edit := range i.edits {
		if edit != nil {
			edit()
		}
	}
	for _, edit := range i.stmts {
		edit()
	}
	i.edits, i.stmts = nil, nil
}

// AsModule wraps a tree in the function of a CommonJS module.
func AsModule(tree *ast.Program, parameters ...string) {
	list := &ast.ParameterList{Opening: 1, Closing: 1}
	for _, p := range parameters {
		list.List = append(list.List, &ast.Binding{Target: name(p, 1)})
	}
	fn := &ast.FunctionLiteral{Function: 1, ParameterList: list, DeclarationList: tree.DeclarationList,
		Body: &ast.BlockStatement{LeftBrace: 1, List: tree.Body, RightBrace: 1}}
	tree.Body, tree.DeclarationList = []ast.Statement{&ast.ExpressionStatement{Expression: fn}}, nil
}

// wrap replaces a function in its slot by its registration. It does not replace callbacks, which cannot be programs.
func (i *Info) wrap(f *Function, slot *ast.Expression) bool {
	if f.Callback {
		return false
	}
	*slot = register(f, *slot)
	return true
}

// registerDeclared registers a declared function at the beginning of the list that declares it.
func (i *Info) registerDeclared(f *Function, lit *ast.FunctionLiteral, list *[]ast.Statement) {
	call := register(f, name(lit.Name.Name.String(), lit.Name.Idx))
	*list = append([]ast.Statement{&ast.ExpressionStatement{Expression: call}}, *list...)
}

// register returns the call that registers a function value with its number and a getter for its captured variables.
func register(f *Function, fn ast.Expression) ast.Expression {
	at := f.Node.Idx0()
	args := []ast.Expression{number(int64(f.ID), at), fn}
	if len(f.Captures) > 0 {
		args = append(args, getter(f.Captures, at))
	}
	return call(NameRegister, at, at, args...)
}

// getter returns the function i => i === 0 ? first : i === 1 ? second : … . It reads one captured variable at a time,
// so that one that is not initialised yet does not hide the others.
func getter(vars []*Variable, at file.Idx) ast.Expression {
	var body ast.Expression = &ast.NullLiteral{Idx: at, Literal: "null"}
	for n := len(vars) - 1; n >= 0; n-- {
		test := &ast.BinaryExpression{Operator: token.STRICT_EQUAL, Left: name(indexName, at), Right: number(int64(n), at), Comparison: true}
		body = &ast.ConditionalExpression{Test: test, Consequent: name(vars[n].Name, at), Alternate: body}
	}
	params := &ast.ParameterList{Opening: at, Closing: at, List: []*ast.Binding{{Target: name(indexName, at)}}}
	return &ast.ArrowFunctionLiteral{Start: at, ParameterList: params, Body: &ast.ExpressionBody{Expression: body}}
}

const indexName = "%i"

// splitDeclarations turns top-level declarations of shared variables into assignments at the same place and in the same
// order.
func splitDeclarations(list *[]ast.Statement, top *Scope) {
	var out []ast.Statement
	for _, s := range *list {
		switch d := s.(type) {
		case *ast.LexicalDeclaration:
			if d.Token != token.CONST {
				out = append(out, split(d.List, top, false, func(b []*ast.Binding) ast.Statement {
					return &ast.LexicalDeclaration{Idx: d.Idx, Token: d.Token, List: b}
				})...)
				continue
			}
		case *ast.VariableStatement:
			out = append(out, split(d.List, top, true, func(b []*ast.Binding) ast.Statement {
				return &ast.VariableStatement{Var: d.Var, List: b}
			})...)
			continue
		}
		out = append(out, s)
	}
	*list = out
}

// split splits one declaration. A var without a value assigns nothing.
func split(list []*ast.Binding, top *Scope, isVar bool, remake func([]*ast.Binding) ast.Statement) []ast.Statement {
	var out []ast.Statement
	for n, b := range list {
		id, _ := b.Target.(*ast.Identifier)
		v := (*Variable)(nil)
		if id != nil {
			v = top.vars[id.Name.String()]
		}
		switch {
		case v == nil || v.Slot < 0:
			out = append(out, remake(list[n:n+1:n+1]))
		case b.Initializer != nil || !isVar:
			value := b.Initializer
			if value == nil {
				value = undefined(id.Idx)
			}
			out = append(out, &ast.ExpressionStatement{Expression: &ast.AssignExpression{
				Operator: token.ASSIGN, Left: variable(v.Slot, id.Idx), Right: value}})
		}
	}
	return out
}

// Constructors for parts of trees.

// name returns a use of a name.
func name(s string, at file.Idx) *ast.Identifier {
	return &ast.Identifier{Name: unistring.NewFromString(s), Idx: at}
}

// number returns an integer literal.
func number(v int64, at file.Idx) ast.Expression {
	return &ast.NumberLiteral{Idx: at, Literal: fmt.Sprint(v), Value: v}
}

// undefined returns void 0, because the name undefined may mean something else in a script.
func undefined(at file.Idx) ast.Expression {
	return &ast.UnaryExpression{Operator: token.VOID, Idx: at, Operand: number(0, at)}
}

// variable returns a shared variable as rewritten code accesses it: an element of the host's array.
func variable(slot int, at file.Idx) ast.Expression {
	return &ast.BracketExpression{Left: name(NameVars, at), Member: number(int64(slot), at), LeftBracket: at, RightBracket: at}
}

// call returns a call of one of the host's functions.
func call(callee string, at, paren file.Idx, args ...ast.Expression) ast.Expression {
	return &ast.CallExpression{Callee: name(callee, at), LeftParenthesis: paren, ArgumentList: args, RightParenthesis: paren}
}

// add returns an expression that adds an amount to a shared variable. With postfix the value of the expression is the
// old one.
func add(slot int, by ast.Expression, postfix bool, at file.Idx) ast.Expression {
	old := &ast.BooleanLiteral{Idx: at, Literal: fmt.Sprint(postfix), Value: postfix}
	return call(NameAdd, at, at, number(int64(slot), at), by, old)
}

// keyed returns an object member in its long form.
func keyed(id *ast.Identifier, value ast.Expression) ast.Property {
	key := &ast.StringLiteral{Idx: id.Idx, Literal: id.Name.String(), Value: id.Name}
	return &ast.PropertyKeyed{Key: key, Kind: ast.PropertyKindValue, Value: value}
}
