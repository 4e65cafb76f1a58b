package arm64

import (
	"gotap/runtime"
	"gotap/runtime/native"
)

// Texts that are made when a program runs lie in the frame of the stub, one behind the other, as they lie in the
// interpreter's scratch memory. So their references are those that the interpreter would make, and a doorbell has the
// bytes for it (runtime.State.Text).

// texts makes the code of texts that are made when a program runs, and of those of which it is not known which of
// several they are.
type texts struct {
	*part
	data map[runtime.Ref]label // texts that lie behind the code
}

// Registers of texts: the addresses from where and to where they are copied, and how many bytes are left. x6 to x8 and
// x14 to x16 are for what lies in between, and saved1 and saved2 for what has to outlast it.
const (
	fromReg   = x22
	leftBytes = x23
	toReg     = x24
	saved1    = x25
	saved2    = x26
)

// claim notes that single operations and the copying of texts write their registers.
func (t *texts) claim() {
	for _, x := range []reg{x6, x7, x8, x14, x15, fromReg, leftBytes, toReg, saved1, saved2} {
		t.uses(x)
	}
}

// usedBytes is the word that has how many bytes of the memory for texts are used, behind that of the time. The next one,
// bytesBefore, has how many were when a key was begun. The memory lies behind them.
func (t *texts) usedBytes() int {
	if t.plan.RepeatsTime() {
		return t.timeWord() + 1
	}
	return t.timeWord()
}
func (t *texts) bytesBefore() int { return t.usedBytes() + 1 }
func (t *texts) textSlot() int    { return max(t.usedBytes()+2-homes, 0) }

// slots returns how many slots the words of the part have, and its texts.
func (t *texts) slots() int {
	if t.plan.Texts == 0 {
		return t.usedBytes() - homes
	}
	return t.textSlot() + t.plan.Texts/8
}

// begin empties the memory.
func (t *texts) begin() {
	if t.plan.Texts > 0 {
		t.store(t.usedBytes(), xzr)
	}
}

// noteBefore notes how many bytes are used when a key is begun that makes texts.
func (t *texts) noteBefore() {
	if t.plan.Texts > 0 && t.plan.MakesTexts(t.pc) {
		t.store(t.bytesBefore(), t.load(t.usedBytes(), x16))
		t.key.texts = true
	}
}

// keptTexts describes where texts lie.
func (t *texts) keptTexts() (k native.KeptTexts) {
	if t.plan.Texts > 0 {
		used := t.usedBytes()
		if t.key.texts {
			used = t.bytesBefore()
		}
		k.Used, k.At, k.Bytes = t.locate(used), 8*t.textSlot(), t.plan.Texts
	}
	k.Constants = t.plan.Constants()
	return k
}

// Positions in a reference, and how it says that a text is in the interpreter's scratch memory.
const (
	refLength  = 32
	refCut     = 48
	refSpace   = 62
	refScratch = 1
)

// room loads toReg with the address of free memory, or rings if less than a text of some bytes is free. x14 and x15 are
// used.
func (t *texts) room(most int, bell label) {
	used := t.load(t.usedBytes(), x14)
	t.movImm(x15, uint64(int64(t.plan.Texts-most-native.TextRoom)))
	t.cmp(used, x15)
	t.bIf(condGT, bell)
	t.memoryAt(toReg, used)
}

// memoryAt loads the address of the memory, some bytes in a register behind its start.
func (t *texts) memoryAt(d, used reg) {
	t.addImm(x15, sp, uint32(8*t.textSlot()))
	t.add(d, x15, used)
}

// makeRef makes the reference of a text of x6 bytes that begins where memory is free. x7 is 1 if it is cut, else 0. The
// reference is then in x6; x14 and x15 are used.
func (t *texts) makeRef() {
	used := t.load(t.usedBytes(), x14)
	t.addShifted(x7, x6, x7, refCut-refLength)
	t.shl(x7, x7, refLength)
	t.three(opOr, x7, x7, used)
	t.add(x15, used, x6)
	t.store(t.usedBytes(), x15)
	t.movImm(x6, refScratch<<refSpace)
	t.three(opOr, x6, x6, x7)
}

