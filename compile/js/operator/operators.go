package operator

import (
	"github.com/dop251/goja/token"

	"gotap/compile/diag"
	"gotap/compile/js/report"
	"gotap/compile/js/state"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// Keep computes values once for an expression that uses them more than once.
func (o *Operators) Keep(at diag.Span, values []*tree.Expr, f func([]*tree.Expr) *tree.Expr) *tree.Expr {
	var body []tree.Stmt
	kept := make([]*tree.Expr, len(values))
	for i, v := range values {
		kept[i] = v
		if !o.State.Repeatable(v) {
			x := o.Slots.Fresh(v.Kind)
			defer o.Slots.Free(x)
			body = append(body, tree.Eval(tree.Set(v.At, x, v)))
			kept[i] = tree.Local(v.At, x)
		}
	}
	return tree.Sequence(at, body, f(kept))
}

// ConstText is a constant text of the script.
func (o *Operators) ConstText(at diag.Span, s string) *tree.Expr {
	if len(s) > value.MaxText {
		o.Errorf(at, "shorten it", "text of more than %d bytes", value.MaxText)
		return tree.Poison(at)
	}
	return tree.Text(at, s)
}

// Operators are the operators of the language, on typed trees. They check types, fold constants and warn of surprises.
type Operators struct {
	*report.Report
	State *state.State
	Slots tree.Slots
}

func New(st *state.State) *Operators { return &Operators{Report: st.Report, State: st} }

// operation is how an operator works on each type; an operation that is OpNop there is refused.
type operation struct{ int, float opcode.Op }

var operations = map[token.Token]operation{
	token.PLUS:                 {opcode.Add, opcode.Fadd},
	token.MINUS:                {opcode.Sub, opcode.Fsub},
	token.MULTIPLY:             {opcode.Mul, opcode.Fmul},
	token.SLASH:                {opcode.Quo, opcode.Fdiv},
	token.REMAINDER:            {opcode.Rem, opcode.Frem},
	token.AND:                  {int: opcode.And},
	token.OR:                   {int: opcode.Or},
	token.EXCLUSIVE_OR:         {int: opcode.Xor},
	token.SHIFT_LEFT:           {int: opcode.Shl},
	token.SHIFT_RIGHT:          {int: opcode.Sar},
	token.UNSIGNED_SHIFT_RIGHT: {int: opcode.Shr},
	token.LESS:                 {opcode.Lt, opcode.Flt},
	token.LESS_OR_EQUAL:        {opcode.Le, opcode.Fle},
	token.GREATER:              {opcode.Gt, opcode.Flt}, // floats: with the sides exchanged
	token.GREATER_OR_EQUAL:     {opcode.Ge, opcode.Fle},
	token.EQUAL:                {opcode.Eq, opcode.Feq},
	token.STRICT_EQUAL:         {opcode.Eq, opcode.Feq},
	token.NOT_EQUAL:            {opcode.Ne, opcode.Fne},
	token.STRICT_NOT_EQUAL:     {opcode.Ne, opcode.Fne},
}

// Arithmetic is + - * / % & | ^ << >> >>> on two values.
func (o *Operators) Arithmetic(op token.Token, at diag.Span, a, b *tree.Expr) *tree.Expr {
	ops, known := operations[op]
	a, b = o.Scalar(a), o.Scalar(b)
	switch {
	case a.Kind == tree.KindBad || b.Kind == tree.KindBad:
		return tree.Poison(at)
	case !known:
		o.Errorf(at, "", "%s cannot be used in a program", op)
		return tree.Poison(at)
	case op == token.PLUS && (a.Kind == tree.KindText || b.Kind == tree.KindText):
		return o.concat(at, a, b)
	case !o.numbers(op, at, a, b):
		return tree.Poison(at)
	case a.Kind == tree.KindFloat || b.Kind == tree.KindFloat:
		if x, y, ok := tree.BothWhole(a, b); ok && ops.float == opcode.Nop {
			return tree.Fold(tree.Apply(at, tree.KindInt, ops.int, x, y))
		}
		if ops.float == opcode.Nop {
			o.Errorf(at, "make an integer of the float with trunc(x)", "%s works on integers only", op)
			return tree.Poison(at)
		}
		return tree.Fold(tree.Apply(at, tree.KindFloat, ops.float, tree.ToFloat(a), tree.ToFloat(b)))
	}
	if (op == token.SLASH || op == token.REMAINDER) && b.IsConst() && b.Cmd.V == 0 {
		o.Warnf(at, "", "division by zero: every hit that reaches it ends in a trap")
	}
	return tree.Fold(tree.Apply(at, tree.KindInt, ops.int, a, b))
}

// numbers checks that both sides of an operator are numbers.
func (o *Operators) numbers(op token.Token, at diag.Span, a, b *tree.Expr) bool {
	for _, e := range []*tree.Expr{a, b} {
		if !e.Kind.Number() && !e.Kind.Silent() {
			o.Errorf(at, NumberHint(e.Kind), "%s works on numbers, not on %s", op, e.Kind)
			return false
		}
	}
	return true
}

// NumberHint says how to get a number out of something.
func NumberHint(k tree.Kind) string {
	switch k {
	case tree.KindText:
		return "text has a .length and a hash(s)"
	case tree.KindStack:
		return "a stack can only be logged, or be a key"
	}
	return "read numbers with u8(p), u32(p), …"
}

// concat is a + b where one is text.
func (o *Operators) concat(at diag.Span, a, b *tree.Expr) *tree.Expr {
	if a.Code == tree.CodeText && b.IsConst() && b.Kind != tree.KindFloat || b.Code == tree.CodeText && a.IsConst() && a.Kind != tree.KindFloat ||
		a.Code == tree.CodeText && b.Code == tree.CodeText {
		x, _ := tree.TextOf(a)
		y, _ := tree.TextOf(b)
		return o.ConstText(at, x.Text+y.Text)
	}
	for _, e := range []*tree.Expr{a, b} {
		if _, ok := tree.TextOf(e); !ok {
			o.Errorf(e.At, "log it as an argument of its own, or in a template: log(`${…}`)", "cannot make text of %s here", e.Kind)
			return tree.Poison(at)
		}
	}
	x, _ := tree.TextOf(o.Shown(a))
	y, _ := tree.TextOf(o.Shown(b))
	return tree.Apply(at, tree.KindText, opcode.Scat, x, y)
}

// Sign is an operator on one number; OpNop does nothing. ~ does not work on floats.
func (o *Operators) Sign(at diag.Span, e *tree.Expr, ints, floats opcode.Op) *tree.Expr {
	e = o.Scalar(e)
	switch {
	case e.Kind.Silent():
		return e
	case !e.Kind.Number():
		o.Errorf(at, NumberHint(e.Kind), "this works on numbers, not on %s", e.Kind)
		return tree.Poison(at)
	case e.Kind == tree.KindFloat && ints == opcode.Not:
		o.Errorf(at, "make an integer of the float with trunc(x)", "~ works on integers only")
		return tree.Poison(at)
	case e.Kind == tree.KindFloat && floats != opcode.Nop:
		return tree.Fold(tree.Apply(at, tree.KindFloat, floats, e))
	case e.Kind != tree.KindFloat && ints != opcode.Nop:
		return tree.Fold(tree.Apply(at, tree.KindInt, ints, e))
	case e.Kind == tree.KindBool: // +true is 1
		return tree.Apply(at, tree.KindInt, opcode.Bool, e)
	}
	return e
}

// Append is text followed by a value.
func (o *Operators) Append(at diag.Span, whole, next *tree.Expr) *tree.Expr {
	switch {
	case next.Code == tree.CodeText && next.Text == "":
		return whole
	case whole.Code == tree.CodeText && whole.Text == "" && next.Kind == tree.KindText:
		return next
	}
	return o.Arithmetic(token.PLUS, at, whole, next)
}
