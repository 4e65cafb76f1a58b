package amd64

import (
	"gotap/runtime/arena"
	"gotap/runtime/calls"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
)

// Counting by key in the share of the thread: package arena describes the entries (keyshare.go). The key's own entry
// takes one plain addition where the table takes an operation that locks, and a longer hash.

// ownEntries returns where threads have entries of their own for an operation; ok is false if they have none.
func (k *tables) ownEntries(op opcode.Op, l *arena.Layout) (e arena.KeyEntries, ok bool) {
	if op != opcode.Agg || k.share == noShare || k.cells.float {
		return e, false
	}
	return l.KeyShare.Entries()
}

// ownEntry loads rdx with the key as entries have it, and returns the entry where its search begins, at an address that
// is in rcx. A key, or a thread, that has no entries jumps to none.
func (k *tables) ownEntry(e arena.KeyEntries, none asm.Label) asm.Operand {
	if k.share == maybeShare {
		k.Test(k.stackOf)
		k.Jcc(asm.E, none)
	}
	k.load(asm.RDX, k.key.words[0])
	k.MovImm(k.used(asm.RCX), arena.KeyMultiplier)
	k.Imul(asm.RCX, asm.R(asm.RDX))
	k.Shift(asm.Shr, asm.R(asm.RCX), byte(64-e.Bits))
	k.Shift(asm.Shl, asm.R(asm.RCX), byte(e.Shift))
	k.Alu(asm.Add, asm.R(asm.RCX), asm.R(k.stackOf))
	k.AluImm(asm.Sub, asm.R(asm.RDX), arena.KeyBias)
	k.Jcc(asm.E, none)
	return asm.At(asm.RCX, int32(calls.ShareAt+e.Entries))
}

// addOwn adds to the thread's entry of the key and jumps to done, or goes on behind that if there is no entry.
func (k *tables) addOwn(e arena.KeyEntries, v word, done asm.Label) {
	found, other, none := k.NewLabel(), k.NewLabel(), k.NewLabel()
	entry := k.ownEntry(e, none)
	k.Alu(asm.Cmp, entry, asm.R(asm.RDX))
	k.Jcc(asm.NE, other)
	k.Place(found)
	if k.plan.Ops[k.pc].Object.Object.Form() == object.KindSum {
		k.adder(v)(entry.Plus(8+arena.ValueOffset), true)
	}
	k.Inc(entry.Plus(8 + arena.CountOffset))
	k.Jmp(done)
	k.Place(other)
	for range arena.KeyProbes - 1 {
		k.AluImm(asm.Add, asm.R(asm.RCX), 1<<e.Shift)
		k.Alu(asm.Cmp, entry, asm.R(asm.RDX))
		k.Jcc(asm.E, found)
	}
	k.Place(none)
}

// takeOwn gives the key, which is in the table, a free entry of the thread, if there is one. rax, rcx and rdx are used.
func (k *tables) takeOwn(e arena.KeyEntries, done asm.Label) {
	entry := k.ownEntry(e, done)
	for range arena.KeyProbes {
		next := k.NewLabel()
		k.AluImm(asm.Cmp, entry, 0)
		k.Jcc(asm.NE, next)
		k.Inc(asm.At(k.stackOf, int32(calls.ShareAt+e.Used)))
		k.Clear(k.used(asm.RAX))
		k.LockCmpxchg(entry, asm.RDX)
		k.Jmp(done)
		k.Place(next)
		k.AluImm(asm.Add, asm.R(asm.RCX), 1<<e.Shift)
	}
}
