package amd64

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/key"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// TestTableStates compares native searches with the interpreter's where slots of the key's home are in states that
// programs on one thread do not see.
func TestTableStates(t *testing.T) {
	w := newWorld(t)
	w.c.setControl(1)
	off, _ := w.object(object.Object{Kind: object.KindMap, Keys: 1, Max: 8, Full: object.FullEvict}, value.KindInt)
	l, _ := w.arena.LayoutOf(off)
	const searched = 77
	hash := key.Hash([]uint64{searched})
	home, tag := hash&(l.Table.Slots-1), hash>>32<<arena.TagShift
	word := func(at, i uint64) []byte { return w.memory[at+8*(i&(l.Table.Slots-1)):] }
	set := func(d uint64, state, k, v uint64) {
		slot := (home + d) & (l.Table.Slots - 1)
		binary.LittleEndian.PutUint64(word(l.Table.State, slot), state)
		binary.LittleEndian.PutUint64(w.memory[l.Table.Entries+slot*16:], k)
		binary.LittleEndian.PutUint64(w.memory[l.Table.Entries+slot*16+8:], v)
	}
	const full, dying, busy = arena.SlotFull, arena.SlotDying, arena.SlotBusy
	changes := uint64(0xffff) << arena.ChangeShift
	key := func(use ...runtime.Inst) []runtime.Inst {
		return append([]runtime.Inst{push(searched), op(opcode.KeyInt)}, use...)
	}
	drop := opA(opcode.Drop, 1)
	// The interpreter searches again after native code. So the changes of a slot with another key may differ.
	w.normalize = func(used []byte) {
		for i := range l.Table.Slots {
			used[w.usedOffset(l.Table.State)+int(8*i)+6], used[w.usedOffset(l.Table.State)+int(8*i)+7] = 0, 0
		}
	}
	type slot struct{ state, key uint64 }
	for name, states := range map[string][]slot{
		"first":                           {{full | tag, searched}},
		"behind another key with its tag": {{full | tag, 1}, {full | tag, searched}},
		"behind a dying slot":             {{dying | tag | arena.PinOne, searched}, {full | tag | changes, searched}},
		"behind other tags":               {{full | tag ^ 1<<arena.TagShift, searched}, {full | tag ^ 1<<47, searched}, {full | tag, searched}},
		"used by others":                  {{full | tag | 5*arena.PinOne, searched}},
		"with all its pins in use":        {{full | tag | arena.PinMask, searched}},
		"nowhere":                         {{full | tag, 1}},
		"busy with another key":           {{busy | tag ^ 1<<20, searched}, {full | tag, searched}},
		"empty":                           {},
	} {
		start := w.used(nil)
		for i := range l.Table.Slots {
			set(i, 0, 0, 0)
		}
		for i, s := range states {
			set(uint64(i), s.state, s.key, 1000+uint64(i))
		}
		binary.LittleEndian.PutUint64(word(l.Table.Home, home), uint64(len(states))<<arena.ChangeShift|9)
		binary.LittleEndian.PutUint64(w.memory[l.Table.Used:], uint64(len(states)))
		set1 := w.used(nil)
		for _, use := range [][]runtime.Inst{key(opV(opcode.MapGet, off), drop), key(opV(opcode.MapHas, off), drop), key(opV(opcode.MapDel, off)),
			key(push(3), opV(opcode.MapAdd, off), drop), key(push(4), opV(opcode.MapSet, off))} {
			w.restore(set1)
			programs := []native.Program{{Run: w.plan(append(use, op(opcode.Exit))...)}}
			site := Site{Addr: codeAddr}
			stub := w.place(w.c, programs, site)
			regs := w.c.ready
			regs[fileRSP] = stackAddr + stackSize/2
			var err error
			w.c.do(func() { err = w.compare(stub, programs, site, &regs) })
			if err != nil {
				t.Errorf("%s, %s: %v", name, opcode.RowOf(use[len(use)-1].Op).Name, err)
			}
		}
		w.restore(start)
	}
	// A slot that may become the key is left to the interpreter, which waits for it.
	set(0, busy|tag, searched, 0)
	binary.LittleEndian.PutUint64(word(l.Table.Home, home), 1<<arena.ChangeShift)
	stub := w.place(w.c, []native.Program{{Run: w.plan(key(opV(opcode.MapGet, off), drop, op(opcode.Exit))...)}}, Site{Addr: codeAddr})
	regs := w.c.ready
	regs[fileRSP], regs[fileRIP] = stackAddr+stackSize/2, codeAddr
	w.c.do(func() { w.c.run(&regs) })
	if d := stub.Doorbells[0]; regs[fileRIP] != codeAddr+uint64(d.Offset)+1 || d.PC != 1 || len(d.Stack) != 1 || d.Stack[0] != (native.Word{Kind: native.Constant, Value: searched}) {
		t.Errorf("the search of a busy slot stops at %#x: %+v", regs[fileRIP], d)
	}
}

