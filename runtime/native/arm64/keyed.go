package arm64

import (
	"slices"

	"gotap/runtime/arena"
	"gotap/runtime/key"
	"gotap/runtime/native"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
)

// keyed is a key that is being built. Until it is used, each word that is computed gets a number of its own, so that
// all words that were there before its first part are still there if a doorbell rings.
type keyed struct {
	begun    bool
	pc       int // of the first part
	executed int
	words    []keyWord
	at       [native.MaxWords + 1]int // the word at each position of the stack
	next     int                      // the next number
	texts    bool                     // texts are made while the key is built
}

// keyWord is a word of a key: a constant, what is in a register, or a word of the part.
type keyWord struct {
	constant bool
	value    uint64
	inReg    bool
	reg      reg
	word     int
	ref      bool // the word is the reference of a text, of which the key has the words
}

// fresh gives a position of the stack a word of its own while a key is being built.
func (p *part) fresh(position int) {
	if p.key.begun {
		p.key.at[position] = p.key.next
		p.key.next++
	}
}

// addToKey adds the word on top to the key, or the words of a text that is known.
func (k *tables) addToKey(op opcode.Op, depth int) {
	if !k.key.begun {
		k.key = keyed{begun: true, pc: k.pc, executed: k.executed, next: depth}
		for i := range depth {
			k.key.at[i] = i
		}
		k.texts.noteBefore()
	}
	if op == opcode.KeyInt {
		k.key.words = append(k.key.words, keyWord{word: k.wordAt(depth - 1)})
		return
	}
	text, known := k.plan.Operands(k.pc, 1)
	if !known {
		word := k.wordAt(depth - 1)
		k.texts.find(word, k.bellBefore())
		k.key.words = append(k.key.words, keyWord{word: word, ref: true})
		return
	}
	for _, v := range text[0].KeyWords() {
		k.key.words = append(k.key.words, keyWord{constant: true, value: v})
	}
}

// tables makes the code that searches keys in tables.
type tables struct{ *part }

// Registers of a search. x6 to x8 and x14 to x16 are for what lies in between; x17 may hold the value.
const (
	tagReg   = x2 // the upper half of the key's hash
	slotReg  = x3 // the number of the slot
	leftReg  = x4 // slots that are still to be searched; then the address of the cell
	stateReg = x5 // the address of the slot's state
	// Of a key with texts: the address of its entry, and the slot's state, while they are compared.
	entryReg   = x27
	foundState = x28
)

// useKey makes the code of an operation that uses the key. The key is searched in the table as package arena does
// (table.go). If an operation would insert it and native code does not (insert.go), or if a slot that may become this
// key is being filled, it is left to the interpreter.
func (k *tables) useKey(op opcode.Op, depth int) {
	l := k.plan.Ops[k.pc].Object
	pops, pushes := opcode.RowOf(op).Effect(0)
	unsure, done := k.bellBefore(), k.newLabel()
	absent := unsure
	if k.insertsKey(op, l.Table) {
		absent = k.newLabel()
		key := k.key
		k.cold = append(k.cold, func() {
			k.place(absent)
			k.key, k.searched = key, key.words
			k.insert(op, l.Table, depth-1, unsure, done)
			k.key = keyed{}
		})
	} else if !inserts(op) {
		absent = k.newLabel()
		k.cold = append(k.cold, func() {
			k.place(absent)
			k.movImm(x17, 0)
			k.b(done)
		})
	}
	k.searched = k.key.words
	k.use(op, l, depth-1, absent, unsure)
	k.place(done)
	at := k.key.at
	k.key = keyed{}
	for i := range depth - pops { // the lowest first: none of them lies below its position
		if at[i] != i {
			k.store(i, k.load(at[i], x16))
		}
	}
	if pushes > 0 {
		k.put(depth-pops, x17)
	}
}

