package script

import (
	"slices"
)

// The methods below may be called from any goroutine while the host runs, but not while one version of a script is
// exchanged for another: the caller of Pause, Resume and TakeOver prevents that.

// Join runs another loaded script on this one's host: its begin callbacks run, then its timers, and records of its
// probes reach it. Both need the same arena and disjoint probe numbers. Its end callbacks run at Leave or End.
func (s *Script) Join(g *Script) error {
	return s.host.Do(func() {
		g.host.Share(s.host)
		g.Begin()
		g.lib.timers.Restart()
		s.setGuests(append(s.guests, g))
	})
}

// Leave removes a script that has joined; its end callbacks run and its aggregations print. Its probes must have been
// removed before: their records up to now reach it.
func (s *Script) Leave(g *Script) error {
	return s.host.Do(func() {
		s.host.CatchUp()
		if i := slices.Index(s.guests, g); i >= 0 {
			s.setGuests(slices.Delete(slices.Clone(s.guests), i, i+1))
			g.conclude()
			s.machine.Faults.Earlier += g.Faults()
		}
	})
}

func (s *Script) setGuests(guests []*Script) {
	s.guests = guests
	s.joined.Store(int32(len(guests)))
}

// CatchUp returns when everything recorded so far has been delivered.
func (s *Script) CatchUp() error { return s.host.Do(s.host.CatchUp) }
