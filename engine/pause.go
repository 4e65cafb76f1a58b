package engine

import "gotap/engine/linux/ptrace"

// Writing code on ARM.
//
// A processor that runs an instruction while another processor overwrites it may do anything, unless both the old
// and the new instruction are among a few that the architecture names (Arm ARM DDI 0487, B2.2.5; DDI 0406, A3.5.4).
// Also, the long breakpoint of Thumb can span two words, which are not written atomically. So all threads of an
// address space are stopped while its code changes. This is done once for all changes of one stop or one request:
// the threads are held at the first write and resumed when everything has been handled. Each thread returns through
// the kernel, which is a context synchronisation event; the kernel cleans and invalidates the caches when it writes
// for a tracer (flush_ptrace_access). A process whose only thread is stopped at a probe anyway pays nothing.
//
// On x86 the threads keep running: see Session.sync.

// pause holds the running threads of an address space until unpause.
func (s *Session) pause(sp *space) {
	if !sp.arch.Stepless {
		return
	}
	var asked []*thread
	for _, t := range s.threads {
		if t.proc.space == sp && !t.stopped && !t.fresh && !t.vforking && !t.gone && ptrace.Interrupt(t.tid) == 0 {
			asked = append(asked, t)
		}
	}
	for _, t := range asked {
		if s.holdOne(t) {
			s.paused = append(s.paused, t)
		}
	}
}

// unpause resumes the threads that pause holds; some may have been resumed elsewhere meanwhile.
func (s *Session) unpause() {
	for len(s.paused) > 0 {
		t := s.paused[len(s.paused)-1]
		s.paused = s.paused[:len(s.paused)-1]
		if t.stopped && !t.gone {
			t.resume(0)
		}
	}
}
