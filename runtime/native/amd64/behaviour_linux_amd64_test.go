package amd64

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"gotap/runtime"
	"gotap/runtime/gate"
	"gotap/runtime/key"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// object declares an object and returns its offset and ID.
func (w *world) object(o object.Object, keys ...value.Kind) (off uint64, id int) {
	w.t.Helper()
	id, err := w.arena.Declare(o)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(keys) > 0 {
		if err := w.arena.Refine(id, keys, value.KindInt); err != nil {
			w.t.Fatal(err)
		}
	}
	_, off = w.arena.Lookup(id)
	return off, id
}

// plan returns the plan of instructions.
func (w *world) plan(list ...runtime.Inst) *native.Plan {
	w.t.Helper()
	p, err := native.PlanOf(&runtime.Code{Insts: list, Bounded: true}, w.arena, Features, w.inTracee())
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// counted returns the value of an object.
func (w *world) counted(id int) int64 {
	d, _ := w.arena.Handle(id).Get()
	return d.Int
}

// place writes a stub into the code of a tracee and returns it.
func (w *world) place(c *tracee, programs []native.Program, s Site) *native.Stub {
	w.t.Helper()
	if s.Tail == nil {
		s.Tail = func(uint64) ([]byte, error) { return []byte{0xcc}, nil }
	}
	stub, err := Emit(programs, w.site(s))
	if err != nil {
		w.t.Fatal(err)
	}
	copy(c.code()[s.Addr-codeAddr:], stub.Code)
	return stub
}

// barrierAddr is a word of the arena that loops decrement, and wait for to be 0, before they begin.
const barrierAddr = arenaAddr + arenaSize - 64

// setBarrier lets the next loops begin together.
func (w *world) setBarrier(n uint64) { binary.LittleEndian.PutUint64(w.memory[arenaSize-64:], n) }

// loop writes code that calls a stub, and returns the registers to start it with. rbx holds how often it is still to be
// called.
func (c *tracee) loop(target uint64, times uint64) regFile {
	const addr = codeAddr + 0x1f000
	a := asm.New(addr)
	wait, again := a.NewLabel(), a.NewLabel()
	a.LockDec(asm.Address(barrierAddr))
	a.Place(wait)
	a.Pause()
	a.Mov(asm.R(asm.RAX), asm.Address(barrierAddr))
	a.Test(asm.RAX)
	a.Jcc(asm.G, wait)
	a.Place(again)
	a.Bytes(0xe8)
	a.Imm32(int32(int64(target) - int64(addr+a.Len()+4)))
	a.Dec(asm.R(asm.RBX))
	a.Jcc(asm.NE, again)
	a.Int3()
	code, _ := a.Finish()
	copy(c.code()[addr-codeAddr:], code)
	regs := c.ready
	regs[fileRIP], regs[fileIndex[asm.RBX]], regs[fileRSP] = addr, times, stackAddr+stackSize/2
	return regs
}

func ret(uint64) ([]byte, error) { return []byte{0xc3}, nil }

// TestControl: while the control word names no owner, only the tail runs, whatever else is in the word.
func TestControl(t *testing.T) {
	w := newWorld(t)
	count, id := w.object(object.Object{Kind: object.KindCount})
	g := w.arena.NewGate(gate.Limits{})
	stub := w.place(w.c, []native.Program{{Run: w.plan(push(1), opV(opcode.Agg, count), op(opcode.Exit)), Gate: g}}, Site{Addr: codeAddr, Flags: true, RedZone: true})
	for _, c := range []struct {
		control uint32
		runs    bool
	}{{0, false}, {1 << 30, false}, {3 << 30, false}, {1, true}, {4711, true}, {1<<31 | 4711, true}} {
		before := w.counted(id)
		w.c.setControl(c.control)
		regs := w.c.loop(codeAddr, 1)
		regs[fileRIP] = codeAddr
		start := regs
		w.c.do(func() { w.c.run(&regs) })
		if err := sameRegs(&regs, &start, true); err != nil || regs[fileRIP] != codeAddr+uint64(stub.Tail)+1 {
			t.Errorf("control %#x: %v, at %#x", c.control, err, regs[fileRIP])
		}
		if ran := w.counted(id) != before; ran != c.runs {
			t.Errorf("control %#x: the program ran: %v", c.control, ran)
		}
	}
	if g.Hits() != 3 || g.Seen() != 3 {
		t.Errorf("%d hits", g.Hits())
	}
}

// TestAbandoned: where a nop has replaced a doorbell, the thread gets to the tail as it came, and no other program
// runs.
func TestAbandoned(t *testing.T) {
	w := newWorld(t)
	count, id := w.object(object.Object{Kind: object.KindCount})
	rings := w.plan(opA(opcode.Arg, 0), push(5), op(opcode.Add), opA(opcode.Arg, 1), op(opcode.Mul), op(opcode.Load8), opA(opcode.Drop, 1), op(opcode.Exit))
	counts := w.plan(push(1), opV(opcode.Agg, count), op(opcode.Exit))
	w.c.setControl(1)
	for _, p := range []native.Program{{Run: rings}, {Run: counts, When: rings}} {
		for _, s := range []Site{{Addr: codeAddr}, {Addr: codeAddr, Flags: true}, {Addr: codeAddr, RedZone: true}, {Addr: codeAddr, Flags: true, RedZone: true}} {
			stub := w.place(w.c, []native.Program{p, {Run: counts}}, s)
			for _, d := range stub.Doorbells {
				w.c.code()[d.Offset] = 0x90
			}
			regs := w.anyRegs(rand.New(rand.NewPCG(7, 7)))
			regs[fileRIP] = codeAddr
			start := regs
			w.c.do(func() { w.c.run(&regs) })
			if err := sameRegs(&regs, &start, s.Flags); err != nil || regs[fileRIP] != codeAddr+uint64(stub.Tail)+1 {
				t.Errorf("%+v: %v, at %#x", s, err, regs[fileRIP])
			}
		}
	}
	if n := w.counted(id); n != 0 {
		t.Errorf("the programs behind it ran %d times", n)
	}
}

// everything counts in aggregations of all kinds, a variable and an array.
func (w *world) everything() (p *native.Plan, ids []int) {
	var list []runtime.Inst
	for _, o := range []object.Object{{Kind: object.KindCount}, {Kind: object.KindSum}, {Kind: object.KindAvg}, {Kind: object.KindStats},
		{Kind: object.KindMin}, {Kind: object.KindMax}, {Kind: object.KindHist}, {Kind: object.KindLhist, Hi: 100, Step: 10}} {
		off, id := w.object(o)
		for bit := 19; o.Kind == object.KindStats && bit >= 0; bit-- { // both banks have the groups that are used, so that no doorbell rings
			w.arena.Handle(id).Add(1 << bit)
			w.arena.Handle(id).Get()
			w.arena.Handle(id).Take()
		}
		list, ids = append(list, opA(opcode.PushR, 0), opV(opcode.Agg, off)), append(ids, id)
		list[len(list)-2].V = uint64(fileIndex[asm.RBX]) << 16
	}
	number, id := w.object(object.Object{Kind: object.KindInt})
	list, ids = append(list, opV(opcode.IncGV, number), push(3), opV(opcode.AddGV, number), push(2), opV(opcode.FetchAddGV, number),
		opA(opcode.Drop, 1), opV(opcode.DecGV, number)), append(ids, id)
	array, _ := w.object(object.Object{Kind: object.KindArray, Size: 2})
	list = append(list, push(5), push(1), opV(opcode.AddLV, array), op(opcode.Exit))
	return w.plan(list...), ids
}

// reenter lets a stub run with one word in rbx, and in the middle of it, after some steps, with another one, as a
// signal handler would. It returns whether the stub had ended by then.
func (w *world) reenter(stub *native.Stub, steps int, word, within uint64) (ended bool, err error) {
	tail := codeAddr + uint64(stub.Tail) + 1
	outer := w.c.ready
	outer[fileRSP], outer[fileRIP], outer[fileIndex[asm.RBX]] = stackAddr+stackSize-0x100, codeAddr, word
	regs := outer
	for range steps {
		if w.c.step(&regs); regs[fileRIP] == tail {
			return true, nil
		}
	}
	inner := regs
	inner[fileRSP], inner[fileRIP], inner[fileIndex[asm.RBX]] = regs[fileRSP]-256, codeAddr, within
	start := inner
	for _, c := range []struct{ regs, want *regFile }{{&inner, &start}, {&regs, &outer}} {
		if sig := w.c.run(c.regs); sig != syscall.SIGTRAP || c.regs[fileRIP] != tail {
			return false, fmt.Errorf("after %d steps: %v at %#x", steps, sig, c.regs[fileRIP])
		}
		if err := sameRegs(c.regs, c.want, true); err != nil {
			return false, fmt.Errorf("after %d steps: %w", steps, err)
		}
	}
	return false, nil
}

// TestReentrant runs a stub in the middle of itself after each of its instructions: both hits count.
func TestReentrant(t *testing.T) {
	w := newWorld(t)
	p, ids := w.everything()
	w.c.setControl(1)
	g := w.arena.NewGate(gate.Limits{})
	when := w.plan(opA(opcode.Arg, 0), push(1), op(opcode.Sub), opA(opcode.Jnz, 5), op(opcode.Abort), op(opcode.Exit))
	stub := w.place(w.c, []native.Program{{Run: p, When: when, Gate: g}}, Site{Addr: codeAddr, RedZone: true, Flags: true})
	hits := uint64(0)
	w.c.do(func() {
		for steps, ended := 0, false; !ended; steps++ {
			for _, words := range [][2]uint64{{3, 4}, {4, 3}} {
				w.arena.Handle(ids[4]).Clear()
				w.arena.Handle(ids[5]).Clear()
				var err error
				if ended, err = w.reenter(stub, steps, words[0], words[1]); err != nil {
					t.Error(err)
					return
				}
				if hits += 2; ended {
					hits--
				} else if least, most := w.counted(ids[4]), w.counted(ids[5]); least != 3 || most != 4 {
					t.Errorf("after %d steps: of 3 and 4 the smaller is %d, and the larger %d", steps, least, most)
				}
			}
		}
	})
	if g.Hits() != hits || w.counted(ids[0]) != int64(hits) || hits < 100 {
		t.Errorf("%d hits and %d counts of %d", g.Hits(), w.counted(ids[0]), hits)
	}
	for _, id := range ids[2:6] {
		w.arena.Handle(id).Take() // would wait long for a bank that is still pinned
	}
}

// TestReentrantKeys does the same with keys: the same key within itself, and another one.
func TestReentrantKeys(t *testing.T) {
	w := newWorld(t)
	w.c.setControl(1)
	off, id := w.object(object.Object{Kind: object.KindSum, Keys: 1, Max: 8, Full: object.FullEvict}, value.KindInt)
	key := []runtime.Inst{opV(opcode.PushR, uint64(fileIndex[asm.RBX])<<16), push(1), op(opcode.And), op(opcode.KeyInt)}
	stub := w.place(w.c, []native.Program{{Run: w.plan(append(key, push(5), opV(opcode.Agg, off), op(opcode.Exit))...)}}, Site{Addr: codeAddr, Flags: true})
	h := w.arena.Handle(id)
	for k := range 2 {
		h.Add(0, value.Int(int64(k)))
	}
	sums := [2]int64{}
	w.c.do(func() {
		for steps, ended := 0, false; !ended; steps++ {
			for _, words := range [][2]uint64{{2, 3}, {2, 4}} {
				var err error
				if ended, err = w.reenter(stub, steps, words[0], words[1]); err != nil {
					t.Error(err)
					return
				}
				if sums[words[0]&1] += 5; !ended {
					sums[words[1]&1] += 5
				}
			}
		}
	})
	for k, sum := range sums {
		if d, _ := h.Get(value.Int(int64(k))); d.Int != sum || sum < 300 {
			t.Errorf("the sum of key %d is %d, not %d", k, d.Int, sum)
		}
	}
	h.Take()
	if n := h.Len(); n != 0 {
		t.Errorf("%d keys remain in use", n)
	}
}

// TestReentrantNewKeys runs a stub that inserts a key in the middle of itself, with another key: both are inserted.
func TestReentrantNewKeys(t *testing.T) {
	w := newWorld(t)
	w.c.setControl(1)
	off, id := w.object(object.Object{Kind: object.KindMap, Keys: 1, Max: 40}, value.KindInt)
	l, _ := w.arena.LayoutOf(off)
	home := func(word uint64) uint64 { return key.Hash([]uint64{word}) & (l.Table.Slots - 1) }
	const outer = 5
	inner := uint64(outer + 1)
	for home(inner) != home(outer)+1 { // the outer key takes the slot before, or the inner key has had to go past it
		inner++
	}
	rbx := opV(opcode.PushR, uint64(fileIndex[asm.RBX])<<16)
	w.sites = 0 // with pairs, if the processor has them
	stub := w.place(w.c, []native.Program{{Run: w.plan(rbx, op(opcode.KeyInt), rbx, opV(opcode.MapSet, off), op(opcode.Exit))}}, Site{Addr: codeAddr, Flags: true})
	h := w.arena.Handle(id)
	w.c.do(func() {
		for steps, ended := 0, false; !ended; steps++ {
			var err error
			if ended, err = w.reenter(stub, steps, outer, inner); err != nil {
				t.Error(err)
				return
			}
			words := []uint64{outer, inner}
			if ended {
				words = words[:1]
			}
			for _, word := range words {
				if d, ok := h.Get(value.Int(int64(word))); !ok || d.Int != int64(word) {
					t.Errorf("after %d steps: key %d has %v, %+v", steps, word, ok, d)
				}
				h.Delete(value.Int(int64(word)))
			}
			if n := h.Len(); n != 0 {
				t.Errorf("after %d steps %d keys remain", steps, n)
			}
		}
	})
}

// TestNativeOperationsHaveCode: there is code for each operation that a plan takes for native, alone in a program.
// Those on objects are in the programs of TestRandomPrograms, which goes on until each was executed.
func TestNativeOperationsHaveCode(t *testing.T) {
	w := newWorld(t)
	checked := 0
	for op := range opcode.NumOps {
		row := opcode.RowOf(op)
		if row == nil || !slices.Contains([]opcode.Group{opcode.Inline, opcode.Floats, opcode.Loads, opcode.Access, opcode.Context}, row.Group) {
			continue
		}
		const operand = 1
		var list []runtime.Inst
		pops, _ := row.Effect(operand)
		for range pops {
			list = append(list, runtime.Inst{Op: opcode.PushD, V: 1})
		}
		at := len(list)
		jump := uint32(at + 1) // to the instruction behind it, for those that jump
		list = append(list, runtime.Inst{Op: op, A: operand}, runtime.Inst{Op: opcode.Exit}, runtime.Inst{Op: opcode.Exit})
		if row.Operand == opcode.LabelOperand {
			list[at].A = jump
		}
		plan, err := native.PlanOf(&runtime.Code{Insts: list, Bounded: true}, w.arena, Features, w.inTracee())
		if err != nil || plan.Ops[at].Verdict != native.Native {
			continue
		}
		site := w.site(Site{Addr: codeAddr, Flags: true, RedZone: true, Tail: func(uint64) ([]byte, error) { return []byte{0xcc}, nil }})
		if _, err := Emit([]native.Program{{Run: plan}}, site); err != nil {
			t.Errorf("%s: %v", row.Name, err)
		}
		checked++
	}
	if checked < 80 {
		t.Errorf("only %d operations are native", checked)
	}
}
