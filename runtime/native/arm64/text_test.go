package arm64

import (
	"math/rand/v2"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// TestTextLengths: texts of all lengths around those at which something changes are kept in calls, logged, measured and
// counted by, as by the interpreter. The second time their keys are there, and nothing rings.
func TestTextLengths(t *testing.T) {
	testenv.Require(t, testenv.GCCARM64, testenv.QEMUARM64)
	w := newWorld(t)
	regs := anyRegisters(rand.New(rand.NewPCG(1, 1)))
	counts := w.texts[0].offset
	for _, n := range []uint64{0, 1, 7, 8, 9, 255, 256, 257, 264, 1000} {
		text := []runtime.Inst{{Op: opcode.PushD, V: dataAddr + 3}, {Op: opcode.PushD, V: n}, {Op: opcode.Bytes}, {Op: opcode.PopTV}}
		again := runtime.Inst{Op: opcode.PushTV}
		insts := append(text, again, runtime.Inst{Op: opcode.KeyText, A: uint32(value.KindText)}, runtime.Inst{Op: opcode.PushD, V: 1}, runtime.Inst{Op: opcode.Agg, V: counts},
			again, runtime.Inst{Op: opcode.PopThisS, A: 32}, again, runtime.Inst{Op: opcode.Slen}, runtime.Inst{Op: opcode.AddGV, V: w.numbers[0]},
			again, runtime.Inst{Op: opcode.Hash}, runtime.Inst{Op: opcode.AddGV, V: w.numbers[1]})
		insts = append(insts, runtime.Inst{Op: opcode.Item}, again, runtime.Inst{Op: opcode.LogText}, runtime.Inst{Op: opcode.EndItem}, runtime.Inst{Op: opcode.Exit})
		code := &runtime.Code{ID: 7, Insts: insts, Bounded: true, Fuel: 1 << 20, LogMax: 2000, Temps: 1}
		plan, err := native.PlanOf(code, w.Arena, Features, native.Place{Thread: true, Clock: true, Reads: true, Call: true, This: thisBytes, Texts: 1024})
		if err != nil {
			t.Fatal(err)
		}
		programs := []native.Program{{Run: plan, Call: &native.Call{Func: 5, This: thisBytes}}}
		stub := w.emitted(t, programs, n%2 == 0)
		for round := range 2 {
			bells, err := w.compare(stub, programs, &regs)
			want := 0
			if round == 0 && n <= value.DefaultText+1 { // longer ones have the same key
				want = 1
			}
			if err != nil || bells != want {
				t.Errorf("%d bytes, round %d: %d doorbells, %v", n, round, bells, err)
			}
		}
	}
}

// TestTextsFillLog: where the log has no room for a text or a number behind texts, native code rings, and the
// interpreter drops the item. Where it has room, nothing rings.
func TestTextsFillLog(t *testing.T) {
	testenv.Require(t, testenv.GCCARM64, testenv.QEMUARM64)
	w := newWorld(t)
	regs := anyRegisters(rand.New(rand.NewPCG(1, 1)))
	rings := 0
	for limit := 40; limit <= 120; limit += 8 {
		var insts []runtime.Inst
		for _, n := range []uint64{20, 9} {
			insts = append(insts, runtime.Inst{Op: opcode.Item}, runtime.Inst{Op: opcode.PushD, V: dataAddr + 3}, runtime.Inst{Op: opcode.PushD, V: n}, runtime.Inst{Op: opcode.Bytes},
				runtime.Inst{Op: opcode.LogText}, runtime.Inst{Op: opcode.PushD, V: n}, runtime.Inst{Op: opcode.LogInt}, runtime.Inst{Op: opcode.EndItem})
		}
		code := &runtime.Code{ID: 7, Insts: append(insts, runtime.Inst{Op: opcode.Exit}), Bounded: true, Fuel: 1 << 20, LogMax: limit}
		plan, err := native.PlanOf(code, w.Arena, Features, native.Place{Thread: true, Clock: true, Reads: true, Texts: 1024})
		if err != nil {
			t.Fatal(err)
		}
		programs := []native.Program{{Run: plan}}
		bells, err := w.compare(w.emitted(t, programs, true), programs, &regs)
		const all = 8 + 8 + 24 + 8 + 8 + 8 + 16 + 8 // two items: a header, a text of whole words behind its length, a number
		if rings += bells; err != nil || (bells == 0) != (limit >= all) {
			t.Errorf("with a limit of %d bytes: %d doorbells, %v", limit, bells, err)
		}
	}
	if rings == 0 {
		t.Error("nothing rings")
	}
}
