package engine

import "gotap/engine/linux/ptrace"

// Programs that step themselves: they have set the trap flag, as in-process debuggers and some protections do, and
// receive the SIGTRAP that the processor would have raised after a probed instruction.

// stepsItself reports whether the program had the trap flag set when the step began, so that the processor would have
// trapped after the instruction without us. It does not trap after an instruction that enters the kernel: see atCall.
func (x *execution) stepsItself() bool {
	return x.t.proc.arch.FlagsRegister >= 0 && x.step.st.Flags&trapFlag != 0 && x.t.sigtrap.trapCode() == ptrace.CodeTrace
}

// trapAfterStep delivers to the program the SIGTRAP that reported the end of a step. Signals deferred meanwhile follow
// it.
func (x *execution) trapAfterStep() {
	x.t.info.SetAddr(*x.t.pc())
	x.t.queue.unmask()
	x.t.queue.requeue()
	ptrace.SetSigInfo(x.t.tid, &x.t.info)
	x.t.finishWith(ptrace.SIGTRAP)
}

// trapInRepeat is trapAfterStep for an instruction with repetitions left: when the thread reaches it again, that is not
// another hit.
func (x *execution) trapInRepeat() {
	p := x.step.p
	x.endStep()
	x.redo = redo{p.addr, x.t.sp()}
	x.t.h.Commit()
	x.t.setRegs()
	x.t.info.SetAddr(p.addr)
	x.t.queue.unmask()
	x.t.queue.requeue()
	ptrace.SetSigInfo(x.t.tid, &x.t.info)
	x.t.resume(ptrace.SIGTRAP)
}
