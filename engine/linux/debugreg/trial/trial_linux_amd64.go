package trial

import (
	"errors"
	"runtime"
	"sync"
	"syscall"
)

// Watchpoint tries a watchpoint on a child of its own, once, and returns ErrSilent if the access is not reported. If no
// child can be traced, it returns nil: then attaching fails as well, and says why. It may be called by any goroutine of
// which no other waits for children that it does not know.
var Watchpoint = sync.OnceValue(func() error {
	const write, eightBytes = 1 << 16, 2 << 18 // register 0 in the control word (Intel SDM vol. 3, 18.2.4)
	if reported, err := try(on | write | eightBytes); err != nil || reported {
		return nil
	}
	return ErrSilent
})

// on makes debug register 0 watch, in the control word.
const on = 1

// try starts a child and reports whether its write was reported, with a control word for the debug registers.
func try(control uint64) (reported bool, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	traced := &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"gotap"}, &syscall.ProcAttr{Sys: traced})
	if err != nil {
		return false, err
	}
	defer func() {
		syscall.Kill(pid, syscall.SIGKILL)
		syscall.Wait4(pid, nil, syscall.WALL, nil)
	}()
	return reportsWrite(pid, control)
}

// reportsWrite has a child that has just executed a program write to its stack, and reports whether the watchpoint
// there was hit. The instruction after that is a breakpoint, so the child comes no further.
func reportsWrite(pid int, control uint64) (reported bool, err error) {
	if err := waitStop(pid); err != nil {
		return false, err
	}
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(pid, &regs); err != nil {
		return false, err
	}
	const pushThenTrap = "\x50\xcc" // push %rax; int3
	if _, err := syscall.PtracePokeText(pid, uintptr(regs.Rip), []byte(pushThenTrap)); err != nil {
		return false, err
	}
	err = errors.Join(setDebugReg(pid, 0, regs.Rsp-8), setDebugReg(pid, 7, control), syscall.PtraceCont(pid, 0))
	if err == nil {
		err = waitStop(pid)
	}
	if err != nil {
		return false, err
	}
	if err := syscall.PtraceGetRegs(pid, &regs); err != nil {
		return false, err
	}
	var code [1]byte // of what comes next: at the breakpoint it has been executed
	_, err = syscall.PtracePeekText(pid, uintptr(regs.Rip), code[:])
	return code[0] == pushThenTrap[1], err
}

// waitStop waits until a child is stopped.
func waitStop(pid int) error {
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, syscall.WALL, nil); err != nil {
		return err
	}
	if !status.Stopped() {
		return syscall.ESRCH
	}
	return nil
}

// setDebugReg writes a debug register of a stopped child.
func setDebugReg(pid, n int, value uint64) error {
	const offset = 848 // of u_debugreg in the kernel's struct user
	_, _, e := syscall.Syscall6(syscall.SYS_PTRACE, syscall.PTRACE_POKEUSR, uintptr(pid), uintptr(offset+8*n), uintptr(value), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}
