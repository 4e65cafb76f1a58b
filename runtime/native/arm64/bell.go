package arm64

import "gotap/runtime/native"

// bell is a doorbell (brk) whose labels have no offsets yet. It rings at its own address, trapOf(at).
type bell struct {
	native.Bell
	at, resume, pass label
}

// newBellLabel returns the label of a doorbell, where its code begins. The next label, trapOf, is that of its
// breakpoint.
func (a *asm) newBellLabel() label {
	begin := a.newLabel()
	a.newLabel()
	return begin
}

// trapOf returns the label of the breakpoint of a doorbell.
func trapOf(bell label) label { return bell + 1 }

// brk is a doorbell: brk #0, as breakpoints are.
const brk = 0xd4200000

// conditionFlags are N, Z, C and V among the bits of the processor's state.
const conditionFlags = 0xf << 28

// setFlags replaces the condition flags by those that a stub has saved.
func setFlags(regs []uint64, saved uint64) {
	regs[filePState] = regs[filePState]&^conditionFlags | saved&conditionFlags
}

// resolve replaces labels by their offsets in the code.
func (d *bell) resolve(a *asm) native.Bell {
	d.Offset, d.Resume = a.labels[trapOf(d.at)], a.labels[d.resume]
	if d.When {
		d.Pass = a.labels[d.pass]
	}
	return d.Bell
}

// bell makes a doorbell before the current operation and returns its label. Nothing of the operation may have been
// executed.
func (p *part) bell() label { return p.bellAt(p.pc, p.executed) }

// bellBefore makes a doorbell before the current operation, or before the key that is being built.
func (p *part) bellBefore() label {
	if p.key.begun {
		return p.bellAt(p.key.pc, p.key.executed)
	}
	return p.bell()
}

// bellAt makes a doorbell before an earlier operation of the block, at which the given number of its operations had
// been executed, and whose words are all as they were then.
func (p *part) bellAt(pc, executed int) label {
	d := p.newBell()
	d.PC, d.Steps = p.plan.Origin(pc), uint64(p.plan.Ops[pc].Steps)
	for i := range p.plan.Ops[pc].Depth {
		d.Stack = append(d.Stack, p.locate(i))
	}
	for i := range uint32(p.plan.Temps) {
		w := native.Word{}
		if p.assigned.Has(i) {
			w = p.locate(p.temp(i))
		}
		d.Temps = append(d.Temps, w)
	}
	d.Number, d.Log = p.plan.Code.ID, p.plan.Ops[pc].Log
	for i := range d.Log.Fields {
		d.Fields = append(d.Fields, p.locate(p.fieldWord(i)))
	}
	if p.plan.Counted {
		left := p.locate(p.counter())
		d.Steps, d.Left = uint64(p.plan.Fuel-p.length+executed), &left
	}
	p.hang(d)
	return d.at
}

// newBell returns a doorbell of the part, without the words of the program.
func (p *part) newBell() *bell {
	f := &p.frame
	d := &bell{at: p.newBellLabel(), resume: p.resume, pass: p.done}
	d.Bell = native.Bell{Program: p.index, When: p.when, Below: p.frameSize() + 16, SP: fileSP, Flags: -1, SetFlags: setFlags, Reads: p.reading}
	d.Texts = p.texts.keptTexts()
	flags := f.each(func(x reg, off int) { d.Saved = append(d.Saved, native.Saved{Register: int(x), Offset: off}) })
	for i, x := range []reg{x16, x17} {
		d.Saved = append(d.Saved, native.Saved{Register: int(x), Offset: p.frameSize() + 8*i})
	}
	if f.flags {
		d.Flags = flags
	}
	if p.plan != nil && p.plan.RepeatsTime() {
		d.Time = p.locate(p.timeWord())
	}
	if p.framed {
		d.Call, d.Frame = native.InCall, native.Word{Kind: native.Register, Value: uint64(frameReg)}
	}
	return d
}

// hang makes the code of a doorbell, behind the tail. Where it rings, the vector registers are those of the place.
func (p *part) hang(d *bell) {
	e, vectors, abandoned := p.emitter, p.floats.saved, p.abandoned
	e.cold = append(e.cold, func() {
		e.place(d.at)
		if vectors {
			e.restoreVectors()
		}
		e.place(trapOf(d.at))
		e.word(brk)
		e.b(abandoned)
		e.bells = append(e.bells, *d)
	})
}

// locate says where a word is.
func (p *part) locate(word int) native.Word {
	if inRegister(word) {
		return native.Word{Kind: native.Register, Value: uint64(x9) + uint64(word)}
	}
	return native.Word{Kind: native.Memory, Value: uint64(p.slot(word))}
}
