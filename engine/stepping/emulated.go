package stepping

import (
	"gotap/arch"
	"gotap/engine/isa"
	"gotap/engine/space"
)

// How a thread's hits use package emulation.

// Emulate completes the displaced instruction of a point on a processor where nothing is stepped. The registers are
// at the instruction. What the emulation cannot do, above all an access that faults, the processor does at the
// instruction's own address.
func (x *Thread) Emulate(p *space.Point) {
	switch {
	case p.Site.Insn().Control == arch.Syscall && isa.Executes(p.Site, &x.Regs):
		x.beginCall(p)
	case x.completeAt(p) == nil:
		if met := x.parts.Emulation.Met(); met != 0 {
			x.on.RunWatches(met)
		}
		x.on.FinishWith(0)
	default:
		x.runInPlace(p)
	}
}

// completeAt emulates the instruction of a point. If the instruction reads and writes memory atomically, the other
// threads are held, because the emulation is not atomic. Other processes that share the memory are not held.
func (x *Thread) completeAt(p *space.Point) error {
	if p.Alone {
		defer x.on.HoldOthers()()
	}
	return x.parts.Emulation.Complete(p.Site)
}
