package amd64

import (
	"gotap/runtime"
	"gotap/runtime/calls"
	"gotap/runtime/opcode"
)

// Calls that are followed from their entry to their return. Package calls has the layout of what is used here, and says why a signal
// handler may interrupt it anywhere.

// within is how far inside of a call that ends, in bytes of stack, frames of calls are taken for dead. What is farther away may be
// on another stack, and is left to the interpreter.
const within = 256 << 10

// beginCall records the call that begins, or rings; then the interpreter does all that is to be done, and control arrives at none. The
// frame of the call is empty, and busy.
func (p *part) beginCall(none label) {
	unable := p.callBell(EntersCall, none)
	p.findStack(unable)
	size := calls.FrameSize(p.call.This)
	state := at(p.stackOf, calls.StateAt)
	again, former, push := p.newLabel(), p.newLabel(), p.newLabel()
	p.used(p.frame)

	p.place(again)
	p.mov(r(rax), state)
	p.mov32(rcx, r(rax))
	p.shift(opShr, r(rcx), 16)
	p.jcc(condE, push) // the stack is empty
	p.lea(p.frame, element(p.stackOf, rcx))
	p.stackPointer(rdx)
	p.alu(opCmp, r(rdx), at(p.frame, calls.SPAt))
	p.jcc(condA, unable)
	p.jcc(condE, former)
	p.place(push)
	p.extend(rcx, r(rax), 16, false)
	p.aluImm(opCmp, r(rcx), int32(calls.LastStart(size)))
	p.jcc(condA, unable)
	p.lea(p.frame, element(p.stackOf, rcx))
	p.stackPointer(rdx)
	p.mov(at(p.frame, calls.SPAt), r(rdx))
	p.store32(at(p.frame, calls.BeforeAt), rax)
	p.storeImm32(at(p.frame, calls.FuncAt), p.call.Func)
	p.storeImm(at(p.frame, calls.TimeAt), calls.Busy)
	for off := calls.ThisAt; off < size; off += 8 {
		p.storeImm(at(p.frame, int32(off)), 0)
	}
	// The next state: one more push, the frame's start, and its end.
	p.mov(r(rdx), r(rax))
	p.shift(opShr, r(rdx), 32)
	p.inc(r(rdx))
	p.shift(opShl, r(rdx), 16)
	p.alu(opAdd, r(rdx), r(rcx))
	p.shift(opShl, r(rdx), 16)
	p.alu(opAdd, r(rdx), r(rcx))
	p.aluImm(opAdd, r(rdx), int32(size/8))
	p.cmpxchg(state, rdx)
	p.jcc(condNE, again)
	if p.call.Timed {
		p.now()
		p.aluImm(opOr, r(rax), calls.Busy)
		p.mov(at(p.frame, calls.TimeAt), r(rax))
	}
	p.framed = true

	p.cold = append(p.cold, func() {
		p.place(former) // a call with this stack pointer has not returned
		p.cmpImm32(at(p.frame, calls.FuncAt), p.call.Func)
		p.jcc(condNE, unable)
		p.mov32(rcx, at(p.frame, calls.BeforeAt))
		p.mov(r(rdx), r(rax))
		p.shift(opShr, r(rdx), 32)
		p.shift(opShl, r(rdx), 32)
		p.alu(opAdd, r(rdx), r(rcx))
		p.cmpxchg(state, rdx)
		p.jmp(again)
	})
}

// enterCall makes the code of an enter handler whose call is followed.
func (e *emitter) enterCall(i int) {
	p, none := e.newPart(2*i+1, e.programs[i].Run), e.newLabel()
	p.done = e.newLabel()
	p.abort, p.resume = p.done, p.done
	p.prologue()
	p.beginCall(none)
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
	p.findCall(none)
	if g := e.programs[i].Gate; g != nil {
		e.gate(g, p.done)
	}
	p.body()
	e.place(p.done)
	p.popFrame()
	e.place(none)
	p.epilogue()
	p.close()
}

