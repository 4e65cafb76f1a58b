package arm64

import (
	"math/rand/v2"
	"testing"

	"gotap/engine/testenv"
	"gotap/runtime"
	"gotap/runtime/calls"
	"gotap/runtime/clock"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
)

// callAt is native code of a place where a call begins or ends, whose program is made of instructions.
func (w *world) callAt(t *testing.T, c native.Call, list ...runtime.Inst) *native.Stub {
	t.Helper()
	code := &runtime.Code{Insts: append(list, runtime.Inst{Op: opcode.Exit}), Bounded: true}
	plan, err := native.PlanOf(code, w.Arena, Features, native.Place{Thread: true, Clock: true, Call: true, Ends: c.Ends, This: c.This})
	if err != nil {
		t.Fatal(err)
	}
	return w.emitted(t, []native.Program{{Run: plan, Call: &c}}, true)
}

// ring runs native code with a stack pointer and a first argument, and returns the doorbell that rang, or nil. It is
// answered by nothing.
func (w *world) ring(t *testing.T, stub *native.Stub, sp, arg uint64) (d *native.Bell) {
	t.Helper()
	regs := anyRegisters(rand.New(rand.NewPCG(arg, sp)))
	regs[0], regs[fileSP] = arg, sp
	w.runner.start(stub.Code, &regs, &vectorFile{}, false)
	stopped, live, frame := w.runner.next()
	if stopped {
		if d = stub.DoorbellAt(int(live[filePC] - codeAddr)); d == nil {
			t.Fatalf("a breakpoint at %#x", live[filePC])
		}
		w.runner.put(codeAddr + uint64(d.Resume))
		d.Restore(live[:], frame)
		if err := sameRegisters(&live, &regs); err != nil {
			t.Fatalf("at the doorbell: %v", err)
		}
		stopped, live, _ = w.runner.next()
	}
	if err := sameRegisters(&live, &regs); stopped || err != nil {
		t.Fatalf("%v, %v", stopped, err)
	}
	return d
}

// modelFrame is a call as the test sees it.
type modelFrame struct{ sp, fn, arg uint64 }

// TestCalls: random entries and returns of two functions on two stacks, some of which never return. Native code follows
// what it can; it rings where it cannot; and it never takes a call for another one.
func TestCalls(t *testing.T) {
	testenv.Require(t, testenv.GCCARM64, testenv.QEMUARM64)
	w := newWorld(t)
	l, _ := w.LayoutOf(w.numbers[0])
	counted := func() uint64 { return *w.word(l.Word) }
	var entry, exit [2]*native.Stub
	for i := range entry {
		c := native.Call{Func: uint32(i + 5), This: 8 * (i + 1)}
		entry[i] = w.callAt(t, c, runtime.Inst{Op: opcode.Arg}, runtime.Inst{Op: opcode.PopThis, A: uint32(i)})
		c.Ends = true
		exit[i] = w.callAt(t, c, runtime.Inst{Op: opcode.PushThis, A: uint32(i)}, runtime.Inst{Op: opcode.AddGV, V: w.numbers[0]})
	}
	r := rand.New(rand.NewPCG(1, 2))
	var model []modelFrame // the newest last
	rang, ran, none := 0, 0, 0
	for round := range uint64(4000) {
		base := uint64(stackTop)
		if r.IntN(8) == 0 {
			base = otherStack
		}
		fn, sp := r.IntN(2), base-uint64(r.IntN(12))*64
		if n := len(model); n > 0 && r.IntN(2) == 0 { // the call that began last
			fn, sp = int(model[n-1].fn), model[n-1].sp
		}
		n := len(model)
		if r.IntN(2) == 0 {
			d := w.ring(t, entry[fn], sp, round)
			if n > 0 && model[n-1].sp == sp && model[n-1].fn == uint64(fn) {
				n--
			}
			if want := n > 0 && model[n-1].sp <= sp; (d != nil) != want || d != nil && d.Call != native.EntersCall {
				t.Fatalf("round %d: entry at %#x rings: %+v, model %x", round, sp, d, model)
			}
			if model = model[:n]; d == nil {
				model = append(model, modelFrame{sp, uint64(fn), round})
			} else {
				rang++
			}
			continue
		}
		before := counted()
		d := w.ring(t, exit[fn], sp, 0)
		for n--; n >= 0 && model[n].sp < sp && sp-model[n].sp < within; n-- {
		}
		got := counted() - before
		switch {
		case n < 0 || model[n].sp > sp: // not seen to begin
			if none++; d != nil || got != 0 {
				t.Fatalf("round %d: exit at %#x without a call: %d, %+v, model %x", round, sp, got, d, model)
			}
		case model[n].sp < sp || model[n].fn != uint64(fn):
			if rang++; d == nil || d.Call != native.LeavesCall || got != 0 {
				t.Fatalf("round %d: exit at %#x: %d, %+v, model %x", round, sp, got, d, model)
			}
		default:
			if ran++; d != nil || got != model[n].arg {
				t.Fatalf("round %d: exit at %#x: %d, want %d; %+v", round, sp, got, model[n].arg, d)
			}
			model = model[:n]
		}
		if len(model) > 20 {
			w.block.Clear()
			model = nil
		}
	}
	if rang == 0 || ran == 0 || none == 0 {
		t.Errorf("%d rang, %d ran, %d without a call", rang, ran, none)
	}
}

