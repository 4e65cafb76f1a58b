package amd64

import (
	"slices"

	"gotap/runtime/arena"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
)

// A cell of one word that lies behind its state is replaced together with it, by one instruction, and the slot is not
// pinned (package arena, table.go). The instruction compares rdx:rax and stores rcx:rbx.

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

// usePair searches the key and makes the operation with its cell. The result, if there is one, is in the register of
// the entry.
//
// Mostly the key is in the slot that is its home. How many slots are to be searched is read only if it is not. The
// number is in the upper bits of the register of the tag, which a comparison of tags leaves out; 0: it has not been
// read.
func (k *tables) usePair(op opcode.Op, l *arena.Layout, v word, absent, unsure asm.Label) {
	s, t := k.cells.search, l.Table
	probe, retry, again, full, unlike, next := k.NewLabel(), k.NewLabel(), k.NewLabel(), k.NewLabel(), k.NewLabel(), k.NewLabel()
	pair := asm.At(s.entry, 0)
	k.startSearch(t)
	k.Place(probe)
	k.Lea(asm.RCX, k.arena(t.State))
	k.Lea(s.entry, asm.Element(asm.RCX, s.slot))
	k.Place(retry)
	k.Mov(asm.R(asm.RAX), pair)
	k.Place(again)
	// The tag, the status and one of the bits of the pins.
	const compared = -1<<31 | int64(arena.StatusMask<<(64-arena.ChangeShift))
	k.Lea(asm.RDX, asm.At(s.tag, arena.SlotFull))
	k.Alu(asm.Xor, asm.R(asm.RDX), asm.R(asm.RAX))
	k.Shift(asm.Shl, asm.R(asm.RDX), 64-arena.ChangeShift)
	k.AluImm(asm.And, asm.R(asm.RDX), int32(compared))
	k.Jcc(asm.NE, unlike)
	k.Place(full)
	k.Lea(asm.RCX, k.arena(t.Entries))
	if t.EntryWords == 1 {
		k.compareMemory(k.homed(t, asm.RCX), k.key.words[0], asm.RDX)
		k.Jcc(asm.NE, next)
	} else {
		k.ImulImm(asm.RDX, asm.R(s.slot), int32(4*t.EntryWords))
		k.Alu(asm.Add, asm.R(asm.RCX), asm.R(asm.RDX))
		if k.key.refs != 0 {
			k.Mov(asm.R(k.used(s.left)), asm.R(asm.RAX))
		}
		if k.compareKey(asm.RCX, asm.RDX, next); k.key.refs != 0 {
			k.Mov(asm.R(asm.RAX), asm.R(s.left))
		}
	}
	switch op {
	case opcode.MapGet, opcode.PushPT, opcode.MapHas:
		k.Mov(asm.R(asm.RDX), asm.At(s.entry, 8))
		k.Alu(asm.Cmp, asm.R(asm.RAX), pair)
		k.Jcc(asm.NE, retry)
		if k.Mov(asm.R(s.entry), asm.R(asm.RDX)); op == opcode.MapHas {
			k.MovImm(s.entry, 1)
		}
	default:
		k.Mov(asm.R(asm.RDX), asm.At(s.entry, 8))
		k.newCell(op, v)
		k.Mov(asm.R(k.used(asm.RBX)), asm.R(asm.RAX))
		k.LockCmpxchg16(pair)
		k.Jcc(asm.NE, again)
		if op == opcode.MapAdd {
			k.Mov(asm.R(s.entry), asm.R(asm.RCX))
		}
	}
	k.cold = append(k.cold, func() {
		k.Place(unlike)
		k.compareTag()
		k.Jcc(asm.NE, next)
		k.Mov(asm.R(asm.RDX), asm.R(asm.RAX))
		k.AluImm(asm.And, asm.R(asm.RDX), int32(arena.StatusMask))
		k.AluImm(asm.Cmp, asm.R(asm.RDX), arena.SlotFull)
		k.Jcc(asm.E, full)
		k.AluImm(asm.Cmp, asm.R(asm.RDX), arena.SlotBusy)
		k.Jcc(asm.E, unsure)
		k.Place(next)
		k.pastPair(t, absent)
		k.Jmp(probe)
	})
}

// pastPair goes on to the next slot, or jumps to absent behind the last one that is to be searched; rcx and rdx are
// used.
func (k *tables) pastPair(t *arena.TableLayout, absent asm.Label) {
	s, known := k.cells.search, k.NewLabel()
	k.Mov(asm.R(asm.RDX), asm.R(s.tag))
	k.Shift(asm.Shr, asm.R(asm.RDX), arena.ChangeShift)
	k.Jcc(asm.NE, known)
	k.Lea(asm.RCX, k.arena(t.Home)) // the slot is the home still
	k.Mov(asm.R(asm.RDX), k.homed(t, asm.RCX))
	k.Shift(asm.Shr, asm.R(asm.RDX), arena.ChangeShift)
	k.Jcc(asm.E, absent)
	k.Mov(asm.R(asm.RCX), asm.R(asm.RDX))
	k.Shift(asm.Shl, asm.R(asm.RCX), arena.ChangeShift)
	k.Alu(asm.Or, asm.R(s.tag), asm.R(asm.RCX))
	k.Place(known)
	k.AluImm(asm.Sub, asm.R(asm.RDX), 1)
	k.Jcc(asm.E, absent)
	k.MovImm(asm.RCX, 1<<arena.ChangeShift)
	k.Alu(asm.Sub, asm.R(s.tag), asm.R(asm.RCX))
	k.nextSlot(t)
}

// newCell loads rcx with what an operation makes of a cell that is rdx.
func (k *tables) newCell(op opcode.Op, v word) {
	switch {
	case op == opcode.MapSet || op == opcode.PopPT:
		k.load(asm.RCX, v)
	case op == opcode.Agg:
		k.Lea(asm.RCX, asm.At(asm.RDX, 1))
	case k.isConst32(v):
		k.Lea(asm.RCX, asm.At(asm.RDX, int32(v.n)))
	default:
		k.load(asm.RCX, v)
		k.Alu(asm.Add, asm.R(asm.RCX), asm.R(asm.RDX))
	}
}
