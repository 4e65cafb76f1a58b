package tracee

import (
	"gotap/arch"
	"gotap/engine/abi"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// Thread is a traced thread.
type Thread struct {
	Tid     int
	Of      Process
	Regs    arch.Regs      // as of the latest GetRegs, with what has been changed since
	Info    ptrace.SigInfo // as of the latest SignalCode
	MidCall bool           // its stop is inside a system call, whose result will overwrite registers
	Peeked  bool           // its stop, for a signal, was peeked at and not consumed: see ptrace.PeekStop
}

// Process is the process of a thread, with its present image.
type Process interface {
	Pid() int
	ABI() *abi.ABI
	Memory() *ptrace.Memory
	Region() *fallback.Region // what the session has mapped into the address space for its crash handler
}

// ABI returns the conventions of the thread's process.
func (t *Thread) ABI() *abi.ABI { return t.Of.ABI() }

// Memory returns the memory of the thread's process.
func (t *Thread) Memory() *ptrace.Memory { return t.Of.Memory() }

// PC returns a pointer to the program counter in the thread's registers.
func (t *Thread) PC() *uint64 { return &t.Regs[t.ABI().PC()] }

// SP returns the stack pointer.
func (t *Thread) SP() uint64 { return t.Regs[t.ABI().SP()] }

// JumpTo sets the program counter to the target of a code pointer, in the instruction set that the pointer selects.
func (t *Thread) JumpTo(pointer uint64) { t.ABI().Jump(&t.Regs, pointer) }

// Bits of the x86 flags register.
const (
	// TrapFlag is TF, with which a program single-steps itself.
	TrapFlag = 1 << 8
	// resumeFlag is RF. It prevents the processor from stopping for a debug register that watches the very next
	// instruction.
	resumeFlag = 1 << 16
)

// SetRegs writes the registers back. If the stop was only peeked at, the resume flag marks the registers as
// correct: see package fallback. The first instruction that runs clears the flag.
func (t *Thread) SetRegs() {
	a := t.ABI()
	word := a.WordSize()
	if !t.Peeked || a.FlagsRegister < 0 {
		ptrace.SetRegs(t.Tid, &t.Regs, word)
		return
	}
	flags := &t.Regs[a.FlagsRegister]
	*flags |= resumeFlag
	ptrace.SetRegs(t.Tid, &t.Regs, word)
	*flags &^= resumeFlag
}

// GetRegs reads the registers, and reports false if the thread has been killed. It clears the resume flag, which
// must not be visible to programs.
func (t *Thread) GetRegs() bool {
	e := ptrace.GetRegs(t.Tid, &t.Regs)
	if i := t.ABI().FlagsRegister; i >= 0 {
		t.Regs[i] &^= resumeFlag
	}
	return e == 0
}

// Consume consumes the stop that the thread is in, which was only peeked at. Its siginfo is lost.
func (t *Thread) Consume() {
	if t.Peeked {
		ptrace.ConsumeStop(t.Tid)
		t.Peeked = false
	}
}

// SignalCode returns the si_code of the signal that the thread is stopped with, or 0 if it cannot be read. It reads the
// siginfo into Info.
func (t *Thread) SignalCode() int {
	if ptrace.GetSigInfo(t.Tid, &t.Info) != 0 {
		return 0
	}
	return t.Info.Code()
}

// RaisedTrap reports whether an instruction of the thread, ours or its own, has raised a SIGTRAP that the thread has
// not stopped for yet. It overwrites Info.
func (t *Thread) RaisedTrap() bool {
	for i := 0; ptrace.PendingSignal(t.Tid, i, &t.Info); i++ {
		if t.Info.Signal() == ptrace.SIGTRAP && t.Info.Code() > 0 {
			return true
		}
	}
	return false
}

// Status reads a field of /proc/TID/status.
func (t *Thread) Status(name string) string { return procfs.Status(t.Tid, name) }

// UserPC returns the program counter of a thread that is in a stop, handled or not, or sleeps. It returns 0 for a
// thread that has ended.
func (t *Thread) UserPC() (pc uint64, known bool) {
	pc, _, known = t.UserPlace()
	return pc, known
}

// UserPlace is UserPC with the stack pointer.
func (t *Thread) UserPlace() (pc, sp uint64, known bool) {
	switch {
	case t.GetRegs():
		return *t.PC(), t.SP(), true
	case procfs.Ended(t.Tid):
		return 0, 0, true
	}
	return procfs.SleepsAt(t.Tid)
}

// Moment is a kind of moment at which tests kill the session: its target must be unharmed then.
type Moment int

const (
	// InCall is after each step of a call or a launch at which the state of the thread differs.
	InCall Moment = iota
	// InMask is after each step of a change of a thread's signal mask in its place.
	InMask
	// InAction is after each step of a change of a process's action for SIGTRAP in a thread's place.
	InAction
	// InEntry is after each step of a thread's way from a breakpoint on a system call's instruction into the call.
	InEntry
	// InSignal is when the stop of a thread has another signal's siginfo.
	InSignal
	// InSent is before and after SIGTRAP is blocked in a thread for one that was sent to it.
	InSent
	// InFork is between the steps in which a child is taken in, from the stop of its parent on.
	InFork
	// InHold is when a thread that was asked to stop was not found in a stop. Sessions are not killed there.
	InHold
)