// find loads x6 with the reference in a word, fromReg with the address of its bytes, and leftBytes with their number,
// or rings: then it is none, or the text is not here. x7, x8, x14 and x15 are used.
func (t *texts) find(word int, bell label) {
	t.claim()
	found := t.newLabel()
	t.mov(x6, t.load(word, x6))
	t.field(leftBytes, x6, refLength, refCut-refLength)
	for _, text := range t.plan.Constants() {
		next := t.newLabel()
		t.movImm(x7, uint64(text.Ref))
		t.cmp(x6, x7)
		t.bIf(condNE, next)
		t.adr(fromReg, t.dataOf(text))
		t.b(found)
		t.place(next)
	}
	t.cbz(leftBytes, found) // empty, wherever it is
	if t.plan.Texts == 0 {
		t.b(bell)
	} else {
		t.shr(x7, x6, refSpace)
		t.cmpImm(x7, refScratch)
		t.bIf(condNE, bell)
		t.low(x7, x6, 32, false)
		t.add(x8, x7, leftBytes)
		t.cmp(x8, t.load(t.usedBytes(), x14))
		t.bIf(condHI, bell)
		t.memoryAt(fromReg, x7)
	}
	t.place(found)
}

// dataOf returns where the bytes of a text lie behind the code.
func (t *texts) dataOf(text native.Text) label {
	if l, ok := t.data[text.Ref]; ok {
		return l
	}
	if t.data == nil {
		t.data = map[runtime.Ref]label{}
	}
	l := t.newLabel()
	t.data[text.Ref] = l
	t.cold = append(t.cold, func() {
		t.place(l)
		t.bytes(append([]byte(text.Bytes), make([]byte, native.TextRoom)...))
	})
	return l
}

// eachWord makes a loop over the words of leftBytes bytes at fromReg: each is in x8, the last one padded. Both change,
// and x14 is used.
func (t *texts) eachWord(do func()) {
	again, tail, done := t.newLabel(), t.newLabel(), t.newLabel()
	t.place(again)
	t.cmpImm(leftBytes, 8)
	t.bIf(condLO, tail)
	t.ldr(x8, fromReg, 0)
	do()
	t.addImm(fromReg, fromReg, 8)
	t.subImm(leftBytes, leftBytes, 8)
	t.b(again)
	t.place(tail)
	t.cbz(leftBytes, done)
	t.ldr(x8, fromReg, 0)
	t.pad(x8, leftBytes)
	do()
	t.place(done)
}

// pad keeps the first bytes of a word in a register, 1 to 7 in another one; x14 is used.
func (t *texts) pad(x, n reg) {
	t.shl(x14, n, 3)
	t.neg(x14, x14) // 64 minus the bits, modulo 64
	t.three(opShl, x, x, x14)
	t.three(opShr, x, x, x14)
}

// copyWords copies leftBytes bytes in whole words. All registers change; x8 is used.
func (t *texts) copyWords() { t.copyBy(func() { t.ldr(x8, fromReg, 0) }) }

// copyBy is copyWords with instructions that load x8.
func (t *texts) copyBy(load func()) {
	again, done := t.newLabel(), t.newLabel()
	t.addImm(leftBytes, leftBytes, 7)
	t.shr(leftBytes, leftBytes, 3)
	t.cbz(leftBytes, done)
	t.place(again)
	load()
	t.str(x8, toReg, 0)
	t.addImm(fromReg, fromReg, 8)
	t.addImm(toReg, toReg, 8)
	t.subImm(leftBytes, leftBytes, 1)
	t.cbnz(leftBytes, again)
	t.place(done)
}
