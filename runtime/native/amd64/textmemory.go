package amd64

import (
	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/native/amd64/span"
)

// Texts that are made when a program runs lie in slots of the part, one behind the other, as they lie in the
// interpreter's scratch memory. So their references are those that the interpreter would make, and a doorbell has the
// bytes for it (runtime.State.Text).

// textMemory is the memory of a part for texts.
type textMemory struct {
	used   home // how many bytes are used
	before home // how many were when a key was begun
	slot   int  // where it begins
	bytes  int
}

// texts makes the code of texts that are made when a program runs, and of those of which it is not known which of
// several they are.
type texts struct {
	*doorbells
	check          *memoryCheck
	from, to, left asm.Reg                   // what is copied
	data           map[runtime.Ref]asm.Label // texts that lie behind the code
}

// begin empties the memory.
func (t *texts) begin() {
	if m := t.memoryOfTexts; m != nil {
		t.written(home{slot: m.slot + m.bytes/8 - 1, onSlot: true})
		t.setHome(m.used, word{constant, 0})
	}
}

// memory returns where the memory begins.
func (t *texts) memory() asm.Operand { return asm.At(asm.RSP, int32(8*t.memoryOfTexts.slot)) }

// used returns how many bytes of the memory are used.
func (t *texts) usedBytes() asm.Operand { return t.homeOperand(t.memoryOfTexts.used) }

// uses notes that single operations and the copying of texts write their registers.
func (t *texts) uses() {
	for _, x := range []asm.Reg{asm.RAX, asm.RCX, asm.RDX, t.from, t.to, t.left} {
		t.used(x)
	}
}

// room loads to with the address of free memory, and rdx with how many bytes are used; rax stays. It rings if less than
// a text of some bytes is free.
func (t *texts) room(most int, bell asm.Label) {
	t.Mov(asm.R(asm.RDX), t.usedBytes())
	t.AluImm(asm.Cmp, asm.R(asm.RDX), int32(t.memoryOfTexts.bytes-most-native.TextRoom))
	t.Jcc(asm.G, bell)
	t.Lea(t.to, t.memory())
	t.Alu(asm.Add, asm.R(t.to), asm.R(asm.RDX))
}

// Positions in a reference, and how it says that a text is in the interpreter's scratch memory.
const (
	refLength  = 32
	refCut     = 48
	refSpace   = 62
	refScratch = 1
)

// makeRef makes the reference of a text of rax bytes, of which rcx has bit 16 set if it is cut, at the position rdx. It
// is then in rcx; rdx is used.
func (t *texts) makeRef() {
	t.Alu(asm.Add, t.usedBytes(), asm.R(asm.RAX))
	t.Alu(asm.Add, asm.R(asm.RCX), asm.R(asm.RAX))
	t.Shift(asm.Shl, asm.R(asm.RCX), refLength)
	t.Alu(asm.Or, asm.R(asm.RCX), asm.R(asm.RDX))
	t.MovImm(asm.RDX, refScratch<<refSpace)
	t.Alu(asm.Or, asm.R(asm.RCX), asm.R(asm.RDX))
}

