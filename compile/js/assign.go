package js

import (
	"fmt"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
)

// assign is = and the assignments with an operator. used says whether anyone wants the value.
func (l *lowering) assign(e *ast.AssignExpression, used bool) *expr {
	at := l.at(e)
	switch e.Left.(type) {
	case *ast.ObjectPattern, *ast.ArrayPattern:
		l.errorf(l.at(e.Left), "assign the names one by one", "a pattern cannot be assigned to in a program")
		return poison(at)
	}
	to := l.operand(e.Left)
	leftAt := l.at(e.Left)
	switch e.Operator {
	case token.ASSIGN:
		return l.assignTo(to, leftAt, l.value(e.Right))
	case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
		return l.assignLogical(e, to, used)
	}
	p, ok := l.target(to, leftAt)
	right := l.value(e.Right)
	if !ok || right.kind == kindBad {
		return poison(at)
	}
	if e.Operator == token.PLUS || e.Operator == token.MINUS {
		l.cutBefore(right, "it is added up")
	}
	if v := l.addAtomically(p, e.Operator, at, asWhole(right), used); v != nil {
		return v
	}
	return l.assignTo(to, leftAt, l.arithmetic(e.Operator, at, p.get(l, leftAt), right))
}

// target is an operand as something that can be assigned to.
func (l *lowering) target(o operand, at diag.Span) (place, bool) {
	switch o := o.(type) {
	case bad:
		return nil, false
	case argument:
		return l.target(variable(o), at)
	case variable:
		if o.sym.fixed {
			l.errorf(at, "declare it with let", "%s is a constant", o.sym.name)
			return nil, false
		}
		return o, true
	case place:
		return o, true
	case value:
		switch {
		case o.e.kind == kindBad:
		case o.e.isConst() || o.e.code == codeText:
			l.errorf(at, "assign to a variable declared with let, or to a member of this", "cannot assign to a constant value")
		default:
			l.errorf(at, "what is in a register is changed there: c.regs.NAME; the result is c.ret", "cannot assign to a value that is only read")
		}
		return nil, false
	}
	l.errorf(at, assignHint(o), "cannot assign to %s", o.noun())
	return nil, false
}

// assignTo is the assignment of a value, checked against the type of the target.
func (l *lowering) assignTo(to operand, at diag.Span, v *expr) *expr {
	p, ok := l.target(to, at)
	if !ok || v.kind == kindBad {
		return poison(at)
	}
	fit, ok := l.fitting(p, v, at)
	if !ok {
		return poison(at)
	}
	return p.set(l, at, fit)
}

// fitting makes a value of the target's type, or reports that it is none. The first assignment decides the type.
func (l *lowering) fitting(p place, v *expr, at diag.Span) (*expr, bool) {
	k := p.kind()
	switch {
	case k == kindNone || v.kind.silent() || k == v.kind || k == kindUint && v.kind == kindInt:
		return v, true
	case k == kindInt && v.kind.integer(), k == kindFloat && v.kind.number():
		return convert(v, k), true
	case l.guessed(p, v.kind):
		return v, true
	case k == kindInt || k == kindUint:
		if n, ok := whole(v); ok {
			return n, true
		}
	}
	l.errorf(at, retypeHint(p, k, v.kind), "%s holds %s: cannot assign %s", title(p), k, v.kind)
	return v, false
}

// guessed reports whether the target's type was only guessed because it is read before it is assigned to. What it really is
// becomes a fact, and compilation begins again with it.
func (l *lowering) guessed(p place, k kind) bool {
	c, ok := p.(callField)
	return ok && c.f != nil && !c.f.set && l.learn("this."+c.name, k)
}

// retypeHint says what to do about an assignment that would change a type.
func retypeHint(p place, is, v kind) string {
	_, isShared := p.(shared)
	switch {
	case isShared && v == kindFloat:
		return "programs share no floats: cut the value with trunc(x), or let exit({…}) bring it to the callback"
	case is == kindBool && v.integer():
		return "compare to get true or false (x !== 0), or let it begin as a number"
	case is.integer() && v == kindFloat:
		return "let it begin as a float (0.0), or cut the value with trunc(x)"
	case is == kindText:
		return "make text of it: `${x}`"
	}
	return "a variable keeps the type of its first value: use another variable"
}

// title names a target.
func title(p place) string {
	switch p := p.(type) {
	case variable:
		return p.sym.name
	case shared:
		return p.name
	case callField:
		return "this." + p.name
	case threadValue:
		return p.name + ".value"
	}
	return "this"
}

// addAtomically is += and -= on a variable that others share: one command, so that no hit of another thread is lost.
// nil: it is not such a case. n += n++ is none, since the language adds to what the variable was before the right side changed it.
func (l *lowering) addAtomically(p place, op token.Token, at diag.Span, by *expr, used bool) *expr {
	if op != token.PLUS && op != token.MINUS || !by.kind.integer() || by.any(stores(p)) {
		return nil
	}
	switch p := p.(type) {
	case shared:
		if p.text {
			return nil
		}
		return p.add(l, op, at, by, used)
	case threadValue:
		if !used {
			return applyA(at, kindVoid, runtime.OpAddPT, uint32(p.object), signed(op, at, by)).with(effWrite)
		}
	}
	return nil
}

