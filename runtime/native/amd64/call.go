package amd64

import (
	"gotap/runtime"
	"gotap/runtime/calls"
	"gotap/runtime/gate"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/opcode"
)

// Calls that are followed from their entry to their return. Package calls has the layout of what is used here, and says
// why a signal handler may interrupt it anywhere.

// within is how far inside of a call that ends, in bytes of stack, frames of calls are taken for dead. What is farther
// away may be on another stack, and is left to the interpreter.
const within = 256 << 10

// frames makes the code of calls: their frames on the thread's stack of calls.
type frames struct {
	*doorbells
	call *native.Call // nil: no call begins or ends
}

// beginCall records the call that begins, or rings; then the interpreter does all that is to be done, and control
// arrives at none. The frame of the call is empty, and busy. In any case it counts the hit in the gate, if there is
// one.
func (f *frames) beginCall(g *gate.Gate, none asm.Label) {
	bell, unable := f.callBell(native.EntersCall, none), f.NewLabel()
	f.cold = append(f.cold, func() {
		f.Place(unable)
		f.hit(g)
		f.Jmp(bell)
	})
	f.findStack(unable, func(instruction func()) {
		f.guarded(read{Read: native.Read{Own: true, Passes: true}, bell: unable}, f.abandoned, instruction)
	})
	if f.site.Shares {
		f.share = hasShare
	}
	size := calls.FrameSize(f.call.This)
	state := asm.At(f.stackOf, calls.StateAt)
	newest := asm.Element(f.stackOf, asm.RCX)
	again, former, push := f.NewLabel(), f.NewLabel(), f.NewLabel()
	f.used(f.frame)
	f.used(asm.RDX)

	f.Place(again)
	f.stackPointer(asm.RDX)
	f.Alu(asm.Cmp, asm.R(asm.RDX), asm.At(f.stackOf, calls.LowestAt))
	f.Jcc(asm.AE, unable)
	f.Mov(asm.R(asm.RAX), state)
	f.Mov32(asm.RCX, asm.R(asm.RAX))
	f.Shift(asm.Shr, asm.R(asm.RCX), 16)
	f.Jcc(asm.E, push) // the stack is empty
	f.Alu(asm.Cmp, asm.R(asm.RDX), newest.Plus(calls.SPAt))
	f.Jcc(asm.A, unable)
	f.Jcc(asm.E, former)
	f.Place(push)
	f.Extend(asm.RCX, asm.R(asm.RAX), 16, false)
	f.AluImm(asm.Cmp, asm.R(asm.RCX), int32(calls.LastStart(size)))
	f.Jcc(asm.A, unable)
	f.Lea(f.frame, newest)
	f.Mov(asm.At(f.frame, calls.SPAt), asm.R(asm.RDX))
	f.Store32(asm.At(f.frame, calls.BeforeAt), asm.RAX)
	f.StoreImm32(asm.At(f.frame, calls.FuncAt), f.call.Func)
	f.StoreImm(asm.At(f.frame, calls.TimeAt), calls.Busy)
	for off := calls.ThisAt; off < size; off += 8 {
		f.StoreImm(asm.At(f.frame, int32(off)), 0)
	}
	// The next state: one more push, the frame's start, and its end.
	f.Mov(asm.R(asm.RDX), asm.R(asm.RAX))
	f.Shift(asm.Shr, asm.R(asm.RDX), 32)
	f.Inc(asm.R(asm.RDX))
	f.Shift(asm.Shl, asm.R(asm.RDX), 32)
	f.ImulImm(asm.RCX, asm.R(asm.RCX), 1<<16+1)
	f.LeaSumWide(asm.RDX, asm.RDX, asm.RCX, int32(size/8))
	f.Cmpxchg(state, asm.RDX)
	f.Jcc(asm.NE, again)
	if f.call.Timed {
		f.now()
		f.AluImm(asm.Or, asm.R(asm.RAX), calls.Busy)
		f.Mov(asm.At(f.frame, calls.TimeAt), asm.R(asm.RAX))
	}
	f.framed = true
	if g != nil {
		f.countGate(g, gate.HitsOffset, gate.ShareOfHits)
	}

	f.cold = append(f.cold, func() {
		f.Place(former) // a call with this stack pointer has not returned
		f.CmpImm32(newest.Plus(calls.FuncAt), f.call.Func)
		f.Jcc(asm.NE, unable)
		f.Mov32(asm.RCX, newest.Plus(calls.BeforeAt))
		f.Mov(asm.R(asm.RDX), asm.R(asm.RAX))
		f.Shift(asm.Shr, asm.R(asm.RDX), 32)
		f.Shift(asm.Shl, asm.R(asm.RDX), 32)
		f.Alu(asm.Add, asm.R(asm.RDX), asm.R(asm.RCX))
		f.Cmpxchg(state, asm.RDX)
		f.Jmp(again)
	})
}

