package engine

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"gotap/engine/backend"
)

// What package throttle asks of the session, and the points that rest.

// throttleHost is the session as package throttle sees it: it implements throttle.Session.
type throttleHost struct{ s *Session }

func (h throttleHost) Started() bool                    { return h.s.life.started }
func (h throttleHost) Pids() iter.Seq[int]              { return maps.Keys(h.s.procs) }
func (h throttleHost) Threads() int                     { return len(h.s.threads) }
func (h throttleHost) Probes() []*probe                 { return h.s.All() }
func (h throttleHost) Disable(pr *probe)                { h.s.SetEnabled(pr, false) }
func (h throttleHost) After(d time.Duration, fn func()) { h.s.loop.After(d, fn) }
func (h throttleHost) Detach()                          { go h.s.Close(false) }

// Overloaded implements throttle.Session.
func (h throttleHost) Overloaded(o backend.Overload) {
	if h.s.cfg.Overloaded != nil {
		h.s.cfg.Overloaded(o)
	}
}

// throttleAt removes a point that was hit while probes rest. Calls that return to this point end normally.
func (t *thread) throttleAt(p *point) {
	t.calls.Returned(&p.Point)
	if p.throttled || !p.Used() {
		return
	}
	for _, o := range t.s.threads {
		if o.proc.space == p.sp {
			o.calls.Miss(&p.Point)
		}
	}
	p.throttled = true
	t.s.patcher.rested = append(t.s.patcher.rested, p)
	t.s.stats.Unseen++
	t.s.patcher.sync(p)
}

// Wake implements throttle.Session. It arms the throttled points: exits first, so that no call is seen to begin whose
// end would be missed.
func (h throttleHost) Wake() {
	s := h.s
	rested := s.patcher.rested
	s.patcher.rested = nil
	for _, p := range rested {
		p.throttled = false
	}
	slices.SortStableFunc(rested, func(a, b *point) int { return len(b.Exits) - len(a.Exits) })
	for _, p := range rested {
		if p.sp.points[p.addr] != p || p.sp.users == 0 {
			continue // its memory no longer exists
		}
		if err := s.patcher.sync(p); err != nil && !s.life.closing {
			s.warn(fmt.Sprintf("cannot arm %#x again: %v", p.addr, err))
		}
	}
	if s.others.sysnames > 0 {
		s.world.releaseWorld(s.world.holdAll()) // resumes them in the other way
	}
}
