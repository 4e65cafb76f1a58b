package amd64

import (
	"slices"

	"gotap/runtime/arena"
	"gotap/runtime/native"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
)

// A cell of one word that lies behind its state is replaced together with it, by one instruction, and the slot is not pinned (package
// arena, table.go). The instruction compares rdx:rax and stores rcx:rbx.

// swapsPairs reports whether the part may replace pairs. Then rbx belongs to single operations.
func (p *part) swapsPairs() bool {
	return p.site.Pairs && slices.ContainsFunc(p.plan.Ops, func(op native.Op) bool {
		return (op.Key || op.Own) && op.Object != nil && op.Object.Table != nil && op.Object.Table.Paired
	})
}

// isPair reports whether an operation on an object with keys reads or replaces a pair. Deleting a key needs a pin.
func (p *part) isPair(op opcode.Op, l *arena.Layout) bool {
	switch op {
	case opcode.MapGet, opcode.MapHas, opcode.MapSet, opcode.MapAdd, opcode.PushPT, opcode.PopPT, opcode.AddPT:
	case opcode.Agg:
		if l.Object.Form() != object.KindCount {
			return false
		}
	default:
		return false
	}
	return p.site.Pairs && l.Table.Paired
}

// usePair searches the key and makes the operation with its cell. The result, if there is one, is in the register of the entry.
//
// Mostly the key is in the slot that is its home. How many slots are to be searched is read only if it is not. The number is in the upper
// bits of the register of the tag, which a comparison of tags leaves out; 0: it has not been read.
func (p *part) usePair(op opcode.Op, l *arena.Layout, v word, absent, unsure label) {
	s, t := p.search, l.Table
	probe, retry, again, full, unlike, next := p.newLabel(), p.newLabel(), p.newLabel(), p.newLabel(), p.newLabel(), p.newLabel()
	pair := at(s.entry, 0)
	p.startSearch(t)
	p.place(probe)
	p.lea(rcx, p.arena(t.State))
	p.lea(s.entry, element(rcx, s.slot))
	p.place(retry)
	p.mov(r(rax), pair)
	p.place(again)
	// The tag, the status and one of the bits of the pins.
	const compared = -1<<31 | int64(arena.StatusMask<<(64-arena.ChangeShift))
	p.lea(rdx, at(s.tag, arena.SlotFull))
	p.alu(opXor, r(rdx), r(rax))
	p.shift(opShl, r(rdx), 64-arena.ChangeShift)
	p.aluImm(opAnd, r(rdx), int32(compared))
	p.jcc(condNE, unlike)
	p.place(full)
	p.lea(rcx, p.arena(t.Entries))
	if t.EntryWords == 1 {
		p.compareMemory(p.homed(t, rcx), p.key.words[0], rdx)
		p.jcc(condNE, next)
	} else {
		p.imulImm(rdx, r(s.slot), int32(4*t.EntryWords))
		p.alu(opAdd, r(rcx), r(rdx))
		for i, w := range p.key.words {
			p.compareMemory(at(rcx, int32(8*i)), w, rdx)
			p.jcc(condNE, next)
		}
	}
	switch op {
	case opcode.MapGet, opcode.PushPT, opcode.MapHas:
		p.mov(r(rdx), at(s.entry, 8))
		p.alu(opCmp, r(rax), pair)
		p.jcc(condNE, retry)
		if p.mov(r(s.entry), r(rdx)); op == opcode.MapHas {
			p.movImm(s.entry, 1)
		}
	default:
		p.mov(r(rdx), at(s.entry, 8))
		p.newCell(op, v)
		p.mov(r(p.used(rbx)), r(rax))
		p.lockCmpxchg16(pair)
		p.jcc(condNE, again)
		if op == opcode.MapAdd {
			p.mov(r(s.entry), r(rcx))
		}
	}
	p.cold = append(p.cold, func() {
		p.place(unlike)
		p.compareTag()
		p.jcc(condNE, next)
		p.mov(r(rdx), r(rax))
		p.aluImm(opAnd, r(rdx), int32(arena.StatusMask))
		p.aluImm(opCmp, r(rdx), arena.SlotFull)
		p.jcc(condE, full)
		p.aluImm(opCmp, r(rdx), arena.SlotBusy)
		p.jcc(condE, unsure)
		p.place(next)
		p.pastPair(t, absent)
		p.jmp(probe)
	})
}

// pastPair goes on to the next slot, or jumps to absent behind the last one that is to be searched; rcx and rdx are used.
func (p *part) pastPair(t *arena.TableLayout, absent label) {
	s, known := p.search, p.newLabel()
	p.mov(r(rdx), r(s.tag))
	p.shift(opShr, r(rdx), arena.ChangeShift)
	p.jcc(condNE, known)
	p.lea(rcx, p.arena(t.Home)) // the slot is the home still
	p.mov(r(rdx), p.homed(t, rcx))
	p.shift(opShr, r(rdx), arena.ChangeShift)
	p.jcc(condE, absent)
	p.mov(r(rcx), r(rdx))
	p.shift(opShl, r(rcx), arena.ChangeShift)
	p.alu(opOr, r(s.tag), r(rcx))
	p.place(known)
	p.aluImm(opSub, r(rdx), 1)
	p.jcc(condE, absent)
	p.movImm(rcx, 1<<arena.ChangeShift)
	p.alu(opSub, r(s.tag), r(rcx))
	p.nextSlot(t)
}

// newCell loads rcx with what an operation makes of a cell that is rdx.
func (p *part) newCell(op opcode.Op, v word) {
	switch {
	case op == opcode.MapSet || op == opcode.PopPT:
		p.load(rcx, v)
	case op == opcode.Agg:
		p.lea(rcx, at(rdx, 1))
	case p.isConst32(v):
		p.lea(rcx, at(rdx, int32(v.n)))
	default:
		p.load(rcx, v)
		p.alu(opAdd, r(rcx), r(rdx))
	}
}
