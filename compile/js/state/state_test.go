package state

import (
	"strings"
	"testing"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/tree"
	"gotap/runtime/arena"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

var nowhere diag.Span

func TestLearn(t *testing.T) {
	known := Facts{}
	st := New(&js.Unit{}, known)
	if !st.Learn("this.name", tree.KindText) || !st.Learned {
		t.Error("a new fact is not learned")
	}
	again := New(&js.Unit{}, known)
	if again.Learn("this.name", tree.KindInt) || again.Learned || again.Facts["this.name"] != tree.KindText {
		t.Error("a fact was learned again")
	}
}

func TestFieldsOfThis(t *testing.T) {
	s := newStorage()
	a, name, b := s.Field("a", tree.KindInt), s.Field("name", tree.KindText), s.Field("b", tree.KindFloat)
	if a.Offset != 0 || name.Offset != 8 || b.Offset != 8+arena.TextCell || s.Size() != 16+arena.TextCell {
		t.Errorf("%d %d %d of %d", a.Offset, name.Offset, b.Offset, s.Size())
	}
	if s.Field("a", tree.KindText) != a {
		t.Error("a field was made twice")
	}
}

func TestUnsetFields(t *testing.T) {
	st := New(&js.Unit{}, Facts{})
	st.Storage.Field("start", tree.KindInt).Set = true
	st.Storage.Field("strat", tree.KindInt).Read = diag.Span{Source: &diag.Source{}}
	st.UnsetFields()
	if len(st.Diags) != 1 || st.Diags[0].Hint != "did you mean start?" {
		t.Errorf("%+v", st.Diags)
	}
}

func TestShapesAgree(t *testing.T) {
	n, text := tree.Integer(nowhere, 1), tree.Text(nowhere, "x")
	for _, c := range []struct {
		first, second []*tree.Expr
		want          string
	}{
		{[]*tree.Expr{n}, []*tree.Expr{tree.Boolean(nowhere, true)}, ""}, {[]*tree.Expr{n}, []*tree.Expr{text}, "part 1 of the key of m"},
		{[]*tree.Expr{n}, []*tree.Expr{n, n}, "m has a key of 1 part elsewhere"}, {nil, nil, ""},
		{[]*tree.Expr{n}, []*tree.Expr{tree.Poison(nowhere)}, ""},
	} {
		st := New(&js.Unit{}, Facts{})
		st.Shape(0, "m", c.first, value.KindInt, nowhere)
		st.Shape(0, "m", c.second, value.KindInt, nowhere)
		switch {
		case c.want == "" && len(st.Diags) > 0, c.want != "" && (len(st.Diags) != 1 || !strings.Contains(st.Diags[0].Text, c.want)):
			t.Errorf("%d and %d parts: %v", len(c.first), len(c.second), st.Diags)
		}
	}
}

func TestMapThatHoldsText(t *testing.T) {
	st := New(&js.Unit{}, Facts{})
	st.Shape(3, "m", nil, value.KindAny, nowhere)
	if k := st.MapHolds(3); k != tree.KindInt {
		t.Errorf("%v is assumed", k)
	}
	get := tree.Keyed(nowhere, tree.KindInt, opcode.MapGet, 3, nil)
	if !st.MeantText(get, tree.Text(nowhere, "x")) || st.MapHolds(3) != tree.KindText {
		t.Error("comparing with text does not make it text")
	}
}
