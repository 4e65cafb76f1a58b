package script

import "gotap/runtime"

// A watched script is replaced in four steps, so that no record is lost and none is told twice: the new version is loaded
// beside the running one (Options.Previous); the old one pauses, and records wait in the ring; the probes are
// exchanged; the new one takes over, and hands records of probes that are gone to the old one's callbacks.
// When the exchange fails the old one resumes, as if nothing had been.

// Pause stops the host. Records and lifecycle events wait; no end callback runs. It is called once after each Start or Resume.
func (s *Script) Pause() {
	close(s.host.quit)
	<-s.host.done
	<-s.host.rested
	s.host.started = false
	s.out.Flush()
}

// Resume continues after Pause.
func (s *Script) Resume() {
	queue := s.host.queue
	s.host.init()
	s.host.queue = queue
	s.Start()
}

// TakeOver makes a paused version's probes known to the one that follows it, before that one's Start: records of
// theirs that are still in the ring reach the callbacks they were made for. The paused version's timers and listeners
// are gone; it stays open until the new one is closed.
func (s *Script) TakeOver(old *Script) {
	s.before = old
	for {
		select {
		case f := <-old.host.queue:
			f()
		default:
			return
		}
	}
}

// predecessor is the earlier version that a record belongs to, or nil.
func (s *Script) predecessor(rec *runtime.Record) *Script {
	if s.byID[rec.Probe] != nil {
		return nil
	}
	for old := s.before; old != nil; old = old.before {
		if old.byID[rec.Probe] != nil {
			return old
		}
	}
	return nil
}
