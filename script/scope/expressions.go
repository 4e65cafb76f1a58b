package scope

import (
	"regexp"
	"strings"
	"sync"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// exprs walks a list.
func (a *analyzer) exprs(list []ast.Expression) {
	for i := range list {
		a.expr(&list[i])
	}
}

// expr walks the expression in a slot of the tree; edits replace the contents of the slot.
func (a *analyzer) expr(slot *ast.Expression) {
	name := a.name
	a.name = ""
	switch n := (*slot).(type) {
	case nil:
	case *ast.Identifier:
		a.refer(n, false, func(v int) func() { return func() { *slot = variable(v, n.Idx) } })
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		a.function(n, slot)
		return
	case *ast.CallExpression:
		a.info.Calls[n.LeftParenthesis] = Call{n, name}
		a.call(n)
	case *ast.NewExpression:
		a.expr(&n.Callee)
		a.exprs(n.ArgumentList)
	case *ast.AssignExpression:
		a.assign(n, slot)
	case *ast.UnaryExpression:
		a.unary(n, slot)
	case *ast.BinaryExpression:
		a.expr(&n.Left)
		a.expr(&n.Right)
		a.boundBinary(n, slot)
	case *ast.ConditionalExpression:
		a.expr(&n.Test)
		a.expr(&n.Consequent)
		a.expr(&n.Alternate)
	case *ast.DotExpression:
		a.expr(&n.Left)
	case *ast.PrivateDotExpression:
		a.expr(&n.Left)
	case *ast.BracketExpression:
		a.expr(&n.Left)
		a.expr(&n.Member)
	case *ast.SequenceExpression:
		a.exprs(n.Sequence)
	case *ast.ArrayLiteral:
		a.exprs(n.Value)
	case *ast.ObjectLiteral:
		a.properties(n.Value)
	case *ast.ClassLiteral:
		a.class(n)
	case *ast.TemplateLiteral:
		a.expr(&n.Tag)
		a.exprs(n.Expressions)
		for _, part := range n.Elements {
			a.text(part.Parsed.String())
		}
	case *ast.StringLiteral:
		a.text(n.Value.String())
	case *ast.RegExpLiteral:
		a.info.RegExps = append(a.info.RegExps, n)
	case *ast.NumberLiteral:
		a.info.Numbers = append(a.info.Numbers, n)
	default:
		a.wrapped(n)
	}
	a.quiet = ""
}

// text records a text of the script.
func (a *analyzer) text(s string) { a.info.Texts = append(a.info.Texts, s) }

// wrapped walks the nodes that only contain another expression; literals contain none.
func (a *analyzer) wrapped(n ast.Expression) {
	switch n := n.(type) {
	case *ast.SpreadElement:
		a.expr(&n.Expression)
	case *ast.OptionalChain:
		a.expr(&n.Expression)
	case *ast.Optional:
		a.expr(&n.Expression)
	case *ast.AwaitExpression:
		a.expr(&n.Argument)
	case *ast.YieldExpression:
		a.expr(&n.Argument)
	case *ast.ArrayPattern, *ast.ObjectPattern:
		a.pattern(&n, role{})
	}
}

// call walks a call. Function literals among its arguments are callbacks if the callee is known to run them on the
// host. The mark is set before each argument, because walking one clears it.
func (a *analyzer) call(n *ast.CallExpression) {
	quiet := a.hostOnly(n.Callee)
	a.format(n)
	a.expr(&n.Callee)
	for i := range n.ArgumentList {
		a.quiet = quiet
		if lit, ok := n.ArgumentList[i].(*ast.ObjectLiteral); ok && a.isProbe(n.Callee) {
			a.handlers(lit)
			continue
		}
		a.expr(&n.ArgumentList[i])
	}
	a.quiet = ""
}

// conversion matches a format specifier as C, Python and Node write it. It does not match a space before the letter,
// because that is usually a percentage: "5 % of".
var conversion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%[-+#0]*\d*(\.\d+)?(hh|h|ll|l|z)?[diuxXcspfgoj]`) })

// format records a format string whose values log, print and console.log only append.
func (a *analyzer) format(n *ast.CallExpression) {
	if len(n.ArgumentList) < 2 {
		return
	}
	if text, ok := n.ArgumentList[0].(*ast.StringLiteral); ok && a.isPrint(n.Callee) && conversion().MatchString(text.Value.String()) {
		a.info.Unfilled = append(a.info.Unfilled, text)
	}
}

// isPrint reports whether a callee is a function that writes its values separated by spaces.
func (a *analyzer) isPrint(callee ast.Expression) bool {
	switch c := callee.(type) {
	case *ast.Identifier:
		return (c.Name == "log" || c.Name == "print") && a.scope.Lookup(c.Name.String()) == nil
	case *ast.DotExpression:
		id, ok := c.Left.(*ast.Identifier)
		return ok && id.Name == "console" && a.scope.Lookup("console") == nil
	}
	return false
}

// handlers walks the second argument of probe. Its exit is a callback.
func (a *analyzer) handlers(lit *ast.ObjectLiteral) {
	a.quiet = ""
	for i := range lit.Value {
		if p, ok := lit.Value[i].(*ast.PropertyKeyed); ok {
			if key, ok := p.Key.(*ast.StringLiteral); ok && key.Value == "exit" && !p.Computed {
				a.quiet = "the exit callback"
			}
		}
		a.property(lit.Value, i)
		a.quiet = ""
	}
}

// properties walks the members of an object literal.
func (a *analyzer) properties(list []ast.Property) {
	for i := range list {
		a.property(list, i)
	}
}

// property walks one member. The short form { total } is written out for a shared variable: { total: %vars[3] }.
func (a *analyzer) property(list []ast.Property, i int) {
	switch p := list[i].(type) {
	case *ast.PropertyKeyed:
		quiet := a.quiet
		if p.Computed {
			a.expr(&p.Key)
		}
		a.quiet = quiet
		a.propertyValue(p)
	case *ast.PropertyShort:
		id := &p.Name
		a.refer(id, false, func(v int) func() {
			return func() { list[i] = keyed(id, variable(v, id.Idx)) }
		})
	case *ast.SpreadElement:
		a.expr(&p.Expression)
	}
}

// propertyValue walks the value of a property. A wrapped method becomes an ordinary property and loses super, so a
// method that uses super is not wrapped.
func (a *analyzer) propertyValue(p *ast.PropertyKeyed) {
	switch p.Kind {
	case ast.PropertyKindGet, ast.PropertyKindSet:
		a.quiet = "a getter or setter"
		a.function(p.Value, nil)
	case ast.PropertyKindMethod:
		f := a.function(p.Value, nil)
		a.later(func() {
			if usesSuper(f.Node) {
				return
			}
			if a.info.wrap(f, &p.Value) {
				p.Kind = ast.PropertyKindValue
			}
		})
	default:
		a.expr(&p.Value)
	}
}

// class walks a class. Its name is known inside it, even if the variable that it is assigned to has another name.
func (a *analyzer) class(n *ast.ClassLiteral) {
	closeScope := a.push(false)
	defer closeScope()
	if n.Name != nil {
		a.declare(n.Name, Class, nil, false)
	}
	a.expr(&n.SuperClass)
	for _, e := range n.Body {
		a.element(e)
	}
}

// element walks a member of a class. Initialisers and static blocks run like functions, so they are var scopes.
func (a *analyzer) element(e ast.ClassElement) {
	switch e := e.(type) {
	case *ast.MethodDefinition:
		if e.Computed {
			a.expr(&e.Key)
		}
		a.quiet = "a method of a class"
		a.function(e.Body, nil)
	case *ast.FieldDefinition:
		if e.Computed {
			a.expr(&e.Key)
		}
		closeScope := a.push(true)
		a.expr(&e.Initializer)
		closeScope()
	case *ast.ClassStaticBlock:
		closeScope := a.push(true)
		a.statements(&e.Block.List)
		closeScope()
	}
}

// unary walks an operator before or after an operand. ++ and -- of a plain name become calls if the variable is shared,
// so that they can be atomic. With any other operand they change the value of a name, as delete does.
func (a *analyzer) unary(n *ast.UnaryExpression, slot *ast.Expression) {
	id, ok := n.Operand.(*ast.Identifier)
	step := n.Operator == token.INCREMENT || n.Operator == token.DECREMENT
	if !ok || !step {
		if step || n.Operator == token.DELETE {
			a.mutates(n.Operand)
		}
		a.expr(&n.Operand)
		return
	}
	by := int64(1)
	if n.Operator == token.DECREMENT {
		by = -1
	}
	a.refer(id, true, func(v int) func() {
		return func() { *slot = add(v, number(by, n.Idx0()), n.Postfix, n.Idx0()) }
	})
}

// assign walks an assignment. For a plain name it walks the right side first, because those edits come before the one
// that replaces the whole assignment.
func (a *analyzer) assign(n *ast.AssignExpression, slot *ast.Expression) {
	if id, ok := n.Left.(*ast.Identifier); ok {
		if assignOp(n.Operator) == 0 {
			a.name = id.Name.String()
		}
		a.expr(&n.Right)
		a.refer(id, true, func(v int) func() { return func() { a.replaceAssign(n, id, v, slot) } })
		a.boundAssign(n, slot)
		return
	}
	if isPattern(n.Left) {
		a.pattern(&n.Left, role{})
	} else {
		a.mutates(n.Left)
		a.expr(&n.Left)
	}
	a.expr(&n.Right)
	a.boundAssign(n, slot)
}

// replaceAssign rewrites an assignment to a shared variable; += and -= become calls, so that they can be atomic.
func (a *analyzer) replaceAssign(n *ast.AssignExpression, id *ast.Identifier, v int, slot *ast.Expression) {
	if !isUpdate(n.Operator) {
		n.Left = variable(v, id.Idx)
		return
	}
	by := n.Right
	if n.Operator == token.MINUS {
		by = &ast.UnaryExpression{Operator: token.MINUS, Idx: by.Idx0(), Operand: by}
	}
	*slot = add(v, by, false, id.Idx)
}

// isPattern reports whether the left side of an assignment is a destructuring pattern.
func isPattern(e ast.Expression) bool {
	switch e.(type) {
	case *ast.ArrayPattern, *ast.ObjectPattern:
		return true
	}
	return false
}

// pattern walks a destructuring pattern. Its names are declared or assigned.
func (a *analyzer) pattern(slot *ast.Expression, r role) {
	switch n := (*slot).(type) {
	case nil:
	case *ast.Identifier:
		if r.declare {
			a.declare(n, r.kind, nil, false)
			return
		}
		a.refer(n, true, func(v int) func() { return func() { *slot = variable(v, n.Idx) } })
	case *ast.ArrayPattern:
		for i := range n.Elements {
			a.pattern(&n.Elements[i], r)
		}
		a.pattern(&n.Rest, r)
	case *ast.ObjectPattern:
		a.objectPattern(n, r)
	case *ast.AssignExpression:
		a.pattern(&n.Left, r)
		a.expr(&n.Right)
	case *ast.Binding:
		var target ast.Expression = n.Target
		a.pattern(&target, r)
		a.expr(&n.Initializer)
	default:
		a.expr(slot)
	}
}

// objectPattern walks { a, b: c, ...d }.
func (a *analyzer) objectPattern(n *ast.ObjectPattern, r role) {
	for i := range n.Properties {
		switch p := n.Properties[i].(type) {
		case *ast.PropertyShort:
			a.shortPattern(n.Properties, i, p, r)
		case *ast.PropertyKeyed:
			if p.Computed {
				a.expr(&p.Key)
			}
			a.pattern(&p.Value, r)
		}
	}
	a.pattern(&n.Rest, r)
}

// shortPattern walks the short form of a name in a pattern, which may have a default: { total = 1 } becomes { total:
// %vars[3] = 1 }.
func (a *analyzer) shortPattern(list []ast.Property, i int, p *ast.PropertyShort, r role) {
	a.expr(&p.Initializer)
	id := &p.Name
	if r.declare {
		a.declare(id, r.kind, nil, false)
		return
	}
	a.refer(id, true, func(v int) func() {
		return func() {
			value := variable(v, id.Idx)
			if p.Initializer != nil {
				value = &ast.AssignExpression{Operator: token.ASSIGN, Left: value, Right: p.Initializer}
			}
			list[i] = keyed(id, value)
		}
	})
}

// usesSuper reports whether the text of a method contains super. The check is coarse: a false positive only leaves a
// method unwrapped.
func usesSuper(fn ast.Expression) bool {
	lit, ok := fn.(*ast.FunctionLiteral)
	return ok && strings.Contains(lit.Source, "super")
}
