package arm64

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
)

// specialFloats are those of which results are no numbers, have another sign, or are at an end of what there is.
var specialFloats = []uint64{0, 1 << 63, math.Float64bits(1), math.Float64bits(-2.5), math.Float64bits(math.Inf(1)), math.Float64bits(math.Inf(-1)), math.Float64bits(math.MaxFloat64),
	1, 0x7ff8000000000001, 0xfff8000000000000, 0x7ff0000000000001, math.Float64bits(-0x1p63), math.Float64bits(0x1p63)}

// planned returns a program as a plan.
func (w *world) planned(t *testing.T, insts ...runtime.Inst) native.Program {
	t.Helper()
	plan, err := native.PlanOf(&runtime.Code{Insts: append(insts, runtime.Inst{Op: opcode.Exit}), Bounded: true, Fuel: 1 << 20}, w.Arena, Features, native.Place{})
	if err != nil {
		t.Fatal(err)
	}
	return native.Program{Run: plan}
}

// TestFloatOperations compares all operations on special floats with those of the interpreter. A sum and the like that
// is not a number rings, and nothing else does.
func TestFloatOperations(t *testing.T) {
	testenv.Require(t, testenv.GCCARM64, testenv.QEMUARM64)
	w := newWorld(t)
	arg := func(n uint32) runtime.Inst { return runtime.Inst{Op: opcode.Arg, A: n} }
	store := runtime.Inst{Op: opcode.PopGV, V: w.numbers[0]}
	regs := anyRegisters(rand.New(rand.NewPCG(1, 1)))
	for _, op := range append(append(append(floatBinary[:4:4], floatCompare...), floatUnary...), floatEnds...) {
		pops, _ := opcode.RowOf(op).Effect(0)
		insts, seconds := []runtime.Inst{arg(0), {Op: op}, store}, specialFloats[:1]
		if pops == 2 {
			insts, seconds = []runtime.Inst{arg(0), arg(1), {Op: op}, store}, specialFloats
		}
		program := []native.Program{w.planned(t, insts...)}
		stub := w.emitted(t, program, true)
		for _, regs[0] = range specialFloats {
			for _, regs[1] = range seconds {
				bells, err := w.compare(stub, program, &regs)
				if err != nil {
					t.Fatalf("%s of %#x and %#x: %v", opcode.RowOf(op).Name, regs[0], regs[1], err)
				}
				l, _ := w.LayoutOf(w.numbers[0])
				result := math.Float64frombits(*w.word(l.Word))
				if odd := floatOps[op] != 0 && result != result; odd != (bells > 0) {
					t.Errorf("%s of %#x and %#x, which is %v, rings %d times", opcode.RowOf(op).Name, regs[0], regs[1], result, bells)
				}
			}
		}
	}
}

// TestFloatAggregations adds pairs of special floats to aggregations of all kinds that are empty.
func TestFloatAggregations(t *testing.T) {
	testenv.Require(t, testenv.GCCARM64, testenv.QEMUARM64)
	w := newWorld(t)
	for id := range w.Objects() {
		if _, off := w.Lookup(id); slices.Contains(w.aggregations, off) {
			w.Handle(id).Clear()
		}
	}
	empty := w.used(nil)
	regs := anyRegisters(rand.New(rand.NewPCG(1, 1)))
	var insts []runtime.Inst
	for _, off := range w.aggregations {
		insts = append(insts, runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.AggFloat, V: off})
	}
	program := []native.Program{w.planned(t, insts...)}
	for _, atomics := range []bool{false, true} {
		stub := w.emitted(t, program, atomics)
		for _, first := range specialFloats {
			for _, second := range specialFloats {
				w.restore(empty)
				for _, regs[0] = range []uint64{first, second} {
					if _, err := w.compare(stub, program, &regs); err != nil {
						t.Fatalf("%#x of %#x and %#x: %v", regs[0], first, second, err)
					}
				}
			}
		}
	}
}
