package arm64

import (
	"gotap/runtime"
	"gotap/runtime/calls"
	"gotap/runtime/gate"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
)

// Calls that are followed from their entry to their return. Package calls has the layout of what is used here, and says
// why a signal handler may interrupt it anywhere. The stack pointer is the same at the entry of a function and at its
// returns.

// Registers of a call: the address of its frame, and of the thread's block. Nothing else uses them.
const (
	frameReg  = x20
	callBlock = x21
)

// within is how far inside of a call that ends, in bytes of stack, frames of calls are taken for dead. What is farther
// away may be on another stack, and is left to the interpreter.
const within = 256 << 10

// callFrames makes the code of calls: their frames on the thread's stack of calls.
type callFrames struct{ *part }

// noProgram is the plan of a call whose beginning is only recorded.
var noProgram = &native.Plan{}

// call makes the code of a program whose call begins or ends at the place.
func (e *emitter) call(index int, program *native.Program, next label) {
	p, none, g := &part{plan: program.Run, index: index, probe: program.Probe, call: program.Call, done: e.newLabel()}, e.newLabel(), program.Gate
	if p.plan == nil {
		p.plan = noProgram
	}
	p.abort, p.resume = p.done, p.done
	e.prepare(p)
	if p.call.Ends { // then the gate is asked only for calls that were seen to begin
		p.frames.findCall(none)
		if g != nil {
			e.due(g, p.done)
			e.hit(g)
		}
	} else {
		if g != nil {
			e.due(g, next)
		}
		p.frames.beginCall(g, none)
	}
	p.body()
	e.place(p.done)
	if p.call.Ends {
		p.frames.popFrame()
	} else {
		p.frames.setBusy(false)
	}
	e.place(none)
	e.place(next)
}

// useCallRegs notes that the code of a call writes its registers.
func (f *callFrames) useCallRegs() {
	for _, x := range []reg{frameReg, callBlock, x6, x7, x8} {
		f.uses(x)
	}
}

// frameAt loads the address of a frame, whose start in words is in a register.
func (f *callFrames) frameAt(start reg) { f.addShifted(frameReg, callBlock, start, 3) }

// compareSP compares the stack pointer at the place, which is then in x8, with that of the frame.
func (f *callFrames) compareSP() {
	f.original(x8, sp)
	f.ldr(x16, frameReg, calls.SPAt)
	f.cmp(x8, x16)
}

// otherFunc jumps if a frame, whose word at BeforeAt is in a register, is not one of the function of the call; x16 and
// x17 are used.
func (f *callFrames) otherFunc(before reg, to label) {
	f.shr(x16, before, 32)
	f.movImm(x17, uint64(f.call.Func))
	f.cmp(x16, x17)
	f.bIf(condNE, to)
}

// beginCall records the call that begins, or rings; then the interpreter does all that is to be done, and control
// arrives at none. The frame of the call is empty, and busy. In any case it counts the hit in the gate, if there is
// one.
func (f *callFrames) beginCall(g *gate.Gate, none label) {
	bell, unable := f.callBell(native.EntersCall, none), f.newLabel()
	f.cold = append(f.cold, func() {
		f.place(unable)
		if g != nil {
			f.hit(g)
		}
		f.b(bell)
	})
	f.useCallRegs()
	f.findBlock(unable)
	f.mov(callBlock, blockReg)
	again, former, push := f.newLabel(), f.newLabel(), f.newLabel()
	f.original(x8, sp)
	f.ldr(x16, callBlock, calls.LowestAt)
	f.cmp(x8, x16)
	f.bIf(condHS, unable)
	f.place(again)
	f.ldr(x6, callBlock, calls.StateAt)
	f.field(x7, x6, 16, 16)
	f.cbz(x7, push) // the stack is empty
	f.frameAt(x7)
	f.compareSP()
	f.bIf(condHI, unable)
	f.bIf(condEQ, former)
	f.place(push)
	f.push(unable, again)
	if f.call.Timed {
		f.now()
		f.movImm(x7, calls.Busy)
		f.three(opOr, x6, x6, x7)
		f.str(x6, frameReg, calls.TimeAt)
	}
	f.framed = true
	if g != nil {
		f.hit(g)
	}
	f.cold = append(f.cold, func() {
		f.place(former) // a call with this stack pointer has not returned
		f.ldr(x7, frameReg, calls.BeforeAt)
		f.otherFunc(x7, unable)
		f.low(x7, x7, 32, false)
		f.shr(x8, x6, 32)
		f.shl(x8, x8, 32)
		f.three(opOr, x8, x8, x7)
		f.replaceCalls(again)
		f.b(again)
	})
}

