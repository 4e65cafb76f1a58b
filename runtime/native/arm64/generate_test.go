package arm64

import (
	"math"
	"math/rand/v2"
	"slices"

	"gotap/runtime"
	"gotap/runtime/opcode"
)

// generator makes random programs.
type generator struct {
	*rand.Rand
	world    *world
	call     bool // there is storage of a call
	rings    bool // operations that native code does not execute are among them
	writing  bool // every other statement is about texts
	floating bool // every other statement is about floats
	code     []runtime.Inst
	depth    int
	assigned map[uint32]bool
	nested   int
}

// Limits of programs. There are more words than registers for them.
const (
	genTemps = 5
	genStack = 12
)

var edgeWords = []uint64{0, 1, 2, 3, 7, 8, 63, 64, 65, 255, 4095, 4096, math.MaxInt64, 1 << 63, math.MaxUint64, 1 << 32, 0xffff0000ffff1234, ^uint64(1 << 31), 0x12340000}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func anyWord(r *rand.Rand) uint64 {
	switch r.IntN(4) {
	case 0:
		return r.Uint64() >> r.IntN(64)
	case 1:
		return uint64(r.IntN(24)) - 8
	}
	return pick(r, edgeWords...)
}

func (g *generator) program() []runtime.Inst {
	g.assigned = map[uint32]bool{}
	g.block(1 + g.IntN(12))
	for t := range uint32(genTemps) { // every word makes a difference
		if g.assigned[t] && g.room() {
			g.op(opcode.PushTV, t)
		}
	}
	for g.depth > 1 {
		g.op(pick(g.Rand, opcode.Sub, opcode.Xor), 0)
	}
	if g.depth > 0 {
		g.object(opcode.AddGV, g.world.numbers)
	}
	g.end()
	return g.code
}

// genTexts are the constant texts of programs.
var genTexts = []string{"", "a", "func", "function", "longer than eight bytes"}

// nativeOps are the operations that native code executes, besides integers.
var nativeOps = []opcode.Op{opcode.Nop, opcode.Jmp, opcode.Loop, opcode.Exit, opcode.Abort, opcode.PushR, opcode.Arg, opcode.Retval, opcode.Field,
	opcode.PushGV, opcode.PopGV, opcode.AddGV, opcode.IncGV, opcode.DecGV, opcode.FetchAddGV, opcode.Agg, opcode.Within, opcode.PushLV, opcode.PopLV, opcode.AddLV,
	opcode.PushD, opcode.Dup, opcode.DupN, opcode.Xchg, opcode.Over, opcode.Drop, opcode.Pick, opcode.Poke, opcode.Depth, opcode.PushTV, opcode.PopTV,
	opcode.PushS, opcode.Text, opcode.Seq, opcode.Sprefix, opcode.Scmp, opcode.Slen,
	opcode.Load8, opcode.LoadS8, opcode.Load16, opcode.LoadS16, opcode.Load32, opcode.LoadS32, opcode.Load64, opcode.LoadPtr, opcode.Readable, opcode.Str,
	opcode.PushThis, opcode.PopThis, opcode.PopThisS, opcode.PushPT, opcode.PopPT, opcode.AddPT, opcode.Item, opcode.LogInt, opcode.LogFloat, opcode.LogText, opcode.EndItem,
	opcode.KeyInt, opcode.MapGet, opcode.MapHas, opcode.MapSet, opcode.MapAdd, opcode.MapDel,
	opcode.Fadd, opcode.Fsub, opcode.Fmul, opcode.Fdiv, opcode.Fneg, opcode.Feq, opcode.Fne, opcode.Flt, opcode.Fle, opcode.Fbool, opcode.Itof,
	opcode.Utof, opcode.Ftoi, opcode.F32, opcode.ToF32, opcode.ArgF, opcode.AggFloat, opcode.LoadF32,
	opcode.Bytes, opcode.Hash, opcode.Sdec, opcode.Sudec, opcode.Shex, opcode.Scat, opcode.PushThisS, opcode.MapGetS, opcode.KeyText,
	opcode.Jz, opcode.Jnz, opcode.Jlt, opcode.Jle, opcode.Jgt, opcode.Jge}

// hasOp reports whether native code executes an operation.
func hasOp(op opcode.Op) bool {
	return slices.Contains(nativeOps, op) || op >= opcode.Add && op <= opcode.Zext
}

// bell appends an operation that native code leaves to the interpreter.
func (g *generator) bell() {
	switch g.IntN(3) {
	case 0:
		g.op(opcode.Field, uint32(runtime.FieldUid))
		g.sink()
	case 1:
		g.op(opcode.Arg, 10+g.Uint32N(3))
		g.sink()
	default:
		g.push()
		g.push()
		g.op(pick(g.Rand, testDivide...), 0)
		g.op(opcode.Drop, 1)
	}
}

