package inject

import (
	"errors"
	"fmt"
	"syscall"

	"gotap/arch"
	"gotap/arch/x86"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
	"gotap/engine/tracee"
)

// Caller makes a stopped thread call the kernel for the session.
type Caller struct {
	t       *tracee.Thread
	on      Target
	filters filters // the thread's filters of system calls
}

// Target is the thread in its session.
type Target interface {
	// OwnMask returns the thread's own signal mask, if a different one is in force because signals are withheld from
	// it.
	OwnMask() (mask uint64, differs bool)
	// BlocksTrap reports whether SIGTRAP has to stay blocked in the thread, although the kernel has unblocked it.
	BlocksTrap() bool
	// WaitStop waits for the thread's next stop. ok is false if the thread has ended, which is handled later.
	WaitStop() (st ptrace.Status, ok bool)
	// Keep keeps the signal that the thread is stopped with, if another process or thread sent it.
	Keep()
	// Gadget returns where FindGadget keeps its result for the address space.
	Gadget() *Gadget
	// Checkpoint tells tests that the session is at a moment.
	Checkpoint(tracee.Moment)
}

// Init sets the thread.
func (j *Caller) Init(t *tracee.Thread, on Target) { j.t, j.on = t, on }

// Map makes the thread's process map memory that the process can read and execute, and only we write: at
// addr, where nothing may be mapped yet, or anywhere if addr is 0.
func (j *Caller) Map(addr, size uint64) (uint64, error) {
	const protReadExec, privateAnonymous, noReserve, fixedNoReplace = 5, 0x22, 0x4000, 0x100000
	flags := uint64(privateAnonymous | noReserve)
	if addr != 0 {
		flags |= fixedNoReplace
	}
	r, err := j.Call(j.t.ABI().Calls.Mmap, addr, size, protReadExec, flags, ^uint64(0), 0)
	if err == nil && addr != 0 && r != addr { // a kernel before 4.17, which takes the address for a hint
		return r, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot map memory: %w", err)
	}
	return r, nil
}

// Call makes a stopped thread call the kernel, in the way that its processor needs.
func (j *Caller) Call(number uint64, args ...uint64) (uint64, error) {
	if err := j.allows(number, args...); err != nil {
		return 0, err
	}
	if j.t.ABI().Stepless {
		return j.callElsewhere(number, args...)
	}
	return j.inject(number, args...)
}

// inject makes a stopped thread call the kernel, on x86. Afterwards the thread is in a different kind of stop, with
// its previous registers in t.Regs and in the thread itself. A signal that it was stopped with is lost.
func (j *Caller) inject(number uint64, args ...uint64) (uint64, error) {
	if err := j.ready(); err != nil {
		return 0, err
	}
	stub, done, err := j.stubPlace()
	if err != nil {
		return 0, err
	}
	defer done()
	var now uint64
	if ptrace.GetSigMask(j.t.Tid, &now) != 0 {
		return 0, syscall.ESRCH
	}
	mask := now
	if own, differs := j.on.OwnMask(); differs {
		mask = own // due when signals are no longer kept
	}
	home := j.homeRegs()
	word := j.t.ABI().WordSize()
	if err := j.t.Memory().Poke(stub, fallback.Stub(stub, &home, mask, word), j.t.Tid); err != nil {
		return 0, err
	}
	if j.t.Of.Region().Base == 0 {
		j.t.Consume() // without the fallback's handler nobody would catch the signal
	}
	j.prepareCall(stub, number, args)
	blocked := ^uint64(ptrace.TrapBit)
	if j.on.BlocksTrap() || mask&ptrace.TrapBit != 0 { // a SIGTRAP that waits for the program to unblock it must keep waiting
		blocked = ^uint64(0)
	}
	return j.callAndReturn(home, blocked, now, tracee.InCall)
}

// callAndReturn makes the thread, which is at code that makes a call and returns to the thread's own place, make
// that call with signals blocked, and restores its registers and mask. Whenever signals are blocked, the thread is
// in that code, which sets the mask again. What tests see of it is of kind at.
func (j *Caller) callAndReturn(home arch.Regs, blocked, mask uint64, at tracee.Moment) (uint64, error) {
	j.t.SetRegs()
	j.on.Checkpoint(at)
	ptrace.SetSigMask(j.t.Tid, &blocked)
	j.on.Checkpoint(at)
	result, err := j.throughCall(at)
	j.on.Checkpoint(at)
	ptrace.SetSigMask(j.t.Tid, &mask)
	j.on.Checkpoint(at)
	j.t.Regs = home
	j.t.SetRegs()
	j.on.Checkpoint(at)
	return result, err
}

// SetMask gives a stopped thread another signal mask, which set does, and the registers home, which it is to have with
// it. If the session is killed in between, the thread has both or neither of them: once it is at the code of
// toMaskCall, it sets the mask itself. It must be in a process with the fallback's region.
func (j *Caller) SetMask(mask uint64, set func(), home arch.Regs) error {
	toMaskCall := j.toMaskCall
	if j.t.ABI().Stepless {
		toMaskCall = j.toMaskCallElsewhere
	}
	if err := toMaskCall(mask, home); err != nil {
		return err
	}
	j.on.Checkpoint(tracee.InMask)
	j.t.SetRegs()
	j.on.Checkpoint(tracee.InMask)
	set()
	j.on.Checkpoint(tracee.InMask)
	j.t.Regs = home
	j.t.SetRegs()
	j.on.Checkpoint(tracee.InMask)
	return nil
}

