package runtime

import (
	"bytes"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// wrap is a number modulo 2^64.
func wrap(x *big.Int) uint64 {
	m := new(big.Int).Lsh(big.NewInt(1), 64)
	return new(big.Int).Mod(x, m).Uint64()
}

func signed(v uint64) *big.Int   { return big.NewInt(int64(v)) }
func unsigned(v uint64) *big.Int { return new(big.Int).SetUint64(v) }

func truth(b bool) *big.Int {
	if b {
		return big.NewInt(1)
	}
	return new(big.Int)
}

// oracles say what each operation on two integers is, in integers without end. nil: a trap.
var oracles = map[opcode.Op]func(a, b uint64) *big.Int{
	opcode.Add: func(a, b uint64) *big.Int { return new(big.Int).Add(signed(a), signed(b)) },
	opcode.Sub: func(a, b uint64) *big.Int { return new(big.Int).Sub(signed(a), signed(b)) },
	opcode.Mul: func(a, b uint64) *big.Int { return new(big.Int).Mul(signed(a), signed(b)) },
	opcode.Quo: func(a, b uint64) *big.Int {
		if b == 0 {
			return nil
		}
		return new(big.Int).Quo(signed(a), signed(b))
	},
	opcode.Rem: func(a, b uint64) *big.Int {
		if b == 0 {
			return nil
		}
		return new(big.Int).Rem(signed(a), signed(b))
	},
	opcode.And: func(a, b uint64) *big.Int { return new(big.Int).And(signed(a), signed(b)) },
	opcode.Or:  func(a, b uint64) *big.Int { return new(big.Int).Or(signed(a), signed(b)) },
	opcode.Xor: func(a, b uint64) *big.Int { return new(big.Int).Xor(signed(a), signed(b)) },
	opcode.Shl: func(a, n uint64) *big.Int { return new(big.Int).Lsh(signed(a), uint(n%64)) },
	opcode.Shr: func(a, n uint64) *big.Int { return new(big.Int).Rsh(unsigned(a), uint(n%64)) },
	opcode.Sar: func(a, n uint64) *big.Int { return new(big.Int).Rsh(signed(a), uint(n%64)) },
	opcode.Rol: func(a, n uint64) *big.Int {
		x := new(big.Int).Lsh(unsigned(a), uint(n%64))
		return x.Or(x, new(big.Int).Rsh(x, 64))
	},
	opcode.Ror: func(a, n uint64) *big.Int {
		x := new(big.Int).Lsh(unsigned(a), uint(64-n%64))
		return x.Or(x, new(big.Int).Rsh(unsigned(a), uint(n%64)))
	},
	opcode.Eq:  func(a, b uint64) *big.Int { return truth(signed(a).Cmp(signed(b)) == 0) },
	opcode.Ne:  func(a, b uint64) *big.Int { return truth(signed(a).Cmp(signed(b)) != 0) },
	opcode.Lt:  func(a, b uint64) *big.Int { return truth(signed(a).Cmp(signed(b)) < 0) },
	opcode.Le:  func(a, b uint64) *big.Int { return truth(signed(a).Cmp(signed(b)) <= 0) },
	opcode.Gt:  func(a, b uint64) *big.Int { return truth(signed(a).Cmp(signed(b)) > 0) },
	opcode.Ge:  func(a, b uint64) *big.Int { return truth(signed(a).Cmp(signed(b)) >= 0) },
	opcode.Ult: func(a, b uint64) *big.Int { return truth(unsigned(a).Cmp(unsigned(b)) < 0) },
	opcode.Ule: func(a, b uint64) *big.Int { return truth(unsigned(a).Cmp(unsigned(b)) <= 0) },
	opcode.Min: func(a, b uint64) *big.Int {
		if signed(a).Cmp(signed(b)) < 0 {
			return signed(a)
		}
		return signed(b)
	},
	opcode.Max: func(a, b uint64) *big.Int {
		if signed(a).Cmp(signed(b)) < 0 {
			return signed(b)
		}
		return signed(a)
	},
	// one operand: b is ignored
	opcode.Neg:  func(a, _ uint64) *big.Int { return new(big.Int).Neg(signed(a)) },
	opcode.Not:  func(a, _ uint64) *big.Int { return new(big.Int).Not(signed(a)) },
	opcode.Abs:  func(a, _ uint64) *big.Int { return new(big.Int).Abs(signed(a)) },
	opcode.Lnot: func(a, _ uint64) *big.Int { return truth(signed(a).Sign() == 0) },
	opcode.Bool: func(a, _ uint64) *big.Int { return truth(signed(a).Sign() != 0) },
	opcode.Clz:  func(a, _ uint64) *big.Int { return big.NewInt(64 - int64(unsigned(a).BitLen())) },
}

var edges = []uint64{0, 1, 2, 63, 64, 65, math.MaxInt64, 1 << 63, 1<<63 + 1, math.MaxUint64, 1 << 32, 1<<32 - 1}

func interesting(r *rand.Rand) uint64 {
	if r.IntN(3) == 0 {
		return edges[r.IntN(len(edges))]
	}
	return r.Uint64() >> r.IntN(64)
}

// TestAgainstBigIntegers compares the integer operations with arithmetic that has no width.
func TestAgainstBigIntegers(t *testing.T) {
	b, r := newBench(t), rand.New(rand.NewPCG(1, 2))
	for o, oracle := range oracles {
		list := seq(push(0), push(0), op(o))
		if effects[o].pops == 1 {
			list = seq(push(0), op(opcode.Nop), op(o))
		}
		for range 2000 {
			x, y := interesting(r), interesting(r)
			list[0].V, list[1].V = x, y
			got, out := b.eval(Code{Insts: list}, 1)
			want := oracle(x, y)
			if (want == nil) != (out.Trap == outcome.TrapDivide) || want != nil && got[0] != wrap(want) {
				t.Fatalf("op %d of %#x %#x: %#x, %v; want %v", o, x, y, got[0], out.Trap, want)
			}
		}
	}
}

func TestWidthsAgainstBigIntegers(t *testing.T) {
	b, r := newBench(t), rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		x, n := interesting(r), uint32(r.IntN(64))
		mod := new(big.Int).Lsh(big.NewInt(1), uint(n))
		want := new(big.Int).Mod(unsigned(x), mod)
		got, _ := b.eval(Code{Insts: seq(push(int64(x)), opA(opcode.Zext, n))}, 1)
		if got[0] != wrap(want) {
			t.Fatalf("zext %d of %#x: %#x", n, x, got[0])
		}
		if n > 0 && want.Bit(int(n-1)) == 1 {
			want.Sub(want, mod)
		}
		got, _ = b.eval(Code{Insts: seq(push(int64(x)), opA(opcode.Ext, n))}, 1)
		if got[0] != wrap(want) {
			t.Fatalf("ext %d of %#x: %#x", n, x, got[0])
		}
		got, _ = b.eval(Code{Insts: seq(push(int64(x)), op(opcode.Popcnt))}, 1)
		if got[0] != uint64(bits.OnesCount64(x)) {
			t.Fatalf("popcnt of %#x: %d", x, got[0])
		}
	}
}

