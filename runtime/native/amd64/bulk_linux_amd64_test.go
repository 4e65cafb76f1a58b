package amd64

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"testing"

	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
)

// bulk is how many operands each of three pages of data has.
const bulk = pageSize / 8

// bulkPages are those pages: native code may read them.
var bulkPages = [3]uint64{dataAddr, dataAddr + 2*pageSize, dataAddr + 4*pageSize}

// TestFloatsInBulk compares operations on floats with the interpreter, each random expression for many operands. The
// first of these may be no number, the others are: where two are none, native code rings and the rest of the operands
// would be the interpreter's.
func TestFloatsInBulk(t *testing.T) {
	w := newWorld(t)
	w.c.setControl(1)
	array, _ := w.object(object.Object{Kind: object.KindArray, Size: bulk})
	w.initial = w.used(nil)
	n := uint64(40)
	if os.Getenv("GOTAP_LONG") != "" {
		n = 2_000_000 / bulk
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 4))
		w.restore(w.initial)
		list := w.bulkProgram(r, array)
		w.fillOperands(r)
		plan, err := native.PlanOf(&runtime.Code{Insts: list, Bounded: true, Fuel: 40 * bulk}, w.arena, Features, w.inTracee())
		if err != nil {
			t.Fatal(err)
		}
		programs := []native.Program{{Run: plan}}
		site := w.site(Site{Addr: codeAddr, Flags: true, RedZone: true, Tail: func(uint64) ([]byte, error) { return []byte{0xcc}, nil }})
		stub, err := Emit(programs, site)
		if err != nil {
			t.Fatal(err)
		}
		copy(w.c.code(), stub.Code)
		w.floats = usesFloats(programs)
		regs := w.anyRegs(r)
		w.c.do(func() { err = w.compare(stub, programs, site, &regs) })
		if err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, list)
		}
	}
	t.Logf("%+v; %d operands", w.counts, n*bulk)
}

// fillOperands writes operands.
func (w *world) fillOperands(r *rand.Rand) {
	for page, addr := range bulkPages {
		for i := range uint64(bulk) {
			v := anyFloat(r)
			for page > 0 && isNaN(v) {
				v = anyFloat(r)
			}
			binary.LittleEndian.PutUint64(w.c.data()[addr-dataAddr+8*i:], v)
		}
	}
}

func isNaN(w uint64) bool { return w<<1 > 0x7ff0<<49 }

// bulkProgram returns a program that computes an expression of each three operands, and stores the results or adds them
// up.
func (w *world) bulkProgram(r *rand.Rand, array uint64) []runtime.Inst {
	list := []runtime.Inst{push(bulk), op(opcode.Dup), push(1), op(opcode.Sub), opA(opcode.PopTV, 0)}
	operand := func(page int) {
		list = append(list, opA(opcode.PushTV, 0), push(8), op(opcode.Mul), push(int64(bulkPages[page])), op(opcode.Add), op(opcode.Load64))
		if r.IntN(6) == 0 {
			list[len(list)-1].Op = opcode.LoadF32
		}
	}
	unary := func(of ...opcode.Op) {
		if r.IntN(3) == 0 {
			list = append(list, op(pick(r, of...)))
		}
	}
	operand(0)
	unary(floatUnary...)
	if r.IntN(2) == 0 {
		operand(1)
		list = append(list, op(pick(r, floatBinary...)))
	}
	unary(opcode.ToF32, opcode.F32, opcode.Fneg)
	if r.IntN(3) == 0 {
		operand(2)
		list = append(list, op(pick(r, append(floatCompare, opcode.Fsub, opcode.Fdiv)...)))
	}
	unary(floatEnds...)
	if r.IntN(3) == 0 {
		_, off := w.arena.Lookup(w.objects.all[pick(r, w.objects.aggregations...)])
		list = append(list, opV(opcode.AggFloat, off))
	} else {
		list = append(list, opA(opcode.PushTV, 0), opV(opcode.PopLV, array))
	}
	return append(list, opA(opcode.Loop, 1), op(opcode.Exit))
}

// TestPartsOfVectors: of a vector register native code pushes the bits that the interpreter pushes, also none.
func TestPartsOfVectors(t *testing.T) {
	w := newWorld(t)
	w.c.setControl(1)
	number, _ := w.object(object.Object{Kind: object.KindInt})
	for _, part := range []uint64{0, 64, 32, 32<<8 | 32, 63<<8 | 1, 64<<8 | 8, 104<<8 | 56, 200} {
		programs := []native.Program{{Run: w.plan(opV(opcode.PushR, (runtime.FloatWords+16)<<16|part), opV(opcode.PopGV, number), op(opcode.Exit))}}
		site := Site{Addr: codeAddr}
		stub := w.place(w.c, programs, site)
		w.floats = usesFloats(programs)
		regs := w.anyRegs(rand.New(rand.NewPCG(part, 1)))
		var err error
		w.c.do(func() { err = w.compare(stub, programs, site, &regs) })
		if err != nil || w.counts.bells > 0 {
			t.Errorf("%#x: %v, %d doorbells", part, err, w.counts.bells)
		}
	}
}
