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

// addToKey pops a word into the key.
func (p *part) addToKey() {
	if !p.key.begun {
		p.key = keyed{begun: true, pc: p.pc, executed: p.executed, stack: slices.Clone(p.stack), nextHome: len(p.stack)}
	}
	p.key.words = append(p.key.words, p.popWord())
}

// useKey makes the code of an operation that uses the key. The key is searched in the table as package arena does
// (table.go). If an operation would insert it, or if a slot that may become this key is being filled, it is left to the
// interpreter.
func (p *part) useKey(op opcode.Op) {
	l := p.plan.Ops[p.pc].Object
	var v word
	if op == opcode.Agg || op == opcode.MapSet || op == opcode.MapAdd {
		v = p.popWord()
	}
	p.usedBySearch()
	unsure := p.bellAt(p.key.pc, p.key.executed, p.key.stack)
	absent, done := p.newLabel(), p.newLabel()
	inserts := op == opcode.Agg || op == opcode.MapSet || op == opcode.MapAdd
	if inserts {
		absent = unsure
	}
	if p.isPair(op, l) {
		p.usePair(op, l, v, absent, unsure)
	} else {
		p.find(l.Table, absent, unsure)
		if op == opcode.Agg && l.Spread != nil {
			p.countSpread(l, p.cellFound(l.Table), v, func() {
				p.unpin(l.Table)
				p.jmp(unsure)
			})
		}
		p.atSlot(op, l, v)
		p.unpin(l.Table)
	}
	p.place(done)
	p.endKey()
	if op == opcode.MapGet || op == opcode.MapHas || op == opcode.MapAdd {
		p.result(p.search.entry)
	}
	if !inserts {
		p.cold = append(p.cold, func() {
			p.place(absent)
			p.clear(p.search.entry)
			p.jmp(done)
		})
	}
}

// usedBySearch notes that a search writes its registers.
func (p *part) usedBySearch() {
	for _, x := range []reg{rax, rcx, rdx, p.search.tag, p.search.slot, p.search.entry} {
		p.used(x)
	}
}

// endKey ends the building of a key: the words that remain on the stack move to the homes of their places, the lowest
// first. No move overwrites a word that is still to be moved, because results got their homes in the order of their
// places, and never one below their own.
func (p *part) endKey() {
	p.key = keyed{}
	for i, w := range p.stack {
		if w.kind == atHome {
			p.toHome(i)
		}
	}
}

