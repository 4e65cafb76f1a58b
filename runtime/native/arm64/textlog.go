package arm64

import (
	"gotap/runtime/native"
	"gotap/runtime/record"
)

// Texts in records.

// textBytes loads x7 with how many bytes the words of a text have, without their header.
func (w *recordWriter) textBytes(ref int) {
	w.field(x7, w.load(ref, x7), refLength, refCut-refLength)
	w.addImm(x7, x7, 7)
	w.shr(x7, x7, 3)
	w.shl(x7, x7, 3)
}

// commitTexts writes a record with items that have texts which are not known.
func (w *recordWriter) commitTexts(hdr *record.Header, log *native.Log, unable label) {
	w.texts.claim()
	size, next := record.HeaderSize, 0
	for _, it := range log.Items {
		size += record.ItemHeader + 8*it.Fields
	}
	w.movImm(leftBytes, uint64(size))
	for _, it := range log.Items {
		for i := range it.Fields {
			if it.IsText(i) {
				w.textBytes(w.fieldWord(next))
				w.add(leftBytes, leftBytes, x7)
			}
			next++
		}
	}
	w.reserve(recordSize{in: leftBytes, isReg: true}, unable)
	w.storeHeader(hdr)
	w.addImm(toReg, recordReg, record.HeaderSize)
	next = 0
	for _, it := range log.Items {
		w.textItem(hdr.Program, &it, next)
		next += it.Fields
	}
	hdr.Size = 0
	first, _ := hdr.Words()
	w.movImm(x16, first)
	w.ldr(x7, recordReg, 0)
	w.three(opOr, x16, x16, x7)
	w.stlr(x16, recordReg)
	w.word(dmb) // before the reader's word is looked at
	w.wake()
}

// textItem writes an item, whose first field has a number, and moves to behind it.
func (w *recordWriter) textItem(program uint32, it *native.LogItem, first int) {
	t := &w.texts
	w.movImm(x6, it.Header(program))
	for i := range it.Fields {
		if it.IsText(i) {
			w.textBytes(w.fieldWord(first + i))
			w.add(x6, x6, x7)
		}
	}
	w.str(x6, toReg, 0)
	w.addImm(toReg, toReg, record.ItemHeader)
	for i := range it.Fields {
		if !it.IsText(i) {
			w.str(w.load(w.fieldWord(first+i), x6), toReg, 0)
			w.addImm(toReg, toReg, 8)
			continue
		}
		t.find(w.fieldWord(first+i), w.abandoned) // it has been found before
		w.field(x7, x6, refCut, 1)
		t.copyWith()
	}
}

// fits rings if the log has no room for some bytes more, and those of texts that are not known.
func (w *recordWriter) fits(more int, refs ...int) {
	op := &w.plan.Ops[w.pc]
	if !op.Unsure {
		return
	}
	next := 0
	w.texts.claim()
	for _, it := range op.Log.Items {
		for i := range it.Fields {
			if it.IsText(i) {
				refs = append(refs, w.fieldWord(next))
			}
			next++
		}
	}
	w.movImm(leftBytes, uint64(op.Log.Least+more))
	for _, ref := range refs {
		w.textBytes(ref)
		w.add(leftBytes, leftBytes, x7)
	}
	w.movImm(x8, uint64(w.plan.Code.LogLimit()))
	w.cmp(leftBytes, x8)
	w.bIf(condHI, w.bell())
}
