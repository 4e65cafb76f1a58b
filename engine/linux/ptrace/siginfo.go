package ptrace

import "syscall"

// CodeUser is the code of a signal that kill sent (SI_USER). All codes below it are of signals that processes sent,
// too.
const CodeUser = 0

// The parts of a siginfo_t behind si_code have the size of this program's words.
func (s *SigInfo) word(at int) int64 {
	low := int64(word32(s[at:]))
	if wordSize == 4 {
		return low
	}
	return low&0xffffffff | int64(word32(s[at+4:]))<<32
}

// UID returns si_uid of a signal that a process sent, or whose child ended.
func (s *SigInfo) UID() int { return int(uint32(word32(s[offsetSigInfoAddr+4:]))) }

// Value returns si_value of a signal that sigqueue or a timer sent.
func (s *SigInfo) Value() int64 { return s.word(offsetSigInfoAddr + 8) }

// Timer returns si_timerid.
func (s *SigInfo) Timer() int { return int(word32(s[offsetSigInfoAddr:])) }

// Overruns returns si_overrun.
func (s *SigInfo) Overruns() int { return int(word32(s[offsetOverrun:])) }

// Band returns si_band of a SIGIO.
func (s *SigInfo) Band() int64 { return s.word(offsetSigInfoAddr) }

// Child returns si_status, si_utime and si_stime of a SIGCHLD. The times are in ticks of the clock, of which there are
// 100 a second.
func (s *SigInfo) Child() (status int, user, system int64) {
	const times = offsetSigInfoAddr + 8 + wordSize // the status is as large as a word, with its padding
	return int(word32(s[offsetSigInfoAddr+8:])), s.word(times), s.word(times + wordSize)
}

// Members calls fn with each member of the siginfo_t that its signal and its code have: "code", "sender", "uid",
// "status", "utime", "stime", "address", "value", "timer", "overrun", "band". Addresses and values are bit patterns.
func (s *SigInfo) Members(fn func(name string, value int64)) {
	fn("code", int64(s.Code()))
	switch code := s.Code(); {
	case code == CodeUser, code == CodeThread:
		s.sender(fn)
	case code == CodeTimer:
		fn("timer", int64(s.Timer()))
		fn("overrun", int64(s.Overruns()))
		fn("value", s.Value())
	case code < 0:
		s.sender(fn)
		fn("value", s.Value())
	default:
		s.fromKernel(fn)
	}
}

func (s *SigInfo) sender(fn func(name string, value int64)) {
	fn("sender", int64(s.Pid()))
	fn("uid", int64(s.UID()))
}

// fromKernel has the members of a signal that the kernel sent.
func (s *SigInfo) fromKernel(fn func(name string, value int64)) {
	switch syscall.Signal(s.Signal()) {
	case syscall.SIGCHLD:
		s.sender(fn)
		status, user, system := s.Child()
		fn("status", int64(status))
		fn("utime", user)
		fn("stime", system)
	case syscall.SIGILL, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV, syscall.SIGTRAP:
		fn("address", int64(s.Addr()))
	case syscall.SIGIO:
		fn("band", s.Band())
	}
}
