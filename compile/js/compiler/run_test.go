package compiler

import (
	"math"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/compile/js"
	"gotap/runtime"
	rtarena "gotap/runtime/arena"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// thread is a target that tests describe.
type thread struct {
	args   [10]int64
	floats [8]float64
	ret    uint64
	texts  map[runtime.TextField]string
	fields map[runtime.Field]uint64
	memory map[uint64]string // what lies at an address
}

func (th *thread) ReadMemory(addr uint64, p []byte) int {
	for at, s := range th.memory {
		if addr >= at && addr < at+uint64(len(s)) {
			return copy(p, s[addr-at:])
		}
	}
	return 0
}

func (th *thread) WriteMemory(addr uint64, p []byte) bool {
	for at, s := range th.memory {
		if addr >= at && addr+uint64(len(p)) <= at+uint64(len(s)) {
			th.memory[at] = s[:addr-at] + string(p) + s[addr-at+uint64(len(p)):]
			return true
		}
	}
	return false
}

func (th *thread) Arg(n int) (uint64, bool) {
	if n >= len(th.args) {
		return 0, false
	}
	return uint64(th.args[n]), true
}
func (th *thread) FloatWord(int) (uint64, bool)   { return 0, false }
func (th *thread) ArgFloat(n int) (float64, bool) { return th.floats[n], true }
func (th *thread) Return() uint64                 { return th.ret }
func (th *thread) SetReturn(v uint64)             { th.ret = v }
func (th *thread) Field(f runtime.Field) uint64   { return th.fields[f] }
func (th *thread) Text(f runtime.TextField, p []byte) int {
	copy(p, th.texts[f])
	return len(th.texts[f])
}
func (th *thread) Errno() (uint64, bool)             { return th.fields[runtime.FieldErrno], true }
func (th *thread) RunTime() (uint64, bool)           { return th.fields[runtime.FieldRunTime], true }
func (th *thread) Bias(module string) (uint64, bool) { return 0x100000, module != "" }
func (th *thread) Stack(pcs []uint64) int {
	for i := range pcs {
		pcs[i] = uint64(0x1000 + i)
	}
	return len(pcs)
}

// hit is what one run of a handler did.
type hit struct {
	out   outcome.Outcome
	lines []string
	items []record.Item
	regs  []uint64
}

// rig runs compiled units.
type rig struct {
	t     testing.TB
	arena *rtarena.Arena
	m     *runtime.Machine
	th    *thread
	codes map[*compile.Program]*runtime.Code
	this  uint64
	log   record.Log
}

func newRig(t testing.TB) *rig {
	a := arena(t)
	return &rig{t: t, arena: a, m: runtime.NewMachine(a), th: &thread{memory: map[uint64]string{}}, codes: map[*compile.Program]*runtime.Code{}}
}

// code lowers a program once.
func (r *rig) code(p *compile.Program) *runtime.Code {
	r.t.Helper()
	if c := r.codes[p]; c != nil {
		return c
	}
	regs := map[string]int{"rax": 0, "rdi": 5, "rsi": 4}
	c, err := compile.Lower(p, compile.Env{Arena: r.arena, WordSize: 8, Register: func(name string) (int, int, int, bool) {
		i, ok := regs[name]
		return i, 64, 0, ok
	}})
	if err != nil {
		r.t.Fatalf("cannot lower: %v\n%s", err, listing(p))
	}
	r.codes[p] = c
	return c
}

// run runs a handler for one hit.
func (r *rig) run(p *compile.Program) hit {
	r.t.Helper()
	ctx := &runtime.Context{Thread: r.th, Regs: make([]uint64, 16), Word: 8, This: r.this, Tid: 1}
	ctx.Regs[0], ctx.Regs[5] = 77, 55
	r.log.Reset()
	h := hit{out: r.m.Run(r.code(p), ctx, &r.log), regs: ctx.Regs}
	if !r.log.HasItems() {
		return h
	}
	if !r.arena.Commit(record.Header{Tid: 1}, &r.log) {
		r.t.Fatal("the ring is full")
	}
	rec, ok := r.arena.Next()
	if !ok {
		r.t.Fatal("nothing in the ring")
	}
	h.items = rec.Items
	for _, it := range rec.Items {
		if it.Format.Kind != record.ItemEvent {
			h.lines = append(h.lines, strings.TrimSuffix(it.String(), "\n"))
		}
	}
	return h
}

// logged compiles a body, runs it with arg0 … and gives the lines it logs.
func logged(t testing.TB, body string, scope names, args ...int64) []string {
	t.Helper()
	r := newRig(t)
	return r.logged(body, scope, args...)
}

func (r *rig) logged(body string, scope names, args ...int64) []string {
	r.t.Helper()
	copy(r.th.args[:], args)
	u := parse(r.t, body, scope)
	u.Arena = r.arena
	p := compiled(r.t, u).Programs[js.Enter]
	h := r.run(p)
	if h.out.Trap != outcome.NoTrap {
		r.t.Fatalf("trap %v at %d\n%s", h.out.Trap, h.out.PC, listing(p))
	}
	return h.lines
}

func TestValues(t *testing.T) {
	tests := []struct{ expr, want string }{
		{"v << 62", "-4611686018427387904"},
		{"v * (1 << 62)", "-4611686018427387904"},
		{"((v - 6) << 63) - 1", "9223372036854775807"},
		{"~v", "-8"},
		{"v / 2", "3"}, {"-v / 2", "-3"}, {"v / -2", "-3"}, {"v % 3", "1"}, {"-v % 3", "-1"}, {"v % -3", "1"}, {"-v / v", "-1"},
		{"-v >> 1", "-4"}, {"-v >>> 60", "15"}, {"v >>> 1", "3"}, {"(-v) >>> 1", "9223372036854775804"}, {"v << 67", "56"},
		{"min(v, 3)", "3"}, {"max(v, 3)", "7"}, {"min(-v, v)", "-7"}, {"max(1, 2, v, 3)", "7"}, {"abs(-v)", "7"}, {"clz(v)", "61"},
		{"popcount(v)", "3"}, {"popcount(-1)", "64"}, {"ult(v, -1)", "true"}, {"v < -1", "false"},
		{"hash('abc') === hash('abc') ? 1 : 0", "1"}, {"hash('abc') === hash('abd') ? 1 : 0", "0"},
		{"0xffff888012345678", "-131391334099336"}, {"1_000_000", "1000000"}, {"0b101", "5"}, {"0o17", "15"}, {"12n", "12"},
		{"9223372036854775807", "9223372036854775807"}, {"-9223372036854775808", "-9223372036854775808"}, {"1e9", "1000000000"},
		{"1.5 + v", "8.5"}, {"v / 2.0", "3.5"}, {"1.5 > v", "false"}, {"v > 1.5", "true"}, {"7.5 % v", "0.5"}, {"-1.5", "-1.5"},
		{"trunc(3.99 * v)", "27"}, {"min(1.5, v)", "1.5"}, {"max(1.5, v)", "7"}, {"abs(-1.5 * v)", "10.5"},
		{"v && 3", "3"}, {"v - 7 && 3", "0"}, {"v || 3", "7"}, {"v - 7 || 3", "3"}, {"v ?? 3", "7"}, {"'' || 'x'", "x"}, {"'a' && 'b'", "b"},
		{"v > 3 && v < 9", "true"}, {"!(v > 3)", "false"}, {"!v", "false"}, {"!!v", "true"}, {"!''", "true"}, {"0.0 ? 1 : 2", "2"},
		{"v === 7 ? 'seven' : 'other'", "seven"}, {"'a' + v + 'b' + 1.5 + true", "a7b1.5true"}, {"`${v}${v > 1}`", "7true"},
		{"'abc' < 'abd'", "true"}, {"'abc' === 'ab' + 'c'", "true"}, {"'abc'.length + v", "10"}, {"('x' + v).length", "2"},
		{"('x' + v).startsWith('x')", "true"}, {"('x' + v) !== 'x7'", "false"}, {"('x' + v) >= 'x7'", "true"},
		{"(v, v + 1)", "8"}, {"v == 7", "true"}, {"v != 7", "false"}, {"+v", "7"}, {"+(v > 1)", "1"}, {"String(v) + 1", "71"},
		{"Number(v)", "7"}, {"Math.max(v, 9)", "9"}, {"(v > 3) + 1", "2"}, {"v ** 1 === 0 ? 1 : 2", ""},
	}
	for _, test := range tests {
		if test.want == "" {
			continue
		}
		got := logged(t, "c => { const v = c.arg0; log("+test.expr+"); }", nil, 7)
		if len(got) != 1 || got[0] != test.want {
			t.Errorf("%s = %q, not %q", test.expr, got, test.want)
		}
		// The same with a variable that cannot be folded or stand for the argument.
		got = logged(t, "c => { let v = c.arg0; v += 1; v--; const x = "+test.expr+"; log(x); }", nil, 7)
		if len(got) != 1 || got[0] != test.want {
			t.Errorf("variable: %s = %q, not %q", test.expr, got, test.want)
		}
	}
}

func TestStatements(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"if", "c => { if (c.arg0 > 3) log('big'); else log('small'); }", "big"},
		{"else if", "c => { const v = c.arg0; if (v < 3) log('a'); else if (v < 6) log('b'); else log('c'); }", "c"},
		{"for", "c => { let s = 0; for (let i = 0; i < 5; i++) s += i; log(s); }", "10"},
		{"for down", "c => { let s = ''; for (let i = 3; i > 0; i--) s += i; log(s); }", "321"},
		{"while", "c => { let n = c.arg0, s = 0; while (n > 0) { s += n; n--; } log(s); }", "28"},
		{"do", "c => { let n = 0; do { n++; } while (n < c.arg0); log(n); }", "7"},
		{"do once", "c => { let n = 0; do n++; while (false); log(n); }", "1"},
		{"break", "c => { let i = 0; for (;;) { if (i >= c.arg0) break; i++; } log(i); }", "7"},
		{"continue", "c => { let s = 0; for (let i = 0; i < 6; i++) { if (i % 2) continue; s += i; } log(s); }", "6"},
		{"continue do", "c => { let n = 0; do { n++; if (n < 5) continue; break; } while (true); log(n); }", "5"},
		{"label", "c => { let s = 0; outer: for (let i = 0; i < 5; i++) for (let j = 0; j < 5; j++) { if (j > i) continue outer; if (i > 3) break outer; s++; } log(s); }", "10"},
		{"block label", "c => { x: { if (c.arg0) break x; log('no'); } log('yes'); }", "yes"},
		{"switch", "c => { switch (c.arg0) { case 1: log('one'); break; case 7: log('seven'); case 8: log('eight'); break; default: log('other'); } }", "seven eight"},
		{"default first", "c => { switch (c.arg0) { default: log('d'); case 1: log('one'); break; case 2: log('two'); } }", "d one"},
		{"switch text", "c => { switch ('x' + c.arg0) { case 'x7': log('hit'); } }", "hit"},
		{"switch none", "c => { switch (c.arg0) { case 1: log('one'); } log('end'); }", "end"},
		{"switch let", "c => { switch (c.arg0) { case 7: let a = 1; log(a); break; case 8: log('8'); } }", "1"},
		{"switch continue", "c => { for (let i = 0; i < 3; i++) { switch (i) { case 1: continue; } log(i); } }", "0 2"},
		{"shadow", "c => { const a = 1; { const a = 2; log(a); } log(a); for (let a = 5; a < 6; a++) log(a); }", "2 1 5"},
		{"return", "c => { if (c.arg0) { log('a'); return; } log('b'); }", "a"},
		{"exit", "c => { log('a'); exit(); log('b'); }", "a"},
		{"emit", "c => { log('a'); emit(); emit({ a: c.arg0 }); log('b'); }", "a b"},
		{"effects", "c => { c.arg0 && log('x'); c.arg0 || log('y'); c.arg0 > 9 ? log('p') : log('q'); }", "x q"},
		{"post", "c => { let i = 5; const a = i++, b = ++i, d = i--, e = --i; log(a, b, d, e, i); }", "5 7 7 5 5"},
		{"comma", "c => { let a = 1, b; b = (a = 3, a + 1); log(a, b); }", "3 4"},
		{"compound", "c => { let a = 7; a += 1; a -= 2; a *= 3; a /= 4; a %= 3; a <<= 4; a >>= 1; a |= 1; a &= 13; a ^= 2; a >>>= 1; log(a); }", "5"},
		{"logical", "c => { let a = 0, b = 5; a ||= 3; b &&= 4; a ??= 9; log(a, b); let d = (b ||= 1) + (a &&= 8); log(d); }", "3 4,12"},
		{"chain", "c => { let a, b; a = b = c.arg0; log(a, b); }", "7 7"},
		{"unassigned", "c => { let a; log(a + 1); }", "1"},
		{"unassigned text", "c => { let a; if (c.arg0 < 0) a = 'x'; log(`[${a}]`); }", "[]"},
		{"loop reset", "c => { for (let i = 0; i < 3; i++) { let x; if (i === 1) x = 5; log(x); } }", "0 5 0"},
		{"var", "c => { if (c.arg0) { var x = 3; } log(x); var y; log(y); for (var i = 0; i < 2; i++) {} log(i); }", "3 0 2"},
		{"float loop", "c => { let f = 0.5; for (let i = 0; i < 3; i++) f += i; log(f); }", "3.5"},
		{"text loop", "c => { let s = ''; for (let i = 0; i < 3; i++) s += `${i},`; log(s); }", "0,1,2,"},
		{"empty", "c => {}", ""},
		{"bool", "c => { let seen = false; if (c.arg0) seen = true; log(seen); }", "true"},
	}
	for _, test := range tests {
		want := strings.FieldsFunc(test.want, func(r rune) bool { return r == ',' && strings.Contains(test.want, " ") })
		got := logged(t, test.text, nil, 7)
		if test.name == "post" || test.name == "logical" || test.name == "comma" || test.name == "chain" || strings.HasSuffix(test.want, ",") {
			if test.name != "logical" {
				want = []string{test.want}
			}
		} else {
			want = strings.Fields(test.want)
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: got %q, want %q", test.name, got, want)
		}
	}
}