// item appends an item of some fields.
func (g *generator) item() {
	g.op(opcode.Item, g.Uint32N(4))
	for range g.IntN(4) {
		if g.IntN(4) == 0 {
			g.knownText()
			g.op(opcode.LogText, 0)
			continue
		}
		if g.push(); g.rings && g.IntN(8) == 0 {
			g.op(opcode.Field, uint32(runtime.FieldUid))
			g.op(opcode.Add, 0)
		}
		g.op(pick(g.Rand, opcode.LogInt, opcode.LogInt, opcode.LogFloat), 0)
	}
	g.op(opcode.EndItem, 0)
}

// storage appends an operation on the storage of the call.
func (g *generator) storage() {
	switch g.IntN(5) {
	case 0, 1:
		g.op(opcode.PushThis, g.Uint32N(4))
		g.sink()
	case 2:
		g.op(opcode.PushS, g.Uint32N(uint32(len(genTexts))))
		g.op(opcode.PopThisS, 32)
	default:
		g.push()
		g.op(opcode.PopThis, g.Uint32N(4))
	}
}

// address pushes an address, mostly of what can be read.
func (g *generator) address() {
	if g.IntN(8) == 0 {
		g.push()
		return
	}
	end := uint64(2 * pageSize)
	if g.rings {
		end = 4 * pageSize
	}
	g.constant(dataAddr + pick(g.Rand, g.Uint64N(end), end-g.Uint64N(20), 100, pageSize+501, 2*pageSize-g.Uint64N(10)))
	if g.IntN(3) == 0 {
		g.constant(g.Uint64N(16))
		g.op(opcode.Add, 0)
	}
}

// loaded pushes what is read from memory.
func (g *generator) loaded() {
	g.address()
	switch g.IntN(6) {
	case 0:
		g.constant(pick(g.Rand, 1, 1, 2, 7, 8, 9, 16, 64, 4095, 4096, 1+g.Uint64N(4096)))
		g.op(opcode.Readable, 0)
	case 1:
		g.constant(32 + g.Uint64N(400))
		g.op(opcode.Str, 0)
		g.op(opcode.PushS, g.Uint32N(uint32(len(genTexts))))
		g.op(pick(g.Rand, opcode.Seq, opcode.Sprefix), 0)
	case 2:
		g.op(opcode.LoadF32, 0)
	default:
		g.op(pick(g.Rand, opcode.Load8, opcode.LoadS8, opcode.Load16, opcode.LoadS16, opcode.Load32, opcode.LoadS32, opcode.Load64, opcode.LoadPtr), 0)
	}
}

// ownVariable appends an operation on a variable of the thread.
func (g *generator) ownVariable() {
	op := pick(g.Rand, opcode.PushPT, opcode.PopPT, opcode.AddPT)
	if op != opcode.PushPT {
		g.push()
	}
	if g.object(op, g.world.own); op == opcode.PushPT {
		g.sink()
	}
}

// array appends an operation on an element of an array. The index is in range, unless the program may ring.
func (g *generator) array() {
	g.push()
	if g.push(); !g.rings || g.IntN(4) > 0 {
		g.constant(3)
		g.op(opcode.And, 0)
	}
	if g.IntN(3) == 0 {
		g.op(opcode.Within, 0)
		g.code[len(g.code)-1].V = 4 + g.Uint64N(5)
	}
	g.object(pick(g.Rand, opcode.PushLV, opcode.PopLV, opcode.AddLV), g.world.arrays)
}

// keyedUse appends the building of a key and its use. Maps that evict get few keys.
func (g *generator) keyedUse() {
	for range g.IntN(3) {
		g.push()
	}
	w, n := g.world, g.IntN(2)
	list, op := w.maps[n], pick(g.Rand, opcode.MapGet, opcode.MapHas, opcode.MapSet, opcode.MapAdd, opcode.MapDel)
	if g.IntN(2) == 0 {
		list, op = w.keyed[n], pick(g.Rand, opcode.Agg, opcode.Agg, opcode.AggFloat)
	}
	object := pick(g.Rand, list...)
	for range 1 + n {
		g.calculated()
		if w.few[object] || g.IntN(6) != 0 {
			g.constant(3)
			g.op(opcode.And, 0)
		}
		g.op(opcode.KeyInt, 0)
	}
	if pops, _ := opcode.RowOf(op).Effect(0); op == opcode.AggFloat {
		g.calculatedFloat()
	} else if pops > 0 {
		g.calculated()
	}
	g.op(op, 0)
	g.code[len(g.code)-1].V = object
}

