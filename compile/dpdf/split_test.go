package dpdf

import (
	"strings"
	"testing"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

func parseBody(t *testing.T, body string) (*compile.Program, diag.List) {
	t.Helper()
	arena, err := arena.New(arena.Options{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { arena.Close() })
	f, list := Parse(diag.NewSource("a.dpdf", "name = a\nvars = 4\noffset = f\n"+body), Options{Arena: arena})
	if f == nil {
		return nil, list
	}
	return f.Probes[0].Program, list
}

// TestUnequalDepths jumps to labels with more words on the stack one time than another.
func TestUnequalDepths(t *testing.T) {
	for name, body := range map[string]string{
		"abort":     "push d,1\npush d,2\njz bad\njz bad\nexit\nbad: abort\n",
		"remainder": "push d,47\npush d,5\ndiv\npush d,9\nsub\njnz bad\npush d,3\nlog 2\nexit\nbad: abort\n",
		"falls":     "push d,1\npush d,2\njz on\npush d,3\non: push d,4\nlog 2\nexit\n",
		"handler":   "sx H\npush d,8\npush mem,u8\njmp bad\nH: push d,1\nsub\njnz bad\npush d,8\nsub\njnz bad\nros,1\nexit\nbad: abort\n",
		"routine":   "push d,5\ncall R\ncall R\npush d,7\nsub\njnz bad\npush d,1\njz bad\nexit\nR: push r,rdi\njz more\npush d,1\nadd\nret\nmore: push d,2\nadd\nret\nbad: abort\n",
		"inside":    "call R\nexit\nR: sx H\npush d,1\npush d,2\njz bad\npush mem,u8\njz bad\nret\nH: push d,1\nsub\njz bad\nros,2\nret\nbad: abort\n",
		"base":      "push d,1\npush r,rdi\njz bad\npush sbp,0\njz bad\njz bad\nexit\nbad: abort\n",
		"loop":      "push d,1\npush d,2\njz on\npush d,3\non: push d,4\nagain: inc lv,0\nloop again\nexit\n",
	} {
		p, list := parseBody(t, body)
		if list.HasErrors() {
			t.Errorf("%s: %v", name, list)
		} else if !p.Bound.Verified || !p.Bound.Proved {
			t.Errorf("%s: %s", name, p.Bound)
		}
	}
}

// TestUnequalDepthsRefused: the error is that of the program as written.
func TestUnequalDepthsRefused(t *testing.T) {
	for body, text := range map[string]string{
		"again: push d,1\npush r,rdi\njz again\nexit\n":                                          "not equally deep",
		"push r,rdi\njz on\npush d,3\non: log 1\nexit\n":                                         "not equally deep",
		"push r,rdi\njz on\npush d,3\non: call R\nexit\nR: push r,rdi\njz E\npush d,1\nE: ret\n": "not equally deep",
		"push r,rdi\njz on\npush d,3\non: push d,0\nrestore tsp\nexit\n":                         "not equally deep",
		"push r,rdi\njz on\npush d,3\non: call R\nexit\nR: call R\nret\n":                        "not equally deep",
	} {
		_, list := parseBody(t, body)
		if err := list.Err(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// TestSplitMeans runs what was split: the way with more words on the stack does the same after
// the label.
func TestSplitMeans(t *testing.T) {
	p, list := parseBody(t, "push d,1\npush d,2\njz on\npush d,3\non: push d,40\npush d,2\nadd\npop lv,0\nexit\n")
	if list.HasErrors() {
		t.Fatal(list)
	}
	arena, err := arena.New(arena.Options{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer arena.Close()
	id, err := arena.Declare(object.Object{Name: "lv", Kind: object.KindArray, Size: 4})
	if err != nil {
		t.Fatal(err)
	}
	code, err := compile.Lower(p, compile.Env{Arena: arena, WordSize: 8})
	if err != nil {
		t.Fatal(err)
	}
	var hit record.Log
	hit.Reset()
	out := runtime.NewMachine(arena).Run(code, &runtime.Context{Word: 8}, &hit)
	if d, _ := arena.Handle(id).Get(value.Int(0)); out.Trap != outcome.NoTrap || d.Int != 42 {
		t.Errorf("trap %v, variable %d", out.Trap, d.Int)
	}
}