// TestCallLimits: a thread without a block rings, and so does one whose stack of calls is full, or of which the host
// follows calls. A call knows how long it took.
func TestCallLimits(t *testing.T) {
	testenv.Require(t, testenv.GCCARM64, testenv.QEMUARM64)
	w := newWorld(t)
	c := native.Call{Func: 5, This: 64, Timed: true}
	entry := w.callAt(t, c)
	c.Ends = true
	exit := w.callAt(t, c, runtime.Inst{Op: opcode.Field, A: uint32(runtime.FieldElapsed)}, runtime.Inst{Op: opcode.PopGV, V: w.numbers[0]})
	const sp = stackTop
	if d := w.ring(t, exit, sp, 0); d != nil {
		t.Errorf("a return without a call rings: %+v", d)
	}
	w.block.SetLowest(sp - 64)
	if d := w.ring(t, exit, sp, 0); d == nil || d.Call != native.LeavesCall {
		t.Errorf("a return of a call that the host follows: %+v", d)
	}
	for _, at := range []uint64{sp - 64, sp} {
		if d := w.ring(t, entry, at, 0); d == nil || d.Call != native.EntersCall {
			t.Errorf("a call that begins where the host follows one, or further out: %+v", d)
		}
	}
	if d := w.ring(t, entry, sp-80, 0); d != nil {
		t.Errorf("a call inside of one that the host follows rings: %+v", d)
	}
	w.block.Clear()
	w.block.SetLowest(calls.None)
	n := 0
	for ; n < calls.StackSize; n++ {
		if d := w.ring(t, entry, sp-16*uint64(n), 0); d != nil {
			break
		}
	}
	if want := (calls.StackSize - 64) / calls.FrameSize(64); n != want {
		t.Errorf("%d calls fit, want %d", n, want)
	}
	w.bank[clock.NanosAt/8] += 1000
	l, _ := w.LayoutOf(w.numbers[0])
	if d := w.ring(t, exit, sp, 0); d != nil || *w.word(l.Word) != 1000 { // all others are inside of this one
		t.Errorf("the outermost call took %d, and rings at its return: %+v", *w.word(l.Word), d)
	}
	if _, ok := w.block.Newest(); ok {
		t.Error("calls are left")
	}
	w.known.Remove(w.runner.data)
	for _, s := range []*native.Stub{entry, exit} {
		if d := w.ring(t, s, sp, 0); d == nil {
			t.Error("a thread without a block does not ring")
		}
	}
}
