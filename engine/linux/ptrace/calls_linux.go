package ptrace

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The pointers below are converted to numbers within the expression of the call, as package unsafe allows
// (rule 4): the objects stay alive and in place until the call returns. The kernel keeps none of the pointers.

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

// waitFlags selects children of all kinds, but only those of the calling thread. Other children of this process belong
// to whatever code started them.
const waitFlags = unix.WALL | 0x20000000 // __WNOTHREAD

// Wait waits until a tracee or child of the calling thread changes state; tid -1 means any. EINTR means that Kick or a
// signal interrupted it, ECHILD that there is no child.
func Wait(tid int, s *Status) (int, syscall.Errno) {
	r, _, e := unix.Syscall6(unix.SYS_WAIT4, uintptr(tid), uintptr(unsafe.Pointer(s)), waitFlags, 0, 0, 0)
	return int(r), e
}

// Poll is Wait without blocking. The tid is 0 when nothing has happened.
func Poll(tid int, s *Status) (int, syscall.Errno) {
	r, _, e := unix.RawSyscall6(unix.SYS_WAIT4, uintptr(tid), uintptr(unsafe.Pointer(s)), waitFlags|unix.WNOHANG, 0, 0, 0)
	return int(r), e
}

// ConsumeStop consumes a stop that PeekStop returned. When the tracee has been killed in between, the stop no longer
// exists and nothing is consumed; its end is reported later.
func ConsumeStop(tid int) {
	const one = 1 // P_PID
	unix.RawSyscall6(unix.SYS_WAITID, one, uintptr(tid), 0, waitFlags|unix.WSTOPPED|unix.WNOHANG, 0, 0)
}

// Tid returns the number of the calling thread.
func Tid() int { return unix.Gettid() }

// HasRobustList reports whether a thread has told the kernel where its list of robust futexes is. It need not be
// stopped.
func HasRobustList(tid int) bool {
	var head, size uintptr
	_, _, e := unix.RawSyscall(unix.SYS_GET_ROBUST_LIST, uintptr(tid), uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&size)))
	return e == 0 && head != 0
}

// SendThread sends a signal to one thread.
func SendThread(tgid, tid, sig int) syscall.Errno {
	_, _, e := unix.RawSyscall(unix.SYS_TGKILL, uintptr(tgid), uintptr(tid), uintptr(sig))
	return e
}

// QueueThread sends a signal to one thread with its siginfo. The kernel accepts only negative codes other than SI_TKILL
// (do_rt_tgsigqueueinfo in kernel/signal.c).
func QueueThread(tgid, tid int, info *SigInfo) syscall.Errno {
	_, _, e := unix.RawSyscall6(unix.SYS_RT_TGSIGQUEUEINFO, uintptr(tgid), uintptr(tid), uintptr(info.Signal()), uintptr(unsafe.Pointer(info)), 0, 0)
	return e
}

// SendProcess sends a signal to a process.
func SendProcess(pid, sig int) syscall.Errno {
	_, _, e := unix.RawSyscall(unix.SYS_KILL, uintptr(pid), uintptr(sig), 0)
	return e
}

// CanSetDeathSignal reports whether a child of this process can set its parent death signal, and reset it. A seccomp
// filter may forbid both. It passes an invalid signal number, so nothing changes.
func CanSetDeathSignal() bool {
	const noSignal = 1 << 10
	_, _, e := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, noSignal, 0, 0, 0, 0)
	return e == syscall.EINVAL
}

// SharesMemory reports whether two processes have the same address space. ok is false when the kernel does not support
// the question.
func SharesMemory(pid1, pid2 int) (shared, ok bool) {
	const kcmpVM = 1
	r, _, e := unix.RawSyscall6(unix.SYS_KCMP, uintptr(pid1), uintptr(pid2), kcmpVM, 0, 0, 0)
	return r == 0, e == 0
}

// Now returns CLOCK_MONOTONIC in nanoseconds, which is the same for all processes of the machine.
func Now() uint64 { return uint64(nanotime()) }

