package arm64

import (
	"math/rand/v2"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// TestNewKeys: native code inserts keys as the interpreter does: the same slots, reaches and numbers, whatever is in
// the table; and where it cannot, it leaves everything as it was and rings.
func TestNewKeys(t *testing.T) {
	testenv.Require(t, testenv.GCCARM64, testenv.QEMUARM64)
	w := newWorld(t)
	const most = 40 // keys, of which some are deleted again
	id, err := w.Declare(object.Object{Kind: object.KindMap, Keys: 2, Max: most})
	if err == nil {
		err = w.Refine(id, []value.Kind{value.KindInt, value.KindInt}, value.KindInt)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, off := w.Lookup(id)
	l, _ := w.LayoutOf(off)
	arg := func(n uint32) runtime.Inst { return runtime.Inst{Op: opcode.Arg, A: n} }
	keyInt := runtime.Inst{Op: opcode.KeyInt}
	use := func(list ...runtime.Inst) []native.Program {
		insts := append([]runtime.Inst{arg(0), keyInt, arg(1), keyInt}, append(list, runtime.Inst{Op: opcode.Exit})...)
		plan, err := native.PlanOf(&runtime.Code{ID: 7, Insts: insts, Bounded: true, Fuel: 1 << 20}, w.Arena, Features, native.Place{})
		if err != nil {
			t.Fatal(err)
		}
		return []native.Program{{Run: plan}}
	}
	uses := [][]native.Program{use(arg(2), runtime.Inst{Op: opcode.MapSet, V: off}), use(runtime.Inst{Op: opcode.MapDel, V: off}),
		use(arg(2), runtime.Inst{Op: opcode.MapAdd, V: off}, runtime.Inst{Op: opcode.PopGV, V: w.numbers[0]}), use(runtime.Inst{Op: opcode.PushD, V: 7}, runtime.Inst{Op: opcode.MapSet, V: off})}
	r := rand.New(rand.NewPCG(1, 2))
	rang, full := 0, 0
	for i := range 2000 {
		programs := uses[r.IntN(len(uses))]
		regs := anyRegisters(r)
		regs[0], regs[1] = uint64(r.IntN(8)), uint64(r.IntN(8))
		used := *w.word(l.Table.Used)
		bells, err := w.compare(w.emitted(t, programs, i%2 == 0), programs, &regs)
		if err != nil {
			t.Fatal(err)
		}
		if rang += bells; bells > 0 && used == most {
			full++
		}
	}
	if full == 0 || rang > full {
		t.Errorf("%d doorbells, %d of them because the table was full", rang, full)
	}
}
