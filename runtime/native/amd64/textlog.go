package amd64

import (
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/record"
)

// Texts in records.

// textBytes loads rcx with how many bytes the words of a text have, without their header.
func (w *recordWriter) textBytes(ref word) {
	w.load(asm.RCX, ref)
	w.Shift(asm.Shr, asm.R(asm.RCX), refLength)
	w.Extend(asm.RCX, asm.R(asm.RCX), 16, false)
	w.AluImm(asm.Add, asm.R(asm.RCX), 7)
	w.AluImm(asm.And, asm.R(asm.RCX), -8)
}

// commitTexts writes a record with items that have texts which are not known.
func (w *recordWriter) commitTexts(hdr *record.Header, log *native.Log, fields []word, unable asm.Label) {
	t := w.texts
	t.uses()
	size, next := record.HeaderSize, 0
	for _, it := range log.Items {
		size += record.ItemHeader + 8*it.Fields
	}
	w.MovImm(t.left, uint64(size))
	for _, it := range log.Items {
		for i := range it.Fields {
			if it.IsText(i) {
				w.textBytes(fields[next])
				w.Alu(asm.Add, asm.R(t.left), asm.R(asm.RCX))
			}
			next++
		}
	}
	w.reserve(recordSize{in: t.left, isReg: true}, unable)
	w.storeHeader(hdr)
	w.Lea(t.to, asm.At(w.record, record.HeaderSize))
	for _, it := range log.Items {
		w.textItem(hdr.Program, &it, fields)
		fields = fields[it.Fields:]
	}
	hdr.Size = 0
	first, _ := hdr.Words()
	w.MovImm(asm.RAX, first)
	w.Alu(asm.Or, asm.R(asm.RAX), asm.At(w.record, 0))
	w.Mov(asm.At(w.record, 0), asm.R(asm.RAX))
	w.wake()
}

// textItem writes an item, and moves to behind it.
func (w *recordWriter) textItem(program uint32, it *native.LogItem, fields []word) {
	t := w.texts
	w.MovImm(asm.RAX, it.Header(program))
	for i := range it.Fields {
		if it.IsText(i) {
			w.textBytes(fields[i])
			w.Alu(asm.Add, asm.R(asm.RAX), asm.R(asm.RCX))
		}
	}
	w.Mov(asm.At(t.to, 0), asm.R(asm.RAX))
	w.AluImm(asm.Add, asm.R(t.to), record.ItemHeader)
	for i := range it.Fields {
		if !it.IsText(i) {
			w.store(asm.At(t.to, 0), fields[i])
			w.AluImm(asm.Add, asm.R(t.to), 8)
			continue
		}
		t.find(fields[i], w.abandoned) // it has been found before
		t.lengthOf(asm.RAX)
		t.copyWith()
	}
}

// textField pops a text into the log: the words of one that is known, the reference of another one.
func (w *recordWriter) textField() {
	text, known := w.plan.Operands(w.pc, 1)
	if top := w.stack[len(w.stack)-1]; !known {
		w.texts.find(top, w.bell())
		w.fits(8, top)
		w.field()
		return
	}
	w.fits(8 * len(text[0].Words()))
	w.popWord()
	for _, v := range text[0].Words() {
		w.logged = append(w.logged, word{constant, v})
	}
}

// fits rings if the log has no room for some bytes more, and those of texts that are not known.
func (w *recordWriter) fits(more int, refs ...word) {
	op := &w.plan.Ops[w.pc]
	if !op.Unsure {
		return
	}
	t, next := w.texts, 0
	t.uses()
	for _, it := range op.Log.Items {
		for i := range it.Fields {
			if it.IsText(i) {
				refs = append(refs, w.logged[next])
			}
			next++
		}
	}
	w.MovImm(t.left, uint64(op.Log.Least+more))
	for _, ref := range refs {
		w.textBytes(ref)
		w.Alu(asm.Add, asm.R(t.left), asm.R(asm.RCX))
	}
	w.AluImm(asm.Cmp, asm.R(t.left), int32(w.plan.Code.LogLimit()))
	w.Jcc(asm.A, w.bell())
}
