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
	w.XchgMemory(asm.At(w.record, 0), asm.RAX)
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
