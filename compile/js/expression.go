package js

import (
	"strconv"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"gotap/compile/diag"
	"gotap/runtime"
)

// operand is what an expression denotes. Only names, members and functions denote things without a value.
func (l *lowering) operand(e ast.Expression) operand {
	if !l.deeper(e) {
		return bad{}
	}
	defer func() { l.depth-- }()
	switch e := e.(type) {
	case *ast.Identifier:
		return l.identifier(e)
	case *ast.ThisExpression:
		return l.this(l.at(e))
	case *ast.DotExpression:
		return l.member(l.operand(e.Left), e.Identifier.Name.String(), l.at(e))
	case *ast.BracketExpression:
		return l.element(e)
	case *ast.OptionalChain: // nothing here is ever undefined: a?.b is a.b
		return l.operand(e.Expression)
	case *ast.Optional:
		return l.operand(e.Expression)
	case *ast.FunctionLiteral:
		return &closure{node: e, scope: l.scope, fn: l.fn}
	case *ast.ArrowFunctionLiteral:
		return &closure{node: e, scope: l.scope, fn: l.fn}
	case *ast.CallExpression:
		return l.call(e)
	}
	return value{l.computed(e)}
}

// this is the storage of the call, in a handler of its own.
func (l *lowering) this(at diag.Span) operand {
	switch {
	case l.inlineThis:
		l.errorf(at, "pass what it needs as an argument", "a function called from a program has no this")
	case l.arrowThis:
		l.arrowHasNoThis(at)
	case l.handler == When && !l.unit.AtReturn:
		l.errorf(at, "decide by the context; this begins with enter, and lasts to leave", "when has no this: it is asked before the call is let in")
	default:
		return call{}
	}
	return bad{}
}

// element is a[b]: a member when b is a constant text.
func (l *lowering) element(e *ast.BracketExpression) operand {
	at := l.at(e)
	left, name := l.operand(e.Left), l.value(e.Member)
	switch {
	case name.kind == kindBad || isBad(left):
		return bad{}
	case name.code == codeText:
		return l.member(left, name.text, at)
	case name.isConst() && name.kind == kindInt && ofArguments(left): // an element of an array that debug information knows
		return l.member(left, strconv.FormatInt(int64(name.cmd.V), 10), at)
	}
	hint := "read memory with u8(p + i), u32(p + 4 * i), …"
	switch left.(type) {
	case table:
		hint = "use get(key) and set(key, value)"
	case aggregate:
		hint = "use at(key)"
	case arguments:
		hint = "which one must be known beforehand: c.args.NAME, c.args.list[2], or c.arg0 … c.arg9 by number, chosen by switch or ?:"
	case registers:
		hint = "which one must be known beforehand: c.regs.rax"
	}
	l.errorf(at, hint, "cannot index %s", left.noun())
	return bad{}
}

// ofArguments reports whether debug information knows the members of an operand.
func ofArguments(o operand) bool {
	switch o := o.(type) {
	case arguments:
		return o.ofResult || o.global != "" || len(o.path) > 0
	case argument, result:
		return true
	}
	return false
}

func isBad(o operand) bool {
	v, ok := o.(value)
	return o == bad{} || ok && v.e.kind == kindBad
}

// hasValue reports whether an operand can be asked for its value.
func hasValue(o operand) bool {
	switch o.(type) {
	case value, variable, argument, shared, threadValue, callField, register, result, bad:
		return true
	}
	return false
}

// valueOf is the value of an operand; at is where it is used.
func (l *lowering) valueOf(o operand, at diag.Span) *expr {
	switch o := o.(type) {
	case value:
		return l.some(o.e, at)
	case arguments:
		return l.argumentValue(o, at)
	case argument:
		e := *l.valueOf(o.sym.meaning(), at)
		e.enum = o.sym.enum
		return &e
	case place:
		return o.get(l, at)
	case bad:
		return poison(at)
	}
	l.errorf(at, valueHint(o), "%s is not a value", o.noun())
	return poison(at)
}

