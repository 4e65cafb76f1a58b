package lower

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/builtin"
	"gotap/compile/js/fetch"
	"gotap/compile/js/operand"
	"gotap/compile/js/report"
	"gotap/compile/js/tree"
)

// Operand is what an expression denotes. Only names, members and functions denote things without a value.
func (l *lowering) Operand(e ast.Expression) operand.Operand {
	if !l.Deeper(e) {
		return operand.Bad{}
	}
	defer l.Leave()
	switch e := e.(type) {
	case *ast.Identifier:
		return l.names.identifier(e)
	case *ast.ThisExpression:
		return l.this(l.At(e))
	case *ast.DotExpression:
		return l.member(l.Operand(e.Left), e.Identifier.Name.String(), l.At(e))
	case *ast.BracketExpression:
		return l.element(e)
	case *ast.OptionalChain: // nothing here is ever undefined: a?.b is a.b
		return l.Operand(e.Expression)
	case *ast.Optional:
		return l.Operand(e.Expression)
	case *ast.FunctionLiteral:
		return &operand.Closure{Node: e, Scope: l.names.scope, Fn: l.fn}
	case *ast.ArrowFunctionLiteral:
		return &operand.Closure{Node: e, Scope: l.names.scope, Fn: l.fn}
	case *ast.CallExpression:
		return l.call(e)
	}
	return operand.Value{Expr: l.computed(e)}
}

// this is the storage of the call, in a handler of its own.
func (l *lowering) this(at diag.Span) operand.Operand {
	switch {
	case l.funcs.inlineThis:
		l.Errorf(at, "pass what it needs as an argument", "a function called from a program has no this")
	case l.arrowThis:
		l.arrowHasNoThis(at)
	case l.fetch.Handler == js.When && !l.state.Unit.AtReturn:
		l.Errorf(at, "decide by the context; this exists from enter to leave", "when has no this: it runs before the call is accepted")
	default:
		return operand.This{}
	}
	return operand.Bad{}
}

// element is a[b]: a member when b is a constant text.
func (l *lowering) element(e *ast.BracketExpression) operand.Operand {
	at := l.At(e)
	left, name := l.Operand(e.Left), l.ops.Scalar(l.Value(e.Member))
	switch {
	case name.Kind == tree.KindBad || operand.IsBad(left):
		return operand.Bad{}
	case name.Code == tree.CodeText:
		return l.member(left, name.Text, at)
	case left == operand.Results{}:
		return l.laterResult(name, at)
	case name.IsConst() && name.Kind == tree.KindInt && operand.HasPathMembers(left): // an element of an array that debug information knows
		return l.member(left, constantIndex(name), at)
	}
	if o, ok := l.chosen(left, name, at); ok {
		return o
	}
	hint := "read memory with u8(p + i), u32(p + 4 * i), …"
	switch left.(type) {
	case operand.Map:
		hint = "use get(key) and set(key, value)"
	case operand.Aggregation:
		hint = "use at(key)"
	case fetch.Path:
		hint = "which one must be known beforehand: c.args.NAME, c.args.list[2], or c.arg0 … c.arg9 by number, chosen by switch or ?:"
	case operand.Registers:
		hint = "which one must be known beforehand: c.regs.rax"
	}
	l.Errorf(at, hint, "cannot index %s", left.Noun())
	return operand.Bad{}
}

// ValueOf is the value of an operand; at is where it is used.
func (l *lowering) ValueOf(o operand.Operand, at diag.Span) *tree.Expr {
	switch o := o.(type) {
	case operand.Value:
		return l.some(o.Expr, at)
	case fetch.Path:
		return l.fetch.ArgumentValue(o, at)
	case operand.PathConst:
		e := *l.ValueOf(o.Sym.Denotes(), at)
		e.Enum = o.Sym.Enum
		return &e
	case operand.Assignable:
		return o.Get(l.fetch, at)
	case operand.Bad:
		return tree.Poison(at)
	}
	l.Errorf(at, valueHint(o), "%s is not a value", o.Noun())
	return tree.Poison(at)
}

// valueHint says how to get a value from a thing that has none.
func valueHint(o operand.Operand) string {
	switch o := o.(type) {
	case operand.Context:
		return "use its members: c.arg0, c.pid, …"
	case operand.Registers:
		return "name one: c.regs.rax"
	case operand.Results:
		return "name one: c.rets[0] is the first"
	case operand.This:
		return "use its members: this.start = c.time"
	case operand.Aggregation:
		return "a program adds to it: " + o.Name + ".add(v); read it in a callback with " + o.Name + ".get()"
	case operand.Map:
		return "ask for a key: " + o.Name + ".get(key)"
	case operand.PerThread:
		return "use " + o.Name + ".value"
	case operand.Deferred:
		return o.Hint()
	case *operand.Closure:
		return "call it: functions cannot be kept in a program"
	case operand.Builtin:
		if u := builtin.Usage(o.Name); u != "" {
			return "call it: " + u
		}
		return "there are " + report.List(builtin.MembersOf(o.Name)) + ", to be called"
	}
	return "use one of its members"
}