// find searches the key. If it is there, its slot is pinned, and entry is the address of its entry.
func (p *part) find(t *arena.TableLayout, absent, unsure label) {
	s := p.search
	probe, retry, next, other, mismatch := p.newLabel(), p.newLabel(), p.newLabel(), p.newLabel(), p.newLabel()
	p.startSearch(t)
	p.lea(rcx, p.arena(t.Home))
	p.mov(r(p.used(s.left)), p.homed(t, rcx))
	p.shift(opShr, r(s.left), arena.ChangeShift)
	p.place(probe)
	p.aluImm(opSub, r(s.left), 1)
	p.jcc(condB, absent)
	p.lea(rcx, p.arena(t.State))
	p.place(retry)
	p.mov(r(rax), element(rcx, s.slot))
	p.compareTag()
	p.jcc(condNE, next)
	p.mov(r(rdx), r(rax))
	p.aluImm(opAnd, r(rdx), int32(arena.StatusMask))
	p.aluImm(opCmp, r(rdx), arena.SlotFull)
	p.jcc(condNE, other)
	p.mov(r(rdx), r(rax))
	p.aluImm(opAnd, r(rdx), int32(arena.PinMask))
	p.aluImm(opCmp, r(rdx), int32(arena.PinMask))
	p.jcc(condE, next)
	p.lea(rdx, at(rax, int32(arena.PinOne)))
	p.lockCmpxchg(element(rcx, s.slot), rdx)
	p.jcc(condNE, retry)
	p.lea(s.entry, p.arena(t.Entries))
	p.imulImm(rdx, r(s.slot), int32(8*t.EntryWords/stateWords(t)))
	p.alu(opAdd, r(s.entry), r(rdx))
	for i, w := range p.key.words {
		p.compareMemory(at(s.entry, int32(8*i)), w, rax)
		p.jcc(condNE, mismatch)
	}
	p.cold = append(p.cold, func() {
		p.place(mismatch)
		p.unpin(t)
		p.place(next)
		p.nextSlot(t)
		p.jmp(probe)
		p.place(other)
		p.aluImm(opCmp, r(rdx), arena.SlotBusy)
		p.jcc(condE, unsure)
		p.jmp(next)
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
func (p *part) startSearch(t *arena.TableLayout) {
	s := p.search
	p.hash()
	p.mov(r(s.slot), r(rax))
	p.aluImm(opAnd, r(s.slot), int32(t.Slots-1))
	if t.Paired {
		p.alu(opAdd, r(s.slot), r(s.slot))
	}
	p.mov(r(s.tag), r(rax))
	p.shift(opShr, r(s.tag), 32)
	p.shift(opShl, r(s.tag), arena.TagShift)
}

// homed returns the word of the slot in a part of the table, at an address in a register, that has a word for each slot.
func (p *part) homed(t *arena.TableLayout, base reg) operand {
	o := element(base, p.search.slot)
	o.half = t.Paired
	return o
}

// nextSlot goes on to the next slot.
func (p *part) nextSlot(t *arena.TableLayout) {
	p.aluImm(opAdd, r(p.search.slot), int32(stateWords(t)))
	p.aluImm(opAnd, r(p.search.slot), int32(stateWords(t)*int(t.Slots)-1))
}

// compareTag compares the tag of a state, which is in rax, with that of the key; rdx is used.
func (p *part) compareTag() {
	p.mov(r(rdx), r(rax))
	p.alu(opXor, r(rdx), r(p.search.tag))
	p.shift(opShl, r(rdx), 64-arena.ChangeShift)
	p.shift(opShr, r(rdx), 64-arena.ChangeShift+arena.TagShift)
}

// compareMemory compares memory with a word; the spare register is used.
func (p *part) compareMemory(o operand, w word, spare reg) {
	if p.isConst32(w) {
		p.aluImm(opCmp, o, int32(w.n))
		return
	}
	p.alu(opCmp, o, r(p.register(w, spare)))
}

// hash computes the hash of the key in rax, as key.Hash does; rcx is used.
func (p *part) hash() {
	var constants []uint64
	for _, w := range p.key.words {
		if w.kind == constant {
			constants = append(constants, w.n)
		}
	}
	if len(constants) == len(p.key.words) {
		p.movImm(rax, key.Hash(constants))
		return
	}
	p.movImm(rax, key.HashStart)
	for _, w := range p.key.words {
		p.alu(opXor, r(rax), p.source(w, rcx))
		p.multiplyBy(key.HashWord)
		p.mixShifted(32)
	}
	p.mixShifted(33)
	p.multiplyBy(key.HashEnd)
	p.mixShifted(33)
}

// multiplyBy multiplies rax by a constant.
func (p *part) multiplyBy(v uint64) {
	p.movImm(rcx, v)
	p.imul(rax, r(rcx))
}

// mixShifted computes rax ^ rax>>n.
func (p *part) mixShifted(n byte) {
	p.mov(r(rcx), r(rax))
	p.shift(opShr, r(rcx), n)
	p.alu(opXor, r(rax), r(rcx))
}

// atSlot does what an operation does with the pinned slot. Results are in the register of the entry.
func (p *part) atSlot(op opcode.Op, l *arena.Layout, v word) {
	s, t := p.search, l.Table
	cell := p.cellFound(t)
	if t.Stamp != 0 && (op == opcode.Agg || op == opcode.MapSet || op == opcode.MapAdd) {
		p.touch(t)
	}
	switch op {
	case opcode.Agg:
		p.update(l, cell, v)
	case opcode.MapGet:
		p.mov(r(s.entry), cell)
	case opcode.MapHas:
		p.movImm(s.entry, 1)
	case opcode.MapSet:
		p.store(cell, v)
	case opcode.MapAdd:
		p.load(rax, v)
		p.lockXadd(cell, rax)
		p.mov(r(s.entry), r(rax))
		if p.isConst32(v) {
			p.aluImm(opAdd, r(s.entry), int32(v.n))
		} else {
			p.alu(opAdd, r(s.entry), p.source(v, rax))
		}
	case opcode.MapDel:
		p.kill(t)
	}
}

// cellFound returns the cell of the entry that was found.
func (p *part) cellFound(t *arena.TableLayout) operand {
	if !t.Paired {
		return at(p.search.entry, int32(8*t.KeyWords))
	}
	p.lea(p.search.entry, p.arena(t.State))
	p.lea(p.search.entry, element(p.search.entry, p.search.slot))
	return at(p.search.entry, 8)
}

// touch stamps the slot as the most recently written.
func (p *part) touch(t *arena.TableLayout) {
	p.movImm(rax, 1)
	p.lockXadd(p.arena(t.Clock), rax)
	p.inc(r(rax))
	p.lea(rcx, p.arena(t.Stamp))
	p.mov(element(rcx, p.search.slot), r(rax))
}

// kill makes a full slot dying.
func (p *part) kill(t *arena.TableLayout) {
	again, done := p.newLabel(), p.newLabel()
	slot := element(rcx, p.search.slot)
	p.lea(rcx, p.arena(t.State))
	p.mov(r(rax), slot)
	p.place(again)
	p.mov(r(rdx), r(rax))
	p.aluImm(opAnd, r(rdx), int32(arena.StatusMask))
	p.aluImm(opCmp, r(rdx), arena.SlotFull)
	p.jccNear(condNE, done)
	p.lea(rdx, at(rax, arena.SlotDying-arena.SlotFull))
	p.lockCmpxchg(slot, rdx)
	p.jccNear(condNE, again)
	p.place(done)
}

// unpin removes the pin of the slot. If it was the last one of a dying slot, it empties the slot.
func (p *part) unpin(t *arena.TableLayout) {
	const unpinned = 1<<arena.ChangeShift - uint64(arena.PinOne)
	back, last := p.newLabel(), p.newLabel()
	slot := element(rcx, p.search.slot)
	p.movImm(rax, unpinned)
	p.lea(rcx, p.arena(t.State))
	p.lockXadd(slot, rax)
	p.extend(rdx, r(rax), 16, false) // status and pins, before
	p.aluImm(opCmp, r(rdx), int32(arena.PinOne|arena.SlotDying))
	p.jcc(condE, last)
	p.place(back)
	p.cold = append(p.cold, func() {
		p.place(last)
		p.movImm(rdx, unpinned)
		p.alu(opAdd, r(rax), r(rdx))
		p.lea(rdx, at(rax, arena.SlotBusy-arena.SlotDying))
		p.lockCmpxchg(slot, rdx)
		p.jcc(condNE, back)
		// Nobody else changes a busy slot. Only its changes remain.
		p.shift(opShr, r(rdx), arena.ChangeShift)
		p.inc(r(rdx))
		p.shift(opShl, r(rdx), arena.ChangeShift)
		p.mov(slot, r(rdx))
		p.lockDec(p.arena(t.Used))
		p.jmp(back)
	})
}
