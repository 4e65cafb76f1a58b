package script

import "time"

// Drain delivers what is in the ring, as the host does.
func (s *Script) Drain() { s.host.Drain(1) }

// Revive lets a script that has ended run again.
func (s *Script) Revive() { s.machine.Stopped.Store(false) }

// SetDeadline changes the deadline of callbacks, and the time until one that goes on is reported as stuck.
func (s *Script) SetDeadline(d time.Duration) { s.machine.Dog.Deadline, s.machine.Dog.Patience = d, d }