// ThreadTime returns how long the calling thread has run, in nanoseconds.
func ThreadTime() uint64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return uint64(t.Nano())
}

// RunTime returns how long the threads of a process have run, in nanoseconds, or 0 when it has ended.
func RunTime(pid int) uint64 {
	const sched = 2 // CPUCLOCK_SCHED of the process (linux/posix-timers.h)
	var t unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|sched), &t) != nil {
		return 0
	}
	return uint64(t.Nano())
}

// nanotime is the runtime's reader of CLOCK_MONOTONIC, through the vDSO. The runtime documents the name as one that
// others link to; time.Now has the same clock only relative to the start of the program.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// kickSignal is the signal that interrupts Wait, SIGIO. Go's runtime installs a handler for it, which does nothing unless
// os/signal is used. It is not a real-time signal: those are lost where the user's signals that may be queued are used up
// (RLIMIT_SIGPENDING), be it by a target.
const kickSignal = 29

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

// allowInterrupt makes the kick signal interrupt system calls. Go installs its handlers with SA_RESTART, which restarts
// a blocked wait4. Only that flag is cleared; the handler, its stack and its return path remain. It is called before
// every kick, because a later signal.Notify without arguments installs the handlers again.
func allowInterrupt() {
	changeAction(kickSignal, 0, saRestart)
}

// changeAction sets and clears flags of a signal's action and does not change the rest of it.
func changeAction(sig, set, clear uintptr) {
	var act sigaction
	const size = unsafe.Sizeof(act.mask)
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, 0, uintptr(unsafe.Pointer(&act)), size, 0, 0)
	if flags := act.flags&^clear | set; flags != act.flags {
		act.flags = flags
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&act)), 0, size, 0, 0)
	}
}

// QuietStops prevents the kernel from sending this process a SIGCHLD for every stop of a tracee, in addition to waking
// the thread that waits. Go's handler for that signal would run at each hit for nothing, which takes a sixth of the
// time of a hit. The ends of children are still reported.
func QuietStops() { changeAction(uintptr(syscall.SIGCHLD), saNoChildStop, 0) }

// Kick interrupts the Wait of thread tid of this process. A kick is lost while the thread is not waiting, so callers
// repeat it until they see its effect.
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

// Patience says how long PeekStop waits.
type Patience int

const (
	NoWait Patience = iota
	// BriefWait is for a wait that an Alarm ends within milliseconds. The scheduler is not told of it, so the goroutine
	// keeps its processor, and a garbage collection may have to wait for it. A wait for one thread is not brief.
	BriefWait
	LongWait
)

// PeekStop waits for the next stop like Wait but does not consume it: until the thread is resumed the kernel keeps its
// siginfo, and delivers a signal if the tracer dies in between. The same stop is returned again until the thread is
// resumed or ConsumeStop consumes it. Ends are returned in the same way until Poll consumes them. With NoWait, tid is 0
// when nothing has happened. A signal to this process ends the wait for any thread, not that for one.
func PeekStop(tid int, s *Status, patience Patience) (int, syscall.Errno) {
	const all, one = 0, 1 // P_ALL, P_PID
	var info [128]byte
	which, id := uintptr(all), uintptr(0)
	if tid > 0 {
		which, id = one, uintptr(tid)
	}
	flags := uintptr(waitFlags | unix.WNOWAIT | unix.WEXITED | unix.WSTOPPED)
	var e syscall.Errno
	switch {
	case patience == NoWait:
		_, _, e = unix.RawSyscall6(unix.SYS_WAITID, which, id, uintptr(unsafe.Pointer(&info)), flags|unix.WNOHANG, 0, 0)
	case patience == BriefWait && which == all:
		_, _, e = unix.RawSyscall6(unix.SYS_WAITID, which, id, uintptr(unsafe.Pointer(&info)), flags, 0, 0)
	default:
		for again := true; again; again = tid > 0 && e == unix.EINTR {
			_, _, e = unix.Syscall6(unix.SYS_WAITID, which, id, uintptr(unsafe.Pointer(&info)), flags, 0, 0)
		}
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

// statusOf converts the result of waitid to the status of wait4.
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