// use searches a key and makes an operation with its cell. The result, if there is one, is in x17.
func (k *tables) use(op opcode.Op, l *arena.Layout, value int, absent, unsure label) {
	for _, x := range []reg{tagReg, slotReg, leftReg, stateReg, x6, x7, x8, x14, x15} {
		k.uses(x)
	}
	if usesPair(op, l) {
		k.usePair(op, l.Table, value, absent, unsure)
	} else {
		k.usePinned(op, l, value, absent, unsure)
	}
}

// inserts reports whether an operation inserts a key that is not there.
func inserts(op opcode.Op) bool {
	return op == opcode.Agg || op == opcode.MapSet || op == opcode.MapAdd
}

// hash computes the hash of the key in x6, as key.Hash does; x7 and x8 are used. What is constant at the start of the
// key is computed here.
func (k *tables) hash() {
	var constants []uint64
	for _, w := range k.searched {
		if !w.constant {
			break
		}
		constants = append(constants, w.value)
	}
	if len(constants) == len(k.searched) {
		k.movImm(x6, key.Hash(constants))
		return
	}
	k.movImm(x6, key.Mix(key.HashStart, constants))
	for _, w := range k.searched[len(constants):] {
		if w.ref {
			k.texts.mixPart(w.word, func() { k.mixWord(x8) })
			continue
		}
		k.mixWord(k.keyWord(w, x8))
	}
	k.mixShifted(33)
	k.multiplyMixed(key.HashEnd, 33)
}

// mixWord adds a word in a register to the hash.
func (k *tables) mixWord(x reg) {
	k.three(opXor, x6, x6, x)
	k.multiplyMixed(key.HashWord, 32)
}

// keyWord returns a register with a word of the key.
func (k *tables) keyWord(w keyWord, spare reg) reg {
	if w.constant {
		k.movImm(spare, w.value)
		return spare
	}
	if w.inReg {
		return w.reg
	}
	return k.load(w.word, spare)
}

// multiplyMixed multiplies x6 by a constant, and mixShifted computes x6 ^ x6>>n in it.
func (k *tables) multiplyMixed(by uint64, n uint32) {
	k.movImm(x7, by)
	k.mul(x6, x6, x7)
	k.mixShifted(n)
}

func (k *tables) mixShifted(n uint32) {
	k.shr(x7, x6, n)
	k.three(opXor, x6, x6, x7)
}

// search goes through the slots that may have the key. For each that is full and has its tag, the code that full makes
// decides: the state is in x6, and it goes on behind it with the key found, at next with the next slot, or at retry
// with this one once more.
func (k *tables) search(t *arena.TableLayout, absent, unsure label, full func(next, retry label)) {
	probe, retry, next, other := k.newLabel(), k.newLabel(), k.newLabel(), k.newLabel()
	k.toHome(t)
	k.shr(leftReg, leftReg, arena.ChangeShift)
	k.place(probe)
	k.cbz(leftReg, absent)
	k.subImm(leftReg, leftReg, 1)
	k.arena(stateReg, t.State)
	k.addShifted(stateReg, stateReg, slotReg, stateShift(t))
	k.place(retry)
	k.ldar(x6, stateReg)
	k.field(x7, x6, arena.TagShift, 32)
	k.cmp(x7, tagReg)
	k.bIf(condNE, next)
	k.field(x7, x6, 0, 2)
	k.cmpImm(x7, arena.SlotFull)
	k.bIf(condNE, other)
	full(next, retry)
	k.cold = append(k.cold, func() {
		k.place(other)
		k.cmpImm(x7, arena.SlotBusy)
		k.bIf(condEQ, unsure)
		k.place(next)
		k.addImm(slotReg, slotReg, 1)
		k.movImm(x7, t.Slots-1)
		k.three(opAnd, slotReg, slotReg, x7)
		k.b(probe)
	})
}

// stateShift says how far states are apart: 1<<3 bytes, or 1<<4 where each is followed by its cell.
func stateShift(t *arena.TableLayout) uint32 {
	if t.Paired {
		return 4
	}
	return 3
}

