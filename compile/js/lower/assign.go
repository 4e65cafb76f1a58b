package lower

import (
	"fmt"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"gotap/compile/diag"
	"gotap/compile/js/fetch"
	"gotap/compile/js/operand"
	"gotap/compile/js/operator"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

// assign is = and the assignments with an operator. used says whether the value is used.
func (l *lowering) assign(e *ast.AssignExpression, used bool) *tree.Expr {
	at := l.At(e)
	switch e.Left.(type) {
	case *ast.ObjectPattern, *ast.ArrayPattern:
		l.Errorf(l.At(e.Left), "assign the names one by one", "a pattern cannot be assigned to in a program")
		return tree.Poison(at)
	}
	to := l.Operand(e.Left)
	leftAt := l.At(e.Left)
	switch e.Operator {
	case token.ASSIGN:
		right := l.Value(e.Right)
		if addsTo(e.Left, e.Right) {
			l.ops.WarnCutBefore(right, "it is added up")
		}
		return l.assignTo(to, leftAt, right)
	case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
		return l.assignLogical(e, to, used)
	}
	p, ok := l.target(to, leftAt)
	right := l.ops.Scalar(l.Value(e.Right))
	if !ok || right.Kind == tree.KindBad {
		return tree.Poison(at)
	}
	if e.Operator == token.PLUS || e.Operator == token.MINUS {
		l.ops.WarnCutBefore(right, "it is added up")
	}
	if v := l.addAtomically(p, e.Operator, at, tree.AsWhole(right), used); v != nil {
		return v
	}
	return l.assignTo(to, leftAt, l.ops.Arithmetic(e.Operator, at, p.Get(l.fetch, leftAt), right))
}

// addsTo reports whether an expression is a sum or a difference that begins with the target, as in x = x + y, or a sum
// that ends with it.
func addsTo(target, e ast.Expression) bool {
	sum, ok := e.(*ast.BinaryExpression)
	switch {
	case !ok || sum.Operator != token.PLUS && sum.Operator != token.MINUS:
		return false
	case sameName(target, sum.Left) || addsTo(target, sum.Left):
		return true
	}
	return sum.Operator == token.PLUS && sameName(target, sum.Right)
}

// sameName reports whether two expressions are the same name, or the same member of it.
func sameName(a, b ast.Expression) bool {
	switch a := a.(type) {
	case *ast.Identifier:
		b, ok := b.(*ast.Identifier)
		return ok && a.Name == b.Name
	case *ast.ThisExpression:
		_, ok := b.(*ast.ThisExpression)
		return ok
	case *ast.DotExpression:
		b, ok := b.(*ast.DotExpression)
		return ok && a.Identifier.Name == b.Identifier.Name && sameName(a.Left, b.Left)
	}
	return false
}

// target is an operand as something that can be assigned to.
func (l *lowering) target(o operand.Operand, at diag.Span) (operand.Assignable, bool) {
	switch o := o.(type) {
	case operand.Bad:
		return nil, false
	case operand.PathConst:
		return l.target(operand.Variable(o), at)
	case operand.Variable:
		if o.Sym.Fixed {
			l.Errorf(at, "declare it with let", "%s is a constant", o.Sym.Name)
			return nil, false
		}
		return o, true
	case operand.Assignable:
		return o, true
	case operand.Value:
		switch {
		case o.Expr.Kind == tree.KindBad:
		case o.Expr.IsConst() || o.Expr.Code == tree.CodeText:
			l.Errorf(at, "assign to a variable declared with let, or to a member of this", "cannot assign to a constant value")
		default:
			l.Errorf(at, "what is in a register is changed there: c.regs.NAME; the result is c.ret", "cannot assign to a value that is only read")
		}
		return nil, false
	}
	l.Errorf(at, assignHint(o), "cannot assign to %s", o.Noun())
	return nil, false
}

// assignTo is the assignment of a value, checked against the type of the target.
func (l *lowering) assignTo(to operand.Operand, at diag.Span, v *tree.Expr) *tree.Expr {
	p, ok := l.target(to, at)
	switch to.(type) {
	case operand.Shared, operand.ThreadValue: // which have no types
		v = l.ops.Scalar(v)
	}
	if !ok || v.Kind == tree.KindBad {
		return tree.Poison(at)
	}
	fit, ok := l.fitting(p, v, at)
	if !ok || !l.keepsType(to, v, at) {
		return tree.Poison(at)
	}
	return p.Set(l.fetch, at, fit)
}

// fitting converts a value to the target's type, or reports that it cannot. The first assignment decides the type.
func (l *lowering) fitting(p operand.Assignable, v *tree.Expr, at diag.Span) (*tree.Expr, bool) {
	k := p.Kind()
	switch {
	case k == tree.KindNone || v.Kind.Silent() || k == v.Kind || k == tree.KindUint && v.Kind == tree.KindInt:
		return v, true
	case k == tree.KindInt && v.Kind.Integer(), k == tree.KindFloat && v.Kind.Number():
		return tree.Convert(v, k), true
	case l.guessed(p, v.Kind):
		return v, true
	case k == tree.KindInt || k == tree.KindUint:
		if n, ok := tree.Whole(v); ok {
			return n, true
		}
	}
	l.Errorf(at, retypeHint(p, k, v.Kind), "%s holds %s: cannot assign %s", operand.Title(p), k, v.Kind)
	return v, false
}

// guessed reports whether the target's type was only guessed because it is read before it is assigned to. What it
// really is becomes a fact, and compilation begins again with it.
func (l *lowering) guessed(p operand.Assignable, k tree.Kind) bool {
	c, ok := p.(operand.ThisField)
	return ok && c.Kept != nil && !c.Kept.Set && l.state.Learn("this."+c.Name, k)
}

// retypeHint says what to do about an assignment that would change a type.
func retypeHint(p operand.Assignable, is, v tree.Kind) string {
	_, isShared := p.(operand.Shared)
	switch {
	case isShared && v == tree.KindFloat:
		return "programs share no floats: cut the value with trunc(x), or let exit({…}) bring it to the callback"
	case is == tree.KindBool && v.Integer():
		return "compare to get true or false (x !== 0), or let it begin as a number"
	case is.Integer() && v == tree.KindFloat:
		return "let it begin as a float (0.0), or cut the value with trunc(x)"
	case is == tree.KindText:
		return "make text of it: `${x}`"
	}
	return "a variable keeps the type of its first value: use another variable"
}

// addAtomically is += and -= on a variable that others share: one command, so that no hit of another thread is lost. It
// returns nil for everything else, and for n += n++, because the language adds to what the variable was before the
// right side changed it.
func (l *lowering) addAtomically(p operand.Assignable, op token.Token, at diag.Span, by *tree.Expr, used bool) *tree.Expr {
	if op != token.PLUS && op != token.MINUS || !by.Kind.Integer() || by.AnyCommand(operand.StoresTo(p)) {
		return nil
	}
	switch p := p.(type) {
	case operand.Shared:
		if p.Text {
			return nil
		}
		return p.Add(l.ops, op, at, by, used)
	case operand.ThreadValue:
		if !used {
			return tree.ApplyA(at, tree.KindVoid, opcode.AddPT, uint32(p.Object), operand.Addend(op, at, by)).With(tree.Writes)
		}
	}
	return nil
}

// step is ++ and --, before or after their operand.
func (l *lowering) step(e *ast.UnaryExpression, used bool) *tree.Expr {
	at, op := l.At(e), token.PLUS
	if e.Operator == token.DECREMENT {
		op = token.MINUS
	}
	leftAt := l.At(e.Operand)
	p, ok := l.target(l.Operand(e.Operand), leftAt)
	if !ok {
		return tree.Poison(at)
	}
	one := tree.Integer(at, 1)
	if s, ok := p.(operand.Shared); ok && !s.Text && used && e.Postfix {
		return tree.ApplyA(at, tree.KindInt, opcode.FetchAddGV, uint32(s.Object), operand.Addend(op, at, one)).With(tree.Writes)
	}
	if v := l.addAtomically(p, op, at, one, used); v != nil {
		return v
	}
	if k := p.Kind(); k != tree.KindNone && !k.Number() {
		l.Errorf(at, operator.NumberHint(k), "%s works on numbers, not on %s", e.Operator, k)
		return tree.Poison(at)
	}
	before := p.Get(l.fetch, leftAt)
	after1 := l.assignTo(p, leftAt, l.ops.Arithmetic(op, at, p.Get(l.fetch, leftAt), one))
	if used && e.Postfix {
		return tree.After(before, after1)
	}
	return after1
}

// assignLogical is a &&= b, a ||= b and a ??= b: b is assigned if a does not decide.
func (l *lowering) assignLogical(e *ast.AssignExpression, to operand.Operand, used bool) *tree.Expr {
	at, leftAt := l.At(e), l.At(e.Left)
	p, ok := l.target(to, leftAt)
	if !ok {
		l.Value(e.Right)
		return tree.Poison(at)
	}
	if e.Operator == token.COALESCE {
		l.Value(e.Right)
		return p.Get(l.fetch, leftAt)
	}
	now := p.Get(l.fetch, leftAt)
	set := l.assignTo(p, leftAt, l.Value(e.Right))
	if set.Kind == tree.KindBad {
		return set
	}
	test := l.ops.Truth(now)
	if e.Operator == token.LOGICAL_OR {
		test = l.ops.Not(test)
	}
	if !used {
		body := []tree.Stmt{{Code: tree.StmtIf, At: at, Expr: test, Body: []tree.Stmt{tree.Eval(set)}}}
		return tree.Sequence(at, body, nil)
	}
	return l.ops.Choose(at, test, set, p.Get(l.fetch, leftAt))
}

// assignHint says what changes the thing that an operand is of.
func assignHint(o operand.Operand) string {
	if a, ok := o.(fetch.Path); ok && !a.OfResult {
		if a.Global != "" {
			return fmt.Sprintf("write.u32(uaddr(%q), value) changes a variable, with the size that it has", a.Global)
		}
		return "what is in a register is changed there: c.regs.NAME; memory with write.u32(p, value) and its kin"
	}
	return "assign to a variable declared with let, or to a member of this"
}