// copyText makes a text of memory up to its NUL. It rings unless all bytes can be read that the interpreter might read,
// and those that it reads itself, 8 at a time.
func (t *texts) copyText() {
	most, _ := t.plan.Copied(t.pc)
	_, known := t.plan.Asked(t.pc)
	w, asked := t.stack[len(t.stack)-2], t.stack[len(t.stack)-1]
	bell := t.readBell(w, most+1)
	t.uses()
	x := t.check.checked(w, bell, most+8)
	t.Mov(asm.R(t.from), asm.R(x))
	t.room(most, bell)
	if t.load(t.left, asked); !known {
		t.AluImm(asm.Cmp, asm.R(t.left), int32(most))
		t.Jcc(asm.A, bell)
	}
	t.Shift(asm.Shr, asm.R(t.left), 3)
	t.Inc(asm.R(t.left))
	again, found, whole := t.NewLabel(), t.NewLabel(), t.NewLabel()
	t.Place(again)
	t.mayFault(bell, false, func() { t.Mov(asm.R(asm.RAX), asm.At(t.from, 0)) })
	t.Mov(asm.At(t.to, 0), asm.R(asm.RAX))
	const ones = 0x0101010101010101
	t.MovImm(asm.RCX, ones) // the lowest byte that is 0 is the lowest of which the highest bit remains
	t.Mov(asm.R(asm.RDX), asm.R(asm.RAX))
	t.Not(asm.R(asm.RDX))
	t.Alu(asm.Sub, asm.R(asm.RAX), asm.R(asm.RCX))
	t.Alu(asm.And, asm.R(asm.RAX), asm.R(asm.RDX))
	t.Shift(asm.Shl, asm.R(asm.RCX), 7)
	t.Alu(asm.And, asm.R(asm.RAX), asm.R(asm.RCX))
	t.JccNear(asm.NE, found)
	t.AluImm(asm.Add, asm.R(t.from), 8)
	t.AluImm(asm.Add, asm.R(t.to), 8)
	t.AluImm(asm.Sub, asm.R(t.left), 1)
	t.Jcc(asm.NE, again)
	t.MovImm(asm.RAX, 0x80) // there is none: the text is longer
	t.Place(found)
	t.Bsf(asm.RAX, asm.R(asm.RAX))
	t.Shift(asm.Shr, asm.R(asm.RAX), 3)
	t.Alu(asm.Add, asm.R(asm.RAX), asm.R(t.to))
	t.Lea(asm.RCX, t.memory())
	t.Alu(asm.Sub, asm.R(asm.RAX), asm.R(asm.RCX))
	t.Mov(asm.R(asm.RDX), t.usedBytes())
	t.Alu(asm.Sub, asm.R(asm.RAX), asm.R(asm.RDX))
	t.Alu(asm.Cmp, asm.R(asm.RAX), t.source(asked, asm.RCX))
	t.MovImm(asm.RCX, 0)
	t.JccNear(asm.BE, whole)
	t.load(asm.RAX, asked)
	t.MovImm(asm.RCX, 1<<(refCut-refLength))
	t.Place(whole)
	t.makeRef()
	t.popWord()
	t.popWord()
	t.result(asm.RCX)
}

// copyBytes makes a text of some bytes of memory. It rings unless they can be read 8 at a time.
func (t *texts) copyBytes() {
	most, known := t.plan.Asked(t.pc)
	top := len(t.stack) - 1
	t.uses()
	bell := t.readBell(t.stack[top-1], most)
	if t.load(t.left, t.stack[top]); !known || most == 0 {
		t.Clear(asm.RAX)
		t.Test(t.left)
		t.Cmov(asm.S, t.left, asm.R(asm.RAX))
		t.AluImm(asm.Cmp, asm.R(t.left), int32(most))
		t.Jcc(asm.G, bell)
	}
	if most > 0 {
		x := t.check.checked(t.stack[top-1], bell, most+7)
		t.Mov(asm.R(t.from), asm.R(x))
	}
	t.room(most, bell)
	t.Mov(asm.R(asm.RCX), asm.R(t.left))
	t.copyWords(bell)
	t.Mov(asm.R(asm.RAX), asm.R(asm.RCX))
	t.Mov(asm.R(asm.RDX), t.usedBytes())
	t.MovImm(asm.RCX, 0)
	t.makeRef()
	t.popWord()
	t.popWord()
	t.result(asm.RCX)
}