// compareKey compares the key with the entry of the slot, whose address is then in x7, and jumps if they differ.
func (k *tables) compareKey(t *arena.TableLayout, differs label) {
	k.arena(x7, t.Entries)
	k.movImm(x8, uint64(8*t.EntryWords))
	k.madd(x7, slotReg, x8, x7)
	if slices.ContainsFunc(k.searched, func(w keyWord) bool { return w.ref }) {
		k.compareTexts(differs)
		return
	}
	for i, w := range k.searched {
		k.ldr(x8, x7, 8*i)
		k.cmp(x8, k.keyWord(w, x16))
		k.bIf(condNE, differs)
	}
}

// compareTexts is compareKey for a key with texts that are not known. x6, x7 and x17 stay.
func (k *tables) compareTexts(differs label) {
	k.mov(k.uses(entryReg), x7)
	k.mov(k.uses(foundState), x6)
	k.mov(toReg, x7)
	for _, w := range k.searched {
		if w.ref {
			k.texts.comparePart(w.word, differs)
			continue
		}
		k.ldr(x8, toReg, 0)
		k.cmp(x8, k.keyWord(w, x16))
		k.bIf(condNE, differs)
		k.addImm(toReg, toReg, 8)
	}
	k.mov(x6, foundState)
	k.mov(x7, entryReg)
}

// usesPair reports whether an operation reads a state and its cell together, or replaces them by one store. Deleting a
// key, and a text, need a pin.
func usesPair(op opcode.Op, l *arena.Layout) bool {
	return l.Table.Paired && (op != opcode.Agg || l.Object.Form() == object.KindCount) && op != opcode.MapDel && op != opcode.MapGetS
}

// usePair makes an operation with a cell that lies behind its state. The slot is not pinned: if the state is still the
// same, so is the key (package arena, table.go). The result, if there is one, is in x17.
func (k *tables) usePair(op opcode.Op, t *arena.TableLayout, value int, absent, unsure label) {
	k.search(t, absent, unsure, func(next, retry label) {
		k.compareKey(t, next)
		if !inserts(op) {
			k.addImm(x8, stateReg, 8)
			k.ldar(x17, x8)
			k.ldar(x7, stateReg)
			k.cmp(x7, x6)
			k.bIf(condNE, retry)
			if op == opcode.MapHas {
				k.movImm(x17, 1)
			}
			return
		}
		again, changed := k.newLabel(), k.newLabel()
		v, stored := k.get(value, x17), x8
		k.place(again)
		k.ldaxp(x7, x8, stateReg)
		k.cmp(x7, x6)
		k.bIf(condNE, changed)
		switch op {
		case opcode.Agg:
			k.addImm(x8, x8, 1)
		case opcode.MapAdd:
			k.add(x8, x8, v)
		default:
			stored = v
		}
		k.stlxp(x16, x6, stored, stateReg)
		k.cbnz32(x16, again)
		if op == opcode.MapAdd {
			k.mov(x17, x8)
		}
		k.cold = append(k.cold, func() {
			k.place(changed)
			k.clrex()
			k.b(retry)
		})
	})
}

// usePinned makes an operation with a slot that is pinned for it. The result, if there is one, is in x17.
func (k *tables) usePinned(op opcode.Op, l *arena.Layout, value int, absent, unsure label) {
	t := l.Table
	k.search(t, absent, unsure, func(next, retry label) { k.pin(t, next, retry) })
	if t.Paired {
		k.addImm(leftReg, stateReg, 8)
	} else {
		k.addImm(leftReg, x7, uint32(8*t.KeyWords))
	}
	if op == opcode.Agg && l.Spread != nil {
		k.countSpread(l, cell{base: leftReg, based: true}, k.get(value, x17), func() {
			k.unpin(t)
			k.b(unsure)
		})
	}
	if op == opcode.MapGetS {
		k.texts.loadText(func() {
			k.unpin(t)
			k.b(unsure)
		})
	}
	if t.Stamp != 0 && inserts(op) {
		k.touch(t)
	}
	switch op {
	case opcode.Agg:
		k.update(l, cell{base: leftReg, based: true}, k.get(value, x17))
	case opcode.MapGet:
		k.ldar(x17, leftReg)
	case opcode.MapHas:
		k.movImm(x17, 1)
	case opcode.MapSet:
		k.stlr(k.get(value, x17), leftReg)
	case opcode.MapAdd:
		v := k.get(value, x17)
		k.atomicAdd(leftReg, v, x15)
		k.add(x17, x15, v)
	case opcode.MapDel:
		k.kill()
	}
	k.unpin(t)
}

