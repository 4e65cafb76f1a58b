package engine

import "gotap/engine/linux/ptrace"

// Programs that step themselves: they have set the trap flag, as debuggers of their own kind and some protections do, and get the SIGTRAP
// that the processor would have raised behind a probed instruction.

// stepsItself reports whether the program had the trap flag set when the step began: the processor would have trapped behind the
// instruction without us. Not behind one that enters the kernel: see atCall.
func (t *thread) stepsItself() bool {
	return t.proc.arch.FlagsRegister >= 0 && t.step.st.Flags&trapFlag != 0 && t.trapCode() == ptrace.CodeTrace
}

// trapAfterStep makes the SIGTRAP that told of the end of a step the program's own. What was kept meanwhile comes behind it.
func (t *thread) trapAfterStep() {
	t.info.SetAddr(*t.pc())
	t.unmask()
	t.requeue()
	ptrace.SetSigInfo(t.tid, &t.info)
	t.finishWith(ptrace.SIGTRAP)
}

// trapInRepeat is trapAfterStep for an instruction that has turns left: when the thread comes to it again, that is not another hit.
func (t *thread) trapInRepeat() {
	p := t.step.p
	t.endStep()
	t.redo = redo{p.addr, t.sp()}
	t.h.Commit()
	t.setRegs()
	t.info.SetAddr(p.addr)
	t.unmask()
	t.requeue()
	ptrace.SetSigInfo(t.tid, &t.info)
	t.resume(ptrace.SIGTRAP)
}
