package amd64

import (
	"encoding/binary"

	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// Texts that are made when a program runs lie in slots of the part, one behind the other, as they lie in the interpreter's scratch memory. So
// their references are those that the interpreter would make, and a doorbell has the bytes for it (runtime.State.Text).

// textMemory is the memory of a part for texts.
type textMemory struct {
	used  home // how many bytes are used
	slot  int  // where it begins
	bytes int
}

// texts makes the code of texts that are made when a program runs, and of those of which it is not known which of several they are.
type texts struct {
	*doorbells
	check          *memoryCheck
	from, to, left reg                   // what is copied
	data           map[runtime.Ref]label // texts that lie behind the code
}

// begin empties the memory.
func (t *texts) begin() {
	if m := t.memoryOfTexts; m != nil {
		t.written(home{slot: m.slot + m.bytes/8 - 1, onSlot: true})
		t.setHome(m.used, word{constant, 0})
	}
}

// memory returns where the memory begins.
func (t *texts) memory() operand { return at(rsp, int32(8*t.memoryOfTexts.slot)) }

// used returns how many bytes of the memory are used.
func (t *texts) usedBytes() operand { return t.homeOperand(t.memoryOfTexts.used) }

// uses notes that single operations and the copying of texts write their registers.
func (t *texts) uses() {
	for _, x := range []reg{rax, rcx, rdx, t.from, t.to, t.left} {
		t.used(x)
	}
}

// room loads to with the address of free memory, and rdx with how many bytes are used; rax stays. It rings if less than a text of some bytes is free.
func (t *texts) room(most int, bell label) {
	t.mov(r(rdx), t.usedBytes())
	t.aluImm(opCmp, r(rdx), int32(t.memoryOfTexts.bytes-most-native.TextRoom))
	t.jcc(condG, bell)
	t.lea(t.to, t.memory())
	t.alu(opAdd, r(t.to), r(rdx))
}

// Positions in a reference, and how it says that a text is in the interpreter's scratch memory.
const (
	refLength  = 32
	refCut     = 48
	refSpace   = 62
	refScratch = 1
)

// makeRef makes the reference of a text of rax bytes, of which rcx has bit 16 set if it is cut, at the position rdx. It is then in rcx; rdx is used.
func (t *texts) makeRef() {
	t.alu(opAdd, t.usedBytes(), r(rax))
	t.alu(opAdd, r(rcx), r(rax))
	t.shift(opShl, r(rcx), refLength)
	t.alu(opOr, r(rcx), r(rdx))
	t.movImm(rdx, refScratch<<refSpace)
	t.alu(opOr, r(rcx), r(rdx))
}

// copyText makes a text of memory up to its NUL. It rings unless all bytes can be read that the interpreter might read, and those that it reads
// itself, 8 at a time.
func (t *texts) copyText() {
	most, _ := t.plan.Copied(t.pc)
	w := t.stack[len(t.stack)-2]
	bell := t.readBell(w, most+1)
	t.uses()
	x := t.check.checked(w, bell, most+8)
	t.mov(r(t.from), r(x))
	t.room(most, bell)
	t.movImm(t.left, uint64(most/8+1))
	again, found, whole := t.newLabel(), t.newLabel(), t.newLabel()
	t.place(again)
	t.mayFault(bell, false, func() { t.mov(r(rax), at(t.from, 0)) })
	t.mov(at(t.to, 0), r(rax))
	const ones = 0x0101010101010101
	t.movImm(rcx, ones) // the lowest byte that is 0 is the lowest of which the highest bit remains
	t.mov(r(rdx), r(rax))
	t.not(r(rdx))
	t.alu(opSub, r(rax), r(rcx))
	t.alu(opAnd, r(rax), r(rdx))
	t.shift(opShl, r(rcx), 7)
	t.alu(opAnd, r(rax), r(rcx))
	t.jccNear(condNE, found)
	t.aluImm(opAdd, r(t.from), 8)
	t.aluImm(opAdd, r(t.to), 8)
	t.aluImm(opSub, r(t.left), 1)
	t.jcc(condNE, again)
	t.movImm(rax, 0x80) // there is none: the text is longer
	t.place(found)
	t.bsf(rax, r(rax))
	t.shift(opShr, r(rax), 3)
	t.alu(opAdd, r(rax), r(t.to))
	t.lea(rcx, t.memory())
	t.alu(opSub, r(rax), r(rcx))
	t.mov(r(rdx), t.usedBytes())
	t.alu(opSub, r(rax), r(rdx))
	t.movImm(rcx, 0)
	t.aluImm(opCmp, r(rax), int32(most))
	t.jccNear(condBE, whole)
	t.movImm(rax, uint64(most))
	t.movImm(rcx, 1<<(refCut-refLength))
	t.place(whole)
	t.makeRef()
	t.popWord()
	t.popWord()
	t.result(rcx)
}

// pushThis makes a text of one in the storage of the call.
func (t *texts) pushThis(cell operand) {
	fits, again, done := t.newLabel(), t.newLabel(), t.newLabel()
	t.uses()
	t.room(value.DefaultText, t.bell())
	t.mov(r(rcx), cell)
	t.mov(r(rax), r(rcx))
	t.aluImm(opAnd, r(rax), int32(value.HeaderLength))
	t.aluImm(opCmp, r(rax), value.DefaultText)
	t.jccNear(condBE, fits)
	t.movImm(rax, value.DefaultText)
	t.place(fits)
	t.shift(opShr, r(rcx), 16)
	t.aluImm(opAnd, r(rcx), 1<<(refCut-refLength))
	t.makeRef()
	t.lea(t.from, at(cell.reg, cell.disp+8))
	t.lea(t.left, at(rax, 7))
	t.shift(opShr, r(t.left), 3)
	t.jccNear(condE, done)
	t.place(again)
	t.mov(r(rdx), at(t.from, 0))
	t.mov(at(t.to, 0), r(rdx))
	t.aluImm(opAdd, r(t.from), 8)
	t.aluImm(opAdd, r(t.to), 8)
	t.aluImm(opSub, r(t.left), 1)
	t.jccNear(condNE, again)
	t.place(done)
	t.result(rcx)
}

// popThis stores a text in the storage of the call.
func (t *texts) popThis(cell operand) {
	if text, known := t.plan.Operands(t.pc, 1); known {
		t.popWord()
		for i, v := range text[0].KeyWords() {
			t.store(at(cell.reg, cell.disp+8*int32(i)), word{constant, v})
		}
		return
	}
	fits := t.newLabel()
	t.find(t.stack[len(t.stack)-1], t.bell())
	t.popWord()
	t.shift(opShr, r(rax), refLength)
	t.extend(t.left, r(rax), 16, false)
	t.aluImm(opCmp, r(t.left), value.DefaultText)
	t.jccNear(condBE, fits)
	t.movImm(t.left, value.DefaultText)
	t.movImm(rax, 1<<(refCut-refLength))
	t.place(fits)
	t.lea(t.to, cell)
	t.copyWith()
}

// copyWith stores the header of a text, and its bytes padded to words. rax has bit 16 set if it is cut. from, to and left are used.
func (t *texts) copyWith() {
	again, tail, done := t.newLabel(), t.newLabel(), t.newLabel()
	t.aluImm(opAnd, r(rax), 1<<(refCut-refLength))
	t.shift(opShl, r(rax), 16)
	t.alu(opAdd, r(rax), r(t.left))
	t.mov(at(t.to, 0), r(rax))
	t.aluImm(opAdd, r(t.to), 8)
	t.place(again)
	t.aluImm(opCmp, r(t.left), 8)
	t.jccNear(condB, tail)
	t.mov(r(rdx), at(t.from, 0))
	t.mov(at(t.to, 0), r(rdx))
	t.aluImm(opAdd, r(t.from), 8)
	t.aluImm(opAdd, r(t.to), 8)
	t.aluImm(opSub, r(t.left), 8)
	t.jmpNear(again)
	t.place(tail)
	t.test(t.left)
	t.jccNear(condE, done)
	t.mov(r(rcx), r(t.left))
	t.shift(opShl, r(rcx), 3)
	t.neg(r(rcx)) // 64 minus the bits, modulo 64
	t.mov(r(rdx), at(t.from, 0))
	t.shiftCL(opShl, r(rdx))
	t.shiftCL(opShr, r(rdx))
	t.mov(at(t.to, 0), r(rdx))
	t.aluImm(opAdd, r(t.to), 8)
	t.place(done)
}

// find loads rax with the reference that a word is, and from with the address of its bytes, or rings: then it is none, or the text is not here.
func (t *texts) find(w word, bell label) {
	t.uses()
	found := t.newLabel()
	t.load(rax, w)
	for _, text := range t.plan.Constants() {
		next := t.newLabel()
		t.movImm(rcx, uint64(text.Ref))
		t.alu(opCmp, r(rax), r(rcx))
		t.jccNear(condNE, next)
		t.leaLabel(t.from, t.dataOf(text))
		t.jmp(found)
		t.place(next)
	}
	t.mov(r(rdx), r(rax))
	t.shift(opShr, r(rdx), refLength)
	t.extend(rdx, r(rdx), 16, false)
	t.test(rdx)
	t.jcc(condE, found) // empty, wherever it is
	if t.memoryOfTexts == nil {
		t.jmp(bell)
	} else {
		t.mov(r(rcx), r(rax))
		t.shift(opShr, r(rcx), refSpace)
		t.aluImm(opCmp, r(rcx), refScratch)
		t.jcc(condNE, bell)
		t.mov32(rcx, r(rax))
		t.alu(opAdd, r(rdx), r(rcx))
		t.alu(opCmp, r(rdx), t.usedBytes())
		t.jcc(condA, bell)
		t.lea(t.from, t.memory())
		t.alu(opAdd, r(t.from), r(rcx))
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
		t.bytes([]byte(text.Bytes)...)
		t.bytes(make([]byte, native.TextRoom)...)
	})
	return l
}

