package engine

import (
	"gotap/arch"
	"gotap/engine/emulation"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
)

// How a thread's hits use package emulation.

// emulate completes the displaced instruction of a point on a processor where nothing is stepped. The registers are
// at the instruction. What the emulation cannot do, above all an access that faults, the processor does at the
// instruction's own address.
func (x *execution) emulate(p *space.Point) {
	switch {
	case p.Site.Insn().Control == arch.Syscall && isa.Executes(p.Site, &x.t.Regs):
		x.beginCall(p)
	case x.completeAt(p) == nil:
		if met := x.t.emu.Met(); met != 0 {
			x.t.watch.runWatches(met)
		}
		x.t.finish()
	default:
		x.runInPlace(p)
	}
}

// completeAt emulates the instruction of a point. If the instruction reads and writes memory atomically, the other
// threads are held, because the emulation is not atomic. Other processes that share the memory are not held.
func (x *execution) completeAt(p *space.Point) error {
	if p.Alone {
		held := x.t.s.world.holdWorld(x.t)
		defer x.t.s.world.releaseWorld(held)
	}
	return x.t.emu.Complete(p.Site)
}

// FPRegs implements emulation.Host.
func (h threadHost) FPRegs() *ptrace.FPRegs {
	return h.t.view.FPRegs()
}

// Touched implements emulation.Host.
func (h threadHost) Touched(addr uint64, n int, write bool) uint64 {
	return h.t.proc.watches.Touched(addr, n, write)
}

// Keyed implements emulation.Host.
func (h threadHost) Keyed() *emulation.Keyed { return &h.t.proc.space.Keyed }
