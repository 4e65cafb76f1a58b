package engine

import (
	"iter"

	"gotap/engine/crashsafe"
	"gotap/engine/space"
)

// sessionHost is the session as package crashsafe sees it: it implements crashsafe.Session.
type sessionHost struct{ s *Session }

// Warn implements crashsafe.Session.
func (h sessionHost) Warn(text string) { h.s.warn(text) }

// Closing implements crashsafe.Session.
func (h sessionHost) Closing() bool { return h.s.life.closing }

// TracesCalls implements crashsafe.Session.
func (h sessionHost) TracesCalls() bool { return h.s.others.sysnames > 0 }

// Processes implements crashsafe.Session.
func (h sessionHost) Processes() iter.Seq[*crashsafe.Process] {
	return func(yield func(*crashsafe.Process) bool) {
		for _, p := range h.s.procs {
			if !yield(&p.guard) {
				return
			}
		}
	}
}

// Thread implements crashsafe.Session.
func (h sessionHost) Thread(tid int) *crashsafe.Thread {
	if t := h.s.threads[tid]; t != nil {
		return &t.guard
	}
	return nil
}

// HoldRunning implements crashsafe.Session.
func (h sessionHost) HoldRunning(in func(*crashsafe.Space) bool) (release func()) {
	held := h.s.world.holdRunning(func(sp *space.Space) bool { return in(&sp.Guard) })
	return func() { h.s.world.releaseWorld(held) }
}
