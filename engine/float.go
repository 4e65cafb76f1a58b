package engine

import (
	"fmt"

	"gotap/engine/linux/ptrace"
)

// repairFloat corrects the address that an x87 instruction has left in the thread's floating-point state, which the
// program can read. A state that only appears to be right is written back too; see RepairAddress.
//
// The kernel accepts only a whole image of the x87 and SSE registers, and marks both as used. A program that asks
// which parts are in use (xgetbv 1) sees the SSE registers reported as used even if it never used them before.
func (t *thread) repairFloat(p *point) {
	word := t.proc.arch.WordSize()
	_, e := ptrace.GetFPRegs(t.tid, &t.fp, word)
	if e == 0 && p.float.RepairAddress(t.fp[:], t.step.slot) {
		e = ptrace.SetFPRegs(t.tid, &t.fp, word)
	}
	if e != 0 && !vanished(e) {
		t.s.warn(fmt.Sprintf("thread %d: cannot put the address of the last x87 instruction right, at %#x: %v", t.tid, p.addr, e))
	}
}
