package scope

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

func parse(t testing.TB, text string) *ast.Program {
	t.Helper()
	tree, err := parser.ParseFile(nil, "s.js", text, 0)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return tree
}

// What each function captures, what is shared, and what is assigned.
func TestAnalyze(t *testing.T) {
	for text, want := range map[string]string{
		"const k = 1; probe('a', c => k);":                                         "0[k] slots",
		"let n = 1; probe('a', c => n);":                                           "0[] slots n",
		"let n = 1; every('1s', () => { n++; });":                                  "0[n!] slots",
		"let n = 1; probe('a', { enter(c) {}, exit(e) { n++; } });":                "0[] 1[n!] slots",
		"let n = 1; function f() { return n; } function g() { return f(); }":       "0[] 1[f] slots n",
		"function w(f, l) { l = 1; probe(f, c => l); }":                            "0[] 1[l!] slots",
		"for (let i = 0; i < 2; i++) probe('a', c => i);":                          "0[i] slots",
		"for (let i = 0; i < 2; i++) { probe('a', c => i); i = 5; }":               "0[i!] slots",
		"for (var i = 0; i < 2; i++) probe('a', c => i);":                          "0[i!] slots",
		"for (const i of []) probe('a', c => i);":                                  "0[i] slots",
		"let { a, b: [d] } = {}; probe('a', c => a + d);":                          "0[a d] slots",
		"let x = 1; { let x = 2; probe('a', c => x); }":                            "0[x] slots",
		"let x = 1; probe('a', c => { let x = 2; return x; });":                    "0[] slots",
		"let x = 1; probe('a', (c, y = x) => { const f = () => x; return f(); });": "0[] 1[] slots x",
		"class A { m() { return A; } }":                                            "0[A] slots",
		"try {} catch (e) { probe('a', c => e); }":                                 "0[e] slots",
		"const o = {}; o.x = 1; probe('a', c => o.x);":                             "0[o~] slots",
		"const f = function g() { return g; };":                                    "0[] slots",
		"async function f() {} function* g() {}":                                   "0[]an async function 1[]a generator slots",
	} {
		info := Analyze(parse(t, text), Options{})
		if got := describe(info); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func describe(i *Info) string {
	var parts []string
	for _, f := range i.Functions {
		var names []string
		for _, v := range f.Captures {
			name := v.Name
			if v.Assigned > 0 && v.Slot < 0 {
				name += "!"
			}
			if v.Mutated {
				name += "~"
			}
			names = append(names, name)
		}
		why := f.Why
		if f.Callback {
			why = ""
		}
		parts = append(parts, fmt.Sprintf("%d[%s]%s", f.ID, strings.Join(names, " "), why))
	}
	parts = append(parts, "slots")
	for _, v := range i.Slots {
		parts = append(parts, v.Name)
	}
	return strings.Join(parts, " ")
}

// machine runs rewritten texts with the simplest host there can be.
func machine() *goja.Runtime {
	vm := goja.New()
	vm.RunString(`
var vars = [], out = [];
function probe() {}
function print(...v) { out.push(v.map(String).join(" ")); }
function reg(id, f, get) { return f; }
function add(i, n, old) { const before = vars[i]; vars[i] = before + n; return old ? before : vars[i]; }
function power(a, b) { return a ** b; }
function powerat(o, k, b) { return o[k] **= b; }
function shift(n) { return n; }`)
	for from, to := range map[string]string{"vars": NameVars, "reg": NameRegister, "add": NameAdd, "power": NamePower,
		"powerat": NamePowerAt, "shift": NameShift} {
		vm.Set(to, vm.Get(from))
	}
	return vm
}

// programs are texts whose meaning rewriting must not change. All print.
var programs = []string{
	`let n = 1, s = "a"; const f = () => { n++; s += "b"; return n + s; }; print(f(), n--, --n, n, s, typeof n);`,
	`let n = 5; function f() { n -= 2; n *= 3; n ??= 1; n ||= 7; return n; } print(f(), f());`,
	`let a = 1, b = 2; const f = () => { [a, b] = [b, a]; ({ a, b = 9 } = { a: a + 10 }); }; f(); print(a, b);`,
	`let a = 1; const f = () => a; for (a of [3, 4]) ; for (a in { k: 1 }) ; print(f(), a);`,
	`let a = 1; const o = { a, get b() { return a; }, m() { return a + this.a; }, ["k" + a]: a, ...{ a } }; const f = () => a; print(o.a, o.b, o.m(), o.k1);`,
	`let a = 1; const f = () => a; { let a = 2; print(a); { var v = a; } } print(f(), v); function g(a) { a++; return a; } print(g(5), a);`,
	`let a = 1; const f = (x = a, { y = a, ...z } = {}, ...rest) => x + y + rest.length; print(f(), f(1, { y: 2 }, 3, 4));`,
	`let a = 1; class A { x = a; static y = a; static { this.z = a; } #p = a; m() { return this.#p + a; } } class B extends A { m() { return super.m() + a; } } const f = () => a; print(new B().m(), A.y, A.z, new A().x);`,
	`let a = 3; const f = () => a; switch (a) { case 3: let b = a; print(b); break; default: print("no"); } lab: for (;;) { if (a-- > 0) continue lab; break lab; } print(a);`,
	"let a = 1; const f = () => a; print(`x${a}y${`z${a}`}`, a ? a : 0, a?.b, (a, a + 1), [...[a], a], void a, -a, !a);",
	`let a; const f = () => a; print(a === undefined, typeof a); a = null; print(a); var w; print(w); w = 5; const g = () => w; print(g());`,
	`let f = function g(n) { return n ? g(n - 1) + a : 0; }, a = 2; print(f(3)); f = () => a; print(f());`,
	`let a = 0; function* gen() { yield a++; yield* [a, a]; } async function as() { await a; a += 10; } print([...gen()].join(), a); as();`,
	`let a = 1; try { throw a; } catch (e) { a += e; } finally { a++; } const f = () => a; print(a); try { null.x; } catch { print("caught"); }`,
	`let a = 1; const f = () => a; print(((b) => b + a)(2), (function () { return a; })(), new (class { constructor() { this.v = a; } })().v);`,
	`print(h(1)); function h(x) { return k(x) + 1; } function k(x) { return x * 2; } if (true) { function inner() { return 7; } print(inner()); }`,
	`let n = 3, m = 2n; const f = () => { n **= n; m <<= m; return n + n ** n; }; print(f(), n, m, 2 ** 3, m ** m, 1 << n, m >> 1n, 2 ** n ** 2);`,
	`const o = { a: 2, b: { c: 3n } }, k = "a"; o.a **= o[k]; o[k] **= o.a; o.b.c **= o.b.c; o.a >>= o.a; class A { #p = 2; m() { return this.#p **= this.#p; } } print(o.a, o.b.c, new A().m());`,
	`let n = 0; const f = () => n; while (n < 3) n++; do { n--; } while (n > 1); for (n = 10; n < 12; n += 1) ; for (let i = 0, j = n; i < 2; i++, j--) print(i, j, f());`,
}

// Rewriting changes nothing that a script can see.
func TestRewriteKeepsMeaning(t *testing.T) {
	for _, text := range programs {
		plain, rewritten := parse(t, text), parse(t, text)
		Analyze(rewritten, Options{}).Rewrite()
		want, got := result(t, plain, text), result(t, rewritten, text)
		if want != got {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func result(t *testing.T, tree *ast.Program, text string) string {
	t.Helper()
	prg, err := goja.CompileAST(tree, true)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	vm := machine()
	if _, err := vm.RunProgram(prg); err != nil {
		return "throws " + err.Error()
	}
	return vm.Get("out").String()
}

// Both copies of a file get the same numbers.
func TestNumbersAgree(t *testing.T) {
	for _, text := range programs {
		o := Options{FirstFunction: 3, FirstSlot: 4}
		a, b := Analyze(parse(t, text), o), Analyze(parse(t, text), o)
		if describe(a) != describe(b) {
			t.Errorf("%s: %s and %s", text, describe(a), describe(b))
		}
	}
}
