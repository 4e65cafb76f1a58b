package amd64

import (
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/calls"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/opcode"
)

// What programs know of their thread: its number, and variables that each thread has its own value of.

// needStack loads the address of the thread's stack of calls. A thread without one rings before the current operation,
// or before the key that is being built.
func (f *frames) needStack() {
	if !f.framed {
		f.needsStack(f.bellBefore())
	}
}

// tid pushes the number of the thread.
func (f *frames) tid() {
	f.needStack()
	x := f.target()
	f.Mov(asm.R(x), asm.At(f.stackOf, calls.TidAt))
	f.result(x)
}

// errno pushes errno of the thread, which is at an offset from the start of its own data.
func (f *frames) errno(at int64) {
	f.needStack()
	bell, to := f.bellBefore(), f.target()
	fault := func(instruction func()) { f.mayFault(bell, true, instruction) }
	f.used(asm.RAX)
	f.ownData(fault)
	fault(func() { f.Extend(to, asm.At(asm.RAX, int32(at)), 32, true) })
	f.result(to)
}

// perThread makes the code of operations on this thread's value of a variable, which is in a table with the number of
// the thread as the key. A value that is not there yet is the initial one; the interpreter inserts it. While another
// key is built, values are only read: the words of that key lie in homes, which a search does not use.
func (p *part) perThread(in *runtime.Inst) {
	l := p.plan.Ops[p.pc].Object
	unsure, outer := p.bellBefore(), p.key
	p.frames.needsStack(unsure)
	p.Mov(asm.R(p.used(asm.RAX)), asm.At(p.stackOf, calls.TidAt))
	p.Mov(p.written(p.thread), asm.R(asm.RAX))
	p.key = keyed{words: []word{{threadNumber, 0}}}
	var v word
	absent, done := unsure, p.NewLabel()
	if in.Op == opcode.PushPT {
		absent = p.NewLabel()
		p.cold = append(p.cold, func() {
			p.Place(absent)
			p.MovImm(p.cells.search.entry, uint64(l.Object.Init))
			p.Jmp(done)
		})
	} else {
		v = p.popWord()
	}
	p.tables.usedBySearch()
	if p.tables.isPair(in.Op, l) {
		p.tables.usePair(in.Op, l, v, absent, unsure)
	} else {
		p.tables.ownCell(in.Op, l.Table, v, absent, unsure)
	}
	p.Place(done)
	p.key = outer
	if in.Op == opcode.PushPT {
		p.result(p.cells.search.entry)
	}
}

// ownCell searches the cell of the thread and makes an operation with it. The value, if it is read, is in the register
// of the entry.
func (k *tables) ownCell(op opcode.Op, t *arena.TableLayout, v word, absent, unsure asm.Label) {
	k.find(t, absent, unsure)
	switch cell := k.cellFound(t); op {
	case opcode.PushPT:
		k.Mov(asm.R(k.cells.search.entry), cell)
	case opcode.PopPT:
		k.store(cell, v)
	case opcode.AddPT:
		k.atomicAdd(cell, v)
	}
	k.unpin(t)
}
