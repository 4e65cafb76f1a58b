package script

import (
	"gotap/script/host"
)

// A watched script is replaced in four steps, so that no record is lost or delivered twice: the new version is loaded
// beside the running one (Options.Previous); the old one pauses, and records wait in the ring; the probes are exchanged
// (Plan); the new one takes over, and records of removed probes go to the old callbacks a last time. If the exchange
// fails, the old one resumes.

// Pause stops the host. Records and lifecycle events wait; no end callback runs. It is called once after each Start or
// Resume.
func (s *Script) Pause() {
	s.host.Pause()
	s.out.Flush()
}

// Resume continues after Pause.
func (s *Script) Resume() { s.Start() }

// TakeOver ends a paused version that this one follows, after the probes have been exchanged and before Begin and
// Start. Records in the ring for removed probes reach the old callbacks now; those for this script's own are delivered
// after Start. Guests of the old version become guests of this one. The old version is closed, with its timers,
// listeners and end callbacks.
func (s *Script) TakeOver(old *Script) {
	s.setGuests(append(s.guests, old.guests...))
	old.guests = nil
	for range host.MaxWaiting {
		rec, ok := s.arena.Next()
		if !ok {
			break
		}
		if old.probes.ByID(rec.Probe) != nil && s.probes.ByID(rec.Probe) == nil {
			old.Deliver(rec)
			continue
		}
		s.host.Keep(rec)
	}
	old.host.Empty()
	s.variables.Keep(old.variables)
	s.probes.Inherit()
	s.machine.Faults.Earlier += old.Faults() // without its guests, which are this script's now
	old.machine.Faults.Summary(old.out)
	old.out.Flush()
	old.Close()
}