// textBytes loads rcx with how many bytes the words of a text have, without their header.
func (w *recordWriter) textBytes(ref word) {
	w.load(rcx, ref)
	w.shift(opShr, r(rcx), refLength)
	w.extend(rcx, r(rcx), 16, false)
	w.aluImm(opAdd, r(rcx), 7)
	w.aluImm(opAnd, r(rcx), -8)
}

// commitTexts writes a record with items that have texts which are not known.
func (w *recordWriter) commitTexts(hdr *record.Header, log *native.Log, fields []word, unable label) {
	t := w.texts
	t.uses()
	size, next := record.HeaderSize, 0
	for _, it := range log.Items {
		size += record.ItemHeader + 8*it.Fields
	}
	w.movImm(t.left, uint64(size))
	for _, it := range log.Items {
		for i := range it.Fields {
			if it.IsText(i) {
				w.textBytes(fields[next])
				w.alu(opAdd, r(t.left), r(rcx))
			}
			next++
		}
	}
	w.reserve(recordSize{in: t.left, isReg: true}, unable)
	w.storeHeader(hdr)
	w.lea(t.to, at(w.record, record.HeaderSize))
	for _, it := range log.Items {
		w.textItem(hdr.Program, &it, fields)
		fields = fields[it.Fields:]
	}
	hdr.Size = 0
	first, _ := hdr.Words()
	w.movImm(rax, first)
	w.alu(opOr, r(rax), at(w.record, 0))
	w.xchgMemory(at(w.record, 0), rax)
	w.wake()
}

