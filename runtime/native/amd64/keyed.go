package amd64

import (
	"slices"

	"gotap/runtime/arena"
	"gotap/runtime/key"
	"gotap/runtime/opcode"
)

// keyed is a key that is being built: its words, and what a doorbell before its first part needs.
type keyed struct {
	begun    bool
	words    []word
	pc       int // of the first part
	executed int
	stack    []word
	nextHome int
}

// searchRegs are the registers that a search of a table uses besides rax, rcx and rdx.
type searchRegs struct {
	tag   reg // of the key, at its position in a state
	slot  reg // its number, times the words that it has among the states
	left  reg // slots that are still to be searched
	entry reg // address of the entry found; of its pair
}

// tables makes the code that searches keys in tables.
type tables struct {
	*doorbells
	cells *cells
}

// beginKey begins a key, unless one has been begun.
func (k *tables) beginKey() {
	if !k.key.begun {
		k.key = keyed{begun: true, pc: k.pc, executed: k.executed, stack: slices.Clone(k.stack), nextHome: len(k.stack)}
	}
}

// addToKey pops a word into the key.
func (k *tables) addToKey() {
	k.beginKey()
	k.key.words = append(k.key.words, k.popWord())
}

// addTextToKey pops a text that is known into the key.
func (k *tables) addTextToKey() {
	k.beginKey()
	k.popWord()
	text, _ := k.plan.Operands(k.pc, 1)
	for _, v := range text[0].KeyWords() {
		k.key.words = append(k.key.words, word{constant, v})
	}
}

// useKey makes the code of an operation that uses the key. The key is searched in the table as package arena does
// (table.go). If an operation would insert it, or if a slot that may become this key is being filled, it is left to the
// interpreter.
func (k *tables) useKey(op opcode.Op) {
	l := k.plan.Ops[k.pc].Object
	var v word
	if op == opcode.Agg || op == opcode.MapSet || op == opcode.MapAdd {
		v = k.popWord()
	}
	k.usedBySearch()
	unsure := k.bellAt(k.key.pc, k.key.executed, k.key.stack)
	absent, done := k.newLabel(), k.newLabel()
	inserts := op == opcode.Agg || op == opcode.MapSet || op == opcode.MapAdd
	if inserts {
		absent = unsure
	}
	if k.isPair(op, l) {
		k.usePair(op, l, v, absent, unsure)
	} else {
		k.find(l.Table, absent, unsure)
		if op == opcode.Agg && l.Spread != nil {
			k.cells.countSpread(l, k.cellFound(l.Table), v, func() {
				k.unpin(l.Table)
				k.jmp(unsure)
			})
		}
		k.atSlot(op, l, v)
		k.unpin(l.Table)
	}
	k.place(done)
	k.endKey()
	if op == opcode.MapGet || op == opcode.MapHas || op == opcode.MapAdd {
		k.result(k.cells.search.entry)
	}
	if !inserts {
		k.cold = append(k.cold, func() {
			k.place(absent)
			k.clear(k.cells.search.entry)
			k.jmp(done)
		})
	}
}

// usedBySearch notes that a search writes its registers.
func (k *tables) usedBySearch() {
	for _, x := range []reg{rax, rcx, rdx, k.cells.search.tag, k.cells.search.slot, k.cells.search.entry} {
		k.used(x)
	}
}

// endKey ends the building of a key: the words that remain on the stack move to the homes of their places, the lowest
// first. No move overwrites a word that is still to be moved, because results got their homes in the order of their
// places, and never one below their own.
func (k *tables) endKey() {
	k.key = keyed{}
	for i, w := range k.stack {
		if w.kind == atHome {
			k.toHome(i)
		}
	}
}

