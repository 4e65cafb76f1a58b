package engine

import (
	"gotap/engine/linux/ptrace"
	"gotap/engine/tracee"
)

// Programs that step themselves: they have set the trap flag, as in-process debuggers and some protections do, and
// receive the SIGTRAP that the processor would have raised after a probed instruction.

// stepsItself reports whether the program had the trap flag set when the step began, so that the processor would have
// trapped after the instruction without us. It does not trap after an instruction that enters the kernel: see atCall.
func (x *execution) stepsItself() bool {
	return x.t.proc.arch.FlagsRegister >= 0 && x.step.st.Flags&tracee.TrapFlag != 0 && x.t.SignalCode() == ptrace.CodeTrace
}

// trapAfterStep delivers to the program the SIGTRAP that reported the end of a step. Signals deferred meanwhile follow
// it.
func (x *execution) trapAfterStep() {
	x.t.Info.SetAddr(*x.t.PC())
	x.t.queue.Unmask()
	x.t.queue.Requeue()
	ptrace.SetSigInfo(x.t.Tid, &x.t.Info)
	x.t.finishWith(ptrace.SIGTRAP)
}

// trapInRepeat is trapAfterStep for an instruction with repetitions left: when the thread reaches it again, that is not
// another hit.
func (x *execution) trapInRepeat() {
	p := x.step.p
	x.endStep()
	x.redo = redo{p.Addr, x.t.SP()}
	x.t.h.Commit()
	x.t.SetRegs()
	x.t.Info.SetAddr(p.Addr)
	x.t.queue.Unmask()
	x.t.queue.Requeue()
	ptrace.SetSigInfo(x.t.Tid, &x.t.Info)
	x.t.resume(ptrace.SIGTRAP)
}
