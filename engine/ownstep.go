package engine

import "gotap/engine/linux/ptrace"

// Programs that step themselves: they have set the trap flag, as in-process debuggers and some protections do, and
// receive the SIGTRAP that the processor would have raised after a probed instruction.

// stepsItself reports whether the program had the trap flag set when the step began, so that the processor would have
// trapped after the instruction without us. It does not trap after an instruction that enters the kernel: see atCall.
func (t *thread) stepsItself() bool {
	return t.proc.arch.FlagsRegister >= 0 && t.step.st.Flags&trapFlag != 0 && t.trapCode() == ptrace.CodeTrace
}

// trapAfterStep delivers to the program the SIGTRAP that reported the end of a step. Signals deferred meanwhile follow
// it.
func (t *thread) trapAfterStep() {
	t.info.SetAddr(*t.pc())
	t.unmask()
	t.requeue()
	ptrace.SetSigInfo(t.tid, &t.info)
	t.finishWith(ptrace.SIGTRAP)
}

// trapInRepeat is trapAfterStep for an instruction with repetitions left: when the thread reaches it again, that is not
// another hit.
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
