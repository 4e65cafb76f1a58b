package amd64

import (
	"gotap/runtime/arena"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/opcode"
)

// New keys. A program that follows objects sets a key for each of them, so new keys are as frequent there as others.
// They are inserted as package arena does it (table.go), into tables of pairs, where a cell begins with 0. If the
// first attempt fails, the doorbell rings and the interpreter inserts the key. It waits for other threads, and applies
// the policy of the table if that is full.

// inserts reports whether native code inserts new keys for an operation.
func (k *tables) inserts(op opcode.Op, l *arena.Layout) bool {
	switch op {
	case opcode.MapSet, opcode.MapAdd, opcode.Agg:
		return k.isPair(op, l) && k.key.refs == 0 && asm.Fits32(l.Table.Limit)
	}
	return false
}

// insert makes the code that inserts the key, which a search has not found, makes the operation with its new cell, and
// goes on at done. It uses the registers of the search: slot has the home of the key, left has the word of that home, and
// entry has the slot that is looked at.
//
// The search has read the home word too late, when it had looked at the first slot. So all slots are searched once
// more, by their tags only.
func (k *tables) insert(op opcode.Op, l *arena.Layout, v word, unsure, done asm.Label) {
	s, t := k.cells.search, l.Table
	undo := k.NewLabel()
	k.Mov(asm.R(asm.RAX), k.arena(t.Used))
	k.AluImm(asm.Cmp, asm.R(asm.RAX), int32(t.Limit))
	k.Jcc(asm.AE, unsure)
	k.startSearch(t)
	k.Lea(asm.RCX, k.arena(t.Home))
	k.Mov(asm.R(k.used(s.left)), k.homed(t, asm.RCX))
	k.noneHasTag(t, unsure)
	k.claimSlot(t, unsure)
	k.fillSlot(op, t, v)
	k.countInsertion(t, undo)
	k.permitKey(t, undo)
	k.Lea(asm.RCX, k.arena(t.State))
	k.AluImm(asm.Add, asm.Element(asm.RCX, s.entry), arena.SlotFull-arena.SlotBusy)
	if op == opcode.MapAdd {
		k.load(s.entry, v)
	}
	k.Jmp(done)

	k.Place(undo)
	k.Lea(asm.RCX, k.arena(t.State))
	k.Lea(asm.RCX, asm.Element(asm.RCX, s.entry))
	k.Mov(asm.R(asm.RAX), asm.At(asm.RCX, 0))
	k.Shift(asm.Shr, asm.R(asm.RAX), arena.ChangeShift)
	k.Inc(asm.R(asm.RAX))
	k.Shift(asm.Shl, asm.R(asm.RAX), arena.ChangeShift)
	k.Mov(asm.At(asm.RCX, 0), asm.R(asm.RAX))
	k.Jmp(unsure)
}

// noneHasTag jumps to unsure if a slot within the reach of the home has the tag of the key.
func (k *tables) noneHasTag(t *arena.TableLayout, unsure asm.Label) {
	s, next, end := k.cells.search, k.NewLabel(), k.NewLabel()
	k.Mov(asm.R(s.entry), asm.R(s.slot))
	k.Mov(asm.R(k.used(asm.RBX)), asm.R(s.left))
	k.Shift(asm.Shr, asm.R(asm.RBX), arena.ChangeShift)
	k.Place(next)
	k.AluImm(asm.Sub, asm.R(asm.RBX), 1)
	k.Jcc(asm.B, end)
	k.Lea(asm.RCX, k.arena(t.State))
	k.Mov(asm.R(asm.RAX), asm.Element(asm.RCX, s.entry))
	k.compareTag()
	k.Jcc(asm.E, unsure)
	k.pastEntry(t)
	k.Jmp(next)
	k.Place(end)
}