// calculated pushes a word that can be computed while a key is built.
func (g *generator) calculated() {
	if g.IntN(8) == 0 {
		g.loaded()
		return
	}
	switch g.push(); g.IntN(5) {
	case 0:
		g.op(pick(g.Rand, testUnary...), 0)
	case 3:
		g.op(pick(g.Rand, append(floatUnary, floatEnds...)...), 0)
	case 1:
		g.push()
		g.op(pick(g.Rand, testBinary...), 0)
	case 2:
		g.constant(max(1, anyWord(g.Rand)))
		g.op(pick(g.Rand, testDivide[:2]...), 0)
	}
}

// knownText pushes a text that is known.
func (g *generator) knownText() {
	if g.IntN(3) == 0 {
		g.op(opcode.Text, uint32(pick(g.Rand, runtime.TextFunc, runtime.TextModule, runtime.TextProbe)))
	} else {
		g.op(opcode.PushS, g.Uint32N(uint32(len(genTexts))))
	}
}

// texts appends an operation on texts that are known, perhaps with a jump that is decided by it.
func (g *generator) texts() {
	if g.knownText(); g.IntN(4) == 0 {
		g.op(opcode.Slen, 0)
		return
	}
	g.knownText()
	g.op(pick(g.Rand, opcode.Seq, opcode.Sprefix, opcode.Scmp), 0)
	if g.IntN(2) > 0 || len(g.code) > 200 {
		return
	}
	jump, before := len(g.code), clone(g.assigned)
	g.op(pick(g.Rand, opcode.Jz, opcode.Jnz), 0)
	g.nested++
	g.balanced(1 + g.IntN(2))
	g.nested--
	g.code[jump].A, g.assigned = uint32(len(g.code)), before
}

func (g *generator) end() {
	g.code = append(g.code, runtime.Inst{Op: pick(g.Rand, opcode.Exit, opcode.Exit, opcode.Abort)})
}

// op appends an operation and its effect on the depth.
func (g *generator) op(op opcode.Op, a uint32) {
	g.code = append(g.code, runtime.Inst{Op: op, A: a})
	pops, pushes := opcode.RowOf(op).Effect(a)
	g.depth += pushes - pops
}

// object appends an operation on one of some objects.
func (g *generator) object(op opcode.Op, offsets []uint64) {
	g.op(op, 0)
	g.code[len(g.code)-1].V = pick(g.Rand, offsets...)
}

func (g *generator) constant(v uint64) {
	g.op(opcode.PushD, 0)
	g.code[len(g.code)-1].V = v
}

func (g *generator) room() bool { return g.depth < genStack-3 }

func (g *generator) block(n int) {
	for range n {
		g.statement()
	}
}

// balanced appends statements that leave the stack as it was.
func (g *generator) balanced(n int) {
	depth := g.depth
	g.block(n)
	if g.depth > depth {
		g.op(opcode.Drop, uint32(g.depth-depth))
	}
	for g.depth < depth {
		g.push()
	}
}

func (g *generator) statement() {
	if g.call && g.room() && g.IntN(6) == 0 {
		g.storage()
		return
	}
	if g.writing && g.depth < genStack-8 && g.IntN(2) == 0 {
		g.useText()
		return
	}
	if g.floating && g.room() && g.IntN(2) == 0 {
		g.floats()
		return
	}
	switch n := g.IntN(34); {
	case n > 30 && g.room():
		g.floats()
	case n > 27 && g.room():
		g.loaded()
		g.sink()
	case n > 25 && g.room():
		g.item()
	case n == 25 && g.room():
		g.ownVariable()
	case n > 20 && g.depth < genStack-8:
		g.keyedUse()
	case n == 16 && g.room():
		g.array()
	case n == 17 && g.room():
		g.texts()
	case n == 18 && g.room() && g.rings:
		g.bell()
	case n < 6:
		g.expression()
		g.sink()
	case n < 9:
		g.expression()
	case n < 11:
		g.shuffle()
	case n < 13 && g.nested < 3 && len(g.code) < 200:
		g.conditional()
	case n == 13 && g.nested < 2 && len(g.code) < 200:
		g.loop()
	case n == 14:
		g.op(opcode.Nop, 0)
	default:
		g.push()
		g.sink()
	}
}

// push pushes a word.
func (g *generator) push() {
	switch g.IntN(10) {
	case 0:
		g.op(opcode.Arg, uint32(g.IntN(10)))
	case 1, 2:
		if t := g.Uint32N(genTemps); g.assigned[t] {
			g.op(opcode.PushTV, t)
			return
		}
		g.op(opcode.Retval, 0)
	case 3, 4:
		g.op(opcode.PushR, 0)
		g.code[len(g.code)-1].V = g.Uint64N(33)<<16 | pick[uint64](g.Rand, 0, 64, 32, 8<<8|8, 16, 48<<8|16, 64<<8|8, 28<<8|4)
	case 5:
		g.object(opcode.PushGV, g.world.numbers)
	case 6:
		g.op(opcode.Field, uint32(pick(g.Rand, runtime.FieldPid, runtime.FieldPC, runtime.FieldSP, runtime.FieldFrame, runtime.FieldTid, runtime.FieldTime, runtime.FieldCaller)))
	case 7:
		g.op(opcode.Depth, 0)
	default:
		g.constant(anyWord(g.Rand))
	}
}

