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
// A thread that stands between two instructions, at a breakpoint or where it was interrupted, is sent through a few instructions (a
// stub, see package fallback): they make the call, load the registers that it changed, and go on where the thread was. The
// tracer normally stops it behind the call, takes the result and puts the registers back itself; if it dies in the middle, the
// thread does so alone. A system call that the stop interrupted is made again, as the kernel would have done.
//
// All signals are blocked meanwhile, so that none finds the thread with registers that are not its own, or is swallowed with our
// own stops; they stay queued in the kernel, in their order. SIGTRAP alone is not, unless the thread blocks it: a tracer that dies
// now leaves the one of the present stop, and the handler has to see it at the stub's start, where it knows it for history. The
// order of the requests is such that the stub, which sets the mask again, has been entered whenever they are blocked.
//
// The stub lies in the fallback's region. Before there is one, it lies for a moment in the padding behind the code of a
// module, of which it is made sure that it is all zeros, and which is zeroed again.

// synchronous are the signals that instructions themselves raise. They are never blocked by us: the kernel
// kills a thread that raises one it blocks.
const synchronous = 1<<(ptrace.SIGILL-1) | 1<<(ptrace.SIGTRAP-1) | 1<<(ptrace.SIGBUS-1) |
	1<<(ptrace.SIGFPE-1) | 1<<(ptrace.SIGSEGV-1) | 1<<(ptrace.SIGSYS-1)

// mapMemory has the thread's process map memory that it can read and run, and we alone write; at addr, where nothing may be yet, or
// anywhere if that is 0.
func (t *thread) mapMemory(addr, size uint64) (uint64, error) {
	const protReadExec, privateAnonymous, noReserve, fixedNoReplace = 5, 0x22, 0x4000, 0x100000
	flags := uint64(privateAnonymous | noReserve)
	if addr != 0 {
		flags |= fixedNoReplace
	}
	r, err := t.callKernel(t.proc.arch.Calls.Mmap, addr, size, protReadExec, flags, ^uint64(0), 0)
	if err == nil && addr != 0 && r != addr { // a kernel before 4.17, which takes the flag for a hint
		return r, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot map memory: %w", err)
	}
	return r, nil
}

// callKernel makes a stopped thread call the kernel, in the way of its processor.
func (t *thread) callKernel(number uint64, args ...uint64) (uint64, error) {
	if err := t.allows(number, args...); err != nil {
		return 0, err
	}
	if t.proc.arch.Stepless {
		return t.callElsewhere(number, args...)
	}
	return t.inject(number, args...)
}

// inject makes a stopped thread call the kernel, on x86. The thread is then in another kind of stop, with the registers of before
// in t.regs and in itself; a signal that it was stopped with is gone.
func (t *thread) inject(number uint64, args ...uint64) (uint64, error) {
	if t.midCall {
		return 0, errMidCall
	}
	if t.raisedTrap() {
		return 0, errors.New("the thread has run into a breakpoint")
	}
	if t.regs[x86.EFLAGS]&trapFlag != 0 {
		return 0, errors.New("the thread single-steps itself")
	}
	stub, done, err := t.stubPlace()
	if err != nil {
		return 0, err
	}
	defer done()
	var now uint64
	if ptrace.GetSigMask(t.tid, &now) != 0 {
		return 0, syscall.ESRCH
	}
	mask := now
	if t.masked {
		mask = t.mask // what the thread is to have when nobody keeps signals from it any more
	}
	home := t.homeRegs()
	word := t.proc.arch.WordSize()
	if err := t.proc.space.mem.Poke(stub, fallback.Stub(stub, &home, mask, word), t.tid); err != nil {
		return 0, err
	}
	if t.proc.space.guard.base == 0 {
		t.unreported() // nobody would catch it
	}
	t.prepareCall(stub, number, args)
	blocked := ^uint64(trapBit)
	if t.trapLost || mask&trapBit != 0 { // one that waits for the program to unblock it is to wait on
		blocked = ^uint64(0)
	}
	return t.callAndReturn(home, blocked, now)
}

