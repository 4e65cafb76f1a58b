package stopped

import (
	"gotap/arch"
	"gotap/engine/isa"
	"gotap/engine/registry/retprobe"
)

// What package retprobe needs from threads and address spaces.

// ISA implements retprobe.Target.
func (v *View) ISA() *isa.ISA { return v.image.ISA }

// SP implements retprobe.Target.
func (v *View) SP() uint64 { return v.parts.Regs[v.image.ISA.SP()] }

// ExitSP implements retprobe.Target.
func (v *View) ExitSP() uint64 {
	if regs, ok := v.leaving(); ok {
		return regs[v.image.ISA.SP()]
	}
	return v.SP()
}

// ResultAddress implements retprobe.Target.
func (v *View) ResultAddress() uint64 { return v.image.ISA.ResultAddress(v.parts.Regs) }

// ReturnPoint implements retprobe.Target.
func (v *View) ReturnPoint() *retprobe.Point {
	ret, err := v.image.ISA.ReturnAddress(v.parts.Regs, v.image.Memory)
	if err != nil || ret == 0 {
		return nil
	}
	p, err := v.parts.Thread.PointTo(ret)
	if err != nil {
		return nil
	}
	return p
}

// Elsewhere implements retprobe.Target.
func (v *View) Elsewhere(p *retprobe.Point, sp, g uint64) *retprobe.Thread {
	for calls := range v.parts.Thread.Siblings() {
		if calls != v.parts.Calls && calls.Has(p, sp, g) {
			return calls
		}
	}
	return nil
}

// Goroutines move between threads, and their stacks move when they grow. Two things stay the same for the whole
// life of a call: the goroutine, and the distance from the end of its stack. The runtime copies the used part to
// the end of the new stack and adjusts every pointer to it (runtime.copystack).

// Goroutine implements retprobe.Target. If the stack of the goroutine that runs on this thread has moved, it
// corrects the goroutine's recorded frames.
func (v *View) Goroutine() (g, hi uint64) {
	g, hi, ok := v.golang.Goroutine(v.parts.Regs, v.image.Pointers, uint64(v.image.ISA.WordSize()), v.SP())
	if !ok {
		return 0, 0
	}
	for calls := range v.parts.Thread.Siblings() {
		calls.Moved(g, hi)
	}
	return g, hi
}

// leaving is Thread.Leaving for the instruction that the thread has hit, if one instruction may do all that.
func (v *View) leaving() (regs *arch.Regs, ok bool) {
	if !v.image.ISA.Stepless || v.point == nil {
		return nil, false
	}
	return v.parts.Thread.Leaving()
}

// caller returns the return address of the function. When the function is entered or left, it is read from where
// the calling convention puts it; otherwise it is found by unwinding.
func (v *View) caller() uint64 {
	now := v.parts.Hit.Now
	if v.point != nil && (now.Leave || now.Placement.Target.Entry() && v.pc() == v.pointAddr) {
		return v.returnAddress()
	}
	var pcs [2]uint64
	if v.parts.Thread.Walk(v.parts.Regs, pcs[:]) < len(pcs) {
		return 0
	}
	return pcs[1]
}

// returnAddress returns the return address of the function that the thread has just entered, is leaving or has
// left.
func (v *View) returnAddress() uint64 {
	a := v.image.ISA
	if v.parts.Hit.Now.Leave && v.parts.Calls.Behind() {
		return v.pc()
	}
	if v.parts.Hit.Now.Leave {
		if regs, ok := v.leaving(); ok {
			return regs[a.PC()]
		}
	}
	ret, _ := a.ReturnAddress(v.parts.Regs, v.image.Memory)
	return a.Target(ret)
}
