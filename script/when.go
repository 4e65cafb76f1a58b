package script

import (
	"regexp"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"gotap/compile/js"
)

// Names that guarded handlers use; no script can say them.
const (
	nameWhen    = "%when"
	nameContext = "%c"
)

// ofReturn finds predicates that can only be decided when the function returns.
var ofReturn = regexp.MustCompile(`\b(?:ret|elapsed)\b`)

// guardAll puts the predicate in front of a probe's handlers. That of a call is decided once, when it is entered, and
// remembered for its leave; unless the predicate is about the result.
func guardAll(when *js.Function, handlers map[js.HandlerKind]*js.Function) {
	leave := handlers[js.Leave]
	early := leave != nil && !ofReturn.MatchString(sourceOf(when))
	for kind, fn := range handlers {
		handlers[kind] = guardBy(when, fn, testOf(kind, early))
	}
	if early && handlers[js.Enter] == nil {
		nothing := *leave
		nothing.Node = emptyHandler(leave.Node.Idx0())
		handlers[js.Enter] = guardBy(when, &nothing, decideAndKeep)
	}
}

// test says how a handler asks the predicate.
type test uint8

const (
	decide        test = iota // if (!%when(c)) return
	decideAndKeep             // if (!(this.%when = %when(c) ? 1 : 0)) return
	recall                    // if (!this.%when) return
)

func testOf(kind js.HandlerKind, early bool) test {
	switch {
	case early && kind == js.Enter:
		return decideAndKeep
	case early && kind == js.Leave:
		return recall
	}
	return decide
}

func emptyHandler(at file.Idx) ast.Expression {
	return &ast.FunctionLiteral{Function: at, ParameterList: &ast.ParameterList{Opening: at, Closing: at},
		Body: &ast.BlockStatement{LeftBrace: at, RightBrace: at}}
}

// condition is the statements of a test.
func (t test) condition(context string, at file.Idx) []ast.Statement {
	call := &ast.CallExpression{Callee: identifier(nameWhen, at), LeftParenthesis: at, RightParenthesis: at,
		ArgumentList: []ast.Expression{identifier(context, at)}}
	kept := &ast.DotExpression{Left: &ast.ThisExpression{Idx: at}, Identifier: *identifier(nameWhen, at)}
	exit := func(e ast.Expression) ast.Statement {
		return &ast.IfStatement{If: at, Test: &ast.UnaryExpression{Operator: token.NOT, Idx: at, Operand: e},
			Consequent: &ast.ReturnStatement{Return: at}}
	}
	switch t {
	case decideAndKeep:
		word := &ast.ConditionalExpression{Test: call, Consequent: one(at), Alternate: zero(at)}
		keep := &ast.AssignExpression{Operator: token.ASSIGN, Left: kept, Right: word}
		return []ast.Statement{&ast.ExpressionStatement{Expression: keep}, exit(kept)}
	case recall:
		return []ast.Statement{exit(kept)}
	}
	return []ast.Statement{exit(call)}
}

func one(at file.Idx) ast.Expression {
	return &ast.NumberLiteral{Idx: at, Literal: "1", Value: int64(1)}
}
func zero(at file.Idx) ast.Expression {
	return &ast.NumberLiteral{Idx: at, Literal: "0", Value: int64(0)}
}

// guardBy puts a test in front of a handler: c => body becomes c => { test; body }, where %when is bound to the predicate.
// The nodes of the handler are shared, not changed.
func guardBy(when, fn *js.Function, t test) *js.Function {
	at := fn.Node.Idx0()
	params, list := handlerParts(fn.Node)
	context, unpack := contextName(params, at)
	body := append(t.condition(context, at), unpack...)
	body = append(body, list...)
	name := &ast.Binding{Target: identifier(context, at)}
	guarded := *fn
	guarded.Scope = &guardScope{fn.Scope, when}
	guarded.Node = &ast.FunctionLiteral{Function: at,
		ParameterList: &ast.ParameterList{Opening: at, List: []*ast.Binding{name}, Closing: at},
		Body:          &ast.BlockStatement{LeftBrace: at, List: body, RightBrace: fn.Node.Idx1() - 1}}
	return &guarded
}

// handlerParts are the parameters and statements of a handler.
func handlerParts(fn ast.Expression) (*ast.ParameterList, []ast.Statement) {
	switch fn := fn.(type) {
	case *ast.FunctionLiteral:
		return fn.ParameterList, fn.Body.List
	case *ast.ArrowFunctionLiteral:
		switch body := fn.Body.(type) {
		case *ast.BlockStatement:
			return fn.ParameterList, body.List
		case *ast.ExpressionBody:
			return fn.ParameterList, []ast.Statement{&ast.ExpressionStatement{Expression: body.Expression}}
		}
	}
	return nil, nil
}

// contextName is the name of the handler's parameter; a parameter that is a pattern is unpacked after the test.
func contextName(params *ast.ParameterList, at file.Idx) (string, []ast.Statement) {
	if params == nil || len(params.List) == 0 {
		return nameContext, nil
	}
	if id, ok := params.List[0].Target.(*ast.Identifier); ok {
		return id.Name.String(), nil
	}
	unpack := &ast.LexicalDeclaration{Idx: at, Token: token.CONST,
		List: []*ast.Binding{{Target: params.List[0].Target, Initializer: identifier(nameContext, at)}}}
	return nameContext, []ast.Statement{unpack}
}

func identifier(name string, at file.Idx) *ast.Identifier {
	return &ast.Identifier{Name: unistring.NewFromString(name), Idx: at}
}

// guardScope adds the predicate to a handler's names.
type guardScope struct {
	js.Scope
	when *js.Function
}

// Lookup finds a binding.
func (g *guardScope) Lookup(name string) (js.Binding, bool) {
	if name == nameWhen {
		return js.Binding{Kind: js.BindFunction, Func: g.when}, true
	}
	return g.Scope.Lookup(name)
}

// Names lists what a misspelt name could have meant.
func (g *guardScope) Names() []string {
	if n, ok := g.Scope.(interface{ Names() []string }); ok {
		return n.Names()
	}
	return nil
}
