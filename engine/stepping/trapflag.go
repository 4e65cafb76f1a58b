package stepping

import (
	"gotap/engine/linux/ptrace"
	"gotap/engine/tracee"
)

// Programs that step themselves: they have set the trap flag, as in-process debuggers and some protections do, and
// receive the SIGTRAP that the processor would have raised after a probed instruction.

// stepsItself reports whether the program had the trap flag set when the step began, so that the processor would have
// trapped after the instruction without us. It does not trap after an instruction that enters the kernel: see atCall.
func (x *Thread) stepsItself() bool {
	return x.parts.View.Space.ABI.FlagsRegister >= 0 && x.step.st.Flags&tracee.TrapFlag != 0 && x.SignalCode() == ptrace.CodeTrace
}

// trapAfterStep delivers to the program the SIGTRAP that reported the end of a step. Signals deferred meanwhile follow
// it.
func (x *Thread) trapAfterStep() {
	x.Info.SetAddr(*x.PC())
	x.passTrap()
}

// passTrap delivers to the program the SIGTRAP of the stop that ends the step, which it has raised itself, with the
// siginfo in Info.
func (x *Thread) passTrap() {
	x.parts.Queue.Unmask()
	x.parts.Queue.Requeue()
	ptrace.SetSigInfo(x.Tid, &x.Info)
	x.on.FinishWith(ptrace.SIGTRAP)
}

// trapInRepeat is trapAfterStep for an instruction with repetitions left: when the thread reaches it again, that is not
// another hit.
func (x *Thread) trapInRepeat() {
	p := x.step.p
	x.endStep()
	x.redo = redo{p.Addr, x.SP()}
	x.parts.Hit.Commit()
	x.SetRegs()
	x.Info.SetAddr(p.Addr)
	x.parts.Queue.Unmask()
	x.parts.Queue.Requeue()
	ptrace.SetSigInfo(x.Tid, &x.Info)
	x.on.Resume(ptrace.SIGTRAP)
}
