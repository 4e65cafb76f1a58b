package place

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gotap/engine/image/module"
	"gotap/engine/image/symtab"
)

// callsOf returns a Resolver.Callees that knows the calls of one function.
func callsOf(caller *symtab.Func, called ...module.Callee) func(*module.File, []byte, uint64) ([]module.Callee, error) {
	return func(_ *module.File, _ []byte, vaddr uint64) ([]module.Callee, error) {
		if vaddr != caller.Addr {
			return nil, errors.New("no other function was asked for")
		}
		return called, nil
	}
}

// TestCallees: a callee is a function of the same file, or one of any file that exports the name. A call that
// leads into the middle of a function has no callee.
func TestCallees(t *testing.T) {
	prog := build(t, "gcc", "prog.c")
	lib := build(t, "gcc", "prog.c", "-shared", "-fPIC")
	lib.Path = "/lib/libprog.so"
	main, worker := prog.Lookup("main")[0].Func, prog.Lookup("worker")[0].Func
	r := Resolver{Callees: callsOf(main, module.Callee{Addr: worker.Addr}, module.Callee{Addr: worker.Addr + 1}, module.Callee{Symbol: "work"},
		module.Callee{Symbol: "nowhere"})}
	list := func(text string) (all []string, err error) {
		s, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		targets, err := r.ResolveAll(s, []*module.File{prog, lib})
		for _, t := range targets {
			all = append(all, t.Name)
		}
		return all, err
	}
	want := []string{"prog:worker", "libprog.so:work"} // the program exports nothing
	if got, err := list(`callees("main")`); !slices.Equal(got, want) || err != nil {
		t.Errorf("main calls %v, %v; want %v", got, err, want)
	}
	for text, words := range map[string]string{
		`callees("missing")`:    `cannot find function "missing"`,
		`nomod:callees("main")`: `cannot find module "nomod"`,
	} {
		if _, err := list(text); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", text, err)
		}
	}
	r.Callees = callsOf(main)
	var missing *NotFoundError
	if _, err := list(`callees("main")`); !errors.As(err, &missing) || missing.What != NoCallee || missing.Hint() == "" {
		t.Errorf("a function without calls: %v", err)
	}
}

// TestExported: a program exports nothing, a library what is not static.
func TestExported(t *testing.T) {
	prog := build(t, "gcc", "prog.c")
	lib := build(t, "gcc", "prog.c", "-shared", "-fPIC")
	if got := names(t, `exported("wor*")`, prog, lib); !slices.Equal(got, []string{"prog:work", "prog:worker"}) {
		t.Errorf("the library exports %v", got)
	}
	_, err := resolve(t, `exported("work")`, prog)
	var missing *NotFoundError
	if !errors.As(err, &missing) || !missing.NoExports || !strings.Contains(missing.Hint(), "exports no function") {
		t.Errorf("the program: %v", err)
	}
	lines, err := (&Resolver{}).List(Spec{Of: Exported, Name: "*work"}, lib)
	if err != nil || len(lines) < 2 {
		t.Errorf("listed: %v, %v", lines, err)
	}
}
