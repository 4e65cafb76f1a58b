package arm64

import (
	"gotap/runtime/calls"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// Texts of the target's memory, in cells and in keys. In cells and keys a text is a header with its length, and its
// bytes padded to words.

// copyText makes a text of memory up to its NUL. It rings unless all bytes can be read that the interpreter might read,
// and those that it reads itself, 8 at a time.
func (t *texts) copyText(depth int) {
	most, _ := t.plan.Copied(t.pc)
	_, known := t.plan.Asked(t.pc)
	t.claim()
	bell := t.memory.bellFor(t.wordAt(depth-2), most+1)
	x := t.get(depth-2, x6)
	t.memory.checked(x, most+8, bell)
	t.mov(fromReg, x)
	t.room(most, bell)
	asked := t.get(depth-1, x14)
	if !known {
		t.movImm(x15, uint64(most))
		t.cmp(asked, x15)
		t.bIf(condHI, bell)
	}
	t.shr(leftBytes, asked, 3)
	t.addImm(leftBytes, leftBytes, 1)
	const ones = 0x0101010101010101 // the lowest byte that is 0 is the lowest of which the highest bit remains
	t.movImm(x7, ones)
	t.shl(x15, x7, 7)
	again, found, whole := t.newLabel(), t.newLabel(), t.newLabel()
	t.place(again)
	t.memory.mayFault(loads[opcode.Load64], x6, fromReg, 0, bell)
	t.str(x6, toReg, 0)
	t.sub(x8, x6, x7)
	t.three(opBic, x8, x8, x6)
	t.three(opAnd, x8, x8, x15)
	t.cbnz(x8, found)
	t.addImm(fromReg, fromReg, 8)
	t.addImm(toReg, toReg, 8)
	t.subImm(leftBytes, leftBytes, 1)
	t.cbnz(leftBytes, again)
	t.movImm(x8, 0x80) // there is none: the text is longer
	t.place(found)
	t.lowestBit(x8, x8)
	t.shr(x8, x8, 3)
	t.add(x6, toReg, x8)
	t.memoryAt(x8, t.load(t.usedBytes(), x14))
	t.sub(x6, x6, x8)
	asked = t.get(depth-1, x14)
	t.cmp(x6, asked)
	t.movImm(x7, 0)
	t.bIf(condLS, whole)
	t.mov(x6, asked)
	t.movImm(x7, 1)
	t.place(whole)
	t.makeRef()
	t.set(depth-2, x6)
}

// copyBytes makes a text of some bytes of memory. It rings unless they can be read 8 at a time.
func (t *texts) copyBytes(depth int) {
	most, known := t.plan.Asked(t.pc)
	t.claim()
	bell := t.memory.bellFor(t.wordAt(depth-2), most)
	if most > 0 {
		x := t.get(depth-2, x6)
		t.memory.checked(x, most+7, bell)
		t.mov(fromReg, x)
	}
	t.mov(leftBytes, t.get(depth-1, x14))
	if !known || most == 0 {
		t.cmpZero(leftBytes)
		t.csel(leftBytes, leftBytes, xzr, condGE)
		t.movImm(x15, uint64(most))
		t.cmp(leftBytes, x15)
		t.bIf(condGT, bell)
	}
	t.room(most, bell)
	t.mov(saved1, leftBytes)
	t.copyBy(func() { t.memory.mayFault(loads[opcode.Load64], x8, fromReg, 0, bell) })
	t.mov(x6, saved1)
	t.movImm(x7, 0)
	t.makeRef()
	t.set(depth-2, x6)
}

// thisCell is where a text is in the storage of the call.
func thisCell(n uint32) int { return calls.ThisAt + int(n) }

// pushThis makes a text of one in the storage of the call.
func (t *texts) pushThis(n uint32, depth int) {
	t.claim()
	t.room(value.DefaultText, t.bellBefore())
	t.copyCell(frameReg, thisCell(n))
	t.set(depth, x6)
}

// copyCell makes a text of one in a cell, at toReg. Its reference is then in x6.
func (t *texts) copyCell(base reg, offset int) {
	t.ldr(x7, base, offset)
	t.low(x6, x7, headerBits, false)
	t.movImm(x8, value.DefaultText)
	t.cmp(x6, x8)
	t.csel(x6, x6, x8, condLS)
	t.field(x7, x7, headerCut, 1)
	t.mov(leftBytes, x6)
	t.makeRef()
	t.behind(fromReg, base, offset+8)
	t.copyWords()
}

// behind loads an address some bytes behind another one.
func (t *texts) behind(d, base reg, n int) {
	t.movImm(d, uint64(n))
	t.add(d, base, d)
}

// headerBits is how many bits of a header are the length, and headerCut the number of the bit that says that the text
// is cut.
const (
	headerBits = 24
	headerCut  = 32
)

// The bits are where package value has them.
var (
	_ = [1]struct{}{}[value.HeaderLength-(1<<headerBits-1)]
	_ = [1]struct{}{}[value.HeaderCut-1<<headerCut]
)

// popThis stores a text in the storage of the call.
func (t *texts) popThis(n uint32, depth int) {
	t.find(t.wordAt(depth-1), t.bell())
	t.cutLength()
	t.behind(toReg, frameReg, thisCell(n))
	t.copyWith()
}

// cutLength makes leftBytes, and the mark of a cut in the reference in x6, what they are in cells and keys. x7 is 1 if
// the text is cut, else 0.
func (t *texts) cutLength() {
	fits := t.newLabel()
	t.field(x7, x6, refCut, 1)
	t.movImm(x8, value.DefaultText)
	t.cmp(leftBytes, x8)
	t.bIf(condLS, fits)
	t.mov(leftBytes, x8)
	t.movImm(x7, 1)
	t.place(fits)
}

// copyWith stores the header of a text, of which x7 says whether it is cut, and its bytes padded to words. x6 is used.
func (t *texts) copyWith() {
	t.addShifted(x6, leftBytes, x7, headerCut)
	t.str(x6, toReg, 0)
	t.addImm(toReg, toReg, 8)
	t.eachWord(func() {
		t.str(x8, toReg, 0)
		t.addImm(toReg, toReg, 8)
	})
}

// openPart loads x8 with the header of a text as it stands in keys, fromReg with the address of its bytes and leftBytes
// with their number. The text has been found before.
func (t *texts) openPart(word int) {
	t.find(word, t.abandoned)
	t.cutLength()
	t.addShifted(x8, leftBytes, x7, headerCut)
}

// mixPart adds a text to the hash in x6.
func (t *texts) mixPart(word int, mix func()) {
	t.mov(saved1, x6)
	t.openPart(word)
	t.mov(x6, saved1)
	mix()
	t.eachWord(mix)
}

// comparePart compares a text with the words at toReg, which is then behind them, or jumps if they differ.
func (t *texts) comparePart(word int, differs label) {
	compare := func() {
		t.ldr(x7, toReg, 0)
		t.cmp(x7, x8)
		t.bIf(condNE, differs)
		t.addImm(toReg, toReg, 8)
	}
	t.openPart(word)
	compare()
	t.eachWord(compare)
}

// loadText makes a text of one that any thread may replace: a copy of it in a cell of a map at an address in leftReg
// (package arena, textcell.go). The reference is then in x17. A thread that finds it being replaced, or replaced
// meanwhile, gives up.
func (t *texts) loadText(giveUp func()) {
	busy := t.newLabel()
	t.claim()
	t.ldar(saved1, leftReg)
	t.low(x7, saved1, 1, false)
	t.cbnz(x7, busy)
	t.room(value.DefaultText, busy)
	t.copyCell(leftReg, 8)
	t.word(dmbLoad)
	t.ldr(x7, leftReg, 0)
	t.cmp(x7, saved1)
	t.bIf(condNE, busy)
	t.mov(x17, x6)
	t.cold = append(t.cold, func() {
		t.place(busy)
		giveUp()
	})
}

// length replaces a text by its length.
func (t *texts) length(depth int) {
	t.find(t.wordAt(depth-1), t.bellBefore())
	t.set(depth-1, leftBytes)
}

// hash replaces a text by its hash.
func (t *texts) hash(depth int) {
	t.find(t.wordAt(depth-1), t.bellBefore())
	again, done := t.newLabel(), t.newLabel()
	t.movImm(x6, hashStart)
	t.movImm(x7, hashPrime)
	t.cbz(leftBytes, done)
	t.place(again)
	t.ldrb(x8, fromReg, 0)
	t.three(opXor, x6, x6, x8)
	t.mul(x6, x6, x7)
	t.addImm(fromReg, fromReg, 1)
	t.subImm(leftBytes, leftBytes, 1)
	t.cbnz(leftBytes, again)
	t.place(done)
	t.set(depth-1, x6)
}

// join replaces two texts by both, one after the other. It rings for a first one that is cut, whose mark would stand in
// between, and if the result is too long.
func (t *texts) join(depth int) {
	bell, most := t.bellBefore(), uint64(t.plan.Texts-native.TextRoom)
	t.find(t.wordAt(depth-2), bell)
	t.field(x7, x6, refCut, 1)
	t.cbnz(x7, bell)
	used := t.load(t.usedBytes(), x14)
	t.add(x7, used, leftBytes)
	t.movImm(x8, most)
	t.cmp(x7, x8)
	t.bIf(condHI, bell)
	t.memoryAt(toReg, used)
	t.mov(saved1, leftBytes)
	t.add(saved2, toReg, leftBytes)
	t.copyWords()
	t.mov(toReg, saved2)
	t.find(t.wordAt(depth-1), bell)
	t.add(saved1, saved1, leftBytes)
	t.movImm(x8, native.MostJoined)
	t.cmp(saved1, x8)
	t.bIf(condHI, bell)
	t.add(x7, saved1, t.load(t.usedBytes(), x14))
	t.movImm(x8, most)
	t.cmp(x7, x8)
	t.bIf(condHI, bell)
	t.field(saved2, x6, refCut, 1)
	t.copyWords()
	t.mov(x6, saved1)
	t.mov(x7, saved2)
	t.makeRef()
	t.set(depth-2, x6)
}