// operand is what follows an operation.
func operand(op opcode.Op) opcode.Operand {
	if row := opcode.RowOf(op); row != nil {
		return row.Operand
	}
	return opcode.NoOperand
}

// randomOp mostly gives operations there are, with operands that are mostly near what makes sense.
func randomInst(r *rand.Rand, n int, objects []uint64) Inst {
	in := Inst{Op: opcode.Op(r.IntN(int(opcode.NumOps) + 1)), A: uint32(r.IntN(12)), V: interesting(r)}
	switch r.IntN(6) {
	case 0:
		in.A = r.Uint32()
	case 1:
		in.Op = opcode.PushD
		in.V = []uint64{0x1000, 0x1010, 5, 1 << 62, 1<<62 | 8<<32, 3 << 32, 0x2ff0}[r.IntN(7)]
	case 2:
		in.Op = opcode.PushD
	}
	switch {
	case operand(in.Op) == opcode.LabelOperand:
		in.A = uint32(r.IntN(n + 1))
	case operand(in.Op).IsObject() && in.Op != opcode.TraceVars && r.IntN(8) != 0:
		in.V = objects[r.IntN(len(objects))]
	case in.Op == opcode.TraceVars:
		in.A, in.V = uint32(r.IntN(4)), objects[r.IntN(len(objects))]
	case in.Op == opcode.PickBase || in.Op == opcode.PokeBase:
		in.A = uint32(r.IntN(8) - 4)
	case in.Op == opcode.PushR:
		in.V &= 0xffff | 3<<16
	}
	return in
}