// callAndReturn has the thread, which stands in code that makes a call and leads home, make it with signals blocked, and puts back
// its registers and its mask. The code, which sets the mask again, has been entered whenever they are blocked.
func (t *thread) callAndReturn(home arch.Regs, blocked, mask uint64) (uint64, error) {
	t.setRegs()
	t.s.passed()
	ptrace.SetSigMask(t.tid, &blocked)
	t.s.passed()
	result, err := t.throughCall()
	t.s.passed()
	ptrace.SetSigMask(t.tid, &mask)
	t.s.passed()
	t.regs = home
	t.setRegs()
	t.s.passed()
	return result, err
}

// passed is called at each point of a call where the thread is in another state, should the session be killed there.
func (s *Session) passed() {
	if s.testAtCall != nil {
		s.testAtCall()
	}
}

var errMidCall = errors.New("the thread is in the middle of a system call")

// trapFlag is the bit of the flags by which a program single-steps itself.
const trapFlag = 1 << 8

// homeRegs are the registers with which the thread goes on by itself: a system call that was interrupted is made again.
func (t *thread) homeRegs() arch.Regs {
	const restartBlock = 516
	home := t.regs
	if t.proc.arch.Restarts(&home) {
		if -int32(home[x86.RAX]) == restartBlock {
			home[x86.RAX] = map[int]uint64{8: 219, 4: 0}[t.proc.arch.WordSize()] // restart_syscall
		} else {
			home[x86.RAX] = home[x86.OrigRAX]
		}
		home[x86.RIP] -= 2
	}
	home[x86.OrigRAX] = ^uint64(0)
	return home
}

// stubPlace is where the stub may be written. done is to be called when it is not needed any more.
func (t *thread) stubPlace() (at uint64, done func(), err error) {
	sp := t.proc.space
	if sp.guard.base != 0 {
		at, _, _ := fallback.StubPlace(sp.guard.base, sp.guard.stub)
		return at, func() {}, nil
	}
	maps, err := module.Maps(t.tid)
	if err != nil {
		return 0, nil, err
	}
	if at, ok := sp.padding(maps, fallback.StubSize); ok {
		return at, func() { sp.mem.Poke(at, make([]byte, fallback.StubSize), t.tid) }, nil
	}
	return 0, nil, errNoRoom
}

var errNoRoom = errors.New("the process has no room for the code of a system call")

// prepareCall sets the registers for a system call at the stub.
func (t *thread) prepareCall(stub, number uint64, args []uint64) {
	registers := [...]int{x86.RDI, x86.RSI, x86.RDX, x86.R10, x86.R8, x86.R9}
	if t.proc.arch.WordSize() == 4 {
		registers = [...]int{x86.RBX, x86.RCX, x86.RDX, x86.RSI, x86.RDI, x86.RBP}
	}
	for i, a := range args {
		t.regs[registers[i]] = a
	}
	t.regs[x86.RAX] = number
	t.regs[x86.OrigRAX] = ^uint64(0)
	*t.pc() = stub
}

// throughCall lets the thread run into the system call and to its end.
func (t *thread) throughCall() (uint64, error) {
	group := false
	for stops := 0; stops < 2; {
		if e := ptrace.ContToSyscall(t.tid, 0); e != 0 {
			return 0, e
		}
		t.untaken = false
		st, ok := t.s.waitFor(t.tid)
		if !ok || st.Ended() {
			t.s.backlog = append(t.s.backlog, stop{t.tid, st})
			return 0, syscall.ESRCH
		}
		if st.AtSyscall() {
			stops++
			t.s.passed()
			continue
		}
		group = group || st.GroupStop()
		if st.Event() == ptrace.EventNone && t.trapCode() <= 0 && !t.mergeBlocked() { // somebody sent it
			t.deferred = append(t.deferred, t.info)
		}
	}
	if group {
		ptrace.Interrupt(t.tid) // it will stop for its group again when it is resumed
	}
	var regs arch.Regs
	if e := ptrace.GetRegs(t.tid, &regs); e != 0 {
		return 0, e
	}
	result := t.proc.arch.SyscallRet(&regs)
	if -int64(result) > 0 && -int64(result) < 4096 {
		return 0, syscall.Errno(-int64(result))
	}
	if t.proc.arch.WordSize() == 4 {
		result &= 0xffffffff
	}
	return result, nil
}