// valueHint says how to get a value from a thing that has none.
func valueHint(o operand) string {
	switch o := o.(type) {
	case context:
		return "use its members: c.arg0, c.pid, …"
	case registers:
		return "name one: c.regs.rax"
	case call:
		return "use its members: this.start = c.time"
	case aggregate:
		return "a program adds to it: " + o.name + ".add(v); read it in a callback with " + o.name + ".get()"
	case table:
		return "ask for a key: " + o.name + ".get(key)"
	case perThread:
		return "use " + o.name + ".value"
	case aside:
		return o.hint()
	case *closure:
		return "call it: functions cannot be kept in a program"
	case builtin:
		if u := usage(o.name); u != "" {
			return "call it: " + u
		}
		return "there are " + list(membersOf(o.name)) + ", to be called"
	}
	return "use one of its members"
}

// some refuses an expression without value.
func (l *lowering) some(e *expr, at diag.Span) *expr {
	if e.kind == kindVoid {
		l.errorf(at, "use it as a statement of its own", "this gives no value")
		return poison(at)
	}
	return e
}

// value is the value of an expression.
func (l *lowering) value(e ast.Expression) *expr { return l.valueOf(l.operand(e), l.at(e)) }

// any is the value of an expression that may have none.
func (l *lowering) any(e ast.Expression) *expr {
	o := l.operand(e)
	if v, ok := o.(value); ok {
		return v.e
	}
	return l.valueOf(o, l.at(e))
}

// effect reads an expression for what it does.
func (l *lowering) effect(e ast.Expression) {
	switch e := e.(type) {
	case *ast.SequenceExpression:
		for _, part := range e.Sequence {
			l.effect(part)
		}
	case *ast.UnaryExpression:
		if e.Operator == token.INCREMENT || e.Operator == token.DECREMENT {
			l.effectOf(l.step(e, false))
			return
		}
		l.effectOf(l.any(e))
	case *ast.AssignExpression:
		l.effectOf(l.assign(e, false))
	case *ast.BinaryExpression:
		l.binaryEffect(e)
	case *ast.ConditionalExpression:
		l.conditionalEffect(e)
	default:
		l.effectOf(l.any(e))
	}
}

// binaryEffect is && and || as statements: if without its name. The right side needs no value there.
func (l *lowering) binaryEffect(e *ast.BinaryExpression) {
	if e.Operator != token.LOGICAL_AND && e.Operator != token.LOGICAL_OR {
		l.effectOf(l.any(e))
		return
	}
	test := l.test(e.Left)
	if e.Operator == token.LOGICAL_OR {
		test = l.not(test)
	}
	l.add(stmt{code: stmtIf, at: l.at(e), e: test, body: l.collect(func() { l.effect(e.Right) })})
}

func (l *lowering) conditionalEffect(e *ast.ConditionalExpression) {
	test := l.test(e.Test)
	body := l.collect(func() { l.effect(e.Consequent) })
	alt := l.collect(func() { l.effect(e.Alternate) })
	l.add(stmt{code: stmtIf, at: l.at(e), e: test, body: body, alt: alt})
}

// effectOf keeps an expression for what it does. What does nothing is dropped, unless it may trap.
func (l *lowering) effectOf(e *expr) {
	if e.kind != kindBad && !e.leaf() && e.code != codeLocal {
		l.add(eval(e))
	}
}

