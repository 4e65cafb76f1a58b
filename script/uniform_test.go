package script_test

import (
	"testing"

	"gotap/compile"
	"gotap/compile/js"
	"gotap/script/scripttest"
)

// register is a place whose arguments and results are registers; args are the names that it resolves.
type register struct {
	js.Place
	args map[string]int64
	word int
}

func (register) Uniform()                                     {}
func (r register) WordSize() int                              { return r.word }
func (register) Arg(int) (a compile.Access, ok bool, e error) { return a, false, nil }
func (register) ReturnType() (a compile.Access, ok bool, e error) {
	return a, false, nil
}

func (r register) Access(path []string) (compile.Access, error) {
	return compile.Access{Base: compile.BaseConst, Value: r.args[path[0]]}, nil
}

// TestUniformPlaces compiles programs once for places that are alike, unless they ask for names, which each place
// resolves by itself.
func TestUniformPlaces(t *testing.T) {
	s := scripttest.New(t, `
		probe("registers", { enter(c) { this.n = c.arg1; }, leave(c) { if (c.ret < 0) exit({ n: this.n }); } });
		probe("names", { enter(c) { exit({ n: c.args.n }); } });`)
	registers, names := s.Script.Probes()[0], s.Script.Probes()[1]
	one, other, small := register{args: map[string]int64{"n": 1}, word: 8}, register{args: map[string]int64{"n": 2}, word: 8}, register{word: 4}
	for _, kind := range []js.HandlerKind{js.Enter, js.Leave} {
		first, _ := registers.Compile(one)
		again, _ := registers.Compile(other)
		narrow, _ := registers.Compile(small)
		if p := first.Programs[kind]; p == nil || p != again.Programs[kind] || p == narrow.Programs[kind] {
			t.Errorf("handler %d: %p, %p, and for another word size %p", kind, p, again.Programs[kind], narrow.Programs[kind])
		}
	}
	first, list := names.Compile(one)
	again, _ := names.Compile(other)
	if list.HasErrors() || first.Programs[js.Enter] == again.Programs[js.Enter] {
		t.Errorf("names of different places share a program (%v)", list)
	}
}
