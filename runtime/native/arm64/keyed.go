package arm64

import (
	"gotap/runtime/arena"
	"gotap/runtime/key"
	"gotap/runtime/native"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
)

// keyed is a key that is being built. Until it is used, each word that is computed gets a number of its own, so that all words that were there
// before its first part are still there if a doorbell rings.
type keyed struct {
	begun    bool
	pc       int // of the first part
	executed int
	words    []keyWord
	at       [native.MaxWords + 1]int // the word at each position of the stack
	next     int                      // the next number
}

// keyWord is a word of a key: a constant, or a word of the part.
type keyWord struct {
	constant bool
	value    uint64
	word     int
}

// fresh gives a position of the stack a word of its own while a key is being built.
func (p *part) fresh(position int) {
	if p.key.begun {
		p.key.at[position] = p.key.next
		p.key.next++
	}
}

// addToKey adds the word on top to the key, or the words of a text that is known.
func (p *part) addToKey(op opcode.Op, depth int) {
	if !p.key.begun {
		p.key = keyed{begun: true, pc: p.pc, executed: p.executed, next: depth}
		for i := range depth {
			p.key.at[i] = i
		}
	}
	if op == opcode.KeyInt {
		p.key.words = append(p.key.words, keyWord{word: p.wordAt(depth - 1)})
		return
	}
	text, _ := p.plan.Operands(p.pc, 1)
	for _, v := range text[0].KeyWords() {
		p.key.words = append(p.key.words, keyWord{constant: true, value: v})
	}
}

// Registers of a search. x6 to x8 and x14 to x16 are for what lies in between; x17 may hold the value.
const (
	tagReg   = x2 // the upper half of the key's hash
	slotReg  = x3 // the number of the slot
	leftReg  = x4 // slots that are still to be searched; then the address of the cell
	stateReg = x5 // the address of the slot's state
)

// useKey makes the code of an operation that uses the key. The key is searched in the table as package arena does
// (table.go). If an operation would insert it, or if a slot that may become this key is being filled, it is left to the
// interpreter.
func (p *part) useKey(op opcode.Op, depth int) {
	l := p.plan.Ops[p.pc].Object
	pops, pushes := opcode.RowOf(op).Effect(0)
	unsure, done := p.bellAt(p.key.pc, p.key.executed), p.newLabel()
	absent := unsure
	if !inserts(op) {
		absent = p.newLabel()
		p.cold = append(p.cold, func() {
			p.place(absent)
			p.movImm(x17, 0)
			p.b(done)
		})
	}
	for _, x := range []reg{tagReg, slotReg, leftReg, stateReg, x6, x7, x8, x14, x15} {
		p.uses(x)
	}
	if usesPair(op, l) {
		p.usePair(op, l.Table, depth-1, absent, unsure)
	} else {
		p.usePinned(op, l, depth-1, absent, unsure)
	}
	p.place(done)
	at := p.key.at
	p.key = keyed{}
	for i := range depth - pops { // the lowest first: none of them lies below its position
		if at[i] != i {
			p.store(i, p.load(at[i], x16))
		}
	}
	if pushes > 0 {
		p.put(depth-pops, x17)
	}
}

// inserts reports whether an operation inserts a key that is not there.
func inserts(op opcode.Op) bool {
	return op == opcode.Agg || op == opcode.MapSet || op == opcode.MapAdd
}

// hash computes the hash of the key in x6, as key.Hash does; x7 and x8 are used. What is constant at the start of the key is computed here.
func (p *part) hash() {
	var constants []uint64
	for _, w := range p.key.words {
		if !w.constant {
			break
		}
		constants = append(constants, w.value)
	}
	if len(constants) == len(p.key.words) {
		p.movImm(x6, key.Hash(constants))
		return
	}
	p.movImm(x6, key.Mix(key.HashStart, constants))
	for _, w := range p.key.words[len(constants):] {
		p.three(opXor, x6, x6, p.keyWord(w, x8))
		p.multiplyMixed(key.HashWord, 32)
	}
	p.mixShifted(33)
	p.multiplyMixed(key.HashEnd, 33)
}

// keyWord returns a register with a word of the key.
func (p *part) keyWord(w keyWord, spare reg) reg {
	if w.constant {
		p.movImm(spare, w.value)
		return spare
	}
	return p.load(w.word, spare)
}

