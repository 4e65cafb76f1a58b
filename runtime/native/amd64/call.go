package amd64

import (
	"gotap/runtime"
	"gotap/runtime/calls"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
)

// Calls that are followed from their entry to their return. Package calls has the layout of what is used here, and says why a signal
// handler may interrupt it anywhere.

// within is how far inside of a call that ends, in bytes of stack, frames of calls are taken for dead. What is farther away may be
// on another stack, and is left to the interpreter.
const within = 256 << 10

// frames makes the code of calls: their frames on the thread's stack of calls.
type frames struct {
	*doorbells
	call    *native.Call // nil: no call begins or ends
	stackOf reg          // the address of the thread's stack of calls, if it is used
}

// beginCall records the call that begins, or rings; then the interpreter does all that is to be done, and control arrives at none. The
// frame of the call is empty, and busy.
func (f *frames) beginCall(none label) {
	unable := f.callBell(EntersCall, none)
	f.findStack(unable)
	size := calls.FrameSize(f.call.This)
	state := at(f.stackOf, calls.StateAt)
	again, former, push := f.newLabel(), f.newLabel(), f.newLabel()
	f.used(f.frame)

	f.place(again)
	f.mov(r(rax), state)
	f.mov32(rcx, r(rax))
	f.shift(opShr, r(rcx), 16)
	f.jcc(condE, push) // the stack is empty
	f.lea(f.frame, element(f.stackOf, rcx))
	f.stackPointer(rdx)
	f.alu(opCmp, r(rdx), at(f.frame, calls.SPAt))
	f.jcc(condA, unable)
	f.jcc(condE, former)
	f.place(push)
	f.extend(rcx, r(rax), 16, false)
	f.aluImm(opCmp, r(rcx), int32(calls.LastStart(size)))
	f.jcc(condA, unable)
	f.lea(f.frame, element(f.stackOf, rcx))
	f.stackPointer(rdx)
	f.mov(at(f.frame, calls.SPAt), r(rdx))
	f.store32(at(f.frame, calls.BeforeAt), rax)
	f.storeImm32(at(f.frame, calls.FuncAt), f.call.Func)
	f.storeImm(at(f.frame, calls.TimeAt), calls.Busy)
	for off := calls.ThisAt; off < size; off += 8 {
		f.storeImm(at(f.frame, int32(off)), 0)
	}
	// The next state: one more push, the frame's start, and its end.
	f.mov(r(rdx), r(rax))
	f.shift(opShr, r(rdx), 32)
	f.inc(r(rdx))
	f.shift(opShl, r(rdx), 16)
	f.alu(opAdd, r(rdx), r(rcx))
	f.shift(opShl, r(rdx), 16)
	f.alu(opAdd, r(rdx), r(rcx))
	f.aluImm(opAdd, r(rdx), int32(size/8))
	f.cmpxchg(state, rdx)
	f.jcc(condNE, again)
	if f.call.Timed {
		f.now()
		f.aluImm(opOr, r(rax), calls.Busy)
		f.mov(at(f.frame, calls.TimeAt), r(rax))
	}
	f.framed = true

	f.cold = append(f.cold, func() {
		f.place(former) // a call with this stack pointer has not returned
		f.cmpImm32(at(f.frame, calls.FuncAt), f.call.Func)
		f.jcc(condNE, unable)
		f.mov32(rcx, at(f.frame, calls.BeforeAt))
		f.mov(r(rdx), r(rax))
		f.shift(opShr, r(rdx), 32)
		f.shift(opShl, r(rdx), 32)
		f.alu(opAdd, r(rdx), r(rcx))
		f.cmpxchg(state, rdx)
		f.jmp(again)
	})
}

// enterCall makes the code of an enter handler whose call is followed.
func (e *emitter) enterCall(i int) {
	p, none := e.newPart(2*i+1, e.programs[i].Run), e.newLabel()
	p.done = e.newLabel()
	p.abort, p.resume = p.done, p.done
	p.prologue()
	p.frames.beginCall(none)
	p.body()
	e.place(p.done)
	e.aluImm(opAnd, at(p.frame, calls.TimeAt), ^calls.Busy)
	e.place(none)
	p.epilogue()
	p.close()
}

// leaveCall makes the code of a leave handler, for calls that were recorded when they began.
func (e *emitter) leaveCall(i int) {
	p := e.newPart(2*i+1, e.programs[i].Run)
	p.done = e.newLabel()
	p.abort, p.resume = p.done, p.done
	none := e.newLabel()
	p.prologue()
	p.frames.findCall(none)
	if g := e.programs[i].Gate; g != nil {
		e.gate(g, p.done)
	}
	p.body()
	e.place(p.done)
	p.frames.popFrame()
	e.place(none)
	p.epilogue()
	p.close()
}