// textItem writes an item, and moves to behind it.
func (w *recordWriter) textItem(program uint32, it *native.LogItem, fields []word) {
	t := w.texts
	w.movImm(rax, it.Header(program))
	for i := range it.Fields {
		if it.IsText(i) {
			w.textBytes(fields[i])
			w.alu(opAdd, r(rax), r(rcx))
		}
	}
	w.mov(at(t.to, 0), r(rax))
	w.aluImm(opAdd, r(t.to), record.ItemHeader)
	for i := range it.Fields {
		if !it.IsText(i) {
			w.store(at(t.to, 0), fields[i])
			w.aluImm(opAdd, r(t.to), 8)
			continue
		}
		t.find(fields[i], w.abandoned) // it has been found before
		w.shift(opShr, r(rax), refLength)
		w.extend(t.left, r(rax), 16, false)
		t.copyWith()
	}
}

// keptTexts is where texts lie when a doorbell rings.
type keptTexts struct {
	used      Word // how many bytes
	at        int  // bytes above the stack pointer
	bytes     int  // at most
	constants []native.Text
}

// keptTexts describes where texts lie.
func (b *doorbells) keptTexts() (k keptTexts) {
	if m := b.memoryOfTexts; m != nil {
		k.used, k.at, k.bytes = b.locateOperand(b.homeOperand(m.used)), 8*m.slot, m.bytes
	}
	if b.plan != nil {
		k.constants = b.plan.Constants()
	}
	return k
}

// appendAll appends the memory of texts.
func (k *keptTexts) appendAll(to []byte, regs, frame []uint64) []byte {
	if k.bytes == 0 {
		return to
	}
	start := len(to)
	n := int(min(k.used.read(regs, frame), uint64(k.bytes)))
	for i := 0; i < n; i += 8 {
		to = binary.LittleEndian.AppendUint64(to, frame[(k.at+i)/8])
	}
	return to[:start+n]
}
