package fetch

import (
	"errors"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/state"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

var nowhere diag.Span

// place is a Place with one argument, p.
type place struct{ a compile.Access }

func (place) Name() string { return "test" }
func (p place) Access(path []string) (compile.Access, error) {
	if path[0] != "p" {
		return compile.Access{}, errors.New("unknown argument " + path[0])
	}
	return p.a, nil
}
func (place) ReturnType() (compile.Access, bool, error) { return compile.Access{}, false, nil }
func (place) ResultMember([]string) (compile.Access, error) {
	return compile.Access{}, errors.New("no members")
}
func (place) Arg(int) (a compile.Access, ok bool, err error) { return a, false, nil }

func fetcher(p js.Place, k js.HandlerKind) *Fetcher {
	return New(state.New(&js.Unit{Place: p, WordSize: 8}, state.Facts{}), k)
}

func TestPathsWithoutPlace(t *testing.T) {
	f := fetcher(nil, js.Enter)
	e := f.ArgumentValue(Path{Names: []string{"p"}}, nowhere)
	if e.Kind != tree.KindInt || !f.State.Result.UsesPlace || len(f.Diags) > 0 {
		t.Errorf("%v, %v", e.Kind, f.Diags)
	}
}

func TestAccesses(t *testing.T) {
	for _, c := range []struct {
		a    compile.Access
		kind tree.Kind
		op   opcode.Op
	}{
		{compile.Access{Base: compile.BaseReg, Reg: "rdi"}, tree.KindInt, opcode.PushR},
		{compile.Access{Base: compile.BaseReg, Reg: "xmm0", Type: compile.TypeF64}, tree.KindFloat, opcode.ArgF},
		{compile.Access{Base: compile.BaseArg, Steps: []compile.AccessStep{{Op: compile.OpLoad, Size: 4, Signed: true}}}, tree.KindInt, opcode.LoadS32},
		{compile.Access{Base: compile.BaseArg, Steps: []compile.AccessStep{{Op: compile.OpLoad, Size: 8}}}, tree.KindUint, opcode.Load64},
		{compile.Access{Base: compile.BaseRegOffset, Reg: "rsp", Value: 8}, tree.KindInt, opcode.Add},
		{compile.Access{Base: compile.BaseConst, Value: 7, Type: compile.TypeBool}, tree.KindBool, opcode.PushD},
	} {
		f := fetcher(place{c.a}, js.Enter)
		if e := f.ArgumentValue(Path{Names: []string{"p"}}, nowhere); e.Kind != c.kind || e.Cmd.Op != c.op || len(f.Diags) > 0 {
			t.Errorf("%+v: %v by %v, %v", c.a, e.Kind, e.Cmd.Op, f.Diags)
		}
	}
}

func TestUnknownArgument(t *testing.T) {
	f := fetcher(place{}, js.Enter)
	if e := f.ArgumentValue(Path{Names: []string{"q"}}, nowhere); e.Kind != tree.KindBad || !f.Diags.HasErrors() {
		t.Errorf("%v, %v", e.Kind, f.Diags)
	}
}

func TestArgumentsAtReturn(t *testing.T) {
	f := fetcher(place{}, js.Leave)
	f.ArgumentValue(Path{Names: []string{"p"}}, nowhere)
	if len(f.Diags) != 1 || !strings.Contains(f.Diags[0].Hint, "this.p") {
		t.Errorf("%+v", f.Diags)
	}
}

func TestPathsAreSpelled(t *testing.T) {
	for _, c := range []struct {
		p    Path
		want string
	}{
		{Path{Names: []string{"p", "x"}}, "c.args.p.x"}, {Path{OfResult: true}, "c.ret"}, {Path{OfLocals: true, Names: []string{"n"}}, "c.locals.n"},
		{Path{Global: "limit"}.Below("y"), `global("limit").y`},
	} {
		if got := c.p.Spelling(); got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
	}
}
