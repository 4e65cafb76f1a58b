package compiler

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"gotap/compile/js"
	"gotap/runtime"
	"gotap/runtime/object"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// pair is one text in two languages: ours, and JavaScript that computes with BigInt what ours means.
type pair struct{ ours, theirs string }

// generator writes random programs. Integers are v0 … v4, of which v3 is shared, floats f0, f1, texts t0, t1.
type generator struct {
	*rand.Rand
	ours, theirs strings.Builder
	loops        int
	fuel         int // statements left
	inLoop       bool
}

// prelude defines what the other text computes with. B hides a condition from goja's compiler, which miscompiles jumps
// out of branches that it knows are never reached. M multiplies floats: goja's * loses the sign of some zeros.
const prelude = `"use strict";
const W = x => BigInt.asIntN(64, x), I = b => b ? 1n : 0n, B = b => b, U = x => BigInt.asUintN(64, x), min = (a, b) => a < b ? a : b;
const neg = x => x < 0 || Object.is(x, -0), M = (a, b) => a * b === 0 ? (neg(a) === neg(b) ? 0 : -0) : a * b;
`

func (g *generator) both(ours, theirs string) { g.ours.WriteString(ours); g.theirs.WriteString(theirs) }

func (g *generator) same(s string) { g.both(s, s) }