// TestKeysInPlace: what is calculated while a key is built leaves everything as it was until the key is used. In an
// empty table that evicts keys the doorbell shows it, in others what is inserted; the second time the key is there.
func TestKeysInPlace(t *testing.T) {
	w := newWorld(t)
	w.c.setControl(1)
	w.keysInPlace(t, object.FullEvict)
	if w.counts.bells != 4 {
		t.Errorf("%d doorbells", w.counts.bells)
	}
	w.keysInPlace(t, object.FullDrop)
}

func (w *world) keysInPlace(t *testing.T, full object.Full) {
	m, _ := w.object(object.Object{Kind: object.KindMap, Keys: 2, Max: 8, Full: full}, value.KindInt, value.KindInt)
	number, _ := w.object(object.Object{Kind: object.KindInt})
	keyInt, add, drop, exit := op(opcode.KeyInt), op(opcode.Add), opA(opcode.Drop, 1), op(opcode.Exit)
	part := func(x asm.Reg, shift, width uint64) runtime.Inst {
		return opV(opcode.PushR, uint64(fileIndex[x])<<16|shift<<8|width)
	}
	calculated := []runtime.Inst{opA(opcode.Arg, 0), opA(opcode.Arg, 1), add, opA(opcode.Arg, 2), opA(opcode.Arg, 3), add}
	sum := []runtime.Inst{add, add, opV(opcode.AddGV, number), exit}
	for name, list := range map[string][]runtime.Inst{
		"parts of registers":  {part(asm.RAX, 8, 8), keyInt, part(asm.RSP, 4, 7), part(asm.RDX, 3, 61), add, keyInt, part(asm.RBX, 1, 5), opV(opcode.MapAdd, m), drop, exit},
		"words from before":   append(append([]runtime.Inst{}, append(calculated, keyInt, part(asm.RAX, 0, 9), op(opcode.Dup), add, keyInt, part(asm.RCX, 2, 40), part(asm.RDI, 1, 50), opV(opcode.MapAdd, m))...), sum...),
		"words that stay":     append(append([]runtime.Inst{}, append(calculated, op(opcode.Over), keyInt, part(asm.RAX, 0, 9), part(asm.RSI, 5, 9), keyInt, op(opcode.Dup), opV(opcode.MapAdd, m))...), sum...),
		"more than registers": append(append([]runtime.Inst{}, append(calculated, keyInt, part(asm.RAX, 1, 9), part(asm.RBX, 1, 9), part(asm.RCX, 1, 9), part(asm.RDX, 1, 9), part(asm.RSI, 1, 9), part(asm.RDI, 1, 9), part(asm.RBP, 1, 9), part(asm.R8, 1, 9), part(asm.R9, 1, 9), add, add, add, add, add, add, keyInt, opV(opcode.MapAdd, m))...), sum...),
	} {
		programs, site := []native.Program{{Run: w.plan(list...)}}, Site{Addr: codeAddr}
		stub := w.place(w.c, programs, site)
		for range 2 {
			regs := w.anyRegs(rand.New(rand.NewPCG(3, 3)))
			var err error
			w.c.do(func() { err = w.compare(stub, programs, site, &regs) })
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestNewKeys: native code inserts keys as the interpreter does: the same slots, reaches and numbers, whatever is in
// the table; and where it cannot, it leaves everything as it was and rings.
func TestNewKeys(t *testing.T) {
	w := newWorld(t)
	w.c.setControl(1)
	const most = 40 // keys, of which some are deleted again
	off, _ := w.object(object.Object{Kind: object.KindMap, Keys: 2, Max: most}, value.KindInt, value.KindInt)
	l, _ := w.arena.LayoutOf(off)
	arg := func(n uint32) runtime.Inst { return opA(opcode.Arg, n) }
	use := func(list ...runtime.Inst) []native.Program {
		return []native.Program{{Run: w.plan(append([]runtime.Inst{arg(0), op(opcode.KeyInt), arg(1), op(opcode.KeyInt)}, append(list, op(opcode.Exit))...)...)}}
	}
	uses := [][]native.Program{use(arg(2), opV(opcode.MapSet, off)), use(arg(2), opV(opcode.MapAdd, off), opA(opcode.Drop, 1)), use(opV(opcode.MapDel, off)),
		use(push(7), opV(opcode.MapSet, off))}
	site := Site{Addr: codeAddr}
	r := rand.New(rand.NewPCG(1, 2))
	rang, full := 0, 0
	for range 4000 {
		programs := uses[r.IntN(len(uses))]
		w.sites = 0 // with pairs, if the processor has them
		stub := w.place(w.c, programs, site)
		regs := w.anyRegs(r)
		regs[fileIndex[args[0]]], regs[fileIndex[args[1]]] = uint64(r.IntN(8)), uint64(r.IntN(8))
		used, before := binary.LittleEndian.Uint64(w.memory[l.Table.Used:]), w.counts.bells
		var err error
		w.c.do(func() { err = w.compare(stub, programs, site, &regs) })
		if err != nil {
			t.Fatal(err)
		}
		if w.counts.bells > before {
			if rang++; used == most {
				full++
			}
		}
	}
	if full == 0 || rang > full {
		t.Errorf("%d doorbells, %d of them because the table was full", rang, full)
	}
}
