package engine

import (
	"errors"
	"fmt"
	"syscall"

	"gotap/arch"
	"gotap/arch/x86"
	"gotap/engine/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
)

// Making a target call the kernel.
//
// A thread that is between two instructions, at a breakpoint or where it was interrupted, runs through a few
// instructions (a stub, see package fallback): they make the call, load the registers that it changed, and continue
// where the thread was. Normally the tracer stops the thread behind the call, reads the result and restores the
// registers itself; if the tracer dies in the middle, the thread continues on its own. A system call that the stop
// interrupted is restarted, as the kernel would have done.
//
// All signals are blocked meanwhile, so that none arrives while the thread's registers are not its own, or is lost
// with our own stops; they stay queued in the kernel, in order. Only SIGTRAP stays unblocked, unless the thread
// blocks it: if the tracer dies now, the SIGTRAP of the present stop is left behind, and the handler has to receive
// it at the start of the stub, where it recognises it as obsolete. The order of the requests guarantees that the
// thread is in the stub, which sets the mask again, whenever signals are blocked.
//
// The stub lies in the fallback's region. Before that exists, the stub lies temporarily in the padding behind a
// module's code; the padding is checked to be all zeros, and is zeroed again afterwards.

// injection makes a stopped thread call the kernel for the engine.
type injection struct {
	t       *thread
	filters filters // its filters of system calls
}

// synchronous is the set of signals that instructions themselves raise. We never block them: the kernel kills a
// thread that raises a signal that it blocks.
const synchronous = 1<<(ptrace.SIGILL-1) | 1<<(ptrace.SIGTRAP-1) | 1<<(ptrace.SIGBUS-1) |
	1<<(ptrace.SIGFPE-1) | 1<<(ptrace.SIGSEGV-1) | 1<<(ptrace.SIGSYS-1)

// mapMemory makes the thread's process map memory that the process can read and execute, and only we write: at
// addr, where nothing may be mapped yet, or anywhere if addr is 0.
func (j *injection) mapMemory(addr, size uint64) (uint64, error) {
	const protReadExec, privateAnonymous, noReserve, fixedNoReplace = 5, 0x22, 0x4000, 0x100000
	flags := uint64(privateAnonymous | noReserve)
	if addr != 0 {
		flags |= fixedNoReplace
	}
	r, err := j.callKernel(j.t.proc.arch.Calls.Mmap, addr, size, protReadExec, flags, ^uint64(0), 0)
	if err == nil && addr != 0 && r != addr { // a kernel before 4.17, which takes the address for a hint
		return r, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot map memory: %w", err)
	}
	return r, nil
}

// callKernel makes a stopped thread call the kernel, in the way that its processor needs.
func (j *injection) callKernel(number uint64, args ...uint64) (uint64, error) {
	if err := j.allows(number, args...); err != nil {
		return 0, err
	}
	if j.t.proc.arch.Stepless {
		return j.callElsewhere(number, args...)
	}
	return j.inject(number, args...)
}

// inject makes a stopped thread call the kernel, on x86. Afterwards the thread is in a different kind of stop, with
// its previous registers in t.regs and in the thread itself. A signal that it was stopped with is lost.
func (j *injection) inject(number uint64, args ...uint64) (uint64, error) {
	if j.t.midCall {
		return 0, errMidCall
	}
	if j.t.sigtrap.raisedTrap() {
		return 0, errors.New("the thread has run into a breakpoint")
	}
	if j.t.regs[x86.EFLAGS]&trapFlag != 0 {
		return 0, errors.New("the thread single-steps itself")
	}
	stub, done, err := j.stubPlace()
	if err != nil {
		return 0, err
	}
	defer done()
	var now uint64
	if ptrace.GetSigMask(j.t.tid, &now) != 0 {
		return 0, syscall.ESRCH
	}
	mask := now
	if j.t.queue.masked {
		mask = j.t.queue.mask // the thread's own mask, due when signals are no longer kept
	}
	home := j.homeRegs()
	word := j.t.proc.arch.WordSize()
	if err := j.t.proc.space.mem.Poke(stub, fallback.Stub(stub, &home, mask, word), j.t.tid); err != nil {
		return 0, err
	}
	if j.t.proc.space.guard.base == 0 {
		j.t.unreported() // without the fallback's handler nobody would catch the signal
	}
	j.prepareCall(stub, number, args)
	blocked := ^uint64(trapBit)
	if j.t.sigtrap.lost || mask&trapBit != 0 { // a SIGTRAP that waits for the program to unblock it must keep waiting
		blocked = ^uint64(0)
	}
	return j.callAndReturn(home, blocked, now)
}