// stores recognises commands that change a variable which others share.
func stores(p place) func(*compile.Command) bool {
	var ops []runtime.Op
	var object uint32
	switch p := p.(type) {
	case shared:
		object, ops = uint32(p.object), []runtime.Op{runtime.OpPopGV, runtime.OpAddGV, runtime.OpIncGV, runtime.OpDecGV, runtime.OpFetchAddGV}
	case threadValue:
		object, ops = uint32(p.object), []runtime.Op{runtime.OpPopPT, runtime.OpAddPT}
	}
	return func(c *compile.Command) bool { return c.A == object && slices.Contains(ops, c.Op) }
}

// add is += or -= on a shared integer.
func (s shared) add(l *lowering, op token.Token, at diag.Span, by *expr, used bool) *expr {
	by, object := signed(op, at, by), uint32(s.object)
	switch {
	case !used && by.isConst() && int64(by.cmd.V) == 1:
		return applyA(at, kindVoid, runtime.OpIncGV, object).with(effWrite)
	case !used && by.isConst() && int64(by.cmd.V) == -1:
		return applyA(at, kindVoid, runtime.OpDecGV, object).with(effWrite)
	case !used:
		return applyA(at, kindVoid, runtime.OpAddGV, object, by).with(effWrite)
	case l.steady(by):
		before := applyA(at, kindInt, runtime.OpFetchAddGV, object, by).with(effWrite)
		return apply(at, kindInt, runtime.OpAdd, before, by)
	}
	x := l.slots.fresh(kindInt)
	defer l.slots.free(x)
	body := []stmt{eval(set(at, x, by))}
	before := applyA(at, kindInt, runtime.OpFetchAddGV, object, local(at, x)).with(effWrite)
	return sequence(at, body, apply(at, kindInt, runtime.OpAdd, before, local(at, x)))
}

// signed is what is added: by, or -by.
func signed(op token.Token, at diag.Span, by *expr) *expr {
	if op == token.MINUS {
		return fold(apply(at, kindInt, runtime.OpNeg, by))
	}
	return by
}

// step is ++ and --, before or after their operand.
func (l *lowering) step(e *ast.UnaryExpression, used bool) *expr {
	at, op := l.at(e), token.PLUS
	if e.Operator == token.DECREMENT {
		op = token.MINUS
	}
	leftAt := l.at(e.Operand)
	p, ok := l.target(l.operand(e.Operand), leftAt)
	if !ok {
		return poison(at)
	}
	one := integer(at, 1)
	if s, ok := p.(shared); ok && !s.text && used && e.Postfix {
		return applyA(at, kindInt, runtime.OpFetchAddGV, uint32(s.object), signed(op, at, one)).with(effWrite)
	}
	if v := l.addAtomically(p, op, at, one, used); v != nil {
		return v
	}
	if k := p.kind(); k != kindNone && !k.number() {
		l.errorf(at, numberHint(k), "%s works on numbers: here is %s", e.Operator, k)
		return poison(at)
	}
	before := p.get(l, leftAt)
	after1 := l.assignTo(p, leftAt, l.arithmetic(op, at, p.get(l, leftAt), one))
	if used && e.Postfix {
		return after(before, after1)
	}
	return after1
}

// assignLogical is a &&= b, a ||= b and a ??= b: b is assigned if a does not decide.
func (l *lowering) assignLogical(e *ast.AssignExpression, to operand, used bool) *expr {
	at, leftAt := l.at(e), l.at(e.Left)
	p, ok := l.target(to, leftAt)
	if !ok {
		l.value(e.Right)
		return poison(at)
	}
	if e.Operator == token.COALESCE {
		l.value(e.Right)
		return p.get(l, leftAt)
	}
	now := p.get(l, leftAt)
	set := l.assignTo(p, leftAt, l.value(e.Right))
	if set.kind == kindBad {
		return set
	}
	test := l.truth(now)
	if e.Operator == token.LOGICAL_OR {
		test = l.not(test)
	}
	if !used {
		body := []stmt{{code: stmtIf, at: at, e: test, body: []stmt{eval(set)}}}
		return sequence(at, body, nil)
	}
	return l.choose(at, test, set, p.get(l, leftAt))
}

// assignHint says what changes the thing that an operand is of.
func assignHint(o operand) string {
	if a, ok := o.(arguments); ok && !a.ofResult {
		if a.global != "" {
			return fmt.Sprintf("write.u32(uaddr(%q), value) changes a variable, with the size that it has", a.global)
		}
		return "what is in a register is changed there: c.regs.NAME; memory with write.u32(p, value) and its kin"
	}
	return "assign to a variable declared with let, or to a member of this"
}