// enterCall makes the code of an enter handler whose call is followed.
func (e *emitter) enterCall(i int) {
	p, none := e.newPart(2*i+1, e.programs[i].Run), e.NewLabel()
	p.done = e.NewLabel()
	p.abort, p.resume = p.done, p.done
	p.prologue()
	p.frames.beginCall(e.programs[i].Gate, none)
	p.body()
	e.Place(p.done)
	e.AluImm(asm.And, asm.At(p.frame, calls.TimeAt), ^calls.Busy)
	e.Place(none)
	p.epilogue()
	p.close()
}

// leaveCall makes the code of a leave handler, for calls that were recorded when they began.
func (e *emitter) leaveCall(i int) {
	p := e.newPart(2*i+1, e.programs[i].Run)
	p.done = e.NewLabel()
	p.abort, p.resume = p.done, p.done
	none := e.NewLabel()
	p.prologue()
	p.frames.findCall(none)
	if g := e.programs[i].Gate; g != nil {
		e.due(g, p.done)
		p.countGate(g, gate.HitsOffset, gate.ShareOfHits)
	}
	p.body()
	e.Place(p.done)
	p.frames.popFrame()
	e.Place(none)
	p.epilogue()
	p.close()
}

// findCall finds the frame of the call that ends at the place. If the call was not seen to begin, it jumps to none.
func (f *frames) findCall(none asm.Label) {
	unable := f.callBell(native.LeavesCall, none)
	f.findStackOrRing(unable)
	f.used(f.frame)
	f.used(asm.RDX)
	search, absent, other := f.NewLabel(), f.NewLabel(), f.NewLabel()
	f.Mov32(asm.RCX, asm.At(f.stackOf, calls.StateAt))
	f.Shift(asm.Shr, asm.R(asm.RCX), 16)
	f.Jcc(asm.E, absent)
	f.Place(search)
	f.Lea(f.frame, asm.Element(f.stackOf, asm.RCX))
	f.stackPointer(asm.RDX)
	f.Alu(asm.Cmp, asm.R(asm.RDX), asm.At(f.frame, calls.SPAt))
	f.Jcc(asm.NE, other)
	f.CmpImm32(asm.At(f.frame, calls.FuncAt), f.call.Func)
	f.Jcc(asm.NE, unable)
	f.AluImm(asm.Or, asm.At(f.frame, calls.TimeAt), calls.Busy)
	f.Alu(asm.Cmp, asm.R(asm.RDX), asm.At(f.frame, calls.SPAt))
	f.Jcc(asm.NE, unable) // a signal handler has come in between, and the host has taken the call
	f.framed = true

	f.cold = append(f.cold, func() {
		f.Place(other)
		f.Alu(asm.Sub, asm.R(asm.RDX), asm.At(f.frame, calls.SPAt))
		f.Jcc(asm.B, absent)
		// rdx is how far inside of this call the frame's was. If the frame has changed since the comparison, because
		// the host has removed it, its stack pointer is that of no call and greater than any.
		f.AluImm(asm.Cmp, asm.R(asm.RDX), within)
		f.Jcc(asm.AE, unable)
		f.Mov32(asm.RAX, asm.At(f.frame, calls.BeforeAt))
		f.Shift(asm.Shr, asm.R(asm.RAX), 16)
		f.Jcc(asm.E, absent)
		f.Alu(asm.Cmp, asm.R(asm.RAX), asm.R(asm.RCX))
		f.Jcc(asm.AE, unable) // the process has overwritten the frame
		f.Mov(asm.R(asm.RCX), asm.R(asm.RAX))
		f.Jmp(search)
		f.Place(absent)
		f.AluImm(asm.Cmp, asm.At(f.stackOf, calls.LowestAt), -1) // calls.None
		f.Jcc(asm.NE, unable)
		f.Jmp(none)
	})
}

