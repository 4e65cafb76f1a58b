package amd64

import (
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/native/amd64/span"
	"gotap/runtime/value"
)

// Texts in cells and in keys: a header with the length, and the bytes padded to words.

// pushThis makes a text of one in the storage of the call.
func (t *texts) pushThis(cell asm.Operand) {
	t.uses()
	t.room(value.DefaultText, t.bellBefore())
	t.copyCell(cell)
	t.result(asm.RCX)
}

// copyCell makes a text of one in a cell, at the position rdx and the address to. Its reference is then in rcx.
func (t *texts) copyCell(cell asm.Operand) {
	fits := t.NewLabel()
	t.Mov(asm.R(asm.RCX), cell)
	t.Mov(asm.R(asm.RAX), asm.R(asm.RCX))
	t.AluImm(asm.And, asm.R(asm.RAX), int32(value.HeaderLength))
	t.AluImm(asm.Cmp, asm.R(asm.RAX), value.DefaultText)
	t.JccNear(asm.BE, fits)
	t.MovImm(asm.RAX, value.DefaultText)
	t.Place(fits)
	t.Shift(asm.Shr, asm.R(asm.RCX), 16)
	t.AluImm(asm.And, asm.R(asm.RCX), 1<<(refCut-refLength))
	t.makeRef()
	t.Lea(t.from, cell.Plus(8))
	t.Mov(asm.R(t.left), asm.R(asm.RAX))
	span.Copy(t.Assembler, t.from, t.to, t.left)
}

// loadText loads the register of the entry with a text that any thread may replace: a copy of it in a cell (package
// arena, textcell.go). A thread that finds it being replaced, or replaced meanwhile, gives up.
func (k *tables) loadText(cell asm.Operand, giveUp func()) {
	s, t, busy := k.cells.search, k.texts, k.NewLabel()
	k.Mov(asm.R(asm.RAX), cell)
	k.TestAL(1)
	k.Jcc(asm.NE, busy)
	k.Mov(asm.R(s.left), asm.R(asm.RAX)) // all has been searched
	t.room(value.DefaultText, t.abandoned)
	t.copyCell(cell.Plus(8))
	k.Alu(asm.Cmp, asm.R(s.left), cell)
	k.Jcc(asm.NE, busy)
	k.Mov(asm.R(s.entry), asm.R(asm.RCX))
	k.cold = append(k.cold, func() {
		k.Place(busy)
		giveUp()
	})
}

// popThis stores a text in the storage of the call.
func (t *texts) popThis(cell asm.Operand) {
	if text, known := t.plan.Operands(t.pc, 1); known {
		t.popWord()
		for i, v := range text[0].KeyWords() {
			t.store(cell.Plus(8*int32(i)), word{constant, v})
		}
		return
	}
	t.find(t.stack[len(t.stack)-1], t.bell())
	t.popWord()
	t.cutLength()
	t.Lea(t.to, cell)
	t.copyWith()
}

// cutLength loads left with the length in the reference rax, as it is in cells and keys. rax has then bit 16 set if the
// text is cut.
func (t *texts) cutLength() {
	fits := t.NewLabel()
	t.lengthOf(asm.RAX)
	t.AluImm(asm.Cmp, asm.R(t.left), value.DefaultText)
	t.JccNear(asm.BE, fits)
	t.MovImm(t.left, value.DefaultText)
	t.MovImm(asm.RAX, 1<<(refCut-refLength))
	t.Place(fits)
}

// header makes the header of a text of left bytes in rax, which has bit 16 set if it is cut.
func (t *texts) header() {
	t.AluImm(asm.And, asm.R(asm.RAX), 1<<(refCut-refLength))
	t.Shift(asm.Shl, asm.R(asm.RAX), 16)
	t.Alu(asm.Add, asm.R(asm.RAX), asm.R(t.left))
}

// copyWith stores the header of a text, and its bytes padded to words. rax has bit 16 set if it is cut. from, to and
// left are used.
func (t *texts) copyWith() {
	t.header()
	t.Mov(asm.At(t.to, 0), asm.R(asm.RAX))
	t.AluImm(asm.Add, asm.R(t.to), 8)
	span.EachWord(t.Assembler, t.from, t.left, func(from asm.Operand) {
		t.Mov(asm.R(asm.RDX), from)
		t.Mov(asm.At(t.to, 0), asm.R(asm.RDX))
		t.AluImm(asm.Add, asm.R(t.to), 8)
	})
}

// openPart loads rax with the header of a text as it stands in keys, from with the address of its bytes and left with
// their number. The text has been found before.
func (t *texts) openPart(ref word) {
	t.find(ref, t.abandoned)
	t.cutLength()
	t.header()
}

// mixPart adds a text to the hash in rax; to is used, too.
func (t *texts) mixPart(ref word, mix func(asm.Operand)) {
	t.Mov(asm.R(t.to), asm.R(asm.RAX))
	t.openPart(ref)
	mix(asm.R(t.to))
	span.EachWord(t.Assembler, t.from, t.left, mix)
}

// comparePart compares a text with the words at to, which is then behind them, or jumps if they differ.
func (t *texts) comparePart(ref word, differs asm.Label) {
	compare := func(w asm.Operand) {
		t.Mov(asm.R(asm.RAX), w)
		t.Alu(asm.Cmp, asm.At(t.to, 0), asm.R(asm.RAX))
		t.Jcc(asm.NE, differs)
		t.AluImm(asm.Add, asm.R(t.to), 8)
	}
	t.openPart(ref)
	compare(asm.R(asm.RAX))
	span.EachWord(t.Assembler, t.from, t.left, compare)
}
