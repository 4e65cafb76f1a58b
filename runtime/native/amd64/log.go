package amd64

import (
	"encoding/binary"

	"gotap/runtime"
	"gotap/runtime/calls"
	"gotap/runtime/native"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// What a program logs. The fields are kept as words, like the operand stack; when the program ends, the record is written into the ring at
// once (package record has its layout).

// field pops a word into the next field of the log. Constants and registers of the target stay what they are.
func (p *part) field() {
	w, n := p.popWord(), len(p.logged)
	if w.kind == temporary || w.kind == atHome {
		p.setHome(p.fields[n], w)
		w = word{inField, uint64(n)}
	}
	p.logged = append(p.logged, w)
}

// settleFields moves all fields to their homes.
func (p *part) settleFields() {
	for i, w := range p.logged {
		if home := (word{inField, uint64(i)}); w != home {
			p.setHome(p.fields[i], w)
			p.logged[i] = home
		}
	}
}

// header returns the first word of an item.
func header(program uint32, it native.LogItem) uint64 {
	return uint64(program)<<32 | uint64(it.Format)<<16 | uint64(record.ItemHeader+8*it.Fields)
}

// commit writes the record of what the program has logged. If the thread is not known, or the ring is full, the interpreter does it: a stop
// gives the reader time.
func (p *part) commit(in *runtime.Inst) {
	p.records = true
	log := p.plan.Ops[p.pc].Log
	unable := p.bell()
	if !p.framed {
		p.findStack(unable)
	}
	hdr := record.Header{Size: uint32(record.HeaderSize + log.Bytes), Kind: outcome.ExitKind(in.A), Program: p.plan.Code.ID, Probe: p.programs[p.index/2].Probe, Pid: p.site.Pid}
	if hdr.Kind == outcome.ExitEvent {
		hdr.Flags = record.FlagEvent
	}
	p.reserve(uint64(hdr.Size), unable)
	p.storeHeader(&hdr)
	at8 := int32(record.HeaderSize)
	next := 0
	for _, it := range log.Items {
		p.storeConst(at(p.record, at8), header(hdr.Program, it))
		for i := range it.Fields {
			p.store(at(p.record, at8+8+8*int32(i)), p.logged[next])
			next++
		}
		at8 += int32(record.ItemHeader + 8*it.Fields)
	}
	first, _ := hdr.Words()
	p.movImm(rax, first)
	p.xchgMemory(at(p.record, 0), rax) // and a barrier before the reader's word is looked at
	p.wake()
}

// storeConst stores a constant; rax is used.
func (p *part) storeConst(to operand, v uint64) { p.store(to, word{constant, v}) }

// reserve reserves room for a record in the ring, whose address is then in the record register, or jumps to full.
func (p *part) reserve(size uint64, full label) {
	l := &p.site.Ring
	again, wraps, reserved := p.newLabel(), p.newLabel(), p.newLabel()
	head := p.arena(l.Head)
	for _, x := range []reg{rax, rcx, rdx, p.record} {
		p.used(x)
	}
	try := func() { // the new head is in rdx
		p.mov(r(p.record), r(rdx))
		p.alu(opSub, r(p.record), p.arena(l.Tail))
		p.aluImm(opCmp, r(p.record), int32(l.Size))
		p.jcc(condA, full)
		p.lockCmpxchg(head, rdx)
		p.jcc(condNE, again)
	}
	p.place(again)
	p.mov(r(rax), head)
	p.mov(r(rcx), r(rax))
	p.aluImm(opAnd, r(rcx), int32(l.Size-1))
	p.aluImm(opCmp, r(rcx), int32(l.Size-size))
	p.jcc(condA, wraps)
	p.lea(rdx, at(rax, int32(size)))
	try()
	p.lea(p.record, p.arena(l.Data))
	p.alu(opAdd, r(p.record), r(rcx))
	p.place(reserved)
	p.storeConst(at(p.record, 0), size)

	p.cold = append(p.cold, func() {
		p.place(wraps) // the record begins at the start of the data, and a filler is in front
		p.mov(r(rdx), r(rax))
		p.alu(opSub, r(rdx), r(rcx))
		p.aluImm(opAdd, r(rdx), int32(l.Size+size))
		try()
		p.lea(p.record, p.arena(l.Data))
		p.alu(opAdd, r(p.record), r(rcx))
		p.movImm(rdx, record.Filler|l.Size)
		p.alu(opSub, r(rdx), r(rcx))
		p.mov(at(p.record, 0), r(rdx))
		p.alu(opSub, r(p.record), r(rcx))
		p.jmp(reserved)
	})
}

// storeHeader stores all words of a record's header but the first.
func (p *part) storeHeader(hdr *record.Header) {
	_, words := hdr.Words()
	word := func(offset int) *uint64 { return &words[offset/8-1] }
	p.storeConst(at(p.record, record.ProgramAt), *word(record.ProgramAt))
	p.mov(r(rax), at(p.stackOf, calls.TidAt))
	p.shift(opShl, r(rax), 32)
	p.movImm(rcx, *word(record.PidAt))
	p.alu(opOr, r(rax), r(rcx))
	p.mov(at(p.record, record.PidAt), r(rax))
	p.now()
	p.mov(at(p.record, record.TimeAt), r(rax))
	p.storeConst(at(p.record, record.HoldAt), *word(record.HoldAt))
	for i := int32(0); i < calls.CommSize; i += 8 {
		p.mov(r(rax), at(p.stackOf, calls.CommAt+i))
		p.mov(at(p.record, record.CommAt+i), r(rax))
	}
}

// wake rings if the reader sleeps.
func (p *part) wake() {
	sleep, sleeps, done := p.arena(p.site.Ring.Sleep), p.newLabel(), p.newLabel()
	p.aluImm(opCmp, sleep, 0)
	p.jcc(condNE, sleeps)
	p.place(done)
	d := p.newBell()
	d.Call, d.Wakes, d.resume = NoCall, true, done
	p.hang(&d)
	p.cold = append(p.cold, func() {
		p.place(sleeps)
		p.clear(rax)
		p.xchgMemory(sleep, rax)
		p.test(rax)
		p.jcc(condNE, d.at)
		p.jmp(done)
	})
}

// logOf writes what a program has logged when a doorbell rings.
func (d *Doorbell) logOf(regs, frame []uint64, part *record.Part) {
	items, open := part.Items[:0], part.Item[:0]
	fields := d.fields
	for i, it := range d.log.Items {
		h := header(d.program, it)
		to := &items
		if d.log.Open && i == len(d.log.Items)-1 {
			h, to = h&^0xffff, &open
		}
		*to = binary.LittleEndian.AppendUint64(*to, h)
		for range it.Fields {
			*to = binary.LittleEndian.AppendUint64(*to, fields[0].read(regs, frame))
			fields = fields[1:]
		}
	}
	*part = record.Part{Items: items, Item: open, InItem: d.log.Open}
}
