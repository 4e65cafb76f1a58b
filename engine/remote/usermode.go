package remote

import (
	"time"

	"gotap/engine/remote/rsp"
)

// On ARM a stub reads memory with the present rights of the processor: a processor that has stopped in a program
// does not see the kernel. So when a kernel's memory is needed, the processor runs for short moments until it has
// stopped in the kernel, which its timer alone makes happen sooner or later.

// moments is how often that is tried.
const moments = 500

// inUserMode reports whether the processor that stopped last runs a program (Arm ARM DDI 0487, G8.2.33 and C5.2.18: M).
func (s *Session) inUserMode() bool {
	if !s.kernel || s.mem.thread == nil {
		return false
	}
	switch s.isa {
	case &armISA:
		const cpsr = 16
		return s.mem.thread.regs[cpsr]&0x1f == 0x10
	case &arm64ISA:
		const pstate = 33
		return s.mem.thread.regs[pstate]&0xf == 0
	}
	return false
}

// enterKernel runs a machine until it has stopped in its kernel. Hits on the way are handled as hits.
func (s *Session) enterKernel() error {
	for n := 0; n < moments && s.inUserMode() && !s.ended; n++ {
		if err := s.resume(); err != nil {
			return err
		}
		time.Sleep(time.Duration(n%10) * time.Millisecond)
		s.asked = time.Now()
		if err := s.client.Interrupt(); err != nil {
			return err
		}
		stop, ok, err := s.client.WaitStop(stopPatience, nil)
		if err == nil && !ok {
			err = errNoStop
		}
		if err == nil && stop.Kind == rsp.Stopped {
			err = s.stopped(stop)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
