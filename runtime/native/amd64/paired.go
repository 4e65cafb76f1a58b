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
func (p *part) usePair(op opcode.Op, l *arena.Layout, v word, absent, unsure label) {
	s, t := p.search, l.Table
	probe, retry, again, next, other, done := p.newLabel(), p.newLabel(), p.newLabel(), p.newLabel(), p.newLabel(), p.newLabel()
	pair := at(s.entry, 0)
	p.startSearch(t)
	p.place(probe)
	p.aluImm(opSub, r(s.left), 1)
	p.jcc(condB, absent)
	p.lea(rcx, p.arena(t.State))
	p.lea(s.entry, element(rcx, s.slot))
	p.place(retry)
	p.mov(r(rax), pair)
	p.place(again)
	p.compareTag()
	p.jcc(condNE, next)
	p.mov(r(rdx), r(rax))
	p.aluImm(opAnd, r(rdx), int32(arena.StatusMask))
	p.aluImm(opCmp, r(rdx), arena.SlotFull)
	p.jcc(condNE, other)
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
	p.place(done)
	p.cold = append(p.cold, func() {
		p.place(next)
		p.nextSlot(t)
		p.jmp(probe)
		p.place(other)
		p.aluImm(opCmp, r(rdx), arena.SlotBusy)
		p.jcc(condE, unsure)
		p.jmp(next)
	})
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
