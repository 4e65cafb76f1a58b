package amd64

import (
	"math/rand/v2"
	"syscall"
	"testing"

	"gotap/runtime"
	"gotap/runtime/calls"
	"gotap/runtime/gate"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
)

// farStack is the upper end of memory that serves as another stack.
const farStack = arenaAddr + arenaSize - 0x1000

// callAt is a place where a call begins or ends, whose program is made of instructions.
func (w *world) callAt(addr uint64, c native.Call, g *gate.Gate, list ...runtime.Inst) *native.Stub {
	w.t.Helper()
	in := w.inTracee()
	in.Call, in.Ends, in.This = true, c.Ends, c.This
	plan, err := native.PlanOf(&runtime.Code{Insts: list, Bounded: true}, w.arena, Features, in)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.place(w.c, []native.Program{{Run: plan, Gate: g, Call: &c}}, Site{Addr: addr})
}

// ring runs a stub with a stack pointer and a first argument, and returns the doorbell that rang, or nil.
func (w *world) ring(addr uint64, stub *native.Stub, sp, arg uint64) *native.Bell {
	w.t.Helper()
	regs := w.c.ready
	regs[fileRIP], regs[fileRSP], regs[fileIndex[asm.RDI]] = addr, sp, arg
	start := regs
	w.c.do(func() {
		if sig := w.c.run(&regs); sig != syscall.SIGTRAP {
			w.t.Errorf("signal %v at %#x", sig, regs[fileRIP])
		}
	})
	d := stub.DoorbellAt(int(regs[fileRIP]-addr) - 1)
	if d == nil {
		if err := sameRegs(&regs, &start, false); err != nil || regs[fileRIP] != addr+uint64(stub.Tail)+1 {
			w.t.Fatalf("%v, at %#x", err, regs[fileRIP])
		}
	}
	return d
}

// frame is a call as the test sees it.
type modelFrame struct{ sp, fn, arg uint64 }

// TestCalls: random entries and returns of two functions on two stacks, some of which never return. Native code follows
// what it can; it rings where it cannot; and it never takes a call for another one.
func TestCalls(t *testing.T) {
	w := newWorld(t)
	sum, id := w.object(object.Object{Kind: object.KindSum})
	var entry, exit [2]*native.Stub
	entryAt, exitAt := [2]uint64{codeAddr, codeAddr + 0x1000}, [2]uint64{codeAddr + 0x2000, codeAddr + 0x3000}
	gates := [2]*gate.Gate{w.arena.NewGate(gate.Limits{}), w.arena.NewGate(gate.Limits{})}
	for i := range entry {
		c := native.Call{Func: uint32(i + 5), This: 8 * (i + 1)}
		entry[i] = w.callAt(entryAt[i], c, nil, opA(opcode.Arg, 0), opA(opcode.PopThis, uint32(i)), op(opcode.Exit))
		c.Ends = true
		exit[i] = w.callAt(exitAt[i], c, gates[i], opA(opcode.PushThis, uint32(i)), opV(opcode.Agg, sum), op(opcode.Exit))
	}
	r := rand.New(rand.NewPCG(1, 2))
	var model []modelFrame // the newest last
	var rang, ran, none, total uint64
	for round := range uint64(6000) {
		base := uint64(stackAddr + stackSize - 256)
		if r.IntN(8) == 0 {
			base = farStack
		}
		fn, sp := r.IntN(2), base-uint64(r.IntN(12))*64
		if n := len(model); n > 0 && r.IntN(2) == 0 { // the call that began last
			fn, sp = int(model[n-1].fn), model[n-1].sp
		}
		if r.IntN(2) == 0 {
			d := w.ring(entryAt[fn], entry[fn], sp, round)
			n := len(model)
			if n > 0 && model[n-1].sp == sp && model[n-1].fn == uint64(fn) {
				n--
			}
			want := n > 0 && model[n-1].sp <= sp
			if n > 0 && model[n-1].sp > sp {
				want = false
			}
			if (d != nil) != want || d != nil && d.Call != native.EntersCall {
				t.Fatalf("round %d: entry at %#x rings: %+v, model %x", round, sp, d, model)
			}
			if model = model[:n]; d == nil {
				model = append(model, modelFrame{sp, uint64(fn), round})
			} else {
				rang++
			}
			continue
		}
		before := uint64(w.counted(id))
		d := w.ring(exitAt[fn], exit[fn], sp, 0)
		n := len(model) - 1
		for ; n >= 0 && model[n].sp < sp && sp-model[n].sp < within; n-- {
		}
		got := uint64(w.counted(id)) - before
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
			total += got
			model = model[:n]
		}
		if len(model) > 20 {
			w.stack.Clear()
			model = nil
		}
	}
	if rang == 0 || ran == 0 || none == 0 || gates[0].Hits()+gates[1].Hits() != ran || uint64(w.counted(id)) != total {
		t.Errorf("%d rang, %d ran, %d without a call, %d and %d counted", rang, ran, none, gates[0].Hits(), gates[1].Hits())
	}
}