// some refuses an expression that has no value.
func (l *lowering) some(e *tree.Expr, at diag.Span) *tree.Expr {
	if e.Kind == tree.KindVoid {
		l.Errorf(at, "use it as a statement of its own", "this expression has no value")
		return tree.Poison(at)
	}
	return e
}

// Value is the value of an expression.
func (l *lowering) Value(e ast.Expression) *tree.Expr { return l.ValueOf(l.Operand(e), l.At(e)) }

// Any is the value of an expression that may have none.
func (l *lowering) Any(e ast.Expression) *tree.Expr {
	o := l.Operand(e)
	if v, ok := o.(operand.Value); ok {
		return v.Expr
	}
	return l.ValueOf(o, l.At(e))
}

// computed is the value of an expression that is not a name.
func (l *lowering) computed(e ast.Expression) *tree.Expr {
	at := l.At(e)
	switch e := e.(type) {
	case *ast.NumberLiteral:
		return l.number(e)
	case *ast.StringLiteral:
		return l.ops.ConstText(at, e.Value.String())
	case *ast.BooleanLiteral:
		return tree.Boolean(at, e.Value)
	case *ast.TemplateLiteral:
		return l.template(e)
	case *ast.UnaryExpression:
		return l.unary(e)
	case *ast.BinaryExpression:
		return l.binary(e)
	case *ast.ConditionalExpression:
		return l.conditional(e)
	case *ast.AssignExpression:
		return l.assign(e, true)
	case *ast.SequenceExpression:
		return l.comma(e)
	}
	return l.refuse(e)
}

// comma is a, b.
func (l *lowering) comma(e *ast.SequenceExpression) *tree.Expr {
	var v *tree.Expr
	body := l.stmts.collect(func() {
		last := len(e.Sequence) - 1
		for _, part := range e.Sequence[:last] {
			l.stmts.effect(part)
		}
		v = l.Any(e.Sequence[last])
	})
	return tree.Sequence(l.At(e), body, v)
}

// test is the value of an expression as a condition: an integer of which only 0 or not 0 matters, or a float or text.
func (l *lowering) test(e ast.Expression) *tree.Expr {
	if b, ok := e.(*ast.BinaryExpression); ok && (b.Operator == token.LOGICAL_AND || b.Operator == token.LOGICAL_OR) {
		if !l.Deeper(e) {
			return tree.Poison(l.At(e))
		}
		defer l.Leave()
		return l.logicalTest(b)
	}
	return l.ops.Truth(l.Value(e))
}

// logicalTest is && or || as a condition, where the sides need not be of one type.
func (l *lowering) logicalTest(b *ast.BinaryExpression) *tree.Expr {
	left := l.test(b.Left)
	if and := b.Operator == token.LOGICAL_AND; l.decides(left) && (left.Cmd.V != 0) != and {
		return left
	}
	right := l.test(b.Right)
	return tree.Logical(b.Operator == token.LOGICAL_AND, l.At(b), left, right, tree.KindInt)
}

// conditional is test ? a : b.
func (l *lowering) conditional(e *ast.ConditionalExpression) *tree.Expr {
	at := l.At(e)
	test := l.test(e.Test)
	if l.decides(test) {
		if test.Cmd.V != 0 {
			return l.Any(e.Consequent)
		}
		return l.Any(e.Alternate)
	}
	a, b := l.ops.Scalar(l.Any(e.Consequent)), l.ops.Scalar(l.Any(e.Alternate))
	return l.ops.Choose(at, test, a, b)
}

// template is a template literal for its value: text.
func (l *lowering) template(e *ast.TemplateLiteral) *tree.Expr {
	at := l.At(e)
	if e.Tag != nil {
		l.Errorf(at, "call the function with plain arguments", "a tagged template cannot be used in a program")
		return tree.Poison(at)
	}
	whole := tree.Text(at, "")
	for i, piece := range e.Elements {
		whole = l.ops.Append(at, whole, l.ops.ConstText(at, piece.Parsed.String()))
		if i < len(e.Expressions) {
			whole = l.ops.Append(at, whole, l.Value(e.Expressions[i]))
		}
	}
	return whole
}