// copyWords copies left bytes, in words, from memory that may fault. rax, from, to and left are used.
func (t *texts) copyWords(bell asm.Label) {
	again, done := t.NewLabel(), t.NewLabel()
	t.AluImm(asm.Add, asm.R(t.left), 7)
	t.Shift(asm.Shr, asm.R(t.left), 3)
	t.Jcc(asm.E, done)
	t.Place(again)
	t.mayFault(bell, false, func() { t.Mov(asm.R(asm.RAX), asm.At(t.from, 0)) })
	t.Mov(asm.At(t.to, 0), asm.R(asm.RAX))
	t.AluImm(asm.Add, asm.R(t.from), 8)
	t.AluImm(asm.Add, asm.R(t.to), 8)
	t.AluImm(asm.Sub, asm.R(t.left), 1)
	t.Jcc(asm.NE, again)
	t.Place(done)
}

// hash replaces a text by its hash.
func (t *texts) hash() {
	t.find(t.stack[len(t.stack)-1], t.bellBefore())
	t.popWord()
	t.lengthOf(asm.RAX)
	span.Hash(t.Assembler, t.from, t.left)
	t.result(asm.RAX)
}

// lengthOf loads left with the length in a reference, of which the upper half remains.
func (t *texts) lengthOf(ref asm.Reg) {
	t.Shift(asm.Shr, asm.R(ref), refLength)
	t.Extend(t.left, asm.R(ref), 16, false)
}

// find loads rax with the reference that a word is, and from with the address of its bytes, or rings: then it is none,
// or the text is not here.
func (t *texts) find(w word, bell asm.Label) {
	t.uses()
	found := t.NewLabel()
	t.load(asm.RAX, w)
	for _, text := range t.plan.Constants() {
		next := t.NewLabel()
		t.MovImm(asm.RCX, uint64(text.Ref))
		t.Alu(asm.Cmp, asm.R(asm.RAX), asm.R(asm.RCX))
		t.JccNear(asm.NE, next)
		t.LeaLabel(t.from, t.dataOf(text))
		t.Jmp(found)
		t.Place(next)
	}
	t.Mov(asm.R(asm.RDX), asm.R(asm.RAX))
	t.Shift(asm.Shr, asm.R(asm.RDX), refLength)
	t.Extend(asm.RDX, asm.R(asm.RDX), 16, false)
	t.Test(asm.RDX)
	t.Jcc(asm.E, found) // empty, wherever it is
	if t.memoryOfTexts == nil {
		t.Jmp(bell)
	} else {
		t.Mov(asm.R(asm.RCX), asm.R(asm.RAX))
		t.Shift(asm.Shr, asm.R(asm.RCX), refSpace)
		t.AluImm(asm.Cmp, asm.R(asm.RCX), refScratch)
		t.Jcc(asm.NE, bell)
		t.Mov32(asm.RCX, asm.R(asm.RAX))
		t.Alu(asm.Add, asm.R(asm.RDX), asm.R(asm.RCX))
		t.Alu(asm.Cmp, asm.R(asm.RDX), t.usedBytes())
		t.Jcc(asm.A, bell)
		t.Lea(t.from, t.memory())
		t.Alu(asm.Add, asm.R(t.from), asm.R(asm.RCX))
	}
	t.Place(found)
}

// dataOf returns where the bytes of a text lie behind the code.
func (t *texts) dataOf(text native.Text) asm.Label {
	if l, ok := t.data[text.Ref]; ok {
		return l
	}
	if t.data == nil {
		t.data = map[runtime.Ref]asm.Label{}
	}
	l := t.NewLabel()
	t.data[text.Ref] = l
	t.cold = append(t.cold, func() {
		t.Place(l)
		t.Bytes([]byte(text.Bytes)...)
		t.Bytes(make([]byte, native.TextRoom)...)
	})
	return l
}

// keptTexts describes where texts lie.
func (b *doorbells) keptTexts() (k native.KeptTexts) {
	if m := b.memoryOfTexts; m != nil {
		used := m.used
		if b.key.texts != nil {
			used = *b.key.texts
		}
		k.Used, k.At, k.Bytes = b.locateOperand(b.homeOperand(used)), 8*m.slot, m.bytes
	}
	if b.plan != nil {
		k.Constants = b.plan.Constants()
	}
	return k
}
