package arm64

import (
	"gotap/runtime"
	"gotap/runtime/calls"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// What a program logs. The fields are kept as words; when the program ends, the record is written into the ring at once
// (package record has its layout).

// logField keeps the word on top, or the words of a text that is known, as the next fields of the log.
func (p *part) logField(op opcode.Op, depth int) {
	n := p.plan.Ops[p.pc].Log.Fields
	text, known := p.plan.Operands(p.pc, 1)
	switch {
	case op != opcode.LogText:
		p.writer.fits(8)
	case !known:
		p.texts.find(p.wordAt(depth-1), p.bell())
		p.writer.fits(8, p.wordAt(depth-1))
	default:
		p.writer.fits(8 * len(text[0].Words()))
	}
	if op != opcode.LogText || !known {
		p.store(p.fieldWord(n), p.get(depth-1, x16))
		return
	}
	for i, v := range text[0].Words() {
		p.movImm(x16, v)
		p.store(p.fieldWord(n+i), x16)
	}
}

// recordWriter makes the code that writes a record into the ring.
type recordWriter struct{ *part }

// Registers of a record that is written. x6 to x8 and x16 are for what lies in between.
const (
	recordReg = x3 // its address
	placeReg  = x5 // where it begins in the data of the ring
)

// commit writes the record of what the program has logged. If the thread is not known, or the ring is full, the
// interpreter does it: a stop gives the reader time.
func (w *recordWriter) commit(in *runtime.Inst) {
	w.records = true
	log, unable := w.plan.Ops[w.pc].Log, w.bell()
	w.needBlock(unable)
	hdr := record.Header{Size: uint32(record.HeaderSize + log.Bytes), Kind: outcome.ExitKind(in.A), Program: w.plan.Code.ID, Probe: w.probe, Pid: w.site.Pid}
	if hdr.Kind == outcome.ExitEvent {
		hdr.Flags = record.FlagEvent
	}
	if log.HasTexts() {
		w.commitTexts(&hdr, log, unable)
		return
	}
	w.reserve(recordSize{bytes: uint64(hdr.Size)}, unable)
	w.storeHeader(&hdr)
	at, next := record.HeaderSize, 0
	for _, it := range log.Items {
		w.storeConst(at, it.Header(hdr.Program))
		for i := range it.Fields {
			w.str(w.load(w.fieldWord(next), x16), recordReg, at+record.ItemHeader+8*i)
			next++
		}
		at += record.ItemHeader + 8*it.Fields
	}
	first, _ := hdr.Words()
	w.movImm(x16, first)
	w.stlr(x16, recordReg)
	w.word(dmb) // before the reader's word is looked at
	w.wake()
}

// storeConst stores a constant in the record.
func (w *recordWriter) storeConst(at int, v uint64) {
	w.movImm(x16, v)
	w.str(x16, recordReg, at)
}

// recordSize is the size of a record in bytes: a constant, or what is in a register that reserve leaves alone.
type recordSize struct {
	bytes uint64
	in    reg
	isReg bool
}

// above loads a constant plus the size, and under a constant minus the size.
func (w *recordWriter) above(d reg, base uint64, size recordSize) {
	if !size.isReg {
		w.movImm(d, base+size.bytes)
		return
	}
	w.movImm(d, base)
	w.add(d, d, size.in)
}

func (w *recordWriter) under(d reg, base uint64, size recordSize) {
	if !size.isReg {
		w.movImm(d, base-size.bytes)
		return
	}
	w.movImm(d, base)
	w.sub(d, d, size.in)
}

// reserve reserves room for a record in the ring, whose address is then in recordReg, or jumps to full.
// What the record does not fill before the end of the ring's data is a filler.
func (w *recordWriter) reserve(size recordSize, full label) {
	l := &w.site.Ring
	again, wraps, reserved := w.newLabel(), w.newLabel(), w.newLabel()
	for _, x := range []reg{x2, recordReg, placeReg} {
		w.uses(x)
	}
	try := func() { // the new head is in x8
		w.arena(x7, l.Tail)
		w.ldar(x7, x7)
		w.sub(x7, x8, x7)
		w.movImm(x2, l.Size)
		w.cmp(x7, x2)
		w.bIf(condHI, full)
		changed := w.newLabel()
		w.ldaxr(x7, x16)
		w.cmp(x7, x6)
		w.bIf(condNE, changed)
		w.stlxr(x2, x8, x16)
		w.cbnz32(x2, again)
		w.cold = append(w.cold, func() {
			w.place(changed)
			w.clrex()
			w.b(again)
		})
		w.arena(recordReg, l.Data)
		w.add(recordReg, recordReg, placeReg)
	}
	w.place(again)
	w.arena(x16, l.Head)
	w.ldar(x6, x16)
	w.movImm(x7, l.Size-1)
	w.three(opAnd, placeReg, x6, x7)
	w.under(x7, l.Size, size)
	w.cmp(placeReg, x7)
	w.bIf(condHI, wraps)
	w.above(x8, 0, size)
	w.add(x8, x6, x8)
	try()
	w.place(reserved)
	w.above(x16, 0, size)
	w.str(x16, recordReg, 0)
	w.cold = append(w.cold, func() {
		w.place(wraps) // the record begins at the start of the data
		w.sub(x8, x6, placeReg)
		w.above(x7, l.Size, size)
		w.add(x8, x8, x7)
		try()
		w.movImm(x8, record.Filler|l.Size)
		w.sub(x8, x8, placeReg)
		w.stlr(x8, recordReg)
		w.arena(recordReg, l.Data)
		w.b(reserved)
	})
}

// storeHeader stores all words of a record's header but the first.
func (w *recordWriter) storeHeader(hdr *record.Header) {
	_, words := hdr.Words()
	word := func(offset int) uint64 { return words[offset/8-1] }
	w.storeConst(record.ProgramAt, word(record.ProgramAt))
	w.ldr(x7, blockReg, calls.TidAt)
	w.movImm(x8, word(record.PidAt))
	w.shl(x7, x7, 32)
	w.three(opOr, x7, x7, x8)
	w.str(x7, recordReg, record.PidAt)
	w.now()
	w.str(x6, recordReg, record.TimeAt)
	w.storeConst(record.HoldAt, word(record.HoldAt))
	for i := 0; i < calls.CommSize; i += 8 {
		w.ldr(x7, blockReg, calls.CommAt+i)
		w.str(x7, recordReg, record.CommAt+i)
	}
}

// wake rings if the reader sleeps.
func (w *recordWriter) wake() {
	sleeps, again, done := w.newLabel(), w.newLabel(), w.newLabel()
	w.arena(x16, w.site.Ring.Sleep)
	w.ldar(x7, x16)
	w.cbnz(x7, sleeps)
	w.place(done)
	d := w.newBell()
	d.Call, d.Wakes, d.resume = native.NoCall, true, done
	w.hang(d)
	w.cold = append(w.cold, func() {
		w.place(sleeps)
		w.place(again)
		w.ldaxr(x7, x16)
		w.stlxr(x8, xzr, x16)
		w.cbnz32(x8, again)
		w.cbnz(x7, d.at)
		w.b(done)
	})
}