// toMaskCall writes code that sets the mask and continues with the registers home, and sets t.Regs to those with which
// the thread begins it, on x86.
func (j *Caller) toMaskCall(mask uint64, home arch.Regs) error {
	stub, done, err := j.stubPlace()
	if err != nil {
		return err
	}
	defer done()
	word := j.t.ABI().WordSize()
	if err := j.t.Memory().Poke(stub, fallback.Stub(stub, &home, mask, word), j.t.Tid); err != nil {
		return err
	}
	j.t.Regs = home
	*j.t.PC() = fallback.MaskCallAt(stub, word)
	return nil
}

// ready returns an error that wraps ErrNotNow if the thread cannot be made to call the kernel where it is.
func (j *Caller) ready() error {
	switch {
	case j.t.MidCall:
		return errMidCall
	case j.t.ABI().Stepless:
		return nil
	case j.t.RaisedTrap():
		return errRaised
	case j.t.Regs[x86.EFLAGS]&tracee.TrapFlag != 0:
		return errStepsItself
	}
	return nil
}

// ErrNotNow is wrapped by errors of a thread that can make a call later, or of another thread.
var ErrNotNow = errors.New("the thread cannot call the kernel now")

var (
	errMidCall     = fmt.Errorf("%w: it is in the middle of a system call", ErrNotNow)
	errRaised      = fmt.Errorf("%w: it has run into a breakpoint", ErrNotNow)
	errStepsItself = fmt.Errorf("%w: it single-steps itself", ErrNotNow)
)

// homeRegs returns the registers with which the thread continues on its own: an interrupted system call is
// restarted.
func (j *Caller) homeRegs() arch.Regs {
	const restartBlock = 516
	home := j.t.Regs
	if j.t.ABI().Restarts(&home) {
		if -int32(home[x86.RAX]) == restartBlock {
			home[x86.RAX] = map[int]uint64{8: 219, 4: 0}[j.t.ABI().WordSize()] // restart_syscall
		} else {
			home[x86.RAX] = home[x86.OrigRAX]
		}
		home[x86.RIP] -= 2
	}
	home[x86.OrigRAX] = ^uint64(0)
	return home
}

// stubPlace returns where the stub may be written. done must be called when the stub is no longer needed.
func (j *Caller) stubPlace() (at uint64, done func(), err error) {
	r := j.t.Of.Region()
	if r.Base != 0 {
		at, _, _ := fallback.StubPlace(r.Base, r.Stub)
		return at, func() {}, nil
	}
	maps, err := module.Maps(j.t.Tid)
	if err != nil {
		return 0, nil, err
	}
	if at, ok := padding(j.t.Memory(), maps, fallback.StubSize); ok {
		return at, func() { j.t.Memory().Poke(at, make([]byte, fallback.StubSize), j.t.Tid) }, nil
	}
	return 0, nil, errNoRoom
}

var errNoRoom = errors.New("the process has no room for the code of a system call")

// prepareCall sets the registers for a system call at the stub.
func (j *Caller) prepareCall(stub, number uint64, args []uint64) {
	registers := [...]int{x86.RDI, x86.RSI, x86.RDX, x86.R10, x86.R8, x86.R9}
	if j.t.ABI().WordSize() == 4 {
		registers = [...]int{x86.RBX, x86.RCX, x86.RDX, x86.RSI, x86.RDI, x86.RBP}
	}
	for i, a := range args {
		j.t.Regs[registers[i]] = a
	}
	j.t.Regs[x86.RAX] = number
	j.t.Regs[x86.OrigRAX] = ^uint64(0)
	*j.t.PC() = stub
}

// throughCall runs the thread into the system call and to its end, and returns the call's result.
func (j *Caller) throughCall(at tracee.Moment) (uint64, error) {
	group := false
	for stops := 0; stops < 2; {
		if e := ptrace.ContToSyscall(j.t.Tid, 0); e != 0 {
			return 0, e
		}
		j.t.Peeked = false
		st, ok := j.on.WaitStop()
		if !ok {
			return 0, syscall.ESRCH
		}
		if st.AtSyscall() {
			stops++
			j.on.Checkpoint(at)
			continue
		}
		group = group || st.GroupStop()
		if st.Event() == ptrace.EventNone {
			j.on.Keep()
		}
	}
	if group {
		ptrace.Interrupt(j.t.Tid) // makes the thread enter its group stop again when it is resumed
	}
	var regs arch.Regs
	if e := ptrace.GetRegs(j.t.Tid, &regs); e != 0 {
		return 0, e
	}
	result := j.t.ABI().SyscallRet(&regs)
	if -int64(result) > 0 && -int64(result) < 4096 {
		return 0, syscall.Errno(-int64(result))
	}
	if j.t.ABI().WordSize() == 4 {
		result &= 0xffffffff
	}
	return result, nil
}
