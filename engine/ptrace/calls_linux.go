package ptrace

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The pointers below are handed to the kernel as numbers within the expression of the call, as package unsafe allows
// (rule 4): the objects stay alive and in place until the call returns. None of these requests keeps them.

func request(req, tid int, addr, data uintptr) syscall.Errno {
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(req), uintptr(tid), addr, data, 0, 0)
	return e
}

func requestPointer(req, tid int, addr uintptr, p unsafe.Pointer) syscall.Errno {
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(req), uintptr(tid), addr, uintptr(p), 0, 0)
	return e
}

func requestResult(req, tid int, addr uintptr, p unsafe.Pointer) (uintptr, syscall.Errno) {
	r, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(req), uintptr(tid), addr, uintptr(p), 0, 0)
	return r, e
}

func peekSigInfo(tid int, args *peekArgs, s *SigInfo) int {
	r, _, e := unix.RawSyscall6(unix.SYS_PTRACE, reqPeekSigInfo, uintptr(tid),
		uintptr(unsafe.Pointer(args)), uintptr(unsafe.Pointer(s)), 0, 0)
	if e != 0 {
		return -1
	}
	return int(r)
}

// waitFlags asks for news of all kinds of children, but only those of the calling thread: other children of this process
// belong to whoever started them.
const waitFlags = unix.WALL | 0x20000000 // __WNOTHREAD

// Wait waits until a tracee or child of the calling thread has something to tell; tid -1 means any.
// EINTR says that Kick or a signal interrupted it, ECHILD that there is nobody left.
func Wait(tid int, s *Status) (int, syscall.Errno) {
	r, _, e := unix.Syscall6(unix.SYS_WAIT4, uintptr(tid), uintptr(unsafe.Pointer(s)), waitFlags, 0, 0, 0)
	return int(r), e
}

// Poll is Wait that does not block: 0 means nothing has happened.
func Poll(tid int, s *Status) (int, syscall.Errno) {
	r, _, e := unix.RawSyscall6(unix.SYS_WAIT4, uintptr(tid), uintptr(unsafe.Pointer(s)), waitFlags|unix.WNOHANG, 0, 0, 0)
	return int(r), e
}

// TakeStop takes the stop that a tracee is in and that Look has told of. When the tracee has been killed meanwhile the stop is no more, and
// nothing is taken: its end is still to be told.
func TakeStop(tid int) {
	const one = 1 // P_PID
	unix.RawSyscall6(unix.SYS_WAITID, one, uintptr(tid), 0, waitFlags|unix.WSTOPPED|unix.WNOHANG, 0, 0)
}

// Tid is the number of the calling thread.
func Tid() int { return unix.Gettid() }

// SendThread sends a signal to one thread.
func SendThread(tgid, tid, sig int) syscall.Errno {
	_, _, e := unix.RawSyscall(unix.SYS_TGKILL, uintptr(tgid), uintptr(tid), uintptr(sig))
	return e
}

// SendProcess sends a signal to a process.
func SendProcess(pid, sig int) syscall.Errno {
	_, _, e := unix.RawSyscall(unix.SYS_KILL, uintptr(pid), uintptr(sig), 0)
	return e
}

// CanSetDeathSignal reports whether a child of this process could ask for a signal at the death of its parent, and take that
// back: a seccomp filter may forbid it. Nothing is changed: the kernel refuses the number of a signal that is none.
func CanSetDeathSignal() bool {
	const noSignal = 1 << 10
	_, _, e := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, noSignal, 0, 0, 0, 0)
	return e == syscall.EINVAL
}

// SharesMemory reports whether two processes have the same address space; ok is false when the kernel does not tell.
func SharesMemory(pid1, pid2 int) (shared, ok bool) {
	const kcmpVM = 1
	r, _, e := unix.RawSyscall6(unix.SYS_KCMP, uintptr(pid1), uintptr(pid2), kcmpVM, 0, 0, 0)
	return r == 0, e == 0
}

// Now is CLOCK_MONOTONIC in nanoseconds, as every process on the machine sees it.
func Now() uint64 { return uint64(nanotime()) }

