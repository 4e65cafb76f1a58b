package operator

import (
	"gotap/compile/diag"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

// Truth makes an integer of a value: not 0 when the value counts as true.
func (o *Operators) Truth(e *tree.Expr) *tree.Expr {
	e = o.Scalar(e)
	switch {
	case e.Kind.Integer(), e.Kind.Silent():
		return e
	case e.Code == tree.CodeText:
		return tree.Boolean(e.At, e.Text != "")
	case e.Kind == tree.KindFloat && e.IsConst():
		f := tree.FloatValue(e)
		return tree.Boolean(e.At, f == f && f != 0)
	case e.Kind == tree.KindFloat:
		return tree.Apply(e.At, tree.KindBool, opcode.Fbool, e)
	}
	return tree.Apply(e.At, tree.KindInt, opcode.Slen, e)
}

// Not is the negation of a condition.
func (o *Operators) Not(e *tree.Expr) *tree.Expr {
	switch {
	case e.Kind.Silent():
		return e
	case e.IsConst():
		return tree.Boolean(e.At, e.Cmd.V == 0)
	}
	if op, ok := tree.Opposite[e.Cmd.Op]; ok && e.Code == tree.CodeOp {
		inverted := *e
		inverted.Cmd.Op = op
		return &inverted
	}
	return tree.Apply(e.At, tree.KindBool, opcode.Lnot, e)
}

// Choose is test ? a : b.
func (o *Operators) Choose(at diag.Span, test, a, b *tree.Expr) *tree.Expr {
	if test.Kind == tree.KindBad {
		return tree.Poison(at)
	}
	k, ok := tree.Unify(a.Kind, b.Kind)
	if !ok && (o.State.MeantText(a, b) || o.State.MeantText(b, a)) {
		return tree.Poison(at)
	}
	if !ok {
		o.Errorf(at, "make both of one type", "one branch gives %s, the other %s", a.Kind, b.Kind)
		return tree.Poison(at)
	}
	a, b = tree.Convert(a, k), tree.Convert(b, k)
	if test.IsConst() {
		if test.Cmd.V != 0 {
			return a
		}
		return b
	}
	return (&tree.Expr{Code: tree.CodeCond, Kind: k, At: at, Args: []*tree.Expr{test, a, b}}).Complete()
}
