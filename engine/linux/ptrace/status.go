package ptrace

// Signals that this package and its users handle by number. They are those of Linux on x86, ARM and AArch64.
const (
	SIGILL  = 4
	SIGTRAP = 5
	SIGBUS  = 7
	SIGFPE  = 8
	SIGKILL = 9
	SIGSEGV = 11
	SIGCONT = 18
	SIGSTOP = 19
	SIGTSTP = 20
	SIGTTIN = 21
	SIGTTOU = 22
	SIGSYS  = 31
)

// Sets of signals, as in a signal mask.
const (
	// Synchronous are the signals that instructions themselves raise. We never block them: the kernel kills a thread
	// that raises a signal that it blocks.
	Synchronous = 1<<(SIGILL-1) | TrapBit | 1<<(SIGBUS-1) | 1<<(SIGFPE-1) | 1<<(SIGSEGV-1) | 1<<(SIGSYS-1)
	// JobControl are the signals that stop and continue processes.
	JobControl = 1<<(SIGCONT-1) | 1<<(SIGSTOP-1) | 1<<(SIGTSTP-1) | 1<<(SIGTTIN-1) | 1<<(SIGTTOU-1)
	// TrapBit is SIGTRAP.
	TrapBit = 1 << (SIGTRAP - 1)
)

// FirstRealTime is the number of the first real-time signal in the kernel's numbering.
const FirstRealTime = 32

type Event int

// The events.
const (
	EventNone      Event = 0
	EventFork      Event = 1
	EventVfork     Event = 2
	EventClone     Event = 3
	EventExec      Event = 4
	EventVforkDone Event = 5
	EventExit      Event = 6
	EventSeccomp   Event = 7
	EventStop      Event = 128 // group stop, PTRACE_INTERRUPT, or the first stop of a new tracee
)

// Status is the status of a tracee as wait4 returns it.
type Status uint32

// Exited reports whether the tracee has exited, and its exit status.
func (s Status) Exited() (code int, ok bool) { return int(s>>8) & 0xff, s&0x7f == 0 }

// Killed reports whether a signal has killed the tracee, and which.
func (s Status) Killed() (sig int, ok bool) {
	sig = int(s & 0x7f)
	return sig, sig != 0 && sig != 0x7f
}

// Dumped reports whether the kernel wrote a core of a process that a signal has killed.
func (s Status) Dumped() bool {
	_, killed := s.Killed()
	return killed && s&0x80 != 0
}

// Stopped reports whether the tracee is stopped.
func (s Status) Stopped() bool { return s&0xff == 0x7f }

// Ended reports whether the thread has ended.
func (s Status) Ended() bool { return s&0xff != 0x7f && s != 0xffff }

// Signal returns the signal of a stop. For a stop at a system call it is SIGTRAP.
func (s Status) Signal() int { return int(s>>8) & 0x7f }

// AtSyscall reports whether the stop is at the entry to or the return from a system call.
func (s Status) AtSyscall() bool { return s.Stopped() && s>>8&0xff == SIGTRAP|0x80 }

// Event returns the event of a stop.
func (s Status) Event() Event { return Event(s >> 16 & 0xff) }

// GroupStop reports whether the stop is a group stop of job control, which only LISTEN may follow.
func (s Status) GroupStop() bool {
	if s.Event() != EventStop {
		return false
	}
	switch s.Signal() {
	case SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU:
		return true
	}
	return false
}

// wordSize is the size of this program's pointers in bytes, which determines the layout of the kernel's structures.
const wordSize = 4 << (^uintptr(0) >> 63)

// Codes of a SIGTRAP's siginfo, from asm-generic/siginfo.h. Codes of 0 and below come from user processes.
const (
	CodeKernel        = 0x80 // int3 on x86
	CodeBreakpoint    = 1    // TRAP_BRKPT
	CodeTrace         = 2    // TRAP_TRACE: single step
	CodeTimer         = -2   // SI_TIMER
	CodeThread        = -6   // SI_TKILL: tgkill
	CodeHWBreakpoint  = 4    // TRAP_HWBKPT: debug register
	offsetSigInfoCode = 8
	offsetOverrun     = offsetSigInfoAddr + 4 // behind the timer's number
	offsetSigInfoAddr = 8 + wordSize/8*4 + 4  // three words, padded to the size of a pointer of this program
)

// SigInfo is a complete siginfo_t of the kernel, so that a signal that is held back for a moment is delivered
// unchanged.
type SigInfo [128]byte

// Signal returns si_signo.
func (s *SigInfo) Signal() int { return int(word32(s[0:])) }

// Code returns si_code.
func (s *SigInfo) Code() int { return int(word32(s[offsetSigInfoCode:])) }

// Addr returns si_addr of a fault.
func (s *SigInfo) Addr() uint64 {
	low := uint64(uint32(word32(s[offsetSigInfoAddr:])))
	if wordSize == 4 {
		return low
	}
	return low | uint64(uint32(word32(s[offsetSigInfoAddr+4:])))<<32
}

// Pid returns si_pid of a signal that a process sent, in the numbering of the receiving process. It is 0 for a sender
// without a number there.
func (s *SigInfo) Pid() int { return int(word32(s[offsetSigInfoAddr:])) }

// SameTimer reports whether two signals come from one timer (timer_create).
func (s *SigInfo) SameTimer(o *SigInfo) bool {
	return s.Code() == CodeTimer && o.Code() == CodeTimer && s.Signal() == o.Signal() && s.Pid() == o.Pid()
}

// Overrun adds another expiration of a timer, which came before the signal was delivered, to si_overrun, as the kernel
// does.
func (s *SigInfo) Overrun(later *SigInfo) {
	n := word32(s[offsetOverrun:]) + 1 + word32(later[offsetOverrun:])
	for i := range 4 {
		s[offsetOverrun+i] = byte(n >> (8 * i))
	}
}

// SetCode sets si_code.
func (s *SigInfo) SetCode(code int32) {
	for i := range 4 {
		s[offsetSigInfoCode+i] = byte(code >> (8 * i))
	}
}

// SetAddr sets si_addr.
func (s *SigInfo) SetAddr(addr uint64) {
	for i := range wordSize {
		s[offsetSigInfoAddr+i] = byte(addr >> (8 * i))
	}
}

// Make sets the siginfo of a fault.
func (s *SigInfo) Make(sig int, code int32, addr uint64) {
	s[0] = byte(sig)
	for i := range 4 {
		s[offsetSigInfoCode+i] = byte(code >> (8 * i))
	}
	s.SetAddr(addr)
}

func word32(b []byte) int32 {
	return int32(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
}

// Options of a tracee, PTRACE_O_*.
const (
	OptSysGood   = 1 << 0
	OptFork      = 1 << EventFork
	OptVfork     = 1 << EventVfork
	OptClone     = 1 << EventClone
	OptExec      = 1 << EventExec
	OptVforkDone = 1 << EventVforkDone
	OptExit      = 1 << EventExit
	OptExitKill  = 1 << 20 // never set on a process that gotap attached to, because it would be killed with gotap
)