// callAndReturn makes the thread, which is at code that makes a call and returns to the thread's own place, make
// that call with signals blocked, and restores its registers and mask. Whenever signals are blocked, the thread is
// in that code, which sets the mask again.
func (j *injection) callAndReturn(home arch.Regs, blocked, mask uint64) (uint64, error) {
	j.t.setRegs()
	j.t.s.passed(inCall)
	ptrace.SetSigMask(j.t.tid, &blocked)
	j.t.s.passed(inCall)
	result, err := j.throughCall()
	j.t.s.passed(inCall)
	ptrace.SetSigMask(j.t.tid, &mask)
	j.t.s.passed(inCall)
	j.t.regs = home
	j.t.setRegs()
	j.t.s.passed(inCall)
	return result, err
}

// moment is a kind of moment at which tests kill the session.
type moment int

const (
	inCall   moment = iota // after each step of a call or a launch at which the state of the thread differs
	inSignal               // when the stop of a thread has another signal's siginfo
)

// passed tells tests that the session is at a moment.
func (s *Session) passed(m moment) {
	if s.testAt != nil {
		s.testAt(m)
	}
}

var errMidCall = errors.New("the thread is in the middle of a system call")

// trapFlag is the bit of the flags register with which a program single-steps itself.
const trapFlag = 1 << 8

// homeRegs returns the registers with which the thread continues on its own: an interrupted system call is
// restarted.
func (j *injection) homeRegs() arch.Regs {
	const restartBlock = 516
	home := j.t.regs
	if j.t.proc.arch.Restarts(&home) {
		if -int32(home[x86.RAX]) == restartBlock {
			home[x86.RAX] = map[int]uint64{8: 219, 4: 0}[j.t.proc.arch.WordSize()] // restart_syscall
		} else {
			home[x86.RAX] = home[x86.OrigRAX]
		}
		home[x86.RIP] -= 2
	}
	home[x86.OrigRAX] = ^uint64(0)
	return home
}

// stubPlace returns where the stub may be written. done must be called when the stub is no longer needed.
func (j *injection) stubPlace() (at uint64, done func(), err error) {
	sp := j.t.proc.space
	if sp.guard.base != 0 {
		at, _, _ := fallback.StubPlace(sp.guard.base, sp.guard.stub)
		return at, func() {}, nil
	}
	maps, err := module.Maps(j.t.tid)
	if err != nil {
		return 0, nil, err
	}
	if at, ok := sp.padding(maps, fallback.StubSize); ok {
		return at, func() { sp.mem.Poke(at, make([]byte, fallback.StubSize), j.t.tid) }, nil
	}
	return 0, nil, errNoRoom
}

var errNoRoom = errors.New("the process has no room for the code of a system call")

// prepareCall sets the registers for a system call at the stub.
func (j *injection) prepareCall(stub, number uint64, args []uint64) {
	registers := [...]int{x86.RDI, x86.RSI, x86.RDX, x86.R10, x86.R8, x86.R9}
	if j.t.proc.arch.WordSize() == 4 {
		registers = [...]int{x86.RBX, x86.RCX, x86.RDX, x86.RSI, x86.RDI, x86.RBP}
	}
	for i, a := range args {
		j.t.regs[registers[i]] = a
	}
	j.t.regs[x86.RAX] = number
	j.t.regs[x86.OrigRAX] = ^uint64(0)
	*j.t.pc() = stub
}

// throughCall runs the thread into the system call and to its end, and returns the call's result.
func (j *injection) throughCall() (uint64, error) {
	group := false
	for stops := 0; stops < 2; {
		if e := ptrace.ContToSyscall(j.t.tid, 0); e != 0 {
			return 0, e
		}
		j.t.peeked = false
		st, ok := j.t.s.stops.waitFor(j.t.tid)
		if !ok || st.Ended() {
			j.t.s.stops.backlog = append(j.t.s.stops.backlog, stop{j.t.tid, st})
			return 0, syscall.ESRCH
		}
		if st.AtSyscall() {
			stops++
			j.t.s.passed(inCall)
			continue
		}
		group = group || st.GroupStop()
		if st.Event() == ptrace.EventNone && j.t.sigtrap.trapCode() <= 0 && !j.t.sigtrap.mergeBlocked() { // another process or thread sent it
			j.t.queue.deferred = append(j.t.queue.deferred, j.t.info)
		}
	}
	if group {
		ptrace.Interrupt(j.t.tid) // makes the thread enter its group stop again when it is resumed
	}
	var regs arch.Regs
	if e := ptrace.GetRegs(j.t.tid, &regs); e != 0 {
		return 0, e
	}
	result := j.t.proc.arch.SyscallRet(&regs)
	if -int64(result) > 0 && -int64(result) < 4096 {
		return 0, syscall.Errno(-int64(result))
	}
	if j.t.proc.arch.WordSize() == 4 {
		result &= 0xffffffff
	}
	return result, nil
}