var (
	testUnary  = []opcode.Op{opcode.Neg, opcode.Not, opcode.Lnot, opcode.Bool, opcode.Abs, opcode.Clz, opcode.Popcnt}
	testBinary = []opcode.Op{opcode.Add, opcode.Sub, opcode.Mul, opcode.And, opcode.Or, opcode.Xor, opcode.Shl, opcode.Shr, opcode.Sar, opcode.Rol,
		opcode.Ror, opcode.Eq, opcode.Ne, opcode.Lt, opcode.Le, opcode.Gt, opcode.Ge, opcode.Ult, opcode.Ule, opcode.Min, opcode.Max}
	testDivide = []opcode.Op{opcode.Quo, opcode.Rem, opcode.Udivmod, opcode.Sdivmod}
	testJumps  = []opcode.Op{opcode.Jz, opcode.Jnz, opcode.Jlt, opcode.Jle, opcode.Jgt, opcode.Jge}
)

// expression pushes a word that is calculated.
func (g *generator) expression() {
	if !g.room() {
		g.op(opcode.Drop, 4)
	}
	g.push()
	for range g.IntN(5) {
		switch g.IntN(6) {
		case 0:
			g.op(pick(g.Rand, testUnary...), 0)
		case 1:
			g.op(pick(g.Rand, opcode.Ext, opcode.Zext), pick(g.Rand, g.Uint32N(64), 0, 8, 16, 32, 64, 200))
		case 2:
			g.object(opcode.FetchAddGV, g.world.numbers)
		case 3:
			if g.room() {
				g.constant(max(1, anyWord(g.Rand)))
				g.op(pick(g.Rand, testDivide...), 0)
			}
		default:
			if g.room() {
				g.push()
				g.op(pick(g.Rand, testBinary...), 0)
			}
		}
	}
}

// sink pops a word.
func (g *generator) sink() {
	switch g.IntN(9) {
	case 0, 1, 2:
		t := g.Uint32N(genTemps)
		g.op(opcode.PopTV, t)
		g.assigned[t] = true
	case 3:
		g.object(pick(g.Rand, opcode.PopGV, opcode.AddGV), g.world.numbers)
	case 4:
		g.object(pick(g.Rand, opcode.IncGV, opcode.DecGV), g.world.numbers)
		g.op(opcode.Drop, 1)
	case 5, 6, 7:
		g.object(opcode.Agg, g.world.aggregations)
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
		g.op(opcode.Pick, g.Uint32N(uint32(g.depth)))
	case 4:
		g.op(opcode.Poke, g.Uint32N(uint32(g.depth)))
	case 5:
		g.op(opcode.DupN, g.Uint32N(3))
	default:
		g.op(opcode.Dup, 0)
	}
	if g.depth > genStack-4 {
		g.op(opcode.Drop, 4)
	}
}

// conditional appends an if, with or without an else, or one that ends the program.
func (g *generator) conditional() {
	g.expression()
	g.nested++
	defer func() { g.nested-- }()
	jump := len(g.code)
	g.op(pick(g.Rand, testJumps...), 0)
	before := clone(g.assigned)
	if g.IntN(5) == 0 {
		g.end()
		g.code[jump].A = uint32(len(g.code))
		return
	}
	g.balanced(1 + g.IntN(3))
	over := len(g.code)
	g.code = append(g.code, runtime.Inst{Op: opcode.Jmp})
	g.code[jump].A = uint32(len(g.code))
	g.assigned = clone(before)
	g.balanced(1 + g.IntN(2))
	g.code[over].A = uint32(len(g.code))
	g.assigned = before
}

// loop appends a loop with a bound.
func (g *generator) loop() {
	g.nested++
	defer func() { g.nested-- }()
	before := clone(g.assigned)
	if !g.room() {
		g.op(opcode.Drop, 4)
	}
	g.constant(uint64(1 + g.IntN(5)))
	start, left := uint32(len(g.code)), uint32(genTemps+g.nested) // what changes the stack must not change the counter
	g.op(opcode.PopTV, left)
	g.balanced(1 + g.IntN(2))
	g.op(opcode.PushTV, left)
	g.op(opcode.Loop, start)
	g.depth--
	g.assigned = before
}

func clone(m map[uint32]bool) map[uint32]bool {
	c := map[uint32]bool{}
	for k, v := range m {
		c[k] = v
	}
	return c
}
