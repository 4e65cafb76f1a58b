package operand

import (
	"testing"

	"github.com/dop251/goja/token"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/fetch"
	"gotap/compile/js/state"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

var nowhere diag.Span

func fetcher() *fetch.Fetcher { return fetch.New(state.New(&js.Unit{}, state.Facts{}), js.Enter) }

func TestScopes(t *testing.T) {
	root := &Scope{Names: map[string]*Symbol{"a": {Name: "a"}}, Fn: &js.Function{}}
	inner := &Scope{Outer: root, Names: map[string]*Symbol{"b": {Name: "b"}}}
	if sym, _ := inner.Find("a"); sym == nil || sym.Name != "a" {
		t.Error("a is not found")
	}
	if sym, top := inner.Find("c"); sym != nil || top != root {
		t.Error("the root of an unknown name is not the function's")
	}
	seen := ""
	inner.EachVisible(func(name string) { seen += name })
	if seen != "ba" {
		t.Errorf("%q is visible", seen)
	}
}

// What is assigned is what is read; the first assignment of a local decides its type.
func TestAssignables(t *testing.T) {
	f := fetcher()
	n := tree.Integer(nowhere, 1)
	for _, c := range []struct {
		to       Assignable
		get, set opcode.Op
	}{
		{Shared{Name: "n"}, opcode.PushGV, opcode.PopGV}, {Shared{Name: "s", Text: true}, opcode.PushGVS, opcode.PopGVS},
		{ThreadValue{Name: "t"}, opcode.PushPT, opcode.PopPT}, {ThisField{Name: "x"}, opcode.PushThis, opcode.PopThis},
	} {
		if get, set := c.to.Get(f, nowhere), c.to.Set(f, nowhere, n); get.Cmd.Op != c.get || set.Cmd.Op != c.set {
			t.Errorf("%s: %v and %v", Title(c.to), get.Cmd.Op, set.Cmd.Op)
		}
	}
	v := Variable{&Symbol{Name: "v", Slot: &tree.Slot{}}}
	v.Set(f, nowhere, tree.Text(nowhere, "x"))
	if v.Kind() != tree.KindText || v.Get(f, nowhere).Kind != tree.KindText {
		t.Errorf("v is %v", v.Kind())
	}
}

func TestAddIsOneCommand(t *testing.T) {
	s, arg := Shared{Name: "n"}, tree.Apply(nowhere, tree.KindInt, opcode.Arg)
	for _, c := range []struct {
		op   token.Token
		by   *tree.Expr
		want opcode.Op
	}{
		{token.PLUS, tree.Integer(nowhere, 1), opcode.IncGV}, {token.MINUS, tree.Integer(nowhere, 1), opcode.DecGV}, {token.PLUS, arg, opcode.AddGV},
	} {
		if e := s.Add(fetcher().Ops, c.op, nowhere, c.by, false); e.Cmd.Op != c.want {
			t.Errorf("%v", e.Cmd.Op)
		}
	}
	inc := s.Add(fetcher().Ops, token.PLUS, nowhere, tree.Integer(nowhere, 1), false)
	if !inc.AnyCommand(StoresTo(s)) || inc.AnyCommand(StoresTo(Shared{Object: 1})) {
		t.Error("n++ is not seen to store in n alone")
	}
}

func TestNouns(t *testing.T) {
	for _, o := range []Operand{Context{}, This{}, Registers{}, Map{}, Aggregation{}, Deferred{}, Builtin{}, &Closure{}, Namespace{}, PerThread{}} {
		if o.Noun() == "" || HasValue(o) || IsBad(o) {
			t.Errorf("%T: %q", o, o.Noun())
		}
	}
	if !IsBad(Bad{}) || !IsBad(Value{tree.Poison(nowhere)}) || !HasValue(Value{tree.Integer(nowhere, 1)}) {
		t.Error("values")
	}
}