// claimSlot makes the first free slot from the home on busy, and loads rdx with its distance.
func (k *tables) claimSlot(t *arena.TableLayout, unsure asm.Label) {
	s, look, other, claimed := k.cells.search, k.NewLabel(), k.NewLabel(), k.NewLabel()
	k.Mov(asm.R(s.entry), asm.R(s.slot))
	k.Clear(asm.RDX)
	k.Place(look)
	k.Lea(asm.RCX, k.arena(t.State))
	k.Lea(asm.RCX, asm.Element(asm.RCX, s.entry))
	k.Mov(asm.R(asm.RAX), asm.At(asm.RCX, 0))
	k.TestAL(byte(arena.StatusMask))
	k.Jcc(asm.NE, other)
	k.Mov(asm.R(asm.RBX), asm.R(asm.RAX)) // of a free slot only the changes stay
	k.Shift(asm.Shr, asm.R(asm.RBX), arena.ChangeShift)
	k.Shift(asm.Shl, asm.R(asm.RBX), arena.ChangeShift)
	k.LeaSum(asm.RBX, asm.RBX, s.tag, arena.SlotBusy)
	k.LockCmpxchg(asm.At(asm.RCX, 0), asm.RBX)
	k.Jcc(asm.E, claimed)
	k.Place(other)
	k.pastEntry(t)
	k.Inc(asm.R(asm.RDX))
	k.AluImm(asm.Cmp, asm.R(asm.RDX), int32(min(t.Slots, arena.MaxReach)))
	k.Jcc(asm.B, look)
	k.Jmp(unsure)
	k.Place(claimed)
}

// pastEntry goes on to the next slot.
func (k *tables) pastEntry(t *arena.TableLayout) {
	k.AluImm(asm.Add, asm.R(k.cells.search.entry), int32(stateWords(t)))
	k.AluImm(asm.And, asm.R(k.cells.search.entry), int32(stateWords(t)*int(t.Slots)-1))
}

// fillSlot stores the key, and what the operation makes of a cell that is 0. rdx stays.
func (k *tables) fillSlot(op opcode.Op, t *arena.TableLayout, v word) {
	s := k.cells.search
	k.Lea(asm.RCX, k.arena(t.Entries))
	k.ImulImm(asm.RAX, asm.R(s.entry), int32(8*t.EntryWords/stateWords(t)))
	k.Alu(asm.Add, asm.R(asm.RCX), asm.R(asm.RAX))
	store := func(to asm.Operand, w word) {
		if k.isConst32(w) {
			k.StoreImm(to, int32(w.n))
			return
		}
		k.load(asm.RAX, w)
		k.Mov(to, asm.R(asm.RAX))
	}
	for i := range t.KeyWords {
		w := word{constant, 0}
		if i < len(k.key.words) {
			w = k.key.words[i]
		}
		store(asm.At(asm.RCX, int32(8*i)), w)
	}
	if op == opcode.Agg {
		v = word{constant, 1}
	}
	k.Lea(asm.RCX, k.arena(t.State))
	store(asm.Element(asm.RCX, s.entry).Plus(8), v)
}

// countInsertion counts the insertion in the home word, with the reach that the slot at the distance in rdx needs. If
// another key of the home was inserted meanwhile it jumps to undo.
func (k *tables) countInsertion(t *arena.TableLayout, undo asm.Label) {
	s := k.cells.search
	k.Inc(asm.R(asm.RDX))
	k.Mov(asm.R(asm.RAX), asm.R(s.left))
	k.Mov(asm.R(asm.RBX), asm.R(asm.RAX))
	k.Shift(asm.Shr, asm.R(asm.RBX), arena.ChangeShift)
	k.Alu(asm.Cmp, asm.R(asm.RBX), asm.R(asm.RDX))
	k.Cmov(asm.B, asm.RBX, asm.R(asm.RDX))
	k.Shift(asm.Shl, asm.R(asm.RBX), arena.ChangeShift)
	k.Lea(asm.RDX, asm.At(asm.RAX, 1))
	k.Shift(asm.Shl, asm.R(asm.RDX), 64-arena.ChangeShift)
	k.Shift(asm.Shr, asm.R(asm.RDX), 64-arena.ChangeShift)
	k.Alu(asm.Or, asm.R(asm.RBX), asm.R(asm.RDX))
	k.Lea(asm.RCX, k.arena(t.Home))
	k.LockCmpxchg(k.homed(t, asm.RCX), asm.RBX)
	k.Jcc(asm.NE, undo)
}

// permitKey counts one more key, unless the table has its maximum number: then it jumps to undo.
func (k *tables) permitKey(t *arena.TableLayout, undo asm.Label) {
	again := k.NewLabel()
	k.Mov(asm.R(asm.RAX), k.arena(t.Used))
	k.Place(again)
	k.AluImm(asm.Cmp, asm.R(asm.RAX), int32(t.Limit))
	k.Jcc(asm.AE, undo)
	k.Lea(asm.RBX, asm.At(asm.RAX, 1))
	k.LockCmpxchg(k.arena(t.Used), asm.RBX)
	k.Jcc(asm.NE, again)
}