// findCall finds the frame of the call that ends at the place. If the call was not seen to begin, it jumps to none.
func (p *part) findCall(none label) {
	unable := p.callBell(LeavesCall, none)
	p.findStack(unable)
	p.used(p.frame)
	search, absent, inside := p.newLabel(), p.newLabel(), p.newLabel()
	p.mov32(rcx, at(p.stackOf, calls.StateAt))
	p.shift(opShr, r(rcx), 16)
	p.jcc(condE, absent)
	p.place(search)
	p.lea(p.frame, element(p.stackOf, rcx))
	p.stackPointer(rdx)
	p.mov(r(rax), at(p.frame, calls.SPAt))
	p.alu(opSub, r(rdx), r(rax))
	p.jcc(condA, inside)
	p.jcc(condNE, absent)
	p.cmpImm32(at(p.frame, calls.FuncAt), p.call.Func)
	p.jcc(condNE, unable)
	p.aluImm(opOr, at(p.frame, calls.TimeAt), calls.Busy)
	p.stackPointer(rdx)
	p.alu(opCmp, r(rdx), at(p.frame, calls.SPAt))
	p.jcc(condNE, unable) // a signal handler has come in between, and the host has taken the call
	p.framed = true

	p.cold = append(p.cold, func() {
		p.place(inside) // rdx is how far inside of this call the frame's was
		p.aluImm(opCmp, r(rdx), within)
		p.jcc(condAE, unable)
		p.mov32(rax, at(p.frame, calls.BeforeAt))
		p.shift(opShr, r(rax), 16)
		p.jcc(condE, absent)
		p.alu(opCmp, r(rax), r(rcx))
		p.jcc(condAE, unable) // the process has overwritten the frame
		p.mov(r(rcx), r(rax))
		p.jmp(search)
		p.place(absent)
		p.aluImm(opCmp, at(p.stackOf, calls.OthersAt), 0)
		p.jcc(condNE, unable)
		p.jmp(none)
	})
}

// popFrame removes the frame, which is busy, and all that were pushed after it; rcx is used.
func (p *part) popFrame() {
	p.mov32(p.used(rcx), at(p.frame, calls.BeforeAt))
	p.store32(at(p.stackOf, calls.StateAt), rcx)
}

// findStack loads the address of the thread's stack of calls; rax, rcx and rdx are used. If it has none it jumps to unknown.
func (p *part) findStack(unknown label) {
	found, next := p.newLabel(), p.newLabel()
	for _, x := range []reg{rax, rcx, rdx, p.stackOf} {
		p.used(x)
	}
	p.ownData(unknown)
	p.movImm(rcx, calls.Multiplier)
	p.imul(rcx, r(rax))
	p.shift(opShr, r(rcx), slotShift)
	p.shift(opShl, r(rcx), slotSizeShift)
	p.lea(rdx, p.arena(p.site.Owners))
	p.alu(opAdd, r(rcx), r(rdx))
	p.alu(opCmp, r(rax), at(rcx, 0))
	p.jcc(condNE, next)
	p.place(found)
	p.extend(rax, at(rcx, calls.StackAt), 8, false)
	p.shift(opShl, r(rax), stackSizeShift)
	p.lea(p.stackOf, p.arena(p.site.Stacks))
	p.alu(opAdd, r(p.stackOf), r(rax))

	p.cold = append(p.cold, func() {
		p.place(next)
		for i := 1; i < calls.Probes; i++ {
			p.lea(rcx, at(rcx, calls.SlotSize))
			p.alu(opCmp, r(rax), at(rcx, 0))
			p.jcc(condE, found)
		}
		p.jmp(unknown)
	})
}

// ownData loads rax with the address of the thread's own data. Where their first word is their address it is read, which takes a third of the
// time of the instruction that tells it. A thread without such a word finds no owner and rings, or the read faults.
func (p *part) ownData(unknown label) {
	if !p.site.SelfAddressed {
		p.rdfsbase()
		return
	}
	p.mayFault(unknown, true, p.movOwnData)
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
func (p *part) callBell(state CallState, resume label) label {
	d := p.newBell()
	d.Call, d.resume = state, resume
	for range p.plan.Temps {
		d.Temps = append(d.Temps, Word{})
	}
	p.hang(&d)
	return d.at
}

// storage makes the code of operations on the storage of the call.
func (p *part) storage(in *runtime.Inst) {
	word := at(p.frame, int32(calls.ThisAt+8*in.A))
	if in.Op == opcode.PopThis {
		p.store(word, p.popWord())
		return
	}
	x := p.target()
	p.mov(r(x), word)
	p.result(x)
}
