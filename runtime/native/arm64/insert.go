package arm64

import (
	"gotap/runtime/arena"
	"gotap/runtime/opcode"
)

// New keys are inserted as on amd64 (insert.go there), in tables of pairs.

// Registers of an insertion, besides those of a search: slotReg is the home of the key, leftReg the word of that home.
const (
	distanceReg = x14 // of the slot that is looked at, from the home
	cursorReg   = x15 // its number
)

// insertsKey reports whether native code inserts the key that is being built, if it is not there.
func (k *tables) insertsKey(op opcode.Op, t *arena.TableLayout) bool {
	for _, w := range k.key.words {
		if w.ref {
			return false
		}
	}
	return inserts(op) && usesPair(op, k.plan.Ops[k.pc].Object) && t.Limit < 1<<32
}

// insert makes the code that inserts the key, which a search has not found, makes the operation with its new cell, and
// goes on at done, with the result in x17.
func (k *tables) insert(op opcode.Op, t *arena.TableLayout, value int, unsure, done label) {
	undo := k.newLabel()
	k.arena(x7, t.Used)
	k.ldr(x6, x7, 0)
	k.movImm(x8, t.Limit)
	k.cmp(x6, x8)
	k.bIf(condHS, unsure)
	k.toHome(t)
	k.noneHasTag(t, unsure)
	k.claimSlot(t, unsure)
	k.fillSlot(op, t, value)
	k.countInsertion(t, undo)
	k.permitKey(t, undo)
	k.ldr(x6, stateReg, 0) // nobody else changes a busy slot
	k.addImm(x6, x6, arena.SlotFull-arena.SlotBusy)
	k.stlr(x6, stateReg)
	if op == opcode.MapAdd {
		k.mov(x17, k.get(value, x17))
	}
	k.b(done)

	k.place(undo)
	k.clrex()
	k.ldr(x6, stateReg, 0)
	k.shr(x6, x6, arena.ChangeShift)
	k.addImm(x6, x6, 1)
	k.shl(x6, x6, arena.ChangeShift)
	k.stlr(x6, stateReg)
	k.b(unsure)
}

// toHome loads the tag of the key, the slot that is its home, and the word of the home.
func (k *tables) toHome(t *arena.TableLayout) {
	k.hash()
	k.movImm(x7, t.Slots-1)
	k.three(opAnd, slotReg, x6, x7)
	k.shr(tagReg, x6, 32)
	k.arena(x7, t.Home)
	k.addShifted(x7, x7, slotReg, 3)
	k.ldar(leftReg, x7)
}

// noneHasTag jumps to unsure if a slot within the reach of the home has the tag of the key.
func (k *tables) noneHasTag(t *arena.TableLayout, unsure label) {
	next, end := k.newLabel(), k.newLabel()
	k.shr(distanceReg, leftReg, arena.ChangeShift)
	k.mov(cursorReg, slotReg)
	k.place(next)
	k.cbz(distanceReg, end)
	k.subImm(distanceReg, distanceReg, 1)
	k.atCursor(t)
	k.ldar(x6, stateReg)
	k.field(x7, x6, arena.TagShift, 32)
	k.cmp(x7, tagReg)
	k.bIf(condEQ, unsure)
	k.pastCursor(t)
	k.b(next)
	k.place(end)
}

// atCursor loads the address of the state of the slot that is looked at, and pastCursor goes on to the next one.
func (k *tables) atCursor(t *arena.TableLayout) {
	k.arena(stateReg, t.State)
	k.addShifted(stateReg, stateReg, cursorReg, stateShift(t))
}

func (k *tables) pastCursor(t *arena.TableLayout) {
	k.addImm(cursorReg, cursorReg, 1)
	k.movImm(x7, t.Slots-1)
	k.three(opAnd, cursorReg, cursorReg, x7)
}

// claimSlot makes the first free slot from the home on busy.
func (k *tables) claimSlot(t *arena.TableLayout, unsure label) {
	look, try, other, claimed := k.newLabel(), k.newLabel(), k.newLabel(), k.newLabel()
	k.mov(cursorReg, slotReg)
	k.movImm(distanceReg, 0)
	k.place(look)
	k.atCursor(t)
	k.place(try)
	k.ldaxr(x6, stateReg)
	k.field(x7, x6, 0, 2)
	k.cbnz(x7, other)
	k.shr(x7, x6, arena.ChangeShift) // of a free slot only the changes stay
	k.shl(x7, x7, arena.ChangeShift)
	k.addShifted(x7, x7, tagReg, arena.TagShift)
	k.addImm(x7, x7, arena.SlotBusy)
	k.stlxr(x16, x7, stateReg)
	k.cbnz32(x16, try)
	k.b(claimed)
	k.place(other)
	k.clrex()
	k.pastCursor(t)
	k.addImm(distanceReg, distanceReg, 1)
	k.movImm(x7, min(t.Slots, arena.MaxReach))
	k.cmp(distanceReg, x7)
	k.bIf(condLO, look)
	k.b(unsure)
	k.place(claimed)
}

// fillSlot stores the key, and what the operation makes of a cell that is 0.
func (k *tables) fillSlot(op opcode.Op, t *arena.TableLayout, value int) {
	k.arena(x7, t.Entries)
	k.movImm(x8, uint64(8*t.EntryWords))
	k.madd(x7, cursorReg, x8, x7)
	for i := range t.KeyWords {
		x := xzr
		if i < len(k.searched) {
			x = k.keyWord(k.searched[i], x8)
		}
		k.str(x, x7, 8*i)
	}
	v := x8
	if op == opcode.Agg {
		k.movImm(x8, 1)
	} else {
		v = k.get(value, x17)
	}
	k.str(v, stateReg, 8)
}

// countInsertion counts the insertion in the home word, with the reach that the slot needs. If another key of the home
// was inserted meanwhile it jumps to undo.
func (k *tables) countInsertion(t *arena.TableLayout, undo label) {
	again := k.newLabel()
	k.addImm(distanceReg, distanceReg, 1)
	k.shr(x6, leftReg, arena.ChangeShift)
	k.cmp(x6, distanceReg)
	k.csel(x6, distanceReg, x6, condLO)
	k.shl(x6, x6, arena.ChangeShift)
	k.addImm(x7, leftReg, 1)
	k.field(x7, x7, 0, arena.ChangeShift)
	k.three(opOr, x6, x6, x7)
	k.arena(x7, t.Home)
	k.addShifted(x7, x7, slotReg, 3)
	k.place(again)
	k.ldaxr(x8, x7)
	k.cmp(x8, leftReg)
	k.bIf(condNE, undo)
	k.stlxr(x16, x6, x7)
	k.cbnz32(x16, again)
}

// permitKey counts one more key, unless the table has its maximum number: then it jumps to undo.
func (k *tables) permitKey(t *arena.TableLayout, undo label) {
	again := k.newLabel()
	k.arena(x7, t.Used)
	k.movImm(x6, t.Limit)
	k.place(again)
	k.ldaxr(x8, x7)
	k.cmp(x8, x6)
	k.bIf(condHS, undo)
	k.addImm(x8, x8, 1)
	k.stlxr(x16, x8, x7)
	k.cbnz32(x16, again)
}