// popFrame removes the frame, which is busy, and all that were pushed after it; rcx is used.
func (f *frames) popFrame() {
	f.Mov32(f.used(asm.RCX), asm.At(f.frame, calls.BeforeAt))
	f.Store32(asm.At(f.stackOf, calls.StateAt), asm.RCX)
}

// findStackOrRing loads the address of the thread's stack of calls, or rings.
func (f *frames) findStackOrRing(bell asm.Label) {
	f.findStack(bell, func(instruction func()) { f.mayFault(bell, true, instruction) })
	if f.site.Shares {
		f.share = hasShare
	}
}

// needsStack is findStackOrRing where the part may have found it.
func (f *frames) needsStack(bell asm.Label) {
	switch {
	case f.framed:
	case f.share == maybeShare:
		f.Test(f.stackOf)
		f.Jcc(asm.E, bell)
	default:
		f.findStack(bell, func(instruction func()) { f.mayFault(bell, true, instruction) })
	}
}

// findStack loads the address of the thread's stack of calls; rax and rcx are used. If it has none it jumps to unknown.
// The function makes an instruction that may fault.
//
// rcx is twice the number of the slot, so that it counts words from the start of the table, whose address is in the
// register of the stack until that is known. Whatever the table contains, the address is that of a block: the number
// is one of 8 bits.
func (f *frames) findStack(unknown asm.Label, fault func(instruction func())) {
	found, next := f.NewLabel(), f.NewLabel()
	for _, x := range []asm.Reg{asm.RAX, asm.RCX, f.stackOf} {
		f.used(x)
	}
	slot := asm.Element(f.stackOf, asm.RCX)
	f.ownData(fault)
	f.ImulImm(asm.RCX, asm.R(asm.RAX), calls.Multiplier)
	f.Shift(asm.Shr, asm.R(asm.RCX), calls.SlotShift-1)
	f.AluImm(asm.And, asm.R(asm.RCX), slotWords*(calls.Slots-1))
	f.Lea(f.stackOf, f.arena(f.site.Owners))
	f.Alu(asm.Cmp, asm.R(asm.RAX), slot)
	f.Jcc(asm.NE, next)
	f.Place(found)
	f.Extend(asm.RAX, slot.Plus(calls.StackAt), 8, false)
	f.Shift(asm.Shl, asm.R(asm.RAX), blockSizeShift)
	f.LeaSumWide(f.stackOf, f.stackOf, asm.RAX, int32(f.site.Stacks-f.site.Owners))

	f.cold = append(f.cold, func() {
		f.Place(next)
		for i := 1; i < calls.Probes; i++ {
			f.AluImm(asm.Add, asm.R(asm.RCX), slotWords)
			f.Alu(asm.Cmp, asm.R(asm.RAX), slot)
			f.Jcc(asm.E, found)
		}
		f.Jmp(unknown)
	})
}

// ownData loads rax with the address of the thread's own data. Where their first word is their address it is read,
// which takes a third of the time of the instruction that tells it. A thread without such a word finds no owner and
// rings, or the read faults.
func (f *frames) ownData(fault func(instruction func())) {
	if !f.site.SelfAddressed {
		f.Rdfsbase()
		return
	}
	fault(f.MovOwnData)
}

// slotWords is the size of a slot in words.
const slotWords = 2

// blockSizeShift is the position of the number of a block, in bytes.
const blockSizeShift = 17

// The numbers of slots and stacks fit.
var (
	_ = [1]struct{}{}[calls.SlotSize-8*slotWords]
	_ = [1]struct{}{}[calls.BlockSize-1<<blockSizeShift]
	_ = [1]struct{}{}[calls.MaxThreads-1<<8]
)

// callBell makes a doorbell before anything of the program has been executed, behind which the thread continues at a
// label.
func (b *doorbells) callBell(state native.CallState, resume asm.Label) asm.Label {
	d := b.newBell()
	d.Call, d.resume = state, resume
	for range b.plan.Temps {
		d.Temps = append(d.Temps, native.Word{})
	}
	b.hang(&d)
	return d.at
}

// storage makes the code of operations on the storage of the call.
func (f *frames) storage(in *runtime.Inst) {
	word := asm.At(f.frame, int32(calls.ThisAt+8*in.A))
	if in.Op == opcode.PopThis {
		f.store(word, f.popWord())
		return
	}
	x := f.target()
	f.Mov(asm.R(x), word)
	f.result(x)
}
