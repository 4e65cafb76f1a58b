package amd64

import (
	"gotap/runtime"
	"gotap/runtime/calls"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// What a program logs. The fields are kept as words, like the operand stack; when the program ends, the record is
// written into the ring at once (package record has its layout).

// field pops a word into the next field of the log. Constants and registers of the target stay what they are.
func (s *words) field() {
	w, n := s.popWord(), len(s.logged)
	if w.kind == temporary || w.kind == atHome {
		s.setHome(s.fields[n], w)
		w = word{inField, uint64(n)}
	}
	s.logged = append(s.logged, w)
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

// commit writes the record of what the program has logged. If the thread is not known, or the ring is full, the
// interpreter does it: a stop gives the reader time.
func (p *part) commit(in *runtime.Inst) {
	p.records = true
	log := p.plan.Ops[p.pc].Log
	if p.site.Operand != nil {
		p.log.checkOperand(p.site.Operand)
	}
	unable := p.bell()
	p.frames.needsStack(unable)
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
		p.storeConst(asm.At(p.log.record, at8), it.Header(hdr.Program))
		for i := range it.Fields {
			p.store(asm.At(p.log.record, at8+8+8*int32(i)), p.logged[next])
			next++
		}
		at8 += int32(record.ItemHeader + 8*it.Fields)
	}
	first, _ := hdr.Words()
	p.MovImm(asm.RAX, first)
	p.Mov(asm.At(p.log.record, 0), asm.R(asm.RAX)) // a plain store suffices: see package record
	p.log.wake()
}

// storeConst stores a constant; rax is used.
func (s *words) storeConst(to asm.Operand, v uint64) { s.store(to, word{constant, v}) }

// recordWriter makes the code that writes a record into the ring.
type recordWriter struct {
	*doorbells
	frames *frames
	texts  *texts
	memory *memoryCheck
	record asm.Reg // the address of the record, while it is written
}

// recordSize is the size of a record: a number of bytes, or what is in a register.
type recordSize struct {
	bytes uint64
	in    asm.Reg
	isReg bool
}

// reserve reserves room for a record in the ring, whose address is then in the record register, or jumps to full.
func (w *recordWriter) reserve(size recordSize, full asm.Label) {
	l := &w.site.Ring
	again, wraps, reserved := w.NewLabel(), w.NewLabel(), w.NewLabel()
	head := w.arena(l.Head)
	for _, x := range []asm.Reg{asm.RAX, asm.RCX, asm.RDX, w.record} {
		w.used(x)
	}
	try := func() { // the new head is in rdx
		w.Mov(asm.R(w.record), asm.R(asm.RDX))
		w.Alu(asm.Sub, asm.R(w.record), w.arena(l.Tail))
		w.AluImm(asm.Cmp, asm.R(w.record), int32(l.Size))
		w.Jcc(asm.A, full)
		w.LockCmpxchg(head, asm.RDX)
		w.Jcc(asm.NE, again)
	}
	w.Place(again)
	w.Mov(asm.R(asm.RAX), head)
	w.Mov(asm.R(asm.RCX), asm.R(asm.RAX))
	w.AluImm(asm.And, asm.R(asm.RCX), int32(l.Size-1))
	if size.isReg {
		w.Lea(asm.RDX, asm.At(asm.RCX, 0))
		w.Alu(asm.Add, asm.R(asm.RDX), asm.R(size.in))
		w.AluImm(asm.Cmp, asm.R(asm.RDX), int32(l.Size))
		w.Jcc(asm.A, wraps)
		w.Mov(asm.R(asm.RDX), asm.R(asm.RAX))
		w.Alu(asm.Add, asm.R(asm.RDX), asm.R(size.in))
	} else {
		w.AluImm(asm.Cmp, asm.R(asm.RCX), int32(l.Size-size.bytes))
		w.Jcc(asm.A, wraps)
		w.Lea(asm.RDX, asm.At(asm.RAX, int32(size.bytes)))
	}
	try()
	w.Lea(w.record, w.arena(l.Data))
	w.Alu(asm.Add, asm.R(w.record), asm.R(asm.RCX))
	w.Place(reserved)
	if size.isReg {
		w.Mov(asm.At(w.record, 0), asm.R(size.in))
	} else {
		w.storeConst(asm.At(w.record, 0), size.bytes)
	}

	w.cold = append(w.cold, func() {
		w.Place(wraps) // the record begins at the start of the data, and a filler is in front
		w.Mov(asm.R(asm.RDX), asm.R(asm.RAX))
		w.Alu(asm.Sub, asm.R(asm.RDX), asm.R(asm.RCX))
		w.AluImm(asm.Add, asm.R(asm.RDX), int32(l.Size+size.bytes))
		if size.isReg {
			w.Alu(asm.Add, asm.R(asm.RDX), asm.R(size.in))
		}
		try()
		w.Lea(w.record, w.arena(l.Data))
		w.Alu(asm.Add, asm.R(w.record), asm.R(asm.RCX))
		w.MovImm(asm.RDX, record.Filler|l.Size)
		w.Alu(asm.Sub, asm.R(asm.RDX), asm.R(asm.RCX))
		w.Mov(asm.At(w.record, 0), asm.R(asm.RDX))
		w.Alu(asm.Sub, asm.R(w.record), asm.R(asm.RCX))
		w.Jmp(reserved)
	})
}

// storeHeader stores all words of a record's header but the first.
func (w *recordWriter) storeHeader(hdr *record.Header) {
	_, words := hdr.Words()
	word := func(offset int) *uint64 { return &words[offset/8-1] }
	w.storeConst(asm.At(w.record, record.ProgramAt), *word(record.ProgramAt))
	w.Mov(asm.R(asm.RAX), asm.At(w.stackOf, calls.TidAt))
	w.Shift(asm.Shl, asm.R(asm.RAX), 32)
	w.MovImm(asm.RCX, *word(record.PidAt))
	w.Alu(asm.Or, asm.R(asm.RAX), asm.R(asm.RCX))
	w.Mov(asm.At(w.record, record.PidAt), asm.R(asm.RAX))
	w.keptTime()
	w.Mov(asm.At(w.record, record.TimeAt), asm.R(asm.RAX))
	w.storeConst(asm.At(w.record, record.HoldAt), *word(record.HoldAt))
	for i := int32(0); i < calls.CommSize; i += 8 {
		w.Mov(asm.R(asm.RAX), asm.At(w.stackOf, calls.CommAt+i))
		w.Mov(asm.At(w.record, record.CommAt+i), asm.R(asm.RAX))
	}
}

// wake rings if the reader sleeps.
func (w *recordWriter) wake() {
	sleep, sleeps, done := w.arena(w.site.Ring.Sleep), w.NewLabel(), w.NewLabel()
	w.AluImm(asm.Cmp, sleep, 0)
	w.Jcc(asm.NE, sleeps)
	w.Place(done)
	d := w.newBell()
	d.Call, d.Wakes, d.resume = native.NoCall, true, done
	w.hang(&d)
	w.cold = append(w.cold, func() {
		w.Place(sleeps)
		w.Clear(asm.RAX)
		w.XchgMemory(sleep, asm.RAX)
		w.Test(asm.RAX)
		w.Jcc(asm.NE, d.at)
		w.Jmp(done)
	})
}