// push pushes a frame, or jumps to full, or to again if a signal handler has changed the state in x6.
func (f *callFrames) push(full, again label) {
	size := calls.FrameSize(f.call.This)
	f.field(x7, x6, 0, 16)
	f.movImm(x16, uint64(calls.LastStart(size)))
	f.cmp(x7, x16)
	f.bIf(condHI, full)
	f.frameAt(x7)
	f.original(x8, sp)
	f.str(x8, frameReg, calls.SPAt)
	f.low(x8, x6, 32, false)
	f.movImm(x16, uint64(f.call.Func)<<32)
	f.three(opOr, x8, x8, x16)
	f.str(x8, frameReg, calls.BeforeAt) // and FuncAt
	f.movImm(x16, calls.Busy)
	f.str(x16, frameReg, calls.TimeAt)
	for off := calls.ThisAt; off < size; off += 8 {
		f.str(xzr, frameReg, off)
	}
	// The next state: one more push, the frame's start, and its end.
	f.shr(x8, x6, 32)
	f.addImm(x8, x8, 1)
	f.shl(x8, x8, 32)
	f.addShifted(x8, x8, x7, 16)
	f.add(x8, x8, x7)
	f.addImm(x8, x8, uint32(size/8))
	f.replaceCalls(again)
}

// The state is the first word of a block, the function of a frame the upper half of the word at BeforeAt.
var (
	_ = [1]struct{}{}[calls.StateAt]
	_ = [1]struct{}{}[calls.FuncAt-calls.BeforeAt-4]
)

// replaceCalls replaces the state in x6 by that in x8, or jumps to again if it has changed. A signal clears the monitor
// of the exclusive accesses.
func (f *callFrames) replaceCalls(again label) {
	changed := f.newLabel()
	f.ldaxr(x16, callBlock)
	f.cmp(x16, x6)
	f.bIf(condNE, changed)
	f.stlxr(x17, x8, callBlock)
	f.cbnz32(x17, again)
	f.cold = append(f.cold, func() {
		f.place(changed)
		f.clrex()
		f.b(again)
	})
}

// setBusy sets or clears Busy in the frame; x6 to x8 and x16 are used.
func (f *callFrames) setBusy(busy bool) {
	again := f.newLabel()
	f.addImm(x16, frameReg, calls.TimeAt)
	f.movImm(x8, calls.Busy)
	f.place(again)
	f.ldaxr(x6, x16)
	f.three(opOr, x6, x6, x8)
	if !busy {
		f.sub(x6, x6, x8)
	}
	f.stlxr(x7, x6, x16)
	f.cbnz32(x7, again)
}

// findCall finds the frame of the call that ends at the place. If the call was not seen to begin, it jumps to none.
func (f *callFrames) findCall(none label) {
	unable := f.callBell(native.LeavesCall, none)
	f.useCallRegs()
	f.findBlock(unable)
	f.mov(callBlock, blockReg)
	search, absent, inside := f.newLabel(), f.newLabel(), f.newLabel()
	f.ldr(x7, callBlock, calls.StateAt)
	f.field(x7, x7, 16, 16)
	f.cbz(x7, absent)
	f.place(search)
	f.frameAt(x7)
	f.compareSP()
	f.bIf(condHI, inside)
	f.bIf(condNE, absent)
	f.ldr(x6, frameReg, calls.BeforeAt)
	f.otherFunc(x6, unable)
	f.setBusy(true)
	f.compareSP()
	f.bIf(condNE, unable) // a signal handler has come in between, and the host has taken the call
	f.framed = true
	f.cold = append(f.cold, func() {
		f.place(inside) // how far inside of this call was that of the frame
		f.sub(x8, x8, x16)
		f.movImm(x16, within)
		f.cmp(x8, x16)
		f.bIf(condHS, unable)
		f.ldr(x6, frameReg, calls.BeforeAt)
		f.field(x6, x6, 16, 16)
		f.cbz(x6, absent)
		f.cmp(x6, x7)
		f.bIf(condHS, unable) // the process has overwritten the frame
		f.mov(x7, x6)
		f.b(search)
		f.place(absent)
		f.ldr(x16, callBlock, calls.LowestAt)
		f.addImm(x16, x16, 1) // calls.None becomes 0
		f.cbnz(x16, unable)
		f.b(none)
	})
}

// popFrame removes the frame, which is busy, and all that were pushed after it.
func (f *callFrames) popFrame() {
	f.ldr(x16, frameReg, calls.BeforeAt)
	f.str32(x16, callBlock, calls.StateAt)
}

// callBell makes a doorbell before anything of the program has been executed, behind which the thread continues at a
// label.
func (f *callFrames) callBell(state native.CallState, resume label) label {
	d := f.newBell()
	d.Call, d.resume = state, resume
	d.Temps = make([]native.Word, f.plan.Temps)
	f.hang(d)
	return d.at
}

// storage makes the code of operations on the storage of the call.
func (f *callFrames) storage(in *runtime.Inst, depth int) {
	switch in.Op {
	case opcode.PushThis:
		x := f.target(depth, x16)
		f.ldr(x, frameReg, calls.ThisAt+8*int(in.A))
		f.put(depth, x)
	case opcode.PopThis:
		f.str(f.get(depth-1, x16), frameReg, calls.ThisAt+8*int(in.A))
	case opcode.PushThisS:
		f.texts.pushThis(in.A, depth)
	case opcode.PopThisS:
		text, known := f.plan.Operands(f.pc, 1)
		if !known {
			f.texts.popThis(in.A, depth)
			return
		}
		for i, v := range text[0].KeyWords() {
			f.movImm(x16, v)
			f.str(x16, frameReg, calls.ThisAt+int(in.A)+8*i)
		}
	}
}