// find searches the key. If it is there, its slot is pinned, and entry is the address of its entry.
func (k *tables) find(t *arena.TableLayout, absent, unsure label) {
	s := k.cells.search
	probe, retry, next, other, mismatch := k.newLabel(), k.newLabel(), k.newLabel(), k.newLabel(), k.newLabel()
	k.startSearch(t)
	k.lea(rcx, k.arena(t.Home))
	k.mov(r(k.used(s.left)), k.homed(t, rcx))
	k.shift(opShr, r(s.left), arena.ChangeShift)
	k.place(probe)
	k.aluImm(opSub, r(s.left), 1)
	k.jcc(condB, absent)
	k.lea(rcx, k.arena(t.State))
	k.place(retry)
	k.mov(r(rax), element(rcx, s.slot))
	k.compareTag()
	k.jcc(condNE, next)
	k.mov(r(rdx), r(rax))
	k.aluImm(opAnd, r(rdx), int32(arena.StatusMask))
	k.aluImm(opCmp, r(rdx), arena.SlotFull)
	k.jcc(condNE, other)
	k.mov(r(rdx), r(rax))
	k.aluImm(opAnd, r(rdx), int32(arena.PinMask))
	k.aluImm(opCmp, r(rdx), int32(arena.PinMask))
	k.jcc(condE, next)
	k.lea(rdx, at(rax, int32(arena.PinOne)))
	k.lockCmpxchg(element(rcx, s.slot), rdx)
	k.jcc(condNE, retry)
	k.lea(s.entry, k.arena(t.Entries))
	k.imulImm(rdx, r(s.slot), int32(8*t.EntryWords/stateWords(t)))
	k.alu(opAdd, r(s.entry), r(rdx))
	for i, w := range k.key.words {
		k.compareMemory(at(s.entry, int32(8*i)), w, rax)
		k.jcc(condNE, mismatch)
	}
	k.cold = append(k.cold, func() {
		k.place(mismatch)
		k.unpin(t)
		k.place(next)
		k.nextSlot(t)
		k.jmp(probe)
		k.place(other)
		k.aluImm(opCmp, r(rdx), arena.SlotBusy)
		k.jcc(condE, unsure)
		k.jmp(next)
	})
}

// stateWords returns the words that each slot has among the states.
func stateWords(t *arena.TableLayout) int {
	if t.Paired {
		return 2
	}
	return 1
}

// startSearch loads the tag of the key, and the slot that is its home.
func (k *tables) startSearch(t *arena.TableLayout) {
	s := k.cells.search
	k.hash()
	k.mov(r(s.slot), r(rax))
	k.aluImm(opAnd, r(s.slot), int32(t.Slots-1))
	if t.Paired {
		k.alu(opAdd, r(s.slot), r(s.slot))
	}
	k.mov(r(s.tag), r(rax))
	k.shift(opShr, r(s.tag), 32)
	k.shift(opShl, r(s.tag), arena.TagShift)
}

// homed returns the word of the slot in a part of the table, at an address in a register, that has a word for each slot.
func (k *tables) homed(t *arena.TableLayout, base reg) operand {
	o := element(base, k.cells.search.slot)
	o.half = t.Paired
	return o
}

// nextSlot goes on to the next slot.
func (k *tables) nextSlot(t *arena.TableLayout) {
	k.aluImm(opAdd, r(k.cells.search.slot), int32(stateWords(t)))
	k.aluImm(opAnd, r(k.cells.search.slot), int32(stateWords(t)*int(t.Slots)-1))
}

// compareTag compares the tag of a state, which is in rax, with that of the key; rdx is used.
func (k *tables) compareTag() {
	k.mov(r(rdx), r(rax))
	k.alu(opXor, r(rdx), r(k.cells.search.tag))
	k.shift(opShl, r(rdx), 64-arena.ChangeShift)
	k.shift(opShr, r(rdx), 64-arena.ChangeShift+arena.TagShift)
}

// compareMemory compares memory with a word; the spare register is used.
func (s *words) compareMemory(o operand, w word, spare reg) {
	if s.isConst32(w) {
		s.aluImm(opCmp, o, int32(w.n))
		return
	}
	s.alu(opCmp, o, r(s.register(w, spare)))
}

// hash computes the hash of the key in rax, as key.Hash does; rcx is used. What is constant at the start of the key is computed here.
func (k *tables) hash() {
	var constants []uint64
	for _, w := range k.key.words {
		if w.kind != constant {
			break
		}
		constants = append(constants, w.n)
	}
	if len(constants) == len(k.key.words) {
		k.movImm(rax, key.Hash(constants))
		return
	}
	k.movImm(rax, key.Mix(key.HashStart, constants))
	for _, w := range k.key.words[len(constants):] {
		k.alu(opXor, r(rax), k.source(w, rcx))
		k.multiplyBy(key.HashWord)
		k.mixShifted(32)
	}
	k.mixShifted(33)
	k.multiplyBy(key.HashEnd)
	k.mixShifted(33)
}

