package amd64

import (
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/native/amd64/span"
	"gotap/runtime/opcode"
)

// Operations on texts that are not known.

// length replaces a text by its length.
func (t *texts) length() {
	t.find(t.stack[len(t.stack)-1], t.bellBefore())
	t.popWord()
	t.lengthOf(asm.RAX)
	t.result(t.left)
}

// compare replaces two texts by how they compare.
func (t *texts) compare(op opcode.Op) {
	bell := t.bellBefore()
	t.find(t.stack[len(t.stack)-1], bell)
	t.lengthOf(asm.RAX)
	t.Mov(asm.R(t.to), asm.R(t.from))
	t.find(t.stack[len(t.stack)-2], bell)
	t.popWord()
	t.popWord()
	t.Shift(asm.Shr, asm.R(asm.RAX), refLength)
	t.Extend(asm.RAX, asm.R(asm.RAX), 16, false)
	switch pair := (span.Pair{S: t.from, T: t.to, LenT: t.left}); op {
	case opcode.Seq:
		pair.Equal(t.Assembler)
	case opcode.Sprefix:
		pair.Prefix(t.Assembler)
	default:
		pair.Order(t.Assembler)
	}
	t.result(asm.RAX)
}

// digits replaces a number by its digits.
func (t *texts) digits(op opcode.Op) {
	bell := t.bellBefore()
	t.uses()
	t.room(native.MostDigits, bell)
	t.load(t.left, t.popWord())
	switch n := (span.Number{Value: t.left, At: t.to, Next: t.from}); op {
	case opcode.Sdec:
		n.Signed(t.Assembler)
	case opcode.Sudec:
		n.Unsigned(t.Assembler)
	default:
		n.Hex(t.Assembler)
	}
	t.Mov(asm.R(asm.RDX), t.usedBytes())
	t.MovImm(asm.RCX, 0)
	t.makeRef()
	t.result(asm.RCX)
}
