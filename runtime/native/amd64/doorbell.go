package amd64

import (
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
)

// bell is a doorbell (int3) whose labels have no offsets yet. It rings at Offset+1, as the processor reports it.
type bell struct {
	native.Bell
	at, resume, pass asm.Label
}

// Status flags of the processor.
const (
	flagsLow = 0xd5 // SF, ZF, AF, PF and CF, which lahf stores in ah
	flagOF   = 1 << 11
)

// setFlags replaces the status flags by those that a stub has saved.
func setFlags(regs []uint64, ax uint64) {
	regs[fileEFLAGS] = regs[fileEFLAGS]&^(flagsLow|flagOF) | ax>>8&flagsLow | ax&1*flagOF
}

// resolve replaces labels by their offsets in the code.
func (d *bell) resolve(a *asm.Assembler) native.Bell {
	d.Offset, d.Resume = a.Offset(trapOf(d.at)), a.Offset(d.resume)
	if d.When {
		d.Pass = a.Offset(d.pass)
	}
	return d.Bell
}