// RunTime is how long the threads of a process have run so far, in nanoseconds; 0 when it is gone.
func RunTime(pid int) uint64 {
	const sched = 2 // CPUCLOCK_SCHED of the process (linux/posix-timers.h)
	var t unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|sched), &t) != nil {
		return 0
	}
	return uint64(t.Nano())
}

// nanotime is the runtime's reader of CLOCK_MONOTONIC by way of the vDSO. The runtime documents the name as one that
// others link to; time.Now offers the same clock only relative to the start of the program.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// kickSignal is the real-time signal that interrupts Wait. Any would do: Go's runtime gives all of them a handler
// that does nothing when nobody asked for the signal by os/signal.
const kickSignal = 60

// Flags of a signal's action: SA_RESTART and SA_NOCLDSTOP.
const (
	saRestart     = 0x10000000
	saNoChildStop = 1
)

// sigaction is the kernel's struct sigaction (not the C library's).
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// allowInterrupt makes the kick signal interrupt system calls. Go installs its handlers with SA_RESTART, under which a
// blocked wait4 would go on; taking that one flag away leaves the handler, its stack and its return path as
// Go wants them. It is called before every kick since a later signal.Notify without arguments installs them anew.
func allowInterrupt() {
	changeAction(kickSignal, 0, saRestart)
}

// changeAction sets and clears flags of a signal's action and leaves the rest of it as it is.
func changeAction(sig, set, clear uintptr) {
	var act sigaction
	const size = unsafe.Sizeof(act.mask)
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, 0, uintptr(unsafe.Pointer(&act)), size, 0, 0)
	if flags := act.flags&^clear | set; flags != act.flags {
		act.flags = flags
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&act)), 0, size, 0, 0)
	}
}

// QuietStops keeps the kernel from sending this process a SIGCHLD for every stop of a tracee, on top of waking the thread that
// waits for it. Go has a handler for that signal, which would run once a hit, for nothing; it costs a sixth of the hit.
// The ends of children are still told.
func QuietStops() { changeAction(uintptr(syscall.SIGCHLD), saNoChildStop, 0) }

// Kick interrupts the Wait of thread tid of this process. A kick that comes while the thread is not waiting is lost,
// so whoever kicks repeats it until what he wanted has happened.
func Kick(tid int) {
	allowInterrupt()
	SendThread(unix.Getpid(), tid, kickSignal)
}

// The codes of a siginfo about a child (CLD_*).
const (
	childExited = 1
	childKilled = 2
	childDumped = 3
)

// Look is Wait for the next stop without taking it: until the thread is resumed the kernel keeps what it stopped with, and a
// signal is delivered if the tracer dies meanwhile. The same stop is reported again until the thread is resumed, or TakeStop takes
// it. Ends are reported in the same way, until Poll takes them. block says whether to wait for one; otherwise tid is 0 when there is none.
func Look(tid int, s *Status, block bool) (int, syscall.Errno) {
	const all, one = 0, 1 // P_ALL, P_PID
	var info [128]byte
	which, id := uintptr(all), uintptr(0)
	if tid > 0 {
		which, id = one, uintptr(tid)
	}
	flags := uintptr(waitFlags | unix.WNOWAIT | unix.WEXITED | unix.WSTOPPED)
	var e syscall.Errno
	if block {
		_, _, e = unix.Syscall6(unix.SYS_WAITID, which, id, uintptr(unsafe.Pointer(&info)), flags, 0, 0)
	} else {
		_, _, e = unix.RawSyscall6(unix.SYS_WAITID, which, id, uintptr(unsafe.Pointer(&info)), flags|unix.WNOHANG, 0, 0)
	}
	if e != 0 {
		return -1, e
	}
	code := word32(info[offsetSigInfoCode:])
	pid := word32(info[offsetSigInfoAddr:])
	status := word32(info[offsetSigInfoAddr+8:]) // behind pid and user
	if pid != 0 {
		*s = statusOf(code, uint32(status))
	}
	return int(pid), 0
}

// statusOf makes the status that wait4 would give of what waitid does.
func statusOf(code int32, status uint32) Status {
	switch code {
	case childExited:
		return Status(status << 8)
	case childKilled:
		return Status(status)
	case childDumped:
		return Status(status | 0x80)
	}
	return Status(status<<8 | 0x7f)
}
