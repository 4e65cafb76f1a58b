package engine

import (
	"errors"
	"fmt"
	"syscall"

	"gotap/arch"
	"gotap/arch/x86"
	"gotap/engine/ptrace"
)

// Making a target call the kernel.
//
// It is done only with a thread that has hit a breakpoint. Such a thread is in user mode at the edge of an instruction,
// in a stop for a signal that will not be delivered. It is in no system call: the kernel shows -1 as orig_rax, and
// putting that back with the other registers means that nothing is restarted, nothing looks interrupted, and the call made
// here leaves no trace but its effect. All signals that can wait are blocked meanwhile, so that none finds
// the thread with registers that are not its own; they stay queued in the kernel, in their order. The instruction that
// makes the call is one that the target has mapped anyway; no code is written for it.

// callNumbers are the system calls that are made in targets, by word size.
var callNumbers = map[int]struct {
	insn []byte
	mmap uint64
}{
	8: {[]byte{0x0f, 0x05}, 9},
	4: {[]byte{0xcd, 0x80}, 192}, // mmap2, whose last argument counts pages
}

// synchronous are the signals that instructions themselves raise. They are never blocked by us: the kernel
// kills a thread that raises one it blocks.
const synchronous = 1<<(ptrace.SIGILL-1) | 1<<(ptrace.SIGTRAP-1) | 1<<(ptrace.SIGBUS-1) |
	1<<(ptrace.SIGFPE-1) | 1<<(ptrace.SIGSEGV-1) | 1<<(ptrace.SIGSYS-1)

// mapMemory has the thread's process map memory that it can read and run, and we alone write.
func (t *thread) mapMemory(size uint64) (uint64, error) {
	const protReadExec, privateAnonymous = 5, 0x22
	call := callNumbers[t.proc.arch.WordSize()]
	r, err := t.inject(call.insn, call.mmap, 0, size, protReadExec, privateAnonymous, ^uint64(0), 0)
	if err != nil {
		return 0, fmt.Errorf("cannot map memory: %w", err)
	}
	return r, nil
}

// inject makes a thread that stands at a breakpoint call the kernel. Its registers are put back as t.regs has them.
func (t *thread) inject(insn []byte, number uint64, args ...uint64) (uint64, error) {
	gadget, ok := t.proc.space.gadget(t.tid, insn)
	if !ok {
		return 0, errors.New("the process has no instruction that calls the kernel")
	}
	saved := t.regs
	var mask uint64
	if e := ptrace.GetSigMask(t.tid, &mask); e != 0 {
		return 0, e
	}
	all := ^uint64(synchronous)
	if e := ptrace.SetSigMask(t.tid, &all); e != 0 {
		return 0, e
	}
	t.prepareCall(gadget, number, args)
	result, err := t.throughCall()
	t.regs = saved
	t.setRegs()
	ptrace.SetSigMask(t.tid, &mask)
	return result, err
}

// prepareCall sets the registers for a system call at the gadget.
func (t *thread) prepareCall(gadget, number uint64, args []uint64) {
	registers := [...]int{x86.RDI, x86.RSI, x86.RDX, x86.R10, x86.R8, x86.R9}
	if t.proc.arch.WordSize() == 4 {
		registers = [...]int{x86.RBX, x86.RCX, x86.RDX, x86.RSI, x86.RDI, x86.RBP}
	}
	for i, a := range args {
		t.regs[registers[i]] = a
	}
	t.regs[x86.RAX] = number
	t.regs[x86.OrigRAX] = ^uint64(0)
	*t.pc() = gadget
	t.setRegs()
}

// throughCall lets the thread run into the system call and to its end.
func (t *thread) throughCall() (uint64, error) {
	group := false
	for stops := 0; stops < 2; {
		if e := ptrace.ContToSyscall(t.tid, 0); e != 0 {
			return 0, e
		}
		st, ok := t.s.waitFor(t.tid)
		if !ok || st.Ended() {
			t.s.backlog = append(t.s.backlog, stop{t.tid, st})
			return 0, syscall.ESRCH
		}
		if st.AtSyscall() {
			stops++
			continue
		}
		group = group || st.GroupStop()
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
