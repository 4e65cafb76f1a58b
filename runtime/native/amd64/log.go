package amd64

import (
	"gotap/runtime"
	"gotap/runtime/calls"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// What a program logs. The fields are kept as words, like the operand stack; when the program ends, the record is written into the ring at
// once (package record has its layout).

// field pops a word into the next field of the log. Constants and registers of the target stay what they are.
func (s *words) field() {
	w, n := s.popWord(), len(s.logged)
	if w.kind == temporary || w.kind == atHome {
		s.setHome(s.fields[n], w)
		w = word{inField, uint64(n)}
	}
	s.logged = append(s.logged, w)
}

// textField pops a text into the log: the words of one that is known, the reference of another one.
func (p *part) textField() {
	text, known := p.plan.Operands(p.pc, 1)
	if !known {
		p.texts.find(p.stack[len(p.stack)-1], p.bell())
		p.field()
		return
	}
	p.popWord()
	for _, v := range text[0].Words() {
		p.logged = append(p.logged, word{constant, v})
	}
}

// settleFields moves all fields to their homes.
func (s *words) settleFields() {
	for i, w := range s.logged {
		if home := (word{inField, uint64(i)}); w != home {
			s.setHome(s.fields[i], w)
			s.logged[i] = home
		}
	}
}

// commit writes the record of what the program has logged. If the thread is not known, or the ring is full, the interpreter does it: a stop
// gives the reader time.
func (p *part) commit(in *runtime.Inst) {
	p.records = true
	log := p.plan.Ops[p.pc].Log
	unable := p.bell()
	if !p.framed {
		p.frames.findStack(unable)
	}
	hdr := record.Header{Size: uint32(record.HeaderSize + log.Bytes), Kind: outcome.ExitKind(in.A), Program: p.plan.Code.ID, Probe: p.programs[p.index/2].Probe, Pid: p.site.Pid}
	if hdr.Kind == outcome.ExitEvent {
		hdr.Flags = record.FlagEvent
	}
	if log.HasTexts() {
		p.log.commitTexts(&hdr, log, p.logged, unable)
		return
	}
	p.log.reserve(recordSize{bytes: uint64(hdr.Size)}, unable)
	p.log.storeHeader(&hdr)
	at8 := int32(record.HeaderSize)
	next := 0
	for _, it := range log.Items {
		p.storeConst(at(p.log.record, at8), it.Header(hdr.Program))
		for i := range it.Fields {
			p.store(at(p.log.record, at8+8+8*int32(i)), p.logged[next])
			next++
		}
		at8 += int32(record.ItemHeader + 8*it.Fields)
	}
	first, _ := hdr.Words()
	p.movImm(rax, first)
	p.xchgMemory(at(p.log.record, 0), rax) // and a barrier before the reader's word is looked at
	p.log.wake()
}

// storeConst stores a constant; rax is used.
func (s *words) storeConst(to operand, v uint64) { s.store(to, word{constant, v}) }

// recordWriter makes the code that writes a record into the ring.
type recordWriter struct {
	*doorbells
	frames *frames
	texts  *texts
	record reg // the address of the record, while it is written
}

// recordSize is the size of a record: a number of bytes, or what is in a register.
type recordSize struct {
	bytes uint64
	in    reg
	isReg bool
}

// reserve reserves room for a record in the ring, whose address is then in the record register, or jumps to full.
func (w *recordWriter) reserve(size recordSize, full label) {
	l := &w.site.Ring
	again, wraps, reserved := w.newLabel(), w.newLabel(), w.newLabel()
	head := w.arena(l.Head)
	for _, x := range []reg{rax, rcx, rdx, w.record} {
		w.used(x)
	}
	try := func() { // the new head is in rdx
		w.mov(r(w.record), r(rdx))
		w.alu(opSub, r(w.record), w.arena(l.Tail))
		w.aluImm(opCmp, r(w.record), int32(l.Size))
		w.jcc(condA, full)
		w.lockCmpxchg(head, rdx)
		w.jcc(condNE, again)
	}
	w.place(again)
	w.mov(r(rax), head)
	w.mov(r(rcx), r(rax))
	w.aluImm(opAnd, r(rcx), int32(l.Size-1))
	if size.isReg {
		w.lea(rdx, at(rcx, 0))
		w.alu(opAdd, r(rdx), r(size.in))
		w.aluImm(opCmp, r(rdx), int32(l.Size))
		w.jcc(condA, wraps)
		w.mov(r(rdx), r(rax))
		w.alu(opAdd, r(rdx), r(size.in))
	} else {
		w.aluImm(opCmp, r(rcx), int32(l.Size-size.bytes))
		w.jcc(condA, wraps)
		w.lea(rdx, at(rax, int32(size.bytes)))
	}
	try()
	w.lea(w.record, w.arena(l.Data))
	w.alu(opAdd, r(w.record), r(rcx))
	w.place(reserved)
	if size.isReg {
		w.mov(at(w.record, 0), r(size.in))
	} else {
		w.storeConst(at(w.record, 0), size.bytes)
	}

	w.cold = append(w.cold, func() {
		w.place(wraps) // the record begins at the start of the data, and a filler is in front
		w.mov(r(rdx), r(rax))
		w.alu(opSub, r(rdx), r(rcx))
		w.aluImm(opAdd, r(rdx), int32(l.Size+size.bytes))
		if size.isReg {
			w.alu(opAdd, r(rdx), r(size.in))
		}
		try()
		w.lea(w.record, w.arena(l.Data))
		w.alu(opAdd, r(w.record), r(rcx))
		w.movImm(rdx, record.Filler|l.Size)
		w.alu(opSub, r(rdx), r(rcx))
		w.mov(at(w.record, 0), r(rdx))
		w.alu(opSub, r(w.record), r(rcx))
		w.jmp(reserved)
	})
}

// storeHeader stores all words of a record's header but the first.
func (w *recordWriter) storeHeader(hdr *record.Header) {
	_, words := hdr.Words()
	word := func(offset int) *uint64 { return &words[offset/8-1] }
	w.storeConst(at(w.record, record.ProgramAt), *word(record.ProgramAt))
	w.mov(r(rax), at(w.frames.stackOf, calls.TidAt))
	w.shift(opShl, r(rax), 32)
	w.movImm(rcx, *word(record.PidAt))
	w.alu(opOr, r(rax), r(rcx))
	w.mov(at(w.record, record.PidAt), r(rax))
	w.now()
	w.mov(at(w.record, record.TimeAt), r(rax))
	w.storeConst(at(w.record, record.HoldAt), *word(record.HoldAt))
	for i := int32(0); i < calls.CommSize; i += 8 {
		w.mov(r(rax), at(w.frames.stackOf, calls.CommAt+i))
		w.mov(at(w.record, record.CommAt+i), r(rax))
	}
}

// wake rings if the reader sleeps.
func (w *recordWriter) wake() {
	sleep, sleeps, done := w.arena(w.site.Ring.Sleep), w.newLabel(), w.newLabel()
	w.aluImm(opCmp, sleep, 0)
	w.jcc(condNE, sleeps)
	w.place(done)
	d := w.newBell()
	d.Call, d.Wakes, d.resume = NoCall, true, done
	w.hang(&d)
	w.cold = append(w.cold, func() {
		w.place(sleeps)
		w.clear(rax)
		w.xchgMemory(sleep, rax)
		w.test(rax)
		w.jcc(condNE, d.at)
		w.jmp(done)
	})
}
