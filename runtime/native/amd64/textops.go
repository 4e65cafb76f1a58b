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

// join replaces two texts by both, one after the other. It rings for a first one that is cut, whose mark would stand in
// between, and if the result is too long.
func (t *texts) join() {
	bell, top := t.bellBefore(), len(t.stack)-1
	most := int32(t.memoryOfTexts.bytes - native.TextRoom)
	t.find(t.stack[top-1], bell)
	t.lengthOf(asm.RAX)
	t.AluImm(asm.And, asm.R(asm.RAX), 1<<(refCut-refLength))
	t.Jcc(asm.NE, bell)
	t.Mov(asm.R(asm.RDX), t.usedBytes())
	t.Lea(t.to, t.memory())
	t.Alu(asm.Add, asm.R(t.to), asm.R(asm.RDX))
	t.Alu(asm.Add, asm.R(asm.RDX), asm.R(t.left))
	t.AluImm(asm.Cmp, asm.R(asm.RDX), most)
	t.Jcc(asm.A, bell)
	t.LeaSum(asm.RCX, t.to, t.left, 0)
	span.Copy(t.Assembler, t.from, t.to, t.left)
	t.Mov(asm.R(t.to), asm.R(asm.RCX))
	t.find(t.stack[top], bell)
	t.lengthOf(asm.RAX)
	t.AluImm(asm.And, asm.R(asm.RAX), 1<<(refCut-refLength))
	t.LeaSum(asm.RCX, t.to, t.left, 0)
	t.Lea(asm.RDX, t.memory())
	t.Alu(asm.Sub, asm.R(asm.RCX), asm.R(asm.RDX))
	t.AluImm(asm.Cmp, asm.R(asm.RCX), most)
	t.Jcc(asm.A, bell)
	t.Alu(asm.Sub, asm.R(asm.RCX), t.usedBytes())
	t.AluImm(asm.Cmp, asm.R(asm.RCX), native.MostJoined)
	t.Jcc(asm.A, bell)
	span.Copy(t.Assembler, t.from, t.to, t.left)
	t.Xchg(asm.RAX, asm.RCX)
	t.Mov(asm.R(asm.RDX), t.usedBytes())
	t.popWord()
	t.popWord()
	t.makeRef()
	t.result(asm.RCX)
}
