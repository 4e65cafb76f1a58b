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
func (k *tables) swapsPairs() bool {
	return k.site.Pairs && slices.ContainsFunc(k.plan.Ops, func(op native.Op) bool {
		return (op.Key || op.Own) && op.Object != nil && op.Object.Table != nil && op.Object.Table.Paired
	})
}

// isPair reports whether an operation on an object with keys reads or replaces a pair. Deleting a key needs a pin.
func (k *tables) isPair(op opcode.Op, l *arena.Layout) bool {
	switch op {
	case opcode.MapGet, opcode.MapHas, opcode.MapSet, opcode.MapAdd, opcode.PushPT, opcode.PopPT, opcode.AddPT:
	case opcode.Agg:
		if l.Object.Form() != object.KindCount {
			return false
		}
	default:
		return false
	}
	return k.site.Pairs && l.Table.Paired
}

// usePair searches the key and makes the operation with its cell. The result, if there is one, is in the register of the entry.
//
// Mostly the key is in the slot that is its home. How many slots are to be searched is read only if it is not. The number is in the upper
// bits of the register of the tag, which a comparison of tags leaves out; 0: it has not been read.
func (k *tables) usePair(op opcode.Op, l *arena.Layout, v word, absent, unsure label) {
	s, t := k.cells.search, l.Table
	probe, retry, again, full, unlike, next := k.newLabel(), k.newLabel(), k.newLabel(), k.newLabel(), k.newLabel(), k.newLabel()
	pair := at(s.entry, 0)
	k.startSearch(t)
	k.place(probe)
	k.lea(rcx, k.arena(t.State))
	k.lea(s.entry, element(rcx, s.slot))
	k.place(retry)
	k.mov(r(rax), pair)
	k.place(again)
	// The tag, the status and one of the bits of the pins.
	const compared = -1<<31 | int64(arena.StatusMask<<(64-arena.ChangeShift))
	k.lea(rdx, at(s.tag, arena.SlotFull))
	k.alu(opXor, r(rdx), r(rax))
	k.shift(opShl, r(rdx), 64-arena.ChangeShift)
	k.aluImm(opAnd, r(rdx), int32(compared))
	k.jcc(condNE, unlike)
	k.place(full)
	k.lea(rcx, k.arena(t.Entries))
	if t.EntryWords == 1 {
		k.compareMemory(k.homed(t, rcx), k.key.words[0], rdx)
		k.jcc(condNE, next)
	} else {
		k.imulImm(rdx, r(s.slot), int32(4*t.EntryWords))
		k.alu(opAdd, r(rcx), r(rdx))
		for i, w := range k.key.words {
			k.compareMemory(at(rcx, int32(8*i)), w, rdx)
			k.jcc(condNE, next)
		}
	}
	switch op {
	case opcode.MapGet, opcode.PushPT, opcode.MapHas:
		k.mov(r(rdx), at(s.entry, 8))
		k.alu(opCmp, r(rax), pair)
		k.jcc(condNE, retry)
		if k.mov(r(s.entry), r(rdx)); op == opcode.MapHas {
			k.movImm(s.entry, 1)
		}
	default:
		k.mov(r(rdx), at(s.entry, 8))
		k.newCell(op, v)
		k.mov(r(k.used(rbx)), r(rax))
		k.lockCmpxchg16(pair)
		k.jcc(condNE, again)
		if op == opcode.MapAdd {
			k.mov(r(s.entry), r(rcx))
		}
	}
	k.cold = append(k.cold, func() {
		k.place(unlike)
		k.compareTag()
		k.jcc(condNE, next)
		k.mov(r(rdx), r(rax))
		k.aluImm(opAnd, r(rdx), int32(arena.StatusMask))
		k.aluImm(opCmp, r(rdx), arena.SlotFull)
		k.jcc(condE, full)
		k.aluImm(opCmp, r(rdx), arena.SlotBusy)
		k.jcc(condE, unsure)
		k.place(next)
		k.pastPair(t, absent)
		k.jmp(probe)
	})
}

// pastPair goes on to the next slot, or jumps to absent behind the last one that is to be searched; rcx and rdx are used.
func (k *tables) pastPair(t *arena.TableLayout, absent label) {
	s, known := k.cells.search, k.newLabel()
	k.mov(r(rdx), r(s.tag))
	k.shift(opShr, r(rdx), arena.ChangeShift)
	k.jcc(condNE, known)
	k.lea(rcx, k.arena(t.Home)) // the slot is the home still
	k.mov(r(rdx), k.homed(t, rcx))
	k.shift(opShr, r(rdx), arena.ChangeShift)
	k.jcc(condE, absent)
	k.mov(r(rcx), r(rdx))
	k.shift(opShl, r(rcx), arena.ChangeShift)
	k.alu(opOr, r(s.tag), r(rcx))
	k.place(known)
	k.aluImm(opSub, r(rdx), 1)
	k.jcc(condE, absent)
	k.movImm(rcx, 1<<arena.ChangeShift)
	k.alu(opSub, r(s.tag), r(rcx))
	k.nextSlot(t)
}

// newCell loads rcx with what an operation makes of a cell that is rdx.
func (k *tables) newCell(op opcode.Op, v word) {
	switch {
	case op == opcode.MapSet || op == opcode.PopPT:
		k.load(rcx, v)
	case op == opcode.Agg:
		k.lea(rcx, at(rdx, 1))
	case k.isConst32(v):
		k.lea(rcx, at(rdx, int32(v.n)))
	default:
		k.load(rcx, v)
		k.alu(opAdd, r(rcx), r(rdx))
	}
}