// TestCallLimits: a thread without a stack rings, and so does one whose stack is full, or of which the host follows
// calls.
func TestCallLimits(t *testing.T) {
	w := newWorld(t)
	c := native.Call{Func: 5, This: 64}
	entry := w.callAt(codeAddr, c, nil, op(opcode.Exit))
	c.Ends = true
	exit := w.callAt(codeAddr+0x1000, c, nil, op(opcode.Exit))
	const sp = stackAddr + stackSize - 64
	if d := w.ring(codeAddr+0x1000, exit, sp, 0); d != nil {
		t.Errorf("a return without a call rings: %+v", d)
	}
	w.stack.SetLowest(sp - 64)
	if d := w.ring(codeAddr+0x1000, exit, sp, 0); d == nil || d.Call != native.LeavesCall {
		t.Errorf("a return of a call that the host follows: %+v", d)
	}
	for _, at := range []uint64{sp - 64, sp} {
		if d := w.ring(codeAddr, entry, at, 0); d == nil || d.Call != native.EntersCall {
			t.Errorf("a call that begins where the host follows one, or further out: %+v", d)
		}
	}
	if d := w.ring(codeAddr, entry, sp-72, 0); d != nil {
		t.Errorf("a call inside of one that the host follows rings: %+v", d)
	}
	w.stack.Clear()
	w.stack.SetLowest(calls.None)
	n := 0
	for ; n < calls.StackSize; n++ {
		if d := w.ring(codeAddr, entry, sp-8*uint64(n), 0); d != nil {
			break
		}
	}
	if want := (calls.StackSize - 64) / calls.FrameSize(64); n != want {
		t.Errorf("%d calls fit, want %d", n, want)
	}
	if d := w.ring(codeAddr+0x1000, exit, sp, 0); d != nil { // all others are inside of this one
		t.Errorf("the outermost call rings at its return: %+v", d)
	}
	if _, ok := w.stack.Newest(); ok {
		t.Error("calls are left")
	}
	w.owners.Remove(ownData)
	for at, s := range map[uint64]*native.Stub{codeAddr: entry, codeAddr + 0x1000: exit} {
		if d := w.ring(at, s, sp, 0); d == nil {
			t.Error("a thread without a stack does not ring")
		}
	}
}

// TestOwnData: a thread whose own data are not what its stub takes them for rings. It may have none at all.
func TestOwnData(t *testing.T) {
	w := newWorld(t)
	w.shareless = true
	sum, _ := w.object(object.Object{Kind: object.KindSum})
	plan := w.plan(opA(opcode.Field, uint32(runtime.FieldTid)), opV(opcode.Agg, sum), op(opcode.Exit))
	stub := w.place(w.c, []native.Program{{Run: plan}}, Site{Addr: codeAddr, SelfAddressed: true})
	const sp = stackAddr + stackSize - 64
	if d := w.ring(codeAddr, stub, sp, 0); d != nil {
		t.Errorf("a thread with data rings: %+v", d)
	}
	w.c.ready[fileFS] = ownData + 8
	if d := w.ring(codeAddr, stub, sp, 0); d == nil {
		t.Error("a thread with other data does not ring")
	}
	w.c.ready[fileFS] = 0
	regs := w.c.ready
	regs[fileRIP], regs[fileRSP] = codeAddr, sp
	w.c.do(func() {
		if sig := w.c.run(&regs); sig != syscall.SIGSEGV {
			t.Errorf("signal %v of a thread without data", sig)
		}
	})
	read := stub.ReadAt(int(regs[fileRIP] - codeAddr))
	if read == nil || !read.Own {
		t.Fatalf("it faults at %#x, and reads are %+v", regs[fileRIP], stub.Reads)
	}
	Ring(read, codeAddr, regs[:])
	d := stub.DoorbellAt(int(regs[fileRIP]-codeAddr) - 1)
	if d == nil || d.PC != 0 {
		t.Fatalf("the doorbell is %+v", d)
	}
	d.Restore(regs[:], w.c.words(regs[fileRSP], d.FrameWords()))
	regs[fileRIP] = w.c.ready[fileRIP]
	want := w.c.ready
	want[fileRSP] = sp
	if err := sameRegs(&regs, &want, false); err != nil {
		t.Error(err)
	}
}

// TestThread: native code knows its thread, the time, and how long a call took.
func TestThread(t *testing.T) {
	w := newWorld(t)
	if w.clock == nil { // then a program that asks for the time rings
		if p := w.plan(opA(opcode.Field, uint32(runtime.FieldTime)), op(opcode.Exit)); len(p.Doorbells()) != 1 {
			t.Errorf("doorbells at %d", p.Doorbells())
		}
		return
	}
	tid, tidID := w.object(object.Object{Kind: object.KindMax})
	now, nowID := w.object(object.Object{Kind: object.KindMax})
	took, tookID := w.object(object.Object{Kind: object.KindMax})
	field := func(f runtime.Field) runtime.Inst { return opA(opcode.Field, uint32(f)) }
	c := native.Call{Func: 5, Timed: true}
	entry := w.callAt(codeAddr, c, nil, field(runtime.FieldTid), opV(opcode.Agg, tid), field(runtime.FieldTime), opV(opcode.Agg, now), op(opcode.Exit))
	c.Ends = true
	exit := w.callAt(codeAddr+0x1000, c, nil, field(runtime.FieldElapsed), opV(opcode.Agg, took), op(opcode.Exit))
	const sp = stackAddr + stackSize - 64
	before := w.clock.Now()
	w.ring(codeAddr, entry, sp, 0)
	between := w.clock.Now()
	w.ring(codeAddr+0x1000, exit, sp, 0)
	after := w.clock.Now()
	if at := uint64(w.counted(nowID)); at < before || at > between {
		t.Errorf("it is %d in the tracee, between %d and %d here", at, before, between)
	}
	if ns := uint64(w.counted(tookID)); ns == 0 || ns > after-before {
		t.Errorf("the call took %d ns of %d", ns, after-before)
	}
	if w.counted(tidID) != testTid {
		t.Errorf("thread %d", w.counted(tidID))
	}
}
