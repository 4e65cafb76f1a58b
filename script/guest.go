package script

import (
	"errors"
	"time"

	"gotap/runtime"
)

// What is below may be called from any goroutine while the host runs, but not while one version of a script is exchanged for another:
// whoever has Pause, Resume and TakeOver called keeps the rest away meanwhile.

// errEnded says that a host does not take anything any more.
var errEnded = errors.New("the script's host has ended")

// onHost runs a function on the host's goroutine and waits for it; before Start it runs here.
func (s *Script) onHost(f func()) error {
	if !s.host.started {
		f()
		return nil
	}
	done := make(chan struct{})
	select {
	case s.host.queue <- func() { f(); close(done) }:
	case <-s.host.done:
		return errEnded
	}
	select {
	case <-done:
		return nil
	case <-s.host.done:
		return errEnded
	}
}

// Join has another loaded script run on this one's host: its begin callbacks run, then its timers, and records of its
// probes reach it. Both need the same arena, and numbers of probes that do not meet. Its end callbacks run at Leave or End. Safe
// for concurrent use once Start has been called.
func (s *Script) Join(g *Script) error {
	return s.onHost(func() {
		g.host.queue = s.host.queue
		g.Begin()
		g.host.started = true
		g.restartTimers()
		s.host.guests = append(s.host.guests, g)
		s.host.joined.Store(int32(len(s.host.guests)))
	})
}

// Leave takes a script that joined away again; its end callbacks run and its aggregations print. Its probes have to be
// removed before: what they recorded until then reaches it. Safe for concurrent use.
func (s *Script) Leave(g *Script) error {
	return s.onHost(func() {
		s.catchUp()
		for i, other := range s.host.guests {
			if other == g {
				s.host.guests = append(s.host.guests[:i:i], s.host.guests[i+1:]...)
				s.host.joined.Store(int32(len(s.host.guests)))
				g.conclude()
				s.faults.earlier += g.Faults()
				return
			}
		}
	})
}

// CatchUp returns when what has been recorded so far has been delivered. Safe for concurrent use.
func (s *Script) CatchUp() error { return s.onHost(s.catchUp) }

// catchUp delivers what is in the ring now. While the loop is idle the pump has the ring, and gives it up for a record.
func (s *Script) catchUp() {
	if s.host.started && !s.host.busy && s.arena.Pending() {
		select {
		case <-s.host.records:
			s.host.busy = true
		case <-time.After(pumpTime):
			return
		}
	}
	if s.host.started && !s.host.busy {
		return // the ring is empty, and the pump's
	}
	for left := maxWaiting; left > 0 && s.drain(batchSize); left -= batchSize {
	}
}

// pumpTime is how long the pump is waited for when a record is on its way: whoever writes it may have died in the middle.
const pumpTime = 2 * time.Second

// Values are the script's shared variables, aggregations and maps as they stand, in the order of declaration. Safe for
// concurrent use.
func (s *Script) Values() []runtime.Snapshot { return s.values((*runtime.Handle).Entries) }

// TakeValues is Values and Reset in one: what is added meanwhile is in what is returned or stays. Safe for concurrent use.
func (s *Script) TakeValues() []runtime.Snapshot { return s.values((*runtime.Handle).Take) }

func (s *Script) values(read func(*runtime.Handle) runtime.Snapshot) []runtime.Snapshot {
	s.sharedMu.Lock()
	list := append([]sharedObject(nil), s.shared...)
	s.sharedMu.Unlock()
	values := make([]runtime.Snapshot, 0, len(list))
	for _, o := range list {
		if hasValues(o.object) {
			values = append(values, read(s.arena.Handle(o.id)))
		}
	}
	return values
}

// Reset sets all of them back to what they were at the beginning. Safe for concurrent use.
func (s *Script) Reset() {
	s.sharedMu.Lock()
	defer s.sharedMu.Unlock()
	for _, o := range s.shared {
		s.arena.Handle(o.id).Clear()
	}
}
