package builtin

import (
	"fmt"
	"sort"
	"strings"

	"gotap/compile/diag"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// Function is a function of the language that programs may call.
type Function struct {
	Name   string // "str", "exit.hold"
	Usage  string // "str(p, n?)"
	Type   string // the signature in TypeScript's words: "(p: Pointer, n?: number) => string"
	Doc    string
	Unsafe bool // refused without --unsafe
}

// Row is a builtin with how it is compiled.
type Row struct {
	Function
	least, most int // arguments; most < 0: any
	do          func(s *Call) *tree.Expr
}

// builtins finds a builtin by name.
var builtins map[string]*Row

func init() {
	builtins = map[string]*Row{}
	for _, table := range [][]Row{reads, logs, endings, numbers, changes, others} {
		for i := range table {
			builtins[table[i].Name] = &table[i]
		}
	}
}

// All lists the functions programs may call, by name. A name of the script's own hides a builtin.
func All() []Function {
	var all []Function
	for _, b := range builtins {
		all = append(all, b.Function)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

// Find returns a builtin by name, or nil.
func Find(name string) *Row { return builtins[name] }

// Usage is how a builtin is called.
func Usage(name string) string {
	if b := builtins[name]; b != nil {
		return b.Usage
	}
	return ""
}

// MembersOf are the second parts of builtins such as exit.hold.
func MembersOf(name string) []string {
	var members []string
	for full := range builtins {
		if rest, ok := strings.CutPrefix(full, name+"."); ok {
			members = append(members, rest)
		}
	}
	sort.Strings(members)
	return members
}

// Call compiles a call of the builtin; at is its name.
func (b *Row) Call(s *Call, at diag.Span) *tree.Expr {
	if b.Unsafe {
		s.state.NeedUnsafe(at, b.Name)
	}
	if speaks[b.Name] && !s.onlyDecides(b.Name, at) {
		return tree.Poison(s.at)
	}
	if !s.count(b.least, b.most) {
		return tree.Poison(s.at)
	}
	return b.do(s)
}

// load is a read of memory at a pointer.
func load(k tree.Kind, op opcode.Op) func(*Call) *tree.Expr {
	return func(s *Call) *tree.Expr { return tree.Apply(s.at, k, op, s.address(0)) }
}

func read(name, doc string, k tree.Kind, op opcode.Op) Row {
	return Row{Function{name, name + "(p)", "(p: Pointer) => number", doc, false}, 1, 1, load(k, op)}
}

// reads read the target's memory. A bad address ends the program with a trap.
var reads = []Row{
	read("u8", "unsigned byte at p", tree.KindInt, opcode.Load8),
	read("u16", "unsigned 16-bit word at p", tree.KindInt, opcode.Load16),
	read("u32", "unsigned 32-bit word at p", tree.KindInt, opcode.Load32),
	read("u64", "unsigned 64-bit word at p", tree.KindUint, opcode.Load64),
	read("i8", "signed byte at p", tree.KindInt, opcode.LoadS8),
	read("i16", "signed 16-bit word at p", tree.KindInt, opcode.LoadS16),
	read("i32", "signed 32-bit word at p", tree.KindInt, opcode.LoadS32),
	read("i64", "signed 64-bit word at p", tree.KindInt, opcode.Load64),
	read("f32", "float at p", tree.KindFloat, opcode.LoadF32),
	read("f64", "double at p", tree.KindFloat, opcode.Load64),
	read("ptr", "pointer at p, of the target's size", tree.KindUint, opcode.LoadPtr),
	{Function{"str", "str(p, n?)", "(p: Pointer, n?: number) => string", "text at p up to its NUL, at most n bytes (256); of a string of C++, Go or Rust its own length: str(c.args.name)", false}, 1, 2, (*Call).str},
	{Function{"bytes", "bytes(p, n)", "(p: Pointer, n: number) => Bytes", "n bytes at p", false}, 2, 2,
		func(s *Call) *tree.Expr {
			return tree.Apply(s.at, tree.KindBytes, opcode.Bytes, s.address(0), s.size(1, 0))
		}},
	{Function{"global", "global(name)", "(name: string) => any", "static variable of the program, by debug information or its symbol: global(\"limit\"), global(\"libc:environ\"), global(\"origin\").x, global(\"limit@file.c\")", false}, 1, 1, nil},
	{Function{"cast", "cast(p, type)", "(p: Pointer, type: string) => any", "p as a value of a type of the program: cast(p, \"struct point *\").x, cast(p, \"geo::Square *\")", false}, 2, 2, nil},
	{Function{"sizeof", "sizeof(type)", "(type: string) => number", "bytes of a type of the program: sizeof(\"struct point\")", false}, 1, 1, (*Call).sizeof},
	{Function{"defined", "defined(x)", "(x: any) => boolean", "whether debug information knows x at the place: defined(c.args.flags) ? c.args.flags : 0", false}, 1, 1, (*Call).defined},
	{Function{"uaddr", "uaddr(name)", "(name: string) => number", "address of a static variable of the program: write.u32(uaddr(\"limit\"), 5)", false}, 1, 1, (*Call).uaddr},
	{Function{"readable", "readable(p, n?)", "(p: Pointer, n?: number) => boolean", "whether n bytes (1) at p can be read", false}, 1, 2,
		func(s *Call) *tree.Expr {
			return tree.Apply(s.at, tree.KindBool, opcode.Readable, s.address(0), s.optional(1, 1))
		}},
}

// logs write into the log of the hit.
var logs = []Row{
	{Function{"log", "log(…)", "(...values: any[]) => void", "a line of output: the values joined by blanks", false}, 0, -1, (*Call).log},
	{Function{"print", "print(…)", "(...values: any[]) => void", "the same as log", false}, 0, -1, (*Call).log},
	{Function{"console.log", "console.log(…)", "(...values: any[]) => void", "the same as log", false}, 0, -1, (*Call).log},
	{Function{"emit", "emit({ name: value, … })", "(record?: Record<string, any>) => void", "an event, after which the program continues: the exit callback gets the record", false}, 0, 1, (*Call).emit},
	{Function{"printf", "printf(format, …)", "(format: string, ...values: any[]) => void", "output as C's printf formats it", false}, 1, -1, (*Call).printf},
}

// ending is a builtin that ends the program with an event.
func ending(name, doc string, k outcome.ExitKind) Row {
	return Row{Function{name, name + "({ name: value, … })", "(record?: Record<string, any>) => never", doc, false}, 0, 1,
		func(s *Call) *tree.Expr { return s.exit(k) }}
}

// endings end the program.
var endings = []Row{
	ending("exit", "ends the program with an event: the exit callback gets the record", outcome.ExitEvent),
	ending("exit.hold", "the same, and the thread waits until the callback has returned", outcome.ExitHold),
	ending("exit.dump", "the same, and an ELF core is written", outcome.ExitDump),
	ending("exit.stop", "the same, and the process is left stopped for a debugger", outcome.ExitStop),
	{Function{"abort", "abort()", "() => never", "ends the program and discards the log of the hit", false}, 0, 0,
		func(s *Call) *tree.Expr { return tree.Apply(s.at, tree.KindNever, opcode.Abort).With(tree.Writes) }},
	{Function{"remove", "remove()", "() => never", "ends the program and removes the probe", false}, 0, 0,
		func(s *Call) *tree.Expr { return tree.Apply(s.at, tree.KindNever, opcode.Remove).With(tree.Writes) }},
}

// one is an operation on an integer.
func one(op opcode.Op) func(*Call) *tree.Expr {
	return func(s *Call) *tree.Expr { return tree.Fold(tree.Apply(s.at, tree.KindInt, op, s.integer(0))) }
}

// numbers compute.
var numbers = []Row{
	{Function{"min", "min(a, b, …)", "(...values: number[]) => number", "the smallest", false}, 2, -1, minimum},
	{Function{"max", "max(a, b, …)", "(...values: number[]) => number", "the largest", false}, 2, -1, maximum},
	{Function{"abs", "abs(x)", "(x: number) => number", "the absolute value", false}, 1, 1, absolute},
	{Function{"clz", "clz(x)", "(x: number) => number", "leading zero bits of 64", false}, 1, 1, one(opcode.Clz)},
	{Function{"popcount", "popcount(x)", "(x: number) => number", "bits that are 1", false}, 1, 1, one(opcode.Popcnt)},
	{Function{"ult", "ult(a, b)", "(a: number, b: number) => boolean", "whether a is below b, both unsigned", false}, 2, 2,
		func(s *Call) *tree.Expr {
			return tree.Fold(tree.Apply(s.at, tree.KindBool, opcode.Ult, s.integer(0), s.integer(1)))
		}},
	{Function{"trunc", "trunc(x)", "(x: number) => number", "the integer part of a float", false}, 1, 1, truncate},
	{Function{"integer", "integer(x, other?)", "(x: any, other?: number) => number", "x if its type is an integer or a pointer, otherwise other (0): integer(c.ret) works for functions of any type", false}, 1, 2, asInteger},
	{Function{"Math.min", "Math.min(a, b, …)", "(...values: number[]) => number", "the smallest", false}, 2, -1, minimum},
	{Function{"Math.max", "Math.max(a, b, …)", "(...values: number[]) => number", "the largest", false}, 2, -1, maximum},
	{Function{"Math.abs", "Math.abs(x)", "(x: number) => number", "the absolute value", false}, 1, 1, absolute},
	{Function{"Math.trunc", "Math.trunc(x)", "(x: number) => number", "the integer part of a float; Math.trunc(a / b) says that the fraction is not wanted", false}, 1, 1, truncate},
	{Function{"Number", "Number(x)", "(x: any) => number", "a number as it is", false}, 1, 1, asNumber},
	{Function{"BigInt", "BigInt(x)", "(x: any) => number", "an integer as it is", false}, 1, 1, func(s *Call) *tree.Expr { return s.integer(0) }},
}

// changes change the target.
var changes = []Row{
	write("write.u8", opcode.Store8), write("write.u16", opcode.Store16), write("write.u32", opcode.Store32),
	write("write.u64", opcode.Store64), write("write.i8", opcode.Store8), write("write.i16", opcode.Store16),
	write("write.i32", opcode.Store32), write("write.i64", opcode.Store64),
	{Function{"write.f64", "write.f64(p, x)", "(p: Pointer, x: number) => void", "writes a double at p", true}, 2, 2,
		func(s *Call) *tree.Expr {
			return tree.Apply(s.at, tree.KindVoid, opcode.Store64, s.address(0), tree.ToFloat(s.number(1))).With(tree.Writes)
		}},
	{Function{"write.f32", "write.f32(p, x)", "(p: Pointer, x: number) => void", "writes a float at p, rounded to its 32 bits", true}, 2, 2,
		func(s *Call) *tree.Expr {
			single := tree.Apply(s.at, tree.KindInt, opcode.ToF32, tree.ToFloat(s.number(1)))
			return tree.Apply(s.at, tree.KindVoid, opcode.Store32, s.address(0), single).With(tree.Writes)
		}},
	write("write.ptr", opcode.StorePtr),
	{Function{"write.str", "write.str(p, text)", "(p: Pointer, text: string) => void", "writes text and a NUL at p: there has to be room for both", true}, 2, 2,
		func(s *Call) *tree.Expr {
			return tree.Apply(s.at, tree.KindVoid, opcode.StoreStr, s.address(0), s.text(1)).With(tree.Writes)
		}},
	{Function{"skip", "skip(result?)", "(result?: number) => void", "the function is not run and returns the result (0)", true}, 0, 1, skip},
	{Function{"signal", "signal(n)", "(n: number) => void", "sends the thread signal n", true}, 1, 1,
		func(s *Call) *tree.Expr {
			n := s.integer(0)
			if v := int64(n.Cmd.V); n.IsConst() && (v < 1 || v > maxSignal) {
				s.Errorf(n.At, fmt.Sprintf("signals are 1 to %d: 15 is SIGTERM, 10 SIGUSR1", maxSignal), "signal %d does not exist", v)
				return tree.Poison(s.at)
			}
			return tree.Apply(s.at, tree.KindVoid, opcode.Signal, n).With(tree.Writes)
		}},
}

// maxSignal is Linux's last real-time signal; the machine refuses what is beyond it with a trap.
const maxSignal = 64

func write(name string, op opcode.Op) Row {
	return Row{Function{name, name + "(p, v)", "(p: Pointer, v: number) => void", "writes v at p", true}, 2, 2,
		func(s *Call) *tree.Expr {
			return tree.Apply(s.at, tree.KindVoid, op, s.address(0), s.integer(1)).With(tree.Writes)
		}}
}

// others work on text.
var others = []Row{
	{Function{"hash", "hash(s)", "(s: string) => number", "64-bit hash of text: equal texts have equal hashes", false}, 1, 1,
		func(s *Call) *tree.Expr { return tree.Apply(s.at, tree.KindInt, opcode.Hash, s.text(0)) }},
	{Function{"pretty", "pretty(x, other?)", "(x: any, other?: string) => string", "a struct, or what a pointer points to, with its members: pretty(c.args.p); all arguments: pretty(c.args); the name of an enumeration's value; pretty(c) is the arguments as the call begins and the result as it returns; other where the types are not known", false}, 1, 2, (*Call).pretty},
	{Function{"fails", "fails(c)", "(c: any) => boolean", "in leave, whether the call has failed: its result is negative or NULL; in Go, where the last result is an error, whether that is not nil", false}, 1, 1, (*Call).fails},
	{Function{"hex", "hex(x)", "(x: number) => string", "a number in hexadecimal, with 0x", false}, 1, 1,
		func(s *Call) *tree.Expr { return tree.Apply(s.at, tree.KindText, opcode.Shex, s.address(0)) }},
	{Function{"String", "String(x)", "(x: any) => string", "as text", false}, 1, 1, asText},
}
