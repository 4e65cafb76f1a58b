package amd64

import (
	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
)

// doorbells makes the doorbells of a part: each describes what the interpreter has to know at one operation.
type doorbells struct {
	words
	plan     *native.Plan
	pc       int     // of the current operation
	length   int     // of its block
	executed int     // operations of the block
	counter  home    // of the steps left
	framed   bool    // there is a frame of a call
	frame    asm.Reg // its address

	rings     bool           // there are doorbells
	reading   *native.ReadOf // what the doorbell that is being made is for; nil: no read
	done      asm.Label      // the program has ended
	resume    asm.Label      // the interpreter has ended it
	abandoned asm.Label      // nobody answers a doorbell
}

// bell makes a doorbell before the current operation and returns its label.
func (b *doorbells) bell() asm.Label { return b.bellAt(b.pc, b.executed, b.stack) }

// bellBefore makes a doorbell before the current operation, or before the key that is being built.
func (b *doorbells) bellBefore() asm.Label {
	if b.key.begun {
		return b.bellAt(b.key.pc, b.key.executed, b.key.stack)
	}
	return b.bell()
}

// bellAt makes a doorbell before an earlier operation of the block, at which the given number of its operations had
// been executed and the stack was as given.
func (b *doorbells) bellAt(pc, executed int, stack []word) asm.Label {
	d := b.newBell()
	d.PC, d.Steps = b.plan.Origin(pc), uint64(b.plan.Ops[pc].Steps)
	for _, w := range stack {
		d.Stack = append(d.Stack, b.locate(w))
	}
	for i := range b.temps {
		w := native.Word{}
		if b.assigned.Has(uint32(i)) {
			w = b.locate(word{temporary, uint64(i)})
		}
		d.Temps = append(d.Temps, w)
	}
	d.Number, d.Log = b.plan.Code.ID, b.plan.Ops[pc].Log
	for _, w := range b.logged[:d.Log.Fields] {
		d.Fields = append(d.Fields, b.locate(w))
	}
	if b.plan.Counted {
		left := b.locateOperand(b.homeOperand(b.counter))
		d.Steps, d.Left = uint64(b.plan.Fuel-b.length+executed), &left
	}
	b.hang(&d)
	return d.at
}

// newBell returns a doorbell of the part, without the words of the program.
func (b *doorbells) newBell() bell {
	d := bell{at: b.newBellLabel(), resume: b.resume, pass: b.done}
	d.Bell = native.Bell{Program: b.index / 2, When: b.index%2 == 0, Below: b.below, SP: fileRSP, Flags: -1, SetFlags: setFlags, Reads: b.reading}
	if b.flagsAt > 0 {
		d.Flags = b.below - b.flagsAt
	}
	d.Texts = b.keptTexts()
	for x := range asm.NumRegs {
		if b.saved[x] > 0 {
			d.Saved = append(d.Saved, native.Saved{Register: int(fileIndex[x]), Offset: b.below - b.saved[x]})
		}
	}
	if b.plan != nil && b.plan.RepeatsTime() {
		d.Time = b.locateOperand(b.homeOperand(*b.time))
	}
	if b.framed {
		d.Call, d.Frame = native.InCall, b.locateOperand(asm.R(b.frame))
	}
	return d
}

// newBellLabel returns the label of a doorbell, where its code begins. The next label, trapOf, is that of its
// breakpoint.
func (b *doorbells) newBellLabel() asm.Label {
	begin := b.NewLabel()
	b.NewLabel()
	return begin
}

// trapOf returns the label of the breakpoint of a doorbell.
func trapOf(bell asm.Label) asm.Label { return bell + 1 }

// hang makes the code of a doorbell, behind the tail. Where it rings, the vector registers are those of the place.
func (b *doorbells) hang(d *bell) {
	b.rings = true
	b.cold = append(b.cold, func() {
		b.Place(d.at)
		b.restoreVectors()
		b.Place(trapOf(d.at))
		b.Int3()
		b.Jmp(b.abandoned)
		b.bells = append(b.bells, *d)
	})
}

// marked calls mark for the current operation.
func (b *doorbells) marked() {
	if b.mark != nil {
		b.mark(b.Assembler, &b.plan.Insts[b.pc])
	}
}

// next returns the operation that follows, if it is native and of the same block.
func (b *doorbells) next() *runtime.Inst {
	pc := b.pc + 1
	if pc == len(b.plan.Ops) || b.plan.Ops[pc].Block || b.plan.Ops[pc].Verdict != native.Native {
		return nil
	}
	return &b.plan.Insts[pc]
}

// skip counts the current operation as executed, and makes the next one the current one.
func (b *doorbells) skip() {
	b.pc++
	b.executed++
	b.marked()
}
