package script

// Records come through the ring and lifecycle events through the queue, and a callback sees both in the order in which they happened as
// far as that matters: what a process did before it ended is told before its end. So an event has the ring's position of its
// moment, and waits until the records before that have been delivered.

// due is a lifecycle event that waits.
type due struct {
	at   uint64 // the ring's position: see runtime.Arena.Written
	tell func()
}

// tellAfter tells an event when all records before a position of the ring have been delivered: now, or later.
func (s *Script) tellAfter(at uint64, tell func()) {
	s.tellDue(len(s.host.waiting) >= queueSize) // callbacks that are slow keep no more than that from being told
	s.host.waiting = append(s.host.waiting, due{at, tell})
	s.tellDue(false)
}

// tellDue tells the events that have waited for long enough, or all of them.
func (s *Script) tellDue(all bool) {
	for h := &s.host; len(h.waiting) > 0 && (all || s.arena.Consumed() >= h.waiting[0].at); {
		next := h.waiting[0]
		if h.waiting = h.waiting[1:]; len(h.waiting) == 0 {
			h.waiting = nil
		}
		next.tell()
	}
}