// fuzzObjects declares objects of all kinds and returns their offsets.
func fuzzObjects(t testing.TB, b *bench) (offs []uint64) {
	for kind := object.KindInt; kind <= object.KindLhist; kind++ {
		for _, keys := range [][]value.Kind{nil, {value.KindInt}, {value.KindText, value.KindStack}} {
			if (kind < object.KindMap) != (len(keys) == 0) && kind <= object.KindMap {
				continue
			}
			size := 3
			if kind == object.KindTrail || kind == object.KindRecorder {
				size = 128
			}
			id, off := b.declare(t, object.Object{Kind: kind, Keys: len(keys), Max: 3, Full: object.Full(kind % 3), Hi: 9, Step: 2, Size: size})
			b.refine(t, id, value.Kind(len(keys)-1)&1*value.KindText, keys...)
			offs = append(offs, off)
		}
	}
	return offs
}

// runRandom runs one random program and checks what must hold of any: it ends within its fuel
// and its log, and changes the target only when it may. That it touches nothing but its arena
// is Go's to check: the arena is a slice here, and has no pointers.
func runRandom(t testing.TB, b *bench, offs []uint64, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	n := 1 + r.IntN(60)
	c := &Code{Insts: make([]Inst, n), Fuel: 1 + r.Uint32N(3000), Texts: []string{"", "a", "hello"}, Stack: r.IntN(300) - 10, Heap: r.IntN(2*MaxHeap) - MaxHeap,
		Temps: r.IntN(300), LogMax: r.IntN(40000), Wrap: r.IntN(4) == 0, Unsafe: r.IntN(2) == 0, Bounded: r.IntN(2) == 0,
		Trace: r.Uint32N(3), Room: r.IntN(2000) - 10, Auto: r.IntN(3) == 0}
	if r.IntN(2) == 0 {
		c.Mask = MaskSet | r.Uint32N(1<<16)
	}
	for i := range c.Insts {
		c.Insts[i] = randomInst(r, n, offs)
	}
	this := b.a.AllocThis(arena.MaxThisBytes)
	defer b.a.FreeThis(this, arena.MaxThisBytes)
	b.ctx.This = []uint64{0, this, math.MaxUint64 - 7, 4}[r.IntN(4)]
	before := *b.thread
	before.memory = slices.Clone(before.memory)
	b.ctx.Dirty = false
	out := b.run(c)
	changed := b.ctx.Dirty || b.thread.ret != before.ret || out.Skip || out.Signal != 0 || !bytes.Equal(b.thread.memory, before.memory)
	if changed && !c.Unsafe {
		t.Fatalf("seed %d: the target was changed: %+v", seed, out)
	}
	if out.Trap >= outcome.NumTraps || out.Steps > c.Fuel || b.hit.Len() > record.MaxLog || b.hit.Len()%8 != 0 {
		t.Fatalf("seed %d: %+v, log %d", seed, out, b.hit.Len())
	}
}

// TestRandomPrograms: whatever the instructions, Run ends within its fuel, does not panic, and
// leaves a log that decodes or says why not.
func TestRandomPrograms(t *testing.T) {
	b := newBench(t)
	offs := fuzzObjects(t, b)
	rounds := uint64(20000)
	if testing.Short() {
		rounds = 2000
	}
	for seed := range rounds {
		runRandom(t, b, offs, seed)
		b.a.Commit(record.Header{}, &b.hit)
		for {
			if _, ok := b.a.Next(); !ok {
				break
			}
		}
	}
	for id := range b.a.Objects() {
		b.a.Handle(id).Entries()
		b.a.Handle(id).Dump()
		b.a.Handle(id).Take()
	}
}

func FuzzRun(f *testing.F) {
	f.Add(uint64(1))
	b := newBench(f)
	offs := fuzzObjects(f, b)
	f.Fuzz(func(t *testing.T, seed uint64) { runRandom(t, b, offs, seed) })
}
