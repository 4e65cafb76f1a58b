package stepping

import (
	"fmt"
	"syscall"

	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
)

// repairFloat corrects the address that an x87 instruction has left in the thread's floating-point state, which the
// program can read. A state that only appears to be right is written back too; see RepairAddress.
//
// The kernel accepts only a whole image of the x87 and SSE registers, and marks both as used. A program that asks
// which parts are in use (xgetbv 1) sees the SSE registers reported as used even if it never used them before.
func (x *Thread) repairFloat(p *space.Point) {
	e := x.parts.View.RepairFPRegs(func(fp *ptrace.FPRegs) bool { return p.Float.RepairAddress(fp[:], x.step.slot) })
	if e != 0 && e != syscall.ESRCH {
		x.on.Warn(fmt.Sprintf("thread %d: cannot put the address of the last x87 instruction right, at %#x: %v", x.Tid, p.Addr, e))
	}
}