// replaceState replaces the state in x6 by that in x7, or jumps to retry if it has changed; x8 and x16 are used.
func (k *tables) replaceState(retry label) {
	changed := k.newLabel()
	k.ldaxr(x8, stateReg)
	k.cmp(x8, x6)
	k.bIf(condNE, changed)
	k.stlxr(x16, x7, stateReg)
	k.cbnz32(x16, retry)
	k.cold = append(k.cold, func() {
		k.place(changed)
		k.clrex()
		k.b(retry)
	})
}

// pin pins a full slot, and unpins it if it has another key.
func (k *tables) pin(t *arena.TableLayout, next, retry label) {
	const pins = arena.PinMask / arena.PinOne // the most that there can be
	k.field(x7, x6, 2, 14)
	k.movImm(x8, pins)
	k.cmp(x7, x8)
	k.bIf(condEQ, next)
	k.addImm(x7, x6, uint32(arena.PinOne))
	k.replaceState(retry)
	mismatch := k.newLabel()
	k.compareKey(t, mismatch)
	k.cold = append(k.cold, func() {
		k.place(mismatch)
		k.unpin(t)
		k.b(next)
	})
}

// touch stamps the slot as the most recently written.
func (k *tables) touch(t *arena.TableLayout) {
	k.arena(x16, t.Clock)
	k.movImm(x17, 1)
	k.atomicAdd(x16, x17, x15)
	k.addImm(x15, x15, 1)
	k.arena(x16, t.Stamp)
	k.addShifted(x16, x16, slotReg, 3)
	k.str(x15, x16, 0)
}

// kill makes a full slot dying.
func (k *tables) kill() {
	again, done := k.newLabel(), k.newLabel()
	k.place(again)
	k.ldar(x6, stateReg)
	k.field(x7, x6, 0, 2)
	k.cmpImm(x7, arena.SlotFull)
	k.bIf(condNE, done)
	k.addImm(x7, x6, arena.SlotDying-arena.SlotFull)
	k.replaceState(again)
	k.place(done)
}

// unpin removes the pin of the slot. If it was the last one of a dying slot, it empties the slot. x17 stays.
func (k *tables) unpin(t *arena.TableLayout) {
	const unpinned = 1<<arena.ChangeShift - uint64(arena.PinOne)
	back, last := k.newLabel(), k.newLabel()
	k.movImm(x7, unpinned)
	k.atomicAdd(stateReg, x7, x8)
	k.field(x6, x8, 0, arena.TagShift) // status and pins, before
	k.cmpImm(x6, uint32(arena.PinOne|arena.SlotDying))
	k.bIf(condEQ, last)
	k.place(back)
	k.cold = append(k.cold, func() {
		k.place(last)
		k.add(x6, x8, x7)
		k.subImm(x7, x6, arena.SlotDying-arena.SlotBusy)
		try, emptied := k.newLabel(), k.newLabel()
		k.place(try)
		k.ldaxr(x8, stateReg)
		k.cmp(x8, x6)
		k.bIf(condEQ, emptied)
		k.clrex()
		k.b(back)
		k.place(emptied)
		k.stlxr(x16, x7, stateReg)
		k.cbnz32(x16, try)
		// Nobody else changes a busy slot. Only its changes remain.
		k.shr(x7, x7, arena.ChangeShift)
		k.addImm(x7, x7, 1)
		k.shl(x7, x7, arena.ChangeShift)
		k.stlr(x7, stateReg)
		k.arena(x6, t.Used)
		k.movImm(x7, ^uint64(0))
		k.atomicAdd(x6, x7, x8)
		k.b(back)
	})
}
