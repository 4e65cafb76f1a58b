package amd64

import (
	"math"
	"math/rand/v2"

	"gotap/compile"
	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// generator makes random programs that the verifier mostly accepts: it follows the depth of the stack and the scratch
// words that are assigned.
type generator struct {
	*rand.Rand
	objects  *objects
	code     []compile.Command
	depth    int
	assigned native.TempSet
	bells    bool // operations that native code does not execute are among them
	nested   int
	calls    bool // it runs where a call begins
	keyed    bool // a key is being built
}

// genTexts are the constants of programs. They are in the memory that programs read, too.
var genTexts = []string{"a", "bc", "abcdefgh", "abcdefghi", "0123456789abcde", "0123456789abcdef0123456789abcdef!"}

// limits of programs.
const (
	genTemps = 24
	genStack = 24
)

// program returns a random program.
func (o *objects) program(r *rand.Rand, call bool) *compile.Program {
	g := &generator{calls: call, Rand: r, objects: o, bells: r.IntN(3) == 0}
	p := &compile.Program{Name: "random", This: thisBytes, Temps: genTemps + textTemps, Stack: genStack, Texts: append(genTexts[:len(genTexts):len(genTexts)], moreTexts...), Regs: registers, Objects: o.ids(),
		Formats: append([]record.Format{{Kind: record.ItemLog, Fields: []record.Field{{Kind: value.KindInt}}},
			{Kind: record.ItemLog, Fields: []record.Field{{Kind: value.KindInt}, {Kind: value.KindInt}, {Kind: value.KindInt}}},
			{Kind: record.ItemLog, Fields: []record.Field{{Kind: value.KindFloat}}}}, textFormats...)}
	if r.IntN(4) == 0 {
		p.Fuel = 1 + r.Uint32N(120)
	}
	g.block(1 + r.IntN(12))
	g.drain()
	g.end()
	p.Code = g.code
	return p
}

// drain pops the stack. Mostly every word and scratch word makes a difference to a variable.
func (g *generator) drain() {
	if g.IntN(4) == 0 {
		g.op(opcode.Drop, g.depth)
		return
	}
	for t := range genTemps {
		if g.room() && g.assigned.Has(uint32(t)) {
			g.op(opcode.PushTV, t)
		}
	}
	for g.depth > 1 {
		g.op(pick(g.Rand, opcode.Sub, opcode.Xor), 0)
	}
	if g.depth > 0 {
		g.op(opcode.AddGV, pick(g.Rand, g.objects.numbers...))
	}
}

// registers are those that programs name.
var registers = []string{"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip",
	"eax", "ah", "dl", "bx", "r10d", "xmm0", "xmm3", "xmm13", "cs", "rflags", "sil", "xmm2h", "xmm15", "mxcsr"}

// leftRegisters is the number of those at the end that native code leaves to the interpreter.
const leftRegisters = 6

// objects are those that programs use, by kind of operand: indexes of compile.Program.Objects.
type objects struct {
	all                           []int        // IDs
	numbers, arrays, aggregations []int        // indexes
	own                           []int        // of threads
	keyed, maps                   []int        // with two parts at odd indexes
	few                           map[int]bool // indexes of those that never get many keys
	texted                        []textKeyed
	named                         []textKeyed // maps with texts as values
}

func (o *objects) ids() []int { return o.all }

func (g *generator) emit(op opcode.Op, a uint32, v uint64) {
	g.code = append(g.code, compile.Command{Op: op, A: a, V: v})
}

// op appends an operation and its effect on the depth.
func (g *generator) op(op opcode.Op, a int) {
	g.emit(op, uint32(a), 0)
	pops, pushes := opcode.RowOf(op).Effect(uint32(a))
	g.depth += pushes - pops
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

var edgeWords = []uint64{0, 1, 2, 3, 7, 8, 63, 64, 65, 255, 256, math.MaxInt64, 1 << 63, 1<<63 + 1, math.MaxUint64, 1 << 32, 1<<32 - 1, 1 << 31, 1<<31 - 1, ^uint64(1 << 31)}

func anyWord(r *rand.Rand) uint64 {
	switch r.IntN(4) {
	case 0:
		return r.Uint64() >> r.IntN(64)
	case 1:
		return uint64(r.IntN(24)) - 8
	}
	return pick(r, edgeWords...)
}

// anyAddress returns an address for reads: mostly one near the edge of a page of data.
func anyAddress(r *rand.Rand) uint64 {
	switch r.IntN(10) {
	case 0:
		return pick(r, 0, 1, 7, 8, ^uint64(0), ^uint64(3), 1<<47-4, 1<<47, 1<<63, 0xffff_ffff_8100_0000, 0xffff_8880_0000_0000, 0x1_0000_0000)
	case 1:
		return 0x1000 + r.Uint64N(0x80)
	case 2:
		return dataAddr + r.Uint64N(uint64(dataSize))
	}
	return dataAddr + pageSize*r.Uint64N(uint64(len(dataPages))+1) + r.Uint64N(24) - 12
}

// text pushes whether text in memory is, or begins with, a constant. Memory that native code takes for readable, and is
// not, is left out: the interpreter reads to the end of the text, and native code only to the first difference.
func (g *generator) text() {
	addr := pick[uint64](g.Rand, dataAddr, dataAddr+4*pageSize) + g.Uint64N(3000)
	switch g.IntN(6) {
	case 0:
		addr = pick[uint64](g.Rand, 0, 0x1000, ^uint64(0), 1<<47-4, 1<<63, dataAddr-3)
	case 1:
		addr = dataAddr + pageSize - g.Uint64N(20)
	}
	g.emit(opcode.PushD, 0, addr)
	g.depth++
	g.emit(opcode.PushD, 0, pick[uint64](g.Rand, 2, 3, 16, 256, 256, 256, 4096))
	g.depth++
	g.op(opcode.Str, 0)
	g.op(opcode.PushS, g.IntN(6))
	g.op(pick(g.Rand, opcode.Seq, opcode.Sprefix), 0)
}

var loadOps = []opcode.Op{opcode.Load8, opcode.Load16, opcode.Load32, opcode.Load64, opcode.LoadPtr, opcode.LoadS8, opcode.LoadS16, opcode.LoadS32}

// load pushes a word that is read.
func (g *generator) load() {
	switch g.IntN(6) {
	case 0:
		g.op(opcode.Arg, g.IntN(6))
	case 1:
		g.push()
	default:
		g.emit(opcode.PushD, 0, anyAddress(g.Rand))
		g.depth++
	}
	if g.IntN(4) == 0 {
		g.emit(opcode.PushD, 0, g.Uint64N(16))
		g.depth++
		g.op(opcode.Add, 0)
	}
	g.op(pick(g.Rand, loadOps...), 0)
}

// probed pushes whether some bytes can be read.
func (g *generator) probed() {
	g.emit(opcode.PushD, 0, anyAddress(g.Rand))
	g.depth++
	if g.IntN(4) == 0 {
		g.op(opcode.Drop, 1)
		g.push()
	}
	n := pick(g.Rand, 1, 1, 2, 7, 8, 9, 16, 64, 4095, 4096, 1+g.Uint64N(4096))
	if g.bells {
		n = pick(g.Rand, n, n, 0, 4097, 5000, ^uint64(0), 1<<20, 1<<20+1)
	}
	g.emit(opcode.PushD, 0, n)
	g.depth++
	if g.IntN(8) == 0 { // then the number is not known
		g.op(opcode.PopTV, g.temp())
		g.push()
	}
	g.op(opcode.Readable, 0)
}

// block appends statements. They leave the stack as deep as it was, or deeper.
func (g *generator) block(n int) {
	for range n {
		if len(g.code) > 400 {
			return
		}
		g.statement()
	}
}

// balanced appends statements that leave the stack as it was.
func (g *generator) balanced(n int) {
	depth := g.depth
	g.block(n)
	if g.depth > depth {
		g.op(opcode.Drop, g.depth-depth)
	}
	for g.depth < depth {
		g.push()
	}
}

func (g *generator) statement() {
	if g.calls && g.IntN(6) == 0 {
		g.storage()
		return
	}
	switch n := g.IntN(24); {
	case n > 21:
		g.texts()
	case n < 8:
		g.expression()
		g.sink()
	case n < 11:
		g.expression()
	case n < 13:
		g.shuffle()
	case n < 15 && g.nested < 4:
		g.conditional()
	case n == 15 && g.nested < 3:
		g.loop()
	case n == 17 || n == 16:
		g.keyedUse()
	case n == 18 && g.bells:
		g.bell()
	case n == 20 && g.nested < 3:
		g.loop()
	case n == 18 && g.calls && g.IntN(2) == 0:
		g.storage()
	case n == 18 && g.IntN(2) == 0:
		g.item()
	case n == 18:
		g.stale()
	case n == 19 && g.IntN(4) == 0:
		g.op(opcode.Nop, 0)
	case n == 21 && g.room() && g.IntN(3) == 0:
		g.text()
		g.sink()
	case n == 21 && g.room() && g.IntN(3) == 0:
		g.probed()
		g.sink()
	case n == 21 && g.room():
		g.load()
		g.sink()
	case n == 19 && g.room():
		g.floats()
	default:
		g.push()
		g.sink()
	}
}

// keyedUse appends the building of a key and its use.
func (g *generator) keyedUse() {
	if !g.room() || g.depth > genStack-10 {
		return
	}
	for range g.IntN(3) {
		g.push()
	}
	list, op := g.objects.maps, pick(g.Rand, opcode.MapGet, opcode.MapHas, opcode.MapSet, opcode.MapAdd, opcode.MapDel)
	if g.IntN(2) == 0 {
		list, op = g.objects.keyed, pick(g.Rand, opcode.Agg, opcode.Agg, opcode.AggFloat)
	}
	n := g.IntN(len(list))
	for range 1 + n%2 {
		g.keyPart(g.objects.few[list[n]])
		g.op(opcode.KeyInt, 0)
	}
	if pops, _ := opcode.RowOf(op).Effect(0); pops > 0 {
		if op == opcode.AggFloat {
			g.calculatedFloat()
		} else {
			g.calculated()
		}
	}
	g.op(op, list[n])
}

// keyPart pushes a part of a key, mostly one of a few, or always.
func (g *generator) keyPart(few bool) {
	g.calculated()
	if few || g.IntN(6) != 0 {
		g.emit(opcode.PushD, 0, 3)
		g.depth++
		g.op(opcode.And, 0)
	}
}

// calculated pushes a word without effects, or now and then anything.
func (g *generator) calculated() {
	if g.IntN(8) == 0 {
		g.expression()
		return
	}
	switch g.IntN(20) {
	case 0:
		if g.IntN(2) == 0 {
			g.probed()
			return
		}
		g.load()
	case 1, 2:
		g.op(opcode.PushPT, pick(g.Rand, g.objects.own...))
	default:
		g.push()
	}
	for range g.IntN(3) {
		if g.IntN(2) == 0 {
			g.op(pick(g.Rand, unaryOps...), 0)
			continue
		}
		g.push()
		g.op(pick(g.Rand, binaryOps[:21]...), 0)
	}
}

// stale leaves the old value of a scratch word on the stack.
func (g *generator) stale() {
	t := g.temp()
	if !g.room() || !g.assigned.Has(uint32(t)) {
		return
	}
	g.op(opcode.PushTV, t)
	g.push()
	g.op(opcode.PopTV, t)
}

// room reports whether words can be pushed.
func (g *generator) room() bool { return g.depth < genStack-4 }

// push pushes a word.
func (g *generator) push() {
	switch g.IntN(12) {
	case 0, 1:
		g.op(opcode.Arg, pick(g.Rand, g.IntN(6), g.IntN(6), g.IntN(6), g.IntN(len(args)+stackArgs)))
	case 2, 10:
		if t := g.temp(); g.assigned.Has(uint32(t)) {
			g.op(opcode.PushTV, t)
			return
		}
		fallthrough
	case 3:
		g.op(opcode.PushR, g.IntN(len(registers)-leftRegisters))
	case 4:
		g.op(opcode.Retval, 0)
	case 5:
		if g.IntN(2) == 0 {
			g.op(opcode.PushPT, pick(g.Rand, g.objects.own...))
			return
		}
		g.op(opcode.PushGV, pick(g.Rand, g.objects.numbers...))
	case 6:
		g.op(opcode.Field, int(pick(g.Rand, runtime.FieldPid, runtime.FieldPC, runtime.FieldSP, runtime.FieldFrame, runtime.FieldTid, runtime.FieldCaller, runtime.FieldErrno)))
	case 7:
		g.op(opcode.Depth, 0)
	case 8:
		if g.depth > 0 {
			g.op(opcode.Dup, 0)
			return
		}
		fallthrough
	case 9:
		if g.IntN(4) == 0 {
			g.float()
			return
		}
		fallthrough
	default:
		g.emit(opcode.PushD, 0, anyWord(g.Rand))
		g.depth++
	}
}

// temp returns a scratch word, mostly one of a few.
func (g *generator) temp() int {
	if g.IntN(4) == 0 {
		return g.IntN(genTemps)
	}
	return g.IntN(4)
}

var (
	unaryOps = []opcode.Op{opcode.Neg, opcode.Not, opcode.Lnot, opcode.Bool, opcode.Abs, opcode.Clz, opcode.Popcnt}

	binaryOps = []opcode.Op{opcode.Add, opcode.Sub, opcode.Mul, opcode.And, opcode.Or, opcode.Xor, opcode.Shl, opcode.Shr, opcode.Sar, opcode.Rol,
		opcode.Ror, opcode.Eq, opcode.Ne, opcode.Lt, opcode.Le, opcode.Gt, opcode.Ge, opcode.Ult, opcode.Ule, opcode.Min, opcode.Max, opcode.Quo,
		opcode.Rem, opcode.Udivmod, opcode.Sdivmod}

	jumpOps = []opcode.Op{opcode.Jz, opcode.Jnz, opcode.Jlt, opcode.Jle, opcode.Jgt, opcode.Jge}
)

// expression pushes a word that is calculated.
func (g *generator) expression() {
	if !g.room() {
		g.op(opcode.Drop, 4)
	}
	g.push()
	for range g.IntN(5) {
		switch g.IntN(7) {
		case 6:
			g.emit(opcode.Within, 0, ^uint64(0)>>g.IntN(64))
		case 0:
			g.op(pick(g.Rand, unaryOps...), 0)
		case 1:
			g.op(pick(g.Rand, opcode.Ext, opcode.Zext), pick(g.Rand, 1+g.IntN(63), 8, 16, 32))
		case 2:
			g.element(func() {}, opcode.PushLV)
		case 3:
			if g.IntN(2) == 0 && g.room() {
				g.load()
				g.op(pick(g.Rand, binaryOps...), 0)
				continue
			}
			g.op(opcode.FetchAddGV, pick(g.Rand, g.objects.numbers...))
		default:
			if !g.room() {
				return
			}
			g.push()
			g.op(pick(g.Rand, binaryOps...), 0)
		}
	}
}

// element appends an operation on an element of an array, which is mostly in range.
func (g *generator) element(before func(), op opcode.Op) {
	before()
	if g.IntN(8) != 0 {
		g.emit(opcode.PushD, 0, 7)
		g.depth++
		g.op(opcode.And, 0)
	}
	g.op(op, pick(g.Rand, g.objects.arrays...))
}

// sink pops a word.
func (g *generator) sink() {
	switch g.IntN(10) {
	case 9:
		g.op(pick(g.Rand, opcode.PopPT, opcode.AddPT), pick(g.Rand, g.objects.own...))
	case 0, 1:
		t := g.temp()
		g.op(opcode.PopTV, t)
		g.assigned.Add(uint32(t))
	case 2:
		g.op(pick(g.Rand, opcode.PopGV, opcode.AddGV), pick(g.Rand, g.objects.numbers...))
	case 3:
		g.op(pick(g.Rand, opcode.IncGV, opcode.DecGV), pick(g.Rand, g.objects.numbers...))
		g.op(opcode.Drop, 1)
	case 4:
		if g.room() {
			g.element(g.push, pick(g.Rand, opcode.PopLV, opcode.AddLV))
		}
	case 5, 6:
		g.op(opcode.Agg, pick(g.Rand, g.objects.aggregations...))
	default:
		g.op(opcode.Drop, 1)
	}
}

// shuffle moves words of the stack.
func (g *generator) shuffle() {
	for g.depth < 3 {
		g.push()
	}
	switch g.IntN(7) {
	case 0, 1:
		g.op(opcode.Xchg, 0)
	case 2:
		g.op(opcode.Over, 0)
	case 3:
		g.op(opcode.Pick, g.IntN(g.depth))
	case 4:
		g.op(opcode.Poke, g.IntN(g.depth))
	case 5:
		g.op(opcode.DupN, g.IntN(3))
	case 6:
		g.op(opcode.Drop, g.IntN(3))
	}
	if g.depth > genStack-4 {
		g.op(opcode.Drop, 4)
	}
}

// conditional appends an if, with or without an else, or one that ends the program.
func (g *generator) conditional() {
	g.expression()
	if g.IntN(3) == 0 {
		g.push()
		g.op(pick(g.Rand, opcode.Eq, opcode.Ne, opcode.Lt, opcode.Le, opcode.Gt, opcode.Ge, opcode.Ult, opcode.Ule), 0)
		for range g.IntN(3) {
			g.op(pick(g.Rand, opcode.Lnot, opcode.Bool), 0)
		}
	}
	g.conditionalOn()
}

// conditionalOn is conditional for the word on top.
func (g *generator) conditionalOn() {
	g.nested++
	defer func() { g.nested-- }()
	jump := len(g.code)
	g.op(pick(g.Rand, jumpOps...), 0)
	before := g.assigned
	if g.IntN(5) == 0 {
		g.end()
		g.code[jump].A = uint32(len(g.code))
		return
	}
	g.balanced(1 + g.IntN(3))
	if g.IntN(2) == 0 {
		over := len(g.code)
		g.emit(opcode.Jmp, 0, 0)
		g.code[jump].A = uint32(len(g.code))
		g.assigned = before
		g.balanced(1 + g.IntN(3))
		g.code[over].A = uint32(len(g.code))
	} else {
		g.code[jump].A = uint32(len(g.code))
	}
	g.assigned = before
}

// loop appends a loop with a bound, or one that ends by a variable or for lack of fuel.
func (g *generator) loop() {
	g.nested++
	defer func() { g.nested-- }()
	before := g.assigned
	if !g.room() {
		g.op(opcode.Drop, 4)
	}
	switch g.IntN(5) {
	case 0: // the condition behind the body, which control enters only from there
		enter := len(g.code)
		g.emit(opcode.Jmp, 0, 0)
		start := len(g.code)
		g.balanced(1 + g.IntN(2))
		g.code[enter].A = uint32(len(g.code))
		g.assigned = before
		g.expression()
		g.op(pick(g.Rand, jumpOps...), start)
	case 1:
		start := len(g.code)
		g.balanced(1 + g.IntN(2))
		g.expression()
		g.op(pick(g.Rand, jumpOps...), start)
	default:
		g.emit(opcode.PushD, 0, uint64(1+g.IntN(5)))
		g.depth++
		start := len(g.code)
		g.balanced(1 + g.IntN(2))
		g.op(opcode.Loop, start)
		g.depth--
	}
	g.assigned = before
}