// multiplyBy multiplies rax by a constant.
func (k *tables) multiplyBy(v uint64) {
	k.movImm(rcx, v)
	k.imul(rax, r(rcx))
}

// mixShifted computes rax ^ rax>>n.
func (k *tables) mixShifted(n byte) {
	k.mov(r(rcx), r(rax))
	k.shift(opShr, r(rcx), n)
	k.alu(opXor, r(rax), r(rcx))
}

// atSlot does what an operation does with the pinned slot. Results are in the register of the entry.
func (k *tables) atSlot(op opcode.Op, l *arena.Layout, v word) {
	s, t := k.cells.search, l.Table
	cell := k.cellFound(t)
	if t.Stamp != 0 && (op == opcode.Agg || op == opcode.MapSet || op == opcode.MapAdd) {
		k.touch(t)
	}
	switch op {
	case opcode.Agg:
		k.cells.update(l, cell, v)
	case opcode.MapGet:
		k.mov(r(s.entry), cell)
	case opcode.MapHas:
		k.movImm(s.entry, 1)
	case opcode.MapSet:
		k.store(cell, v)
	case opcode.MapAdd:
		k.load(rax, v)
		k.lockXadd(cell, rax)
		k.mov(r(s.entry), r(rax))
		if k.isConst32(v) {
			k.aluImm(opAdd, r(s.entry), int32(v.n))
		} else {
			k.alu(opAdd, r(s.entry), k.source(v, rax))
		}
	case opcode.MapDel:
		k.kill(t)
	}
}

// cellFound returns the cell of the entry that was found.
func (k *tables) cellFound(t *arena.TableLayout) operand {
	if !t.Paired {
		return at(k.cells.search.entry, int32(8*t.KeyWords))
	}
	k.lea(k.cells.search.entry, k.arena(t.State))
	k.lea(k.cells.search.entry, element(k.cells.search.entry, k.cells.search.slot))
	return at(k.cells.search.entry, 8)
}

// touch stamps the slot as the most recently written.
func (k *tables) touch(t *arena.TableLayout) {
	k.movImm(rax, 1)
	k.lockXadd(k.arena(t.Clock), rax)
	k.inc(r(rax))
	k.lea(rcx, k.arena(t.Stamp))
	k.mov(element(rcx, k.cells.search.slot), r(rax))
}

// kill makes a full slot dying.
func (k *tables) kill(t *arena.TableLayout) {
	again, done := k.newLabel(), k.newLabel()
	slot := element(rcx, k.cells.search.slot)
	k.lea(rcx, k.arena(t.State))
	k.mov(r(rax), slot)
	k.place(again)
	k.mov(r(rdx), r(rax))
	k.aluImm(opAnd, r(rdx), int32(arena.StatusMask))
	k.aluImm(opCmp, r(rdx), arena.SlotFull)
	k.jccNear(condNE, done)
	k.lea(rdx, at(rax, arena.SlotDying-arena.SlotFull))
	k.lockCmpxchg(slot, rdx)
	k.jccNear(condNE, again)
	k.place(done)
}

// unpin removes the pin of the slot. If it was the last one of a dying slot, it empties the slot.
func (k *tables) unpin(t *arena.TableLayout) {
	const unpinned = 1<<arena.ChangeShift - uint64(arena.PinOne)
	back, last := k.newLabel(), k.newLabel()
	slot := element(rcx, k.cells.search.slot)
	k.movImm(rax, unpinned)
	k.lea(rcx, k.arena(t.State))
	k.lockXadd(slot, rax)
	k.extend(rdx, r(rax), 16, false) // status and pins, before
	k.aluImm(opCmp, r(rdx), int32(arena.PinOne|arena.SlotDying))
	k.jcc(condE, last)
	k.place(back)
	k.cold = append(k.cold, func() {
		k.place(last)
		k.movImm(rdx, unpinned)
		k.alu(opAdd, r(rax), r(rdx))
		k.lea(rdx, at(rax, arena.SlotBusy-arena.SlotDying))
		k.lockCmpxchg(slot, rdx)
		k.jcc(condNE, back)
		// Nobody else changes a busy slot. Only its changes remain.
		k.shift(opShr, r(rdx), arena.ChangeShift)
		k.inc(r(rdx))
		k.shift(opShl, r(rdx), arena.ChangeShift)
		k.mov(slot, r(rdx))
		k.lockDec(k.arena(t.Used))
		k.jmp(back)
	})
}