// literal is an integer, most often small, sometimes at an end of a range.
func (g *generator) literal() pair {
	edges := []uint64{0, 1, 2, 63, 64, 65, 1 << 31, 1<<31 - 1, 1 << 32, 1<<53 + 1, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	n := uint64(g.IntN(10))
	if g.IntN(4) == 0 {
		n = edges[g.IntN(len(edges))]
	}
	if g.IntN(3) == 0 {
		return pair{fmt.Sprintf("0x%x", n), fmt.Sprintf("W(0x%xn)", n)}
	}
	return pair{fmt.Sprint(n), fmt.Sprintf("W(%dn)", n)}
}

// variable is one that can be assigned to.
func (g *generator) variable() string { return fmt.Sprintf("v%d", g.IntN(4)) }

// integer is an expression of integer type.
func (g *generator) integer(depth int) pair {
	if depth <= 0 {
		if g.IntN(3) > 0 {
			v := fmt.Sprintf("v%d", g.IntN(6))
			return pair{v, v}
		}
		return g.literal()
	}
	a, b := g.integer(depth-1), g.integer(depth-1-g.IntN(2))
	switch g.IntN(13) {
	case 0:
		return pair{"(- " + a.ours + ")", "W(- " + a.theirs + ")"}
	case 1:
		return pair{"(~" + a.ours + ")", "W(~" + a.theirs + ")"}
	case 2:
		c := g.condition(depth - 1)
		return pair{"(" + c.ours + " ? " + a.ours + " : " + b.ours + ")", "(" + c.theirs + " ? " + a.theirs + " : " + b.theirs + ")"}
	case 3:
		op := []string{"&&", "||", "??"}[g.IntN(3)]
		return pair{"(" + a.ours + " " + op + " " + b.ours + ")", "(" + a.theirs + " " + op + " " + b.theirs + ")"}
	case 4:
		return pair{"add(" + a.ours + ", " + b.ours + ")", "add(" + a.theirs + ", " + b.theirs + ")"}
	case 5:
		return pair{"pick(" + a.ours + ")", "pick(" + a.theirs + ")"}
	case 6:
		return g.assignment(a)
	case 7:
		c := g.condition(depth - 1)
		return pair{"(" + c.ours + " + " + a.ours + ")", "W(I(" + c.theirs + ") + " + a.theirs + ")"}
	case 8:
		return pair{"min(" + a.ours + ", " + b.ours + ")", "min(" + a.theirs + ", " + b.theirs + ")"}
	}
	return g.operator(a, b)
}

// operator joins two integers.
func (g *generator) operator(a, b pair) pair {
	switch op := []string{"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", ">>>"}[g.IntN(11)]; op {
	case "<<", ">>":
		return pair{"(" + a.ours + op + b.ours + ")", "W(" + a.theirs + op + "(" + b.theirs + " & 63n))"}
	case ">>>":
		return pair{"(" + a.ours + op + b.ours + ")", "W(U(" + a.theirs + ") >> (" + b.theirs + " & 63n))"}
	default:
		return pair{"(" + a.ours + " " + op + " " + b.ours + ")", "W(" + a.theirs + " " + op + " " + b.theirs + ")"}
	}
}

// assignment is an assignment used for its value.
func (g *generator) assignment(a pair) pair {
	v := g.variable()
	switch g.IntN(6) {
	case 4:
		return pair{"(" + v + " -= " + a.ours + ")", "(" + v + " = W(" + v + " - " + a.theirs + "))"}
	case 0:
		return pair{v + "++", "(" + v + " = W(" + v + " + 1n), W(" + v + " - 1n))"}
	case 1:
		return pair{"--" + v, "(" + v + " = W(" + v + " - 1n))"}
	case 2:
		return pair{"(" + v + " ^= " + a.ours + ")", "(" + v + " = W(" + v + " ^ " + a.theirs + "))"}
	case 3:
		return pair{"(" + v + " ||= " + a.ours + ")", "(" + v + " ||= " + a.theirs + ")"}
	}
	return pair{"(" + v + " = " + a.ours + ")", "(" + v + " = " + a.theirs + ")"}
}

// condition is a comparison, or several.
func (g *generator) condition(depth int) pair {
	switch g.IntN(8) {
	case 0:
		c := g.condition(depth - 1)
		return pair{"!(" + c.ours + ")", "!(" + c.theirs + ")"}
	case 1:
		a, b := g.condition(depth-1), g.condition(depth-1)
		op := []string{" && ", " || "}[g.IntN(2)]
		return pair{"(" + a.ours + op + b.ours + ")", "(" + a.theirs + op + b.theirs + ")"}
	case 2:
		a, b, op := g.float(depth-1), g.float(depth-1), g.comparison()
		return pair{"(" + a.ours + op + b.ours + ")", "(" + a.theirs + op + b.theirs + ")"}
	case 3:
		a, b, op := g.text(depth-1), g.text(depth-1), g.comparison()
		return pair{"(" + a.ours + op + b.ours + ")", "(" + a.theirs + op + b.theirs + ")"}
	}
	a, b, op := g.integer(depth-1), g.integer(depth-1), g.comparison()
	if g.IntN(4) == 0 {
		b = pair{"0", "0n"}
	}
	return pair{"(" + a.ours + op + b.ours + ")", "(" + a.theirs + op + b.theirs + ")"}
}

func (g *generator) comparison() string {
	return []string{" < ", " <= ", " > ", " >= ", " === ", " !== "}[g.IntN(6)]
}

// float is an expression of float type; integers in it become floats.
func (g *generator) float(depth int) pair {
	if depth <= 0 || g.IntN(4) == 0 {
		v := []string{"f0", "f1", "0.5", "-2.25", "1e-3", "3.0"}[g.IntN(6)]
		return pair{v, v}
	}
	a, b := g.float(depth-1), g.float(depth-1)
	op := []string{" + ", " - ", " * ", " / ", " % "}[g.IntN(5)]
	if g.IntN(3) == 0 {
		i := g.integer(0)
		b = pair{i.ours, "Number(" + i.theirs + ")"}
	}
	if op == " * " {
		return pair{"(" + a.ours + op + b.ours + ")", "M(" + a.theirs + ", " + b.theirs + ")"}
	}
	return pair{"(" + a.ours + op + b.ours + ")", "(" + a.theirs + op + b.theirs + ")"}
}

// text is an expression of text type, short enough never to be cut.
func (g *generator) text(depth int) pair {
	if depth <= 0 || g.IntN(3) == 0 {
		v := []string{"t0", "t1", `"ab"`, `""`, `"b"`}[g.IntN(5)]
		return pair{v, v}
	}
	a, i := g.text(depth-1), g.integer(0)
	if g.IntN(2) == 0 {
		return pair{"`<${" + a.ours + "}${" + i.ours + "}`", "`<${" + a.theirs + "}${" + i.theirs + "}`"}
	}
	return pair{"(" + a.ours + " + " + i.ours + ")", "(" + a.theirs + " + " + i.theirs + ")"}
}

// block is some statements in braces.
func (g *generator) block(depth int) {
	g.same("{\n")
	for range 1 + g.IntN(3) {
		g.statement(depth - 1)
	}
	g.same("}\n")
}

func (g *generator) statement(depth int) {
	if g.fuel--; g.fuel < 0 {
		depth = 0
	}
	kind := g.IntN(12)
	if depth <= 0 {
		kind = g.IntN(5)
	}
	switch kind {
	case 0, 1:
		v, e := g.variable(), g.integer(3)
		if g.IntN(3) == 0 {
			g.both(v+" += "+e.ours+";\n", v+" = W("+v+" + "+e.theirs+");\n")
			break
		}
		g.both(v+" = "+e.ours+";\n", v+" = "+e.theirs+";\n")
	case 2:
		e := g.integer(2)
		g.both("log("+e.ours+");\n", "log("+e.theirs+");\n")
	case 3:
		e := g.float(3)
		v := []string{"f0", "f1"}[g.IntN(2)]
		g.both(v+" = "+e.ours+";\n", v+" = "+e.theirs+";\n")
	case 4:
		g.textStatement()
	case 5, 6:
		c := g.condition(2)
		g.both("if ("+c.ours+") ", "if (B("+c.theirs+")) ")
		g.block(depth)
		if g.IntN(2) == 0 {
			g.same("else ")
			g.block(depth)
		}
	case 7, 8:
		g.loop(depth)
	case 9:
		g.choice(depth)
	case 10:
		g.leave()
	case 11:
		v, e := g.variable(), g.integer(2)
		g.both("{ const "+v+"x = "+e.ours+"; "+v+" = "+v+"x; }\n", "{ const "+v+"x = "+e.theirs+"; "+v+" = "+v+"x; }\n")
	}
}

func (g *generator) textStatement() {
	v, e := []string{"t0", "t1"}[g.IntN(2)], g.text(2)
	g.both("if ("+v+".length < 60) "+v+" = "+e.ours+"; else "+v+" = '';\n", "if ("+v+".length < 60) "+v+" = "+e.theirs+"; else "+v+" = '';\n")
}

// loop is a loop of a few rounds, with a name to break out of.
func (g *generator) loop(depth int) {
	name := fmt.Sprintf("l%d", g.loops)
	g.loops++
	n := 1 + g.IntN(5)
	before := g.inLoop
	g.inLoop = true
	switch g.IntN(3) {
	case 0:
		g.both(fmt.Sprintf("%s: for (let i = 0; i < %d; i++) ", name, n), fmt.Sprintf("%s: for (let i = 0n; i < %dn; i++) ", name, n))
		g.block(depth)
	case 1:
		g.both(fmt.Sprintf("{ let w = %d; %s: while (w-- > 0) ", n, name), fmt.Sprintf("{ let w = %dn; %s: while (w-- > 0n) ", n, name))
		g.block(depth)
		g.same("}\n")
	case 2:
		g.both(fmt.Sprintf("{ let w = %d; %s: do ", n, name), fmt.Sprintf("{ let w = %dn; %s: do ", n, name))
		g.block(depth)
		g.both("while (--w > 0); }\n", "while (--w > 0n); }\n")
	}
	g.inLoop = before
}

// leave is break or continue, on a condition, so that what follows is not dead.
func (g *generator) leave() {
	if !g.inLoop {
		return
	}
	c := g.condition(1)
	word := []string{"break", "continue"}[g.IntN(2)]
	g.both("if ("+c.ours+") "+word+";\n", "if (B("+c.theirs+")) "+word+";\n")
}

// choice is a switch.
func (g *generator) choice(depth int) {
	e := g.integer(1)
	g.both("switch (("+e.ours+") & 3) {\n", "switch (("+e.theirs+") & 3n) {\n")
	before := g.inLoop
	g.inLoop = false
	otherwise := g.IntN(5)
	for i := range 4 {
		if i == otherwise {
			g.same("default: ")
		}
		g.both(fmt.Sprintf("case %d: ", i), fmt.Sprintf("case %dn: ", i))
		g.block(depth)
		if g.IntN(2) == 0 {
			g.same("break;\n")
		}
	}
	g.inLoop = before
	g.same("}\n")
}

// program writes a whole program.
func (g *generator) program() {
	g.theirs.WriteString(prelude)
	g.both("function add(a, b) { return a + b; }\n", "function add(a, b) { return W(a + b); }\n")
	g.both("function pick(x) { if (x > 100) return x & 7; for (let i = 0; i < 3; i++) if (i === x) return -i; return x + 1; }\n",
		"function pick(x) { if (x > 100n) return x & 7n; for (let i = 0n; i < 3n; i++) if (i === x) return -i; return W(x + 1n); }\n")
	g.both("(c => {\nlet v0 = c.arg0, v1 = c.arg1, v2 = c.arg2; v3 = 1; const v4 = c.arg1, v5 = 12;\n",
		"function run(arg0, arg1, arg2) {\nlet v0 = arg0, v1 = arg1, v2 = arg2, v3 = 1n; const v4 = arg1, v5 = 12n;\n")
	g.same("let f0 = 0.25, f1 = 3.5, t0 = '', t1 = 'x';\n")
	for range 4 + g.IntN(5) {
		g.statement(3)
	}
	g.same("log(v0, v1, v2, v3); log(f0, f1, t0, t1);\n")
	g.both("})\n", "}\n")
}

// host runs the other text in goja: the lines it logs, and whether it divided by zero.
func host(t testing.TB, text string, args []int64) (lines []string, divided bool) {
	vm := goja.New()
	_ = vm.Set("log", func(call goja.FunctionCall) goja.Value {
		var parts []string
		for _, a := range call.Arguments {
			parts = append(parts, a.String())
		}
		lines = append(lines, strings.Join(parts, " "))
		return goja.Undefined()
	})
	var call strings.Builder
	for i, a := range args {
		if i > 0 {
			call.WriteString(", ")
		}
		fmt.Fprintf(&call, "BigInt(%q)", fmt.Sprint(a))
	}
	_, err := vm.RunString(text + "run(" + call.String() + ");")
	if err != nil && strings.Contains(err.Error(), "zero") {
		return lines, true
	}
	if err != nil {
		t.Fatalf("goja: %v\n%s", err, text)
	}
	return lines, false
}

// compareWithHost runs one random program both ways.
func compareWithHost(t testing.TB, r *rig, scope names, seed uint64) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), fuel: 25}
	g.program()
	u := parse(t, g.ours.String(), scope)
	u.Arena = r.arena
	u.Fuel, u.LogMax = runtime.MaxFuel, record.MaxLog
	p := compiled(t, u).Programs[js.Enter]
	args := []int64{int64(g.IntN(20)) - 10, int64(g.Uint64()), int64(g.IntN(3))}
	copy(r.th.args[:], args)
	want, divided := host(t, g.theirs.String(), args)
	h := r.run(p)
	if h.out.Trap != outcome.NoTrap && h.out.Trap != outcome.TrapDivide && h.out.Trap != outcome.TrapText {
		t.Fatalf("seed %d: trap %v", seed, h.out.Trap)
	}
	if h.out.Trap == outcome.TrapText || r.arena.Lost()["log full"] > 0 {
		return
	}
	if divided != (h.out.Trap == outcome.TrapDivide) || strings.Join(h.lines, "\n") != strings.Join(want, "\n") {
		t.Fatalf("seed %d, args %v:\n%s\ngot (trap %v):\n%s\nwant (divided by zero: %v):\n%s\n%s", seed, args, g.ours.String(), h.out.Trap,
			strings.Join(h.lines, "\n"), divided, strings.Join(want, "\n"), listing(p))
	}
}

// sharedV3 is v3: a variable that programs share, as the others are not.
var sharedV3 = map[string]object.Object{"v3": {Kind: object.KindInt}}

// TestDifferential compares compiled programs with goja running the same computation on BigInts.
func TestDifferential(t *testing.T) {
	r := newRig(t)
	scope := r.declare(sharedV3)
	for seed := range uint64(400) {
		compareWithHost(t, r, scope, seed)
	}
}

func FuzzDifferential(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := newRig(t)
		compareWithHost(t, r, r.declare(sharedV3), seed)
	})
}
