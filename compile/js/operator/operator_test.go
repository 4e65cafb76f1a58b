package operator

import (
	"strings"
	"testing"

	"github.com/dop251/goja/token"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/state"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

var nowhere diag.Span

func operators() *Operators { return New(state.New(&js.Unit{}, state.Facts{})) }

// Values of each type that no constant folding removes.
var (
	number = tree.Apply(nowhere, tree.KindInt, opcode.Arg)
	real   = tree.Apply(nowhere, tree.KindFloat, opcode.ArgF)
	text   = tree.Apply(nowhere, tree.KindText, opcode.Text)
	stack  = tree.Apply(nowhere, tree.KindStack, opcode.Stack)
)

func TestArithmetic(t *testing.T) {
	for _, c := range []struct {
		op   token.Token
		a, b *tree.Expr
		kind tree.Kind
		does opcode.Op
		err  string
	}{
		{token.PLUS, number, number, tree.KindInt, opcode.Add, ""}, {token.PLUS, number, real, tree.KindFloat, opcode.Fadd, ""},
		{token.PLUS, text, number, tree.KindText, opcode.Scat, ""}, {token.MINUS, text, number, tree.KindBad, 0, "works on numbers"},
		{token.AND, real, number, tree.KindBad, 0, "integers only"}, {token.PLUS, text, stack, tree.KindBad, 0, "cannot make text"},
		{token.SLASH, number, number, tree.KindInt, opcode.Quo, ""},
	} {
		o := operators()
		e := o.Arithmetic(c.op, nowhere, c.a, c.b)
		if e.Kind != c.kind || c.err == "" && e.Cmd.Op != c.does {
			t.Errorf("%v %v %v is %v, %v", c.a.Kind, c.op, c.b.Kind, e.Kind, e.Cmd.Op)
		}
		if got := o.Diags.Err(); (got != nil) != (c.err != "") || got != nil && !strings.Contains(got.Error(), c.err) {
			t.Errorf("%v %v %v: %v", c.a.Kind, c.op, c.b.Kind, got)
		}
	}
}

func TestCompare(t *testing.T) {
	o := operators()
	if e := o.Compare(token.LESS, nowhere, tree.Text(nowhere, "a"), tree.Text(nowhere, "b")); !e.IsConst() || e.Cmd.V != 1 {
		t.Errorf("\"a\" < \"b\" is %v", e.Cmd)
	}
	if e := o.Compare(token.GREATER, nowhere, real, number); e.Cmd.Op != opcode.Flt || e.Args[1] != real {
		t.Errorf("a float is compared by %v", e.Cmd.Op)
	}
	if o.Compare(token.LESS, nowhere, text, number).Kind != tree.KindBad || len(o.Diags) != 1 {
		t.Errorf("text and a number are compared: %v", o.Diags)
	}
}

func TestNotTurnsComparisonsRound(t *testing.T) {
	o := operators()
	less := tree.Apply(nowhere, tree.KindBool, opcode.Lt, number, number)
	if e := o.Not(less); e.Cmd.Op != opcode.Ge {
		t.Errorf("!(a < b) is %v", e.Cmd.Op)
	}
	// NaN is on neither side of a comparison.
	if e := o.Not(tree.Apply(nowhere, tree.KindBool, opcode.Flt, real, real)); e.Cmd.Op != opcode.Lnot {
		t.Errorf("!(a < b) of floats is %v", e.Cmd.Op)
	}
}

func TestKeepComputesOnce(t *testing.T) {
	o := operators()
	sum := tree.Apply(nowhere, tree.KindInt, opcode.Add, number, number)
	e := o.Keep(nowhere, []*tree.Expr{number, sum}, func(v []*tree.Expr) *tree.Expr {
		if v[0] != number || v[1].Code != tree.CodeLocal {
			t.Errorf("%v and %v are kept", v[0].Code, v[1].Code)
		}
		return v[1]
	})
	if e.Code != tree.CodeSeq || len(e.Body) != 1 || o.Slots.Most != 1 {
		t.Errorf("%v with %d statements and %d words", e.Code, len(e.Body), o.Slots.Most)
	}
}

func TestWarnings(t *testing.T) {
	quotient := tree.Apply(nowhere, tree.KindInt, opcode.Quo, number, tree.Integer(nowhere, 2))
	for _, c := range []struct {
		op   token.Token
		a, b *tree.Expr
		want string
	}{
		{token.OR, number, tree.Integer(nowhere, 0), "| 0 changes nothing"}, {token.MULTIPLY, quotient, number, "before * can use it"},
		{token.PLUS, quotient, real, "before the float is used"}, {token.PLUS, quotient, number, ""},
		{token.UNSIGNED_SHIFT_RIGHT, number, tree.Integer(nowhere, 0), ">>> 0 changes nothing"},
	} {
		o := operators()
		o.WarnOperator(c.op, nowhere, c.a, c.b)
		if (c.want == "") != (len(o.Diags) == 0) || c.want != "" && !strings.Contains(o.Diags[0].Text, c.want) {
			t.Errorf("%v: %v", c.op, o.Diags)
		}
	}
}
