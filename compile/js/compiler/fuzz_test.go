package compiler

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"gotap/compile"
	"gotap/runtime/outcome"
	"gotap/runtime/value"
)

// FuzzCompile: whatever parses compiles or is refused with a place in the text; what compiles verifies, and runs to an
// end.
func FuzzCompile(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.js")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			f.Add(line)
		}
	}
	for _, s := range []string{
		"c => { for (let i = 0; i < 8; i++) { const k = c.arg0 + i; if (k & 1) continue; log(`${k} ${i}`); } }",
		"({ enter({ arg0, args: { p: q } }) { this.x = arg0; }, leave(c) { if (this.x > 3) exit({ a: this.x, s: c.stack(3) }); } })",
		"function f(a, b = 2) { switch (a) { case 1: return b; default: return f2(a); } } function f2(x) { return x * 2; } c => n.at(f(c.arg0)).inc()",
		"c => { m.set(c.arg0, 1); log(m.get(1) ?? 2, mine.value++, shared--, word + 'x', LIMIT / 3, config.size); }",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		prg, err := parser.ParseFile(nil, "test.js", text, 0)
		if err != nil || len(text) > 4096 {
			return
		}
		r := newRig(t)
		check(t, r, prg, text)
	})
}

// check compiles every way a text can be compiled, and runs what comes of it.
func check(t *testing.T, r *rig, prg *ast.Program, text string) {
	u, ok := unitOf(prg, text, testScope(r))
	if !ok {
		return
	}
	u.Arena, u.Unsafe = r.arena, true
	res, diags := Compile(u)
	for _, d := range diags {
		if d.Text == "" || d.Span.Source == nil || d.Span.Start < 0 || d.Span.End < d.Span.Start || d.Span.Start > len(text) {
			t.Fatalf("diagnostic without a place: %#v", d)
		}
	}
	if diags.HasErrors() != (len(res.Programs) == 0) {
		t.Fatalf("%d programs with %v", len(res.Programs), diags)
	}
	for k, p := range res.Programs {
		if diags := compile.Verify(p); diags.HasErrors() {
			t.Fatalf("%v does not verify: %v\n%s", k, diags, listing(p))
		}
		r.this = r.arena.AllocThis(res.ThisBytes)
		if usesUnknownRegister(p) {
			continue
		}
		h := r.run(p)
		if h.out.Trap == outcome.TrapStack || h.out.Trap == outcome.TrapOp || h.out.Trap == outcome.TrapCalls {
			t.Fatalf("%v: trap %v\n%s", k, h.out.Trap, listing(p))
		}
	}
}

func usesUnknownRegister(p *compile.Program) bool {
	for _, name := range p.Regs {
		if name != "rax" && name != "rdi" && name != "rsi" {
			return true
		}
	}
	return false
}

// TestDeep: expressions nested very deep compile, with the right value, or are refused.
func TestDeep(t *testing.T) {
	for _, depth := range []int{50, 3000} {
		r := newRig(t)
		left := "c => log(`${" + strings.Repeat("(", depth) + "c.arg0" + strings.Repeat(" + 1)", depth) + "}`)"
		right := "c => log(" + strings.Repeat("(1 + ", depth) + "c.arg0" + strings.Repeat(")", depth) + ")"
		for _, text := range []string{left, right} {
			if got := r.logged(text, nil, 1); len(got) != 1 || got[0] != itoa(1+depth) {
				t.Errorf("depth %d: got %q", depth, got)
			}
		}
	}
}

// TestTooDeep: what cannot be compiled is refused with a message.
func TestTooDeep(t *testing.T) {
	long := func(open, in, close string, n int) string {
		return strings.Repeat(open, n) + in + strings.Repeat(close, n)
	}
	for _, text := range []string{
		"c => log(" + long("(u8(c.arg0) + ", "1", ")", 300) + ")",
		"c => log(" + long("(", "c.arg0", " + 1)", 6_000) + ")",
		"c => " + long("{", "", "}", 6_000),
		"c => log(" + long("!", "c.arg0", "", 6_000) + ")",
		"c => log(" + long("`${", "c.arg0", "}`", 6_000) + ")",
		"function a(x) { return b(x) + b(x) + b(x) + b(x); } function b(x) { return d(x) + d(x) + d(x) + d(x); } " +
			"function d(x) { return e(x) + e(x) + e(x) + e(x); } function e(x) { return f(x) + f(x) + f(x) + f(x); } " +
			"function f(x) { return g(x) + g(x) + g(x) + g(x); } function g(x) { return h(x) + h(x) + h(x) + h(x); }" +
			"function h(x) { return k(x) + k(x) + k(x) + k(x); } function k(x) { return l(x) + l(x) + l(x) + l(x); }" +
			"function l(x) { return x * x + x; } c => log(a(c.arg0))",
		"c => { " + strings.Repeat("{ let x = c.time; ", 300) + "log(x);" + strings.Repeat("}", 300) + "}",
	} {
		_, diags := Compile(parse(t, text, nil))
		if !diags.HasErrors() || len(diags) > 2 || diags[0].Hint == "" {
			t.Errorf("%.60s…: %v", text, len(diags))
		}
	}
}

func itoa(n int) string {
	return strings.TrimSpace(string(value.Printf("%d", []value.Value{{Kind: value.KindInt, Int: int64(n)}}, nil)))
}
