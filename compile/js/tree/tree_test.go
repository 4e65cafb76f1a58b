package tree

import (
	"math"
	"testing"

	"gotap/compile/diag"
	"gotap/runtime/opcode"
)

var nowhere diag.Span

func TestFoldComputesAsTheMachine(t *testing.T) {
	for _, c := range []struct {
		op   opcode.Op
		a, b int64
		want int64
	}{
		{opcode.Add, math.MaxInt64, 1, math.MinInt64}, {opcode.Quo, -7, 2, -3}, {opcode.Rem, -7, 2, -1}, {opcode.Shl, 1, 65, 2},
		{opcode.Shr, -1, 63, 1}, {opcode.Sar, -8, 1, -4}, {opcode.Ult, -1, 1, 0}, {opcode.Min, 3, -3, -3},
	} {
		e := Fold(Apply(nowhere, KindInt, c.op, Integer(nowhere, c.a), Integer(nowhere, c.b)))
		if !e.IsConst() || int64(e.Cmd.V) != c.want {
			t.Errorf("%v of %d, %d is %d, not %d", c.op, c.a, c.b, int64(e.Cmd.V), c.want)
		}
	}
	if e := Fold(Apply(nowhere, KindInt, opcode.Quo, Integer(nowhere, 1), Integer(nowhere, 0))); e.IsConst() {
		t.Error("a division by zero is folded: it has to trap")
	}
}

func TestPoisonSpreads(t *testing.T) {
	bad := Poison(nowhere)
	for _, e := range []*Expr{
		Apply(nowhere, KindInt, opcode.Add, Integer(nowhere, 1), bad), Store(nowhere, opcode.PopGV, 0, bad),
		Sequence(nowhere, nil, bad), Convert(bad, KindFloat), Fold(Apply(nowhere, KindInt, opcode.Neg, bad)),
	} {
		if e.Kind != KindBad {
			t.Errorf("%v is not bad", e.Kind)
		}
	}
}

func TestUnify(t *testing.T) {
	for _, c := range []struct {
		a, b, want Kind
		ok         bool
	}{
		{KindInt, KindBool, KindInt, true}, {KindInt, KindFloat, KindFloat, true}, {KindText, KindNever, KindText, true},
		{KindText, KindInt, KindBad, false}, {KindBad, KindText, KindBad, true}, {KindStack, KindStack, KindStack, true},
	} {
		if k, ok := Unify(c.a, c.b); k != c.want || ok != c.ok {
			t.Errorf("%v and %v: %v, %v", c.a, c.b, k, ok)
		}
	}
}

func TestWholeKeepsAllBits(t *testing.T) {
	float := func(f float64) *Expr { return Constant(nowhere, KindFloat, math.Float64bits(f)) }
	n := Apply(nowhere, KindInt, opcode.Arg)
	if e, ok := Whole(Apply(nowhere, KindFloat, opcode.Fadd, ToFloat(n), float(1e9))); !ok || e.Kind != KindInt || e.Cmd.Op != opcode.Add {
		t.Errorf("n + 1e9 is not an integer: %v %v", e, ok)
	}
	for _, f := range []float64{0.5, math.Copysign(0, -1), 1 << 63, math.NaN(), math.Inf(1)} {
		if _, ok := Whole(float(f)); ok {
			t.Errorf("%v is an integer", f)
		}
	}
}

func TestSlotsAreUsedAgain(t *testing.T) {
	var s Slots
	a, b := s.Take(KindInt), s.Take(KindInt)
	s.Free(a)
	c, fresh := s.Take(KindText), s.Fresh(KindInt)
	if c.Index != a.Index || b.Index == c.Index || fresh.Index != 2 || s.Most != 3 {
		t.Errorf("%d %d %d %d of %d", a.Index, b.Index, c.Index, fresh.Index, s.Most)
	}
}

func TestNeverFallsThrough(t *testing.T) {
	end, l := Stmt{Code: StmtEnd}, &Label{}
	jump := l.Jump(nowhere)
	for _, c := range []struct {
		list []Stmt
		want bool
	}{
		{nil, false}, {[]Stmt{end}, true}, {[]Stmt{jump}, true}, {[]Stmt{jump, l.Here()}, false}, {[]Stmt{end, (&Label{}).Here()}, true},
		{[]Stmt{{Code: StmtIf, Body: []Stmt{end}}}, false}, {[]Stmt{{Code: StmtIf, Body: []Stmt{end}, Alt: []Stmt{end}}}, true},
		{[]Stmt{{Code: StmtLoop, Loop: &Loop{Done: &Label{}}}}, true},
	} {
		if got := NeverFallsThrough(c.list); got != c.want {
			t.Errorf("%v: %v", c.list, got)
		}
	}
}