// computed is the value of an expression that is no name.
func (l *lowering) computed(e ast.Expression) *expr {
	at := l.at(e)
	switch e := e.(type) {
	case *ast.NumberLiteral:
		return l.number(e)
	case *ast.StringLiteral:
		return l.constText(at, e.Value.String())
	case *ast.BooleanLiteral:
		return boolean(at, e.Value)
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
func (l *lowering) comma(e *ast.SequenceExpression) *expr {
	var v *expr
	body := l.collect(func() {
		last := len(e.Sequence) - 1
		for _, part := range e.Sequence[:last] {
			l.effect(part)
		}
		v = l.any(e.Sequence[last])
	})
	return sequence(l.at(e), body, v)
}

// test is the value of an expression as a condition: an integer of which only 0 or not 0 matters, or a float or text.
func (l *lowering) test(e ast.Expression) *expr {
	if b, ok := e.(*ast.BinaryExpression); ok && (b.Operator == token.LOGICAL_AND || b.Operator == token.LOGICAL_OR) {
		if !l.deeper(e) {
			return poison(l.at(e))
		}
		defer func() { l.depth-- }()
		return l.logicalTest(b)
	}
	return l.truth(l.value(e))
}

// logicalTest is && or || as a condition, where the sides need not be of one type.
func (l *lowering) logicalTest(b *ast.BinaryExpression) *expr {
	left, right := l.test(b.Left), l.test(b.Right)
	return logical(b.Operator == token.LOGICAL_AND, l.at(b), left, right, kindInt)
}

// logical folds left && right or left || right.
func logical(and bool, at diag.Span, left, right *expr, k kind) *expr {
	if left.isConst() {
		if (left.cmd.V != 0) == and {
			return right
		}
		return left
	}
	c := codeOr
	if and {
		c = codeAnd
	}
	return (&expr{code: c, kind: k, at: at, args: []*expr{left, right}}).close()
}

// truth makes an integer of a value: not 0 when the value counts as true.
func (l *lowering) truth(e *expr) *expr {
	switch {
	case e.kind.integer(), e.kind.silent():
		return e
	case e.code == codeText:
		return boolean(e.at, e.text != "")
	case e.kind == kindFloat && e.isConst():
		f := float(e)
		return boolean(e.at, f == f && f != 0)
	case e.kind == kindFloat:
		return apply(e.at, kindBool, runtime.OpFbool, e)
	}
	return apply(e.at, kindInt, runtime.OpSlen, e)
}

// not is the negation of a condition.
func (l *lowering) not(e *expr) *expr {
	switch {
	case e.kind.silent():
		return e
	case e.isConst():
		return boolean(e.at, e.cmd.V == 0)
	}
	if op, ok := opposite[e.cmd.Op]; ok && e.code == codeOp {
		inverted := *e
		inverted.cmd.Op = op
		return &inverted
	}
	return apply(e.at, kindBool, runtime.OpLnot, e)
}

// opposite are the comparisons that negate each other. Floats have none: NaN is on neither side.
var opposite = map[runtime.Op]runtime.Op{
	runtime.OpEq: runtime.OpNe, runtime.OpNe: runtime.OpEq, runtime.OpLt: runtime.OpGe, runtime.OpGe: runtime.OpLt,
	runtime.OpGt: runtime.OpLe, runtime.OpLe: runtime.OpGt, runtime.OpFeq: runtime.OpFne, runtime.OpFne: runtime.OpFeq,
}

// conditional is test ? a : b.
func (l *lowering) conditional(e *ast.ConditionalExpression) *expr {
	at := l.at(e)
	test, a, b := l.test(e.Test), l.any(e.Consequent), l.any(e.Alternate)
	return l.choose(at, test, a, b)
}

// choose is test ? a : b.
func (l *lowering) choose(at diag.Span, test, a, b *expr) *expr {
	if test.kind == kindBad {
		return poison(at)
	}
	k, ok := unify(a.kind, b.kind)
	if !ok && (l.meantText(a, b) || l.meantText(b, a)) {
		return poison(at)
	}
	if !ok {
		l.errorf(at, "make both of one type", "one way gives %s, the other %s", a.kind, b.kind)
		return poison(at)
	}
	a, b = convert(a, k), convert(b, k)
	if test.isConst() {
		if test.cmd.V != 0 {
			return a
		}
		return b
	}
	return (&expr{code: codeCond, kind: k, at: at, args: []*expr{test, a, b}}).close()
}