func TestFunctions(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "function add(a, b) { return a + b; } c => log(add(c.arg0, 1))", "8"},
		{"arrow", "const twice = x => x * 2; c => log(twice(twice(c.arg0)))", "28"},
		{"early", "function f(x) { if (x > 5) return 'big'; if (x > 2) return 'mid'; return 'small'; } c => { log(f(c.arg0)); log(f(3)); log(f(0)); }", "big|mid|small"},
		{"falls off", "function f(x) { { let q = x * 3; log(q); } if (x > 9) return 5; } c => log(f(c.arg0))", "21|0"},
		{"mixed", "function f(x) { if (x > 5) return 1; return 0.5; } c => log(f(c.arg0))", "1"},
		{"default", "function f(a, b = a + 1) { return b; } c => { log(f(c.arg0)); log(f(1, 2)); }", "8|2"},
		{"context", "function first(c) { return c.arg0; } c => log(first(c))", "7"},
		{"pattern", "function first({ arg0, arg1: x }) { return arg0 + x; } c => log(first(c))", "10"},
		{"void", "function say(x) { if (x < 0) return; log('say', x); } c => { say(c.arg0); say(-1); }", "say 7"},
		{"loop in function", "function sum(n) { let s = 0; for (let i = 1; i <= n; i++) { if (i === 5) return s; s += i; } return s; } c => log(1 + sum(c.arg0) + sum(3))", "17"},
		{"once", "c => { let n = 0; const f = x => x + x; log(f(++n), n); }", "2 1"},
		{"order", "c => { let n = 1; const f = (a, b) => a * 10 + b; log(f(n++, n)); }", "12"},
		{"local", "c => { const k = 3; function f(x) { return x + k; } log(f(c.arg0)); }", "10"},
		{"closure assigns", "c => { let n = 0; const bump = () => { n += 2; }; bump(); bump(); log(n); }", "4"},
		{"higher", "function twice(f, x) { return f(f(x)); } c => log(twice(x => x + 3, c.arg0))", "13"},
		{"param assigned", "function f(x) { x = x + 1; return x; } c => { const v = c.arg0; log(f(v), v); }", "8 7"},
		{"hoisted", "c => { log(f()); function f() { return 5; } }", "5"},
		{"shadows builtin", "function min(a) { return a; } c => log(min(c.arg0))", "7"},
		{"same names", "function f(v) { const x = v + 1; return g(x) + x; } function g(v) { const x = v * 2; return x; } c => { const x = 5; log(f(x), x); }", "18 5"},
		{"in condition", "function big(x) { if (x > 5) return true; return false; } c => { if (big(c.arg0) && !big(1)) log('ok'); }", "ok"},
		{"log in argument", "function f(x) { log('in', x); return x; } c => log('a', f(1), f(2))", "in 1|in 2|a 1 2"},
		{"never", "function die() { log('x'); exit(); } c => { const a = c.arg0 > 5 ? die() : 3; log(a); }", "x"},
		{"mirror", "(fd, buf, n) => log(fd, buf, n)", "7 3 4"},
	}
	for _, test := range tests {
		if got := strings.Join(logged(t, test.text, nil, 7, 3, 4), "|"); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestFloatBits(t *testing.T) {
	r := newRig(t)
	r.th.args[0] = 0x1000
	bits := math.Float64bits(2.5)
	raw := make([]byte, 8)
	for i := range raw {
		raw[i] = byte(bits >> (8 * i))
	}
	r.th.memory[0x1000] = string(raw)
	if got := r.logged("c => { const f = f64(c.arg0); log(f, f * 2, f > 2, trunc(f)); }", nil, 0x1000); got[0] != "2.5 5 true 2" {
		t.Errorf("got %q", got)
	}
}
