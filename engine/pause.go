package engine

import "gotap/engine/linux/ptrace"

// Writing code on ARM.
//
// A processor that runs an instruction while another one writes over it may do anything, unless old and new are both among a few
// that the architecture names (Arm ARM DDI 0487, B2.2.5; DDI 0406, A3.5.4). And the long breakpoint of Thumb can lie across two
// words, which are not written in one. So all threads of an address space are stopped while its code changes. That is done once for
// all changes of one stop, or of one request: the threads are held at the first write, and go on when everything has been dealt
// with. Each comes back by way of the kernel, which is a context synchronisation event; the kernel cleans and invalidates the
// caches when it writes for a tracer (flush_ptrace_access). A single thread that is stopped at a probe anyway costs nothing.
//
// On x86 threads run on: see Session.sync.

// pause holds the threads of an address space that run until unpause.
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

// unpause lets the threads go on that pause holds; some may have been let go by other ways meanwhile.
func (s *Session) unpause() {
	for len(s.paused) > 0 {
		t := s.paused[len(s.paused)-1]
		s.paused = s.paused[:len(s.paused)-1]
		if t.stopped && !t.gone {
			t.resume(0)
		}
	}
}