// multiplyMixed multiplies x6 by a constant, and mixShifted computes x6 ^ x6>>n in it.
func (p *part) multiplyMixed(by uint64, n uint32) {
	p.movImm(x7, by)
	p.mul(x6, x6, x7)
	p.mixShifted(n)
}

func (p *part) mixShifted(n uint32) {
	p.shr(x7, x6, n)
	p.three(opXor, x6, x6, x7)
}

// search goes through the slots that may have the key. For each that is full and has its tag, the code that full makes decides: the state is in x6,
// and it goes on behind it with the key found, at next with the next slot, or at retry with this one once more.
func (p *part) search(t *arena.TableLayout, absent, unsure label, full func(next, retry label)) {
	probe, retry, next, other := p.newLabel(), p.newLabel(), p.newLabel(), p.newLabel()
	p.hash()
	p.movImm(x7, t.Slots-1)
	p.three(opAnd, slotReg, x6, x7)
	p.shr(tagReg, x6, 32)
	p.arena(x7, t.Home)
	p.addShifted(x7, x7, slotReg, 3)
	p.ldar(leftReg, x7)
	p.shr(leftReg, leftReg, arena.ChangeShift)
	p.place(probe)
	p.cbz(leftReg, absent)
	p.subImm(leftReg, leftReg, 1)
	p.arena(stateReg, t.State)
	p.addShifted(stateReg, stateReg, slotReg, stateShift(t))
	p.place(retry)
	p.ldar(x6, stateReg)
	p.field(x7, x6, arena.TagShift, 32)
	p.cmp(x7, tagReg)
	p.bIf(condNE, next)
	p.field(x7, x6, 0, 2)
	p.cmpImm(x7, arena.SlotFull)
	p.bIf(condNE, other)
	full(next, retry)
	p.cold = append(p.cold, func() {
		p.place(other)
		p.cmpImm(x7, arena.SlotBusy)
		p.bIf(condEQ, unsure)
		p.place(next)
		p.addImm(slotReg, slotReg, 1)
		p.movImm(x7, t.Slots-1)
		p.three(opAnd, slotReg, slotReg, x7)
		p.b(probe)
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
func (p *part) compareKey(t *arena.TableLayout, differs label) {
	p.arena(x7, t.Entries)
	p.movImm(x8, uint64(8*t.EntryWords))
	p.madd(x7, slotReg, x8, x7)
	for i, w := range p.key.words {
		p.ldr(x8, x7, 8*i)
		p.cmp(x8, p.keyWord(w, x16))
		p.bIf(condNE, differs)
	}
}

// usesPair reports whether an operation reads a state and its cell together, or replaces them by one store. Deleting a key needs a pin.
func usesPair(op opcode.Op, l *arena.Layout) bool {
	return l.Table.Paired && (op != opcode.Agg || l.Object.Form() == object.KindCount) && op != opcode.MapDel
}

// usePair makes an operation with a cell that lies behind its state. The slot is not pinned: if the state is still the same, so is the key (package
// arena, table.go). The result, if there is one, is in x17.
func (p *part) usePair(op opcode.Op, t *arena.TableLayout, value int, absent, unsure label) {
	p.search(t, absent, unsure, func(next, retry label) {
		p.compareKey(t, next)
		if !inserts(op) {
			p.addImm(x8, stateReg, 8)
			p.ldar(x17, x8)
			p.ldar(x7, stateReg)
			p.cmp(x7, x6)
			p.bIf(condNE, retry)
			if op == opcode.MapHas {
				p.movImm(x17, 1)
			}
			return
		}
		again, changed := p.newLabel(), p.newLabel()
		v, stored := p.get(value, x17), x8
		p.place(again)
		p.ldaxp(x7, x8, stateReg)
		p.cmp(x7, x6)
		p.bIf(condNE, changed)
		switch op {
		case opcode.Agg:
			p.addImm(x8, x8, 1)
		case opcode.MapAdd:
			p.add(x8, x8, v)
		default:
			stored = v
		}
		p.stlxp(x16, x6, stored, stateReg)
		p.cbnz32(x16, again)
		if op == opcode.MapAdd {
			p.mov(x17, x8)
		}
		p.cold = append(p.cold, func() {
			p.place(changed)
			p.clrex()
			p.b(retry)
		})
	})
}

// usePinned makes an operation with a slot that is pinned for it. The result, if there is one, is in x17.
func (p *part) usePinned(op opcode.Op, l *arena.Layout, value int, absent, unsure label) {
	t := l.Table
	p.search(t, absent, unsure, func(next, retry label) { p.pin(t, next, retry) })
	if t.Paired {
		p.addImm(leftReg, stateReg, 8)
	} else {
		p.addImm(leftReg, x7, uint32(8*t.KeyWords))
	}
	if t.Stamp != 0 && inserts(op) {
		p.touch(t)
	}
	switch op {
	case opcode.Agg:
		p.update(l, cell{base: leftReg, based: true}, p.get(value, x17))
	case opcode.MapGet:
		p.ldar(x17, leftReg)
	case opcode.MapHas:
		p.movImm(x17, 1)
	case opcode.MapSet:
		p.stlr(p.get(value, x17), leftReg)
	case opcode.MapAdd:
		v := p.get(value, x17)
		p.atomicAdd(leftReg, v, x15)
		p.add(x17, x15, v)
	case opcode.MapDel:
		p.kill()
	}
	p.unpin(t)
}

// replaceState replaces the state in x6 by that in x7, or jumps to retry if it has changed; x8 and x16 are used.
func (p *part) replaceState(retry label) {
	changed := p.newLabel()
	p.ldaxr(x8, stateReg)
	p.cmp(x8, x6)
	p.bIf(condNE, changed)
	p.stlxr(x16, x7, stateReg)
	p.cbnz32(x16, retry)
	p.cold = append(p.cold, func() {
		p.place(changed)
		p.clrex()
		p.b(retry)
	})
}

// pin pins a full slot, and unpins it if it has another key.
func (p *part) pin(t *arena.TableLayout, next, retry label) {
	const pins = arena.PinMask / arena.PinOne // the most that there can be
	p.field(x7, x6, 2, 14)
	p.movImm(x8, pins)
	p.cmp(x7, x8)
	p.bIf(condEQ, next)
	p.addImm(x7, x6, uint32(arena.PinOne))
	p.replaceState(retry)
	mismatch := p.newLabel()
	p.compareKey(t, mismatch)
	p.cold = append(p.cold, func() {
		p.place(mismatch)
		p.unpin(t)
		p.b(next)
	})
}

// touch stamps the slot as the most recently written.
func (p *part) touch(t *arena.TableLayout) {
	p.arena(x16, t.Clock)
	p.movImm(x17, 1)
	p.atomicAdd(x16, x17, x15)
	p.addImm(x15, x15, 1)
	p.arena(x16, t.Stamp)
	p.addShifted(x16, x16, slotReg, 3)
	p.str(x15, x16, 0)
}

// kill makes a full slot dying.
func (p *part) kill() {
	again, done := p.newLabel(), p.newLabel()
	p.place(again)
	p.ldar(x6, stateReg)
	p.field(x7, x6, 0, 2)
	p.cmpImm(x7, arena.SlotFull)
	p.bIf(condNE, done)
	p.addImm(x7, x6, arena.SlotDying-arena.SlotFull)
	p.replaceState(again)
	p.place(done)
}

// unpin removes the pin of the slot. If it was the last one of a dying slot, it empties the slot. x17 stays.
func (p *part) unpin(t *arena.TableLayout) {
	const unpinned = 1<<arena.ChangeShift - uint64(arena.PinOne)
	back, last := p.newLabel(), p.newLabel()
	p.movImm(x7, unpinned)
	p.atomicAdd(stateReg, x7, x8)
	p.field(x6, x8, 0, arena.TagShift) // status and pins, before
	p.cmpImm(x6, uint32(arena.PinOne|arena.SlotDying))
	p.bIf(condEQ, last)
	p.place(back)
	p.cold = append(p.cold, func() {
		p.place(last)
		p.add(x6, x8, x7)
		p.subImm(x7, x6, arena.SlotDying-arena.SlotBusy)
		try, emptied := p.newLabel(), p.newLabel()
		p.place(try)
		p.ldaxr(x8, stateReg)
		p.cmp(x8, x6)
		p.bIf(condEQ, emptied)
		p.clrex()
		p.b(back)
		p.place(emptied)
		p.stlxr(x16, x7, stateReg)
		p.cbnz32(x16, try)
		// Nobody else changes a busy slot. Only its changes remain.
		p.shr(x7, x7, arena.ChangeShift)
		p.addImm(x7, x7, 1)
		p.shl(x7, x7, arena.ChangeShift)
		p.stlr(x7, stateReg)
		p.arena(x6, t.Used)
		p.movImm(x7, ^uint64(0))
		p.atomicAdd(x6, x7, x8)
		p.b(back)
	})
}