// findCall finds the frame of the call that ends at the place. If the call was not seen to begin, it jumps to none.
func (f *frames) findCall(none label) {
	unable := f.callBell(LeavesCall, none)
	f.findStack(unable)
	f.used(f.frame)
	search, absent, inside := f.newLabel(), f.newLabel(), f.newLabel()
	f.mov32(rcx, at(f.stackOf, calls.StateAt))
	f.shift(opShr, r(rcx), 16)
	f.jcc(condE, absent)
	f.place(search)
	f.lea(f.frame, element(f.stackOf, rcx))
	f.stackPointer(rdx)
	f.mov(r(rax), at(f.frame, calls.SPAt))
	f.alu(opSub, r(rdx), r(rax))
	f.jcc(condA, inside)
	f.jcc(condNE, absent)
	f.cmpImm32(at(f.frame, calls.FuncAt), f.call.Func)
	f.jcc(condNE, unable)
	f.aluImm(opOr, at(f.frame, calls.TimeAt), calls.Busy)
	f.stackPointer(rdx)
	f.alu(opCmp, r(rdx), at(f.frame, calls.SPAt))
	f.jcc(condNE, unable) // a signal handler has come in between, and the host has taken the call
	f.framed = true

	f.cold = append(f.cold, func() {
		f.place(inside) // rdx is how far inside of this call the frame's was
		f.aluImm(opCmp, r(rdx), within)
		f.jcc(condAE, unable)
		f.mov32(rax, at(f.frame, calls.BeforeAt))
		f.shift(opShr, r(rax), 16)
		f.jcc(condE, absent)
		f.alu(opCmp, r(rax), r(rcx))
		f.jcc(condAE, unable) // the process has overwritten the frame
		f.mov(r(rcx), r(rax))
		f.jmp(search)
		f.place(absent)
		f.aluImm(opCmp, at(f.stackOf, calls.OthersAt), 0)
		f.jcc(condNE, unable)
		f.jmp(none)
	})
}

// popFrame removes the frame, which is busy, and all that were pushed after it; rcx is used.
func (f *frames) popFrame() {
	f.mov32(f.used(rcx), at(f.frame, calls.BeforeAt))
	f.store32(at(f.stackOf, calls.StateAt), rcx)
}

// findStack loads the address of the thread's stack of calls; rax, rcx and rdx are used. If it has none it jumps to unknown.
func (f *frames) findStack(unknown label) {
	found, next := f.newLabel(), f.newLabel()
	for _, x := range []reg{rax, rcx, rdx, f.stackOf} {
		f.used(x)
	}
	f.ownData(unknown)
	f.movImm(rcx, calls.Multiplier)
	f.imul(rcx, r(rax))
	f.shift(opShr, r(rcx), slotShift)
	f.shift(opShl, r(rcx), slotSizeShift)
	f.lea(rdx, f.arena(f.site.Owners))
	f.alu(opAdd, r(rcx), r(rdx))
	f.alu(opCmp, r(rax), at(rcx, 0))
	f.jcc(condNE, next)
	f.place(found)
	f.extend(rax, at(rcx, calls.StackAt), 8, false)
	f.shift(opShl, r(rax), stackSizeShift)
	f.lea(f.stackOf, f.arena(f.site.Stacks))
	f.alu(opAdd, r(f.stackOf), r(rax))

	f.cold = append(f.cold, func() {
		f.place(next)
		for i := 1; i < calls.Probes; i++ {
			f.lea(rcx, at(rcx, calls.SlotSize))
			f.alu(opCmp, r(rax), at(rcx, 0))
			f.jcc(condE, found)
		}
		f.jmp(unknown)
	})
}

// ownData loads rax with the address of the thread's own data. Where their first word is their address it is read, which takes a third of the
// time of the instruction that tells it. A thread without such a word finds no owner and rings, or the read faults.
func (f *frames) ownData(unknown label) {
	if !f.site.SelfAddressed {
		f.rdfsbase()
		return
	}
	f.mayFault(unknown, true, f.movOwnData)
}

// Positions of the number of a slot in the product of an owner, and of the same in bytes; of the number of a stack in bytes.
const (
	slotShift      = 64 - 10
	slotSizeShift  = 4
	stackSizeShift = 15
)

// The numbers of slots and stacks fit.
var (
	_ = [1]struct{}{}[calls.Slots-1<<(64-slotShift)]
	_ = [1]struct{}{}[calls.SlotSize-1<<slotSizeShift]
	_ = [1]struct{}{}[calls.StackSize-1<<stackSizeShift]
	_ = [1]struct{}{}[calls.MaxThreads-1<<8]
)

// callBell makes a doorbell before anything of the program has been executed, behind which the thread continues at a label.
func (b *doorbells) callBell(state CallState, resume label) label {
	d := b.newBell()
	d.Call, d.resume = state, resume
	for range b.plan.Temps {
		d.Temps = append(d.Temps, Word{})
	}
	b.hang(&d)
	return d.at
}

// storage makes the code of operations on the storage of the call.
func (f *frames) storage(in *runtime.Inst) {
	word := at(f.frame, int32(calls.ThisAt+8*in.A))
	if in.Op == opcode.PopThis {
		f.store(word, f.popWord())
		return
	}
	x := f.target()
	f.mov(r(x), word)
	f.result(x)
}
