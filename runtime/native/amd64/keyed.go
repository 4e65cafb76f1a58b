package amd64

import (
	"slices"

	"gotap/runtime/arena"
	"gotap/runtime/key"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// keyed is a key that is being built: its words, and what a doorbell before its first part needs.
type keyed struct {
	begun    bool
	texts    *home // what native code had used of its memory for texts at the first part; nil: it makes none while the key is built
	words    []word
	refs     uint64 // bit i: words[i] is the reference of a text that is not known
	pc       int    // of the first part
	executed int
	stack    []word
	nextHome int
}

// isRef reports whether a word is the reference of a text.
func (k *keyed) isRef(i int) bool { return k.refs>>i&1 != 0 }

// searchRegs are the registers that a search of a table uses besides rax, rcx and rdx.
type searchRegs struct {
	tag   asm.Reg // of the key, at its position in a state
	slot  asm.Reg // its number, times the words that it has among the states
	left  asm.Reg // slots that are still to be searched
	entry asm.Reg // address of the entry found; of its pair
}

// tables makes the code that searches keys in tables.
type tables struct {
	*doorbells
	cells *cells
	texts *texts
}

// beginKey begins a key, unless one has been begun.
func (k *tables) beginKey() {
	if !k.key.begun {
		k.key = keyed{begun: true, pc: k.pc, executed: k.executed, stack: slices.Clone(k.stack), nextHome: len(k.stack)}
		if m := k.memoryOfTexts; m != nil && k.plan.MakesTexts(k.pc) {
			k.Mov(asm.R(k.used(asm.RAX)), k.homeOperand(m.used))
			k.Mov(k.written(m.before), asm.R(asm.RAX))
			k.key.texts = &m.before
		}
	}
}

// addToKey pops a word into the key.
func (k *tables) addToKey() {
	k.beginKey()
	k.key.words = append(k.key.words, k.popWord())
}

// addTextToKey pops a text into the key: the words of one that is known, the reference of another one.
func (k *tables) addTextToKey() {
	k.beginKey()
	text, known := k.plan.Operands(k.pc, 1)
	if !known {
		k.texts.find(k.stack[len(k.stack)-1], k.bellBefore())
		k.key.refs |= 1 << len(k.key.words)
	}
	w := k.popWord()
	if !known {
		k.key.words = append(k.key.words, w)
		return
	}
	for _, v := range text[0].KeyWords() {
		k.key.words = append(k.key.words, word{constant, v})
	}
}

// useKey makes the code of an operation that uses the key. The key is searched in the table as package arena does
// (table.go). If an operation would insert it and native code does not (insert.go), or if a slot that may become this
// key is being filled, it is left to the interpreter.
func (k *tables) useKey(op opcode.Op) {
	l := k.plan.Ops[k.pc].Object
	var v word
	if op == opcode.Agg || op == opcode.MapSet || op == opcode.MapAdd {
		v = k.popWord()
	}
	k.usedBySearch()
	unsure := k.bellAt(k.key.pc, k.key.executed, k.key.stack)
	absent, done := k.NewLabel(), k.NewLabel()
	inserts := op == opcode.Agg || op == opcode.MapSet || op == opcode.MapAdd
	if inserts {
		absent = unsure
	}
	giveUp := func() {
		k.unpin(l.Table)
		k.Jmp(unsure)
	}
	if op == opcode.MapGetS {
		k.texts.uses()
		k.texts.room(value.DefaultText, unsure)
	}
	e, own := k.ownEntries(op, l)
	if own {
		k.addOwn(e, v, done)
	}
	if k.isPair(op, l) {
		found := k.NewLabel()
		if k.inserts(op, l) {
			absent = k.NewLabel()
			key, below := k.key, k.below
			k.cold = append(k.cold, func() {
				k.Place(absent)
				end := k.below
				k.key, k.below = key, below
				k.insert(op, l, v, unsure, found)
				k.key, k.below = keyed{}, end
			})
		}
		k.usePair(op, l, v, absent, unsure)
		k.Place(found)
	} else {
		k.find(l.Table, absent, unsure)
		if op == opcode.Agg && l.Spread != nil {
			k.cells.countSpread(l, k.cellFound(l.Table), v, giveUp)
		}
		if op == opcode.MapGetS {
			k.loadText(k.cellFound(l.Table), giveUp)
		}
		k.atSlot(op, l, v)
		k.unpin(l.Table)
	}
	if own {
		k.takeOwn(e, done)
	}
	k.Place(done)
	k.endKey()
	if op == opcode.MapGet || op == opcode.MapGetS || op == opcode.MapHas || op == opcode.MapAdd {
		k.result(k.cells.search.entry)
	}
	if !inserts {
		k.cold = append(k.cold, func() {
			k.Place(absent)
			k.Clear(k.cells.search.entry)
			k.Jmp(done)
		})
	}
}

// usedBySearch notes that a search writes its registers.
func (k *tables) usedBySearch() {
	for _, x := range []asm.Reg{asm.RAX, asm.RCX, asm.RDX, k.cells.search.tag, k.cells.search.slot, k.cells.search.entry} {
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
func (k *tables) find(t *arena.TableLayout, absent, unsure asm.Label) {
	s := k.cells.search
	probe, retry, next, other, mismatch := k.NewLabel(), k.NewLabel(), k.NewLabel(), k.NewLabel(), k.NewLabel()
	k.startSearch(t)
	k.Lea(asm.RCX, k.arena(t.Home))
	k.Mov(asm.R(k.used(s.left)), k.homed(t, asm.RCX))
	k.Shift(asm.Shr, asm.R(s.left), arena.ChangeShift)
	k.Place(probe)
	k.AluImm(asm.Sub, asm.R(s.left), 1)
	k.Jcc(asm.B, absent)
	k.Lea(asm.RCX, k.arena(t.State))
	k.Place(retry)
	k.Mov(asm.R(asm.RAX), asm.Element(asm.RCX, s.slot))
	k.compareTag()
	k.Jcc(asm.NE, next)
	k.Mov(asm.R(asm.RDX), asm.R(asm.RAX))
	k.AluImm(asm.And, asm.R(asm.RDX), int32(arena.StatusMask))
	k.AluImm(asm.Cmp, asm.R(asm.RDX), arena.SlotFull)
	k.Jcc(asm.NE, other)
	k.Mov(asm.R(asm.RDX), asm.R(asm.RAX))
	k.AluImm(asm.And, asm.R(asm.RDX), int32(arena.PinMask))
	k.AluImm(asm.Cmp, asm.R(asm.RDX), int32(arena.PinMask))
	k.Jcc(asm.E, next)
	k.Lea(asm.RDX, asm.At(asm.RAX, int32(arena.PinOne)))
	k.LockCmpxchg(asm.Element(asm.RCX, s.slot), asm.RDX)
	k.Jcc(asm.NE, retry)
	k.Lea(s.entry, k.arena(t.Entries))
	k.ImulImm(asm.RDX, asm.R(s.slot), int32(8*t.EntryWords/stateWords(t)))
	k.Alu(asm.Add, asm.R(s.entry), asm.R(asm.RDX))
	k.compareKey(s.entry, asm.RAX, mismatch)
	k.cold = append(k.cold, func() {
		k.Place(mismatch)
		k.unpin(t)
		k.Place(next)
		k.nextSlot(t)
		k.Jmp(probe)
		k.Place(other)
		k.AluImm(asm.Cmp, asm.R(asm.RDX), arena.SlotBusy)
		k.Jcc(asm.E, unsure)
		k.Jmp(next)
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
	k.Mov(asm.R(s.slot), asm.R(asm.RAX))
	k.AluImm(asm.And, asm.R(s.slot), int32(t.Slots-1))
	if t.Paired {
		k.Alu(asm.Add, asm.R(s.slot), asm.R(s.slot))
	}
	k.Mov(asm.R(s.tag), asm.R(asm.RAX))
	k.Shift(asm.Shr, asm.R(s.tag), 32)
	k.Shift(asm.Shl, asm.R(s.tag), arena.TagShift)
}

// homed returns the word of the slot in a part of the table, at an address in a register, that has a word for each
// slot.
func (k *tables) homed(t *arena.TableLayout, base asm.Reg) asm.Operand {
	if t.Paired {
		return asm.HalfElement(base, k.cells.search.slot)
	}
	return asm.Element(base, k.cells.search.slot)
}

// nextSlot goes on to the next slot.
func (k *tables) nextSlot(t *arena.TableLayout) {
	k.AluImm(asm.Add, asm.R(k.cells.search.slot), int32(stateWords(t)))
	k.AluImm(asm.And, asm.R(k.cells.search.slot), int32(stateWords(t)*int(t.Slots)-1))
}

// compareTag compares the tag of a state, which is in rax, with that of the key; rdx is used.
func (k *tables) compareTag() {
	k.Mov(asm.R(asm.RDX), asm.R(asm.RAX))
	k.Alu(asm.Xor, asm.R(asm.RDX), asm.R(k.cells.search.tag))
	k.Shift(asm.Shl, asm.R(asm.RDX), 64-arena.ChangeShift)
	k.Shift(asm.Shr, asm.R(asm.RDX), 64-arena.ChangeShift+arena.TagShift)
}

// compareKey compares the key with an entry, whose address is in a register, and jumps if they differ. The spare
// register is used, and of a key with texts that are not known rax, rcx and rdx.
func (k *tables) compareKey(entry, spare asm.Reg, differs asm.Label) {
	if k.key.refs != 0 {
		k.Mov(asm.R(k.texts.to), asm.R(entry))
		entry = k.texts.to
	}
	at := int32(0)
	for i, w := range k.key.words {
		if k.key.isRef(i) {
			k.AluImm(asm.Add, asm.R(entry), at)
			k.texts.comparePart(w, differs)
			at = 0
			continue
		}
		k.compareMemory(asm.At(entry, at), w, spare)
		k.Jcc(asm.NE, differs)
		at += 8
	}
}

// compareMemory compares memory with a word; the spare register is used.
func (s *words) compareMemory(o asm.Operand, w word, spare asm.Reg) {
	if s.isConst32(w) {
		s.AluImm(asm.Cmp, o, int32(w.n))
		return
	}
	s.Alu(asm.Cmp, o, asm.R(s.register(w, spare)))
}

// hash computes the hash of the key in rax, as key.Hash does; rcx is used. What is constant at the start of the key is
// computed here.
func (k *tables) hash() {
	var constants []uint64
	for i, w := range k.key.words {
		if w.kind != constant || k.key.isRef(i) {
			break
		}
		constants = append(constants, w.n)
	}
	if len(constants) == len(k.key.words) {
		k.MovImm(asm.RAX, key.Hash(constants))
		return
	}
	k.MovImm(asm.RAX, key.Mix(key.HashStart, constants))
	for i, w := range k.key.words[len(constants):] {
		if k.key.isRef(len(constants) + i) {
			k.texts.mixPart(w, k.mix)
			continue
		}
		k.mix(k.source(w, asm.RCX))
	}
	k.mixShifted(33)
	k.multiplyBy(key.HashEnd)
	k.mixShifted(33)
}

// mix adds a word to the hash in rax; rcx is used.
func (k *tables) mix(from asm.Operand) {
	k.Alu(asm.Xor, asm.R(asm.RAX), from)
	k.multiplyBy(key.HashWord)
	k.mixShifted(32)
}

// multiplyBy multiplies rax by a constant.
func (k *tables) multiplyBy(v uint64) {
	k.MovImm(asm.RCX, v)
	k.Imul(asm.RAX, asm.R(asm.RCX))
}

// mixShifted computes rax ^ rax>>n.
func (k *tables) mixShifted(n byte) {
	k.Mov(asm.R(asm.RCX), asm.R(asm.RAX))
	k.Shift(asm.Shr, asm.R(asm.RCX), n)
	k.Alu(asm.Xor, asm.R(asm.RAX), asm.R(asm.RCX))
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
		k.Mov(asm.R(s.entry), cell)
	case opcode.MapHas:
		k.MovImm(s.entry, 1)
	case opcode.MapSet:
		k.store(cell, v)
	case opcode.MapAdd:
		k.load(asm.RAX, v)
		k.LockXadd(cell, asm.RAX)
		k.Mov(asm.R(s.entry), asm.R(asm.RAX))
		if k.isConst32(v) {
			k.AluImm(asm.Add, asm.R(s.entry), int32(v.n))
		} else {
			k.Alu(asm.Add, asm.R(s.entry), k.source(v, asm.RAX))
		}
	case opcode.MapDel:
		k.kill(t)
	}
}

// cellFound returns the cell of the entry that was found.
func (k *tables) cellFound(t *arena.TableLayout) asm.Operand {
	if !t.Paired {
		return asm.At(k.cells.search.entry, int32(8*t.KeyWords))
	}
	k.Lea(k.cells.search.entry, k.arena(t.State))
	k.Lea(k.cells.search.entry, asm.Element(k.cells.search.entry, k.cells.search.slot))
	return asm.At(k.cells.search.entry, 8)
}

// touch stamps the slot as the most recently written.
func (k *tables) touch(t *arena.TableLayout) {
	k.MovImm(asm.RAX, 1)
	k.LockXadd(k.arena(t.Clock), asm.RAX)
	k.Inc(asm.R(asm.RAX))
	k.Lea(asm.RCX, k.arena(t.Stamp))
	k.Mov(asm.Element(asm.RCX, k.cells.search.slot), asm.R(asm.RAX))
}

// kill makes a full slot dying.
func (k *tables) kill(t *arena.TableLayout) {
	again, done := k.NewLabel(), k.NewLabel()
	slot := asm.Element(asm.RCX, k.cells.search.slot)
	k.Lea(asm.RCX, k.arena(t.State))
	k.Mov(asm.R(asm.RAX), slot)
	k.Place(again)
	k.Mov(asm.R(asm.RDX), asm.R(asm.RAX))
	k.AluImm(asm.And, asm.R(asm.RDX), int32(arena.StatusMask))
	k.AluImm(asm.Cmp, asm.R(asm.RDX), arena.SlotFull)
	k.JccNear(asm.NE, done)
	k.Lea(asm.RDX, asm.At(asm.RAX, arena.SlotDying-arena.SlotFull))
	k.LockCmpxchg(slot, asm.RDX)
	k.JccNear(asm.NE, again)
	k.Place(done)
}

// unpin removes the pin of the slot. If it was the last one of a dying slot, it empties the slot.
func (k *tables) unpin(t *arena.TableLayout) {
	const unpinned = 1<<arena.ChangeShift - uint64(arena.PinOne)
	back, last := k.NewLabel(), k.NewLabel()
	slot := asm.Element(asm.RCX, k.cells.search.slot)
	k.MovImm(asm.RAX, unpinned)
	k.Lea(asm.RCX, k.arena(t.State))
	k.LockXadd(slot, asm.RAX)
	k.Extend(asm.RDX, asm.R(asm.RAX), 16, false) // status and pins, before
	k.AluImm(asm.Cmp, asm.R(asm.RDX), int32(arena.PinOne|arena.SlotDying))
	k.Jcc(asm.E, last)
	k.Place(back)
	k.cold = append(k.cold, func() {
		k.Place(last)
		k.MovImm(asm.RDX, unpinned)
		k.Alu(asm.Add, asm.R(asm.RAX), asm.R(asm.RDX))
		k.Lea(asm.RDX, asm.At(asm.RAX, arena.SlotBusy-arena.SlotDying))
		k.LockCmpxchg(slot, asm.RDX)
		k.Jcc(asm.NE, back)
		// Nobody else changes a busy slot. Only its changes remain.
		k.Shift(asm.Shr, asm.R(asm.RDX), arena.ChangeShift)
		k.Inc(asm.R(asm.RDX))
		k.Shift(asm.Shl, asm.R(asm.RDX), arena.ChangeShift)
		k.Mov(slot, asm.R(asm.RDX))
		k.LockDec(k.arena(t.Used))
		k.Jmp(back)
	})
}
