package js

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"gotap/compile/diag"
	"gotap/runtime"
)

// Builtin is a function of the language that programs may call.
type Builtin struct {
	Name   string // "str", "exit.hold"
	Usage  string // "str(p, n?)"
	Type   string // the signature in TypeScript's words: "(p: Pointer, n?: number) => string"
	Doc    string
	Unsafe bool // refused without --unsafe
}

// builtinRow is a builtin with how it is compiled.
type builtinRow struct {
	Builtin
	least, most int // arguments; most < 0: any
	do          func(s *site) *expr
}

// builtins finds a builtin by name.
var builtins map[string]*builtinRow

func init() {
	builtins = map[string]*builtinRow{}
	for _, table := range [][]builtinRow{reads, logs, endings, numbers, changes, others} {
		for i := range table {
			builtins[table[i].Name] = &table[i]
		}
	}
}

// Builtins lists the functions programs may call, by name. A name of the script's own hides a builtin.
func Builtins() []Builtin {
	var all []Builtin
	for _, b := range builtins {
		all = append(all, b.Builtin)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

// usage is how a builtin is called.
func usage(name string) string {
	if b := builtins[name]; b != nil {
		return b.Usage
	}
	return ""
}

// membersOf are the second parts of builtins such as exit.hold.
func membersOf(name string) []string {
	var members []string
	for full := range builtins {
		if rest, ok := strings.CutPrefix(full, name+"."); ok {
			members = append(members, rest)
		}
	}
	sort.Strings(members)
	return members
}

// call compiles a call of the builtin; at is its name.
func (b *builtinRow) call(s *site, at diag.Span) *expr {
	if b.Unsafe {
		s.l.needUnsafe(at, b.Name)
	}
	if speaks[b.Name] && !s.onlyDecides(b.Name, at) {
		return poison(s.at)
	}
	if !s.count(b.least, b.most) {
		return poison(s.at)
	}
	return b.do(s)
}

// load is a read of memory at a pointer.
func load(k kind, op runtime.Op) func(*site) *expr {
	return func(s *site) *expr { return apply(s.at, k, op, s.integer(0)) }
}

func read(name, doc string, k kind, op runtime.Op) builtinRow {
	return builtinRow{Builtin{name, name + "(p)", "(p: Pointer) => number", doc, false}, 1, 1, load(k, op)}
}

// reads read the target's memory. A bad address ends the program with a trap.
var reads = []builtinRow{
	read("u8", "unsigned byte at p", kindInt, runtime.OpLoad8),
	read("u16", "unsigned 16-bit word at p", kindInt, runtime.OpLoad16),
	read("u32", "unsigned 32-bit word at p", kindInt, runtime.OpLoad32),
	read("u64", "unsigned 64-bit word at p", kindUint, runtime.OpLoad64),
	read("i8", "signed byte at p", kindInt, runtime.OpLoadS8),
	read("i16", "signed 16-bit word at p", kindInt, runtime.OpLoadS16),
	read("i32", "signed 32-bit word at p", kindInt, runtime.OpLoadS32),
	read("i64", "signed 64-bit word at p", kindInt, runtime.OpLoad64),
	read("f32", "float at p", kindFloat, runtime.OpLoadF32),
	read("f64", "double at p", kindFloat, runtime.OpLoad64),
	read("ptr", "pointer at p, of the target's size", kindUint, runtime.OpLoadPtr),
	{Builtin{"str", "str(p, n?)", "(p: Pointer, n?: number) => string", "text at p up to its NUL, at most n bytes (256); of a string of C++, Go or Rust its own length: str(c.args.name)", false}, 1, 2, (*site).str},
	{Builtin{"bytes", "bytes(p, n)", "(p: Pointer, n: number) => Bytes", "n bytes at p", false}, 2, 2,
		func(s *site) *expr { return apply(s.at, kindBytes, runtime.OpBytes, s.integer(0), s.size(1, 0)) }},
	{Builtin{"global", "global(name)", "(name: string) => any", "static variable of the program, by debug information or its symbol: global(\"limit\"), global(\"libc:environ\"), global(\"origin\").x, global(\"limit@file.c\")", false}, 1, 1, nil},
	{Builtin{"uaddr", "uaddr(name)", "(name: string) => number", "address of a static variable of the program: write.u32(uaddr(\"limit\"), 5)", false}, 1, 1, (*site).uaddr},
	{Builtin{"readable", "readable(p, n?)", "(p: Pointer, n?: number) => boolean", "can n bytes at p be read (1)", false}, 1, 2,
		func(s *site) *expr { return apply(s.at, kindBool, runtime.OpReadable, s.integer(0), s.optional(1, 1)) }},
}

// logs write into the log of the hit.
var logs = []builtinRow{
	{Builtin{"log", "log(…)", "(...values: any[]) => void", "a line of output: the values joined by blanks", false}, 0, -1, (*site).log},
	{Builtin{"print", "print(…)", "(...values: any[]) => void", "the same as log", false}, 0, -1, (*site).log},
	{Builtin{"console.log", "console.log(…)", "(...values: any[]) => void", "the same as log", false}, 0, -1, (*site).log},
	{Builtin{"printf", "printf(format, …)", "(format: string, ...values: any[]) => void", "output as C's printf formats it", false}, 1, -1, (*site).printf},
}

// ending is a builtin that ends the program with an event.
func ending(name, doc string, k runtime.ExitKind) builtinRow {
	return builtinRow{Builtin{name, name + "({ name: value, … })", "(record?: Record<string, any>) => never", doc, false}, 0, 1,
		func(s *site) *expr { return s.exit(k) }}
}

// endings end the program.
var endings = []builtinRow{
	ending("exit", "ends the program with an event: the exit callback gets the record", runtime.ExitEvent),
	ending("exit.hold", "the same, and the thread waits until the callback has returned", runtime.ExitHold),
	ending("exit.dump", "the same, and an ELF core is written", runtime.ExitDump),
	ending("exit.stop", "the same, and the process is left stopped for a debugger", runtime.ExitStop),
	{Builtin{"abort", "abort()", "() => never", "ends the program and discards the log of the hit", false}, 0, 0,
		func(s *site) *expr { return apply(s.at, kindNever, runtime.OpAbort).with(effWrite) }},
	{Builtin{"remove", "remove()", "() => never", "ends the program and removes the probe", false}, 0, 0,
		func(s *site) *expr { return apply(s.at, kindNever, runtime.OpRemove).with(effWrite) }},
}

// one is an operation on an integer.
func one(op runtime.Op) func(*site) *expr {
	return func(s *site) *expr { return fold(apply(s.at, kindInt, op, s.integer(0))) }
}

// numbers compute.
var numbers = []builtinRow{
	{Builtin{"min", "min(a, b, …)", "(...values: number[]) => number", "the smallest", false}, 2, -1, minimum},
	{Builtin{"max", "max(a, b, …)", "(...values: number[]) => number", "the largest", false}, 2, -1, maximum},
	{Builtin{"abs", "abs(x)", "(x: number) => number", "without its sign", false}, 1, 1, absolute},
	{Builtin{"clz", "clz(x)", "(x: number) => number", "leading zero bits of 64", false}, 1, 1, one(runtime.OpClz)},
	{Builtin{"popcount", "popcount(x)", "(x: number) => number", "bits that are 1", false}, 1, 1, one(runtime.OpPopcnt)},
	{Builtin{"ult", "ult(a, b)", "(a: number, b: number) => boolean", "is a below b, both unsigned", false}, 2, 2,
		func(s *site) *expr { return fold(apply(s.at, kindBool, runtime.OpUlt, s.integer(0), s.integer(1))) }},
	{Builtin{"trunc", "trunc(x)", "(x: number) => number", "the integer part of a float", false}, 1, 1, truncate},
	{Builtin{"integer", "integer(x, other?)", "(x: any, other?: number) => number", "x where its type is an integer or a pointer, otherwise other (0): integer(c.ret) of functions with results of any type", false}, 1, 2, asInteger},
	{Builtin{"Math.min", "Math.min(a, b, …)", "(...values: number[]) => number", "the smallest", false}, 2, -1, minimum},
	{Builtin{"Math.max", "Math.max(a, b, …)", "(...values: number[]) => number", "the largest", false}, 2, -1, maximum},
	{Builtin{"Math.abs", "Math.abs(x)", "(x: number) => number", "without its sign", false}, 1, 1, absolute},
	{Builtin{"Math.trunc", "Math.trunc(x)", "(x: number) => number", "the integer part of a float; Math.trunc(a / b) says that the fraction is not wanted", false}, 1, 1, truncate},
	{Builtin{"Number", "Number(x)", "(x: any) => number", "a number as it is", false}, 1, 1, asNumber},
	{Builtin{"BigInt", "BigInt(x)", "(x: any) => number", "an integer as it is", false}, 1, 1, func(s *site) *expr { return s.integer(0) }},
}

// changes change the target.
var changes = []builtinRow{
	write("write.u8", runtime.OpStore8), write("write.u16", runtime.OpStore16), write("write.u32", runtime.OpStore32),
	write("write.u64", runtime.OpStore64), write("write.i8", runtime.OpStore8), write("write.i16", runtime.OpStore16),
	write("write.i32", runtime.OpStore32), write("write.i64", runtime.OpStore64),
	{Builtin{"write.f64", "write.f64(p, x)", "(p: Pointer, x: number) => void", "writes a double at p", true}, 2, 2,
		func(s *site) *expr {
			return apply(s.at, kindVoid, runtime.OpStore64, s.integer(0), toFloat(s.number(1))).with(effWrite)
		}},
	{Builtin{"write.f32", "write.f32(p, x)", "(p: Pointer, x: number) => void", "writes a float at p, rounded to its 32 bits", true}, 2, 2,
		func(s *site) *expr {
			single := apply(s.at, kindInt, runtime.OpToF32, toFloat(s.number(1)))
			return apply(s.at, kindVoid, runtime.OpStore32, s.integer(0), single).with(effWrite)
		}},
	write("write.ptr", runtime.OpStorePtr),
	{Builtin{"write.str", "write.str(p, text)", "(p: Pointer, text: string) => void", "writes text and a NUL at p: there has to be room for both", true}, 2, 2,
		func(s *site) *expr {
			return apply(s.at, kindVoid, runtime.OpStoreStr, s.integer(0), s.text(1)).with(effWrite)
		}},
	{Builtin{"skip", "skip(result?)", "(result?: number) => void", "the function is not run and returns the result (0)", true}, 0, 1, skip},
	{Builtin{"signal", "signal(n)", "(n: number) => void", "sends the thread signal n", true}, 1, 1,
		func(s *site) *expr {
			n := s.integer(0)
			if v := int64(n.cmd.V); n.isConst() && (v < 1 || v > maxSignal) {
				s.l.errorf(n.at, fmt.Sprintf("signals are 1 to %d: 15 is SIGTERM, 10 SIGUSR1", maxSignal), "there is no signal %d", v)
				return poison(s.at)
			}
			return apply(s.at, kindVoid, runtime.OpSignal, n).with(effWrite)
		}},
}

// maxSignal is Linux's last real-time signal; the machine refuses what is beyond it with a trap.
const maxSignal = 64

func write(name string, op runtime.Op) builtinRow {
	return builtinRow{Builtin{name, name + "(p, v)", "(p: Pointer, v: number) => void", "writes v at p", true}, 2, 2,
		func(s *site) *expr { return apply(s.at, kindVoid, op, s.integer(0), s.integer(1)).with(effWrite) }}
}

// others work on text.
var others = []builtinRow{
	{Builtin{"hash", "hash(s)", "(s: string) => number", "64-bit hash of text: equal texts have equal hashes", false}, 1, 1,
		func(s *site) *expr { return apply(s.at, kindInt, runtime.OpHash, s.text(0)) }},
	{Builtin{"pretty", "pretty(x)", "(x: any) => string", "a struct, or what a pointer points to, with its members: pretty(c.args.p); all arguments: pretty(c.args); the name of an enumeration's value", false}, 1, 1, (*site).pretty},
	{Builtin{"hex", "hex(x)", "(x: number) => string", "a number in hexadecimal, with 0x", false}, 1, 1,
		func(s *site) *expr { return apply(s.at, kindText, runtime.OpShex, s.integer(0)) }},
	{Builtin{"String", "String(x)", "(x: any) => string", "as text", false}, 1, 1, asText},
}

// number is an argument that is a number.
func (s *site) number(i int) *expr {
	e := s.arg(i)
	if !e.kind.number() && !e.kind.silent() {
		s.l.errorf(e.at, numberHint(e.kind), "argument %d of %s is %s, not a number", i+1, s.name, e.kind)
		return poison(e.at)
	}
	return e
}

func minimum(s *site) *expr { return s.extreme(runtime.OpMin) }
func maximum(s *site) *expr { return s.extreme(runtime.OpMax) }

// extreme is the smallest or largest of the arguments.
func (s *site) extreme(op runtime.Op) *expr {
	best := s.number(0)
	for i := 1; i < len(s.node.ArgumentList); i++ {
		next := s.number(i)
		best = s.ofTwo(op, best, next)
	}
	return best
}

// ofTwo is the smaller or larger of two numbers: a float if one of them is, but compared as integers where both are whole.
func (s *site) ofTwo(op runtime.Op, a, b *expr) *expr {
	if a.kind == kindBad || b.kind == kindBad {
		return poison(s.at)
	}
	x, y, ok := bothWhole(a, b)
	if !ok {
		return s.floatExtreme(op, toFloat(a), toFloat(b))
	}
	best := fold(apply(s.at, kindInt, op, x, y))
	if a.kind == kindFloat || b.kind == kindFloat {
		return toFloat(best)
	}
	return best
}

// floatExtreme compares two floats, for which the machine has no operation of its own.
func (s *site) floatExtreme(op runtime.Op, a, b *expr) *expr {
	return s.keep([]*expr{a, b}, func(v []*expr) *expr {
		test := apply(s.at, kindBool, runtime.OpFlt, v[0], v[1])
		if op == runtime.OpMax {
			test = apply(s.at, kindBool, runtime.OpFlt, v[1], v[0])
		}
		return s.l.choose(s.at, test, v[0], v[1])
	})
}

// keep computes values once for an expression that uses them more than once.
func (s *site) keep(values []*expr, f func([]*expr) *expr) *expr {
	var body []stmt
	kept := make([]*expr, len(values))
	for i, v := range values {
		kept[i] = v
		if !s.l.steady(v) {
			x := s.l.slots.fresh(v.kind)
			defer s.l.slots.free(x)
			body = append(body, eval(set(v.at, x, v)))
			kept[i] = local(v.at, x)
		}
	}
	return sequence(s.at, body, f(kept))
}

func absolute(s *site) *expr {
	e := s.number(0)
	if n, ok := whole(e); ok {
		return convert(fold(apply(s.at, kindInt, runtime.OpAbs, n)), e.kind)
	}
	// The sign of a double is its top bit.
	bits := constant(s.at, kindInt, math.MaxInt64)
	return apply(s.at, kindFloat, runtime.OpAnd, e, bits)
}

func truncate(s *site) *expr {
	e := asWhole(s.number(0))
	if e.kind == kindFloat {
		return apply(s.at, kindInt, runtime.OpFtoi, e)
	}
	meant := *e // Math.trunc(a / b) says that the integer is wanted
	meant.meant, meant.quotient = true, nil
	return &meant
}

func asNumber(s *site) *expr { return s.number(0) }

func asText(s *site) *expr {
	e := s.l.shown(s.arg(0))
	t, ok := textOf(e)
	if !ok {
		s.l.errorf(e.at, "log it as an argument of its own", "cannot make text of %s here", e.kind)
		return poison(s.at)
	}
	return t
}

// builtinName is a name that the script does not have.
func (l *lowering) builtinName(name string, at diag.Span) operand {
	if builtins[name] != nil || len(membersOf(name)) > 0 {
		return builtin{name}
	}
	switch name {
	case "NaN":
		return value{constant(at, kindFloat, math.Float64bits(math.NaN()))}
	case "Infinity":
		return value{constant(at, kindFloat, math.Float64bits(math.Inf(1)))}
	}
	if hint := foreign[name]; hint != "" {
		l.errorf(at, hint, "%s cannot be used in a program", name)
		return bad{}
	}
	hint := inContext(name)
	if hint == "" {
		hint = suggestion(name, l.names(), "a program knows its own variables, constants and shared variables of the script, and the builtins")
	}
	l.errorf(at, hint, "unknown name %s", name)
	return bad{}
}

// foreign are names of JavaScript and of the script's own language that have no place in a program.
var foreign = map[string]string{
	"undefined":  "everything in a program has a value: compare with 0",
	"arguments":  "name the parameters",
	"eval":       "a program is compiled before it runs: write it out",
	"Object":     "use separate variables, or a map() of the script",
	"Array":      "use separate variables, or a map() of the script",
	"JSON":       "send the values in exit({ … }) and use JSON in the callback",
	"Date":       "use c.time, or Date in a callback",
	"Promise":    "a program cannot wait: send an event with exit({ … })",
	"parseInt":   "send the text in exit({ … }) and parse it in the callback",
	"parseFloat": "send the text in exit({ … }) and parse it in the callback",
	"Map":        "declare const m = map() at the top level",
	"Set":        "declare const m = map() at the top level",
	"require":    "require modules at the top level",
	"globalThis": "name what is meant",
	"probe":      "register probes at the top level or in a callback",
	"every":      "call it at the top level", "begin": "call it at the top level", "end": "call it at the top level",
	"on": "call it at the top level", "stop": "send an event with exit({ … }) and call stop(n) in its callback",
	"option": "call it at the top level and use the constant it gives",
	"hist":   "declare it at the top level", "lhist": "declare it at the top level", "tseries": "declare it at the top level", "count": "declare it at the top level",
	"sum": "declare it at the top level", "avg": "declare it at the top level", "stats": "declare it at the top level",
	"map": "declare it at the top level", "perThread": "declare it at the top level",
}

// names are the names that could have been meant.
func (l *lowering) names() []string {
	var known []string
	for name := range builtins {
		if !strings.Contains(name, ".") {
			known = append(known, name)
		}
	}
	known = append(known, "console", "write", "Math")
	l.scope.visible(func(name string) { known = append(known, name) })
	_, root := l.scope.find("\x00")
	if s, ok := root.fn.Scope.(interface{ Names() []string }); ok {
		known = append(known, s.Names()...)
	}
	return known
}
