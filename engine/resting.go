package engine

import (
	"iter"
	"maps"
	"time"

	"gotap/engine/backend"
	"gotap/engine/space"
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
func (t *thread) throttleAt(p *space.Point) {
	t.calls.Returned(&p.Point)
	if p.Throttled || !p.Used() {
		return
	}
	for _, o := range t.s.threads {
		if o.proc.space == p.Space {
			o.calls.Miss(&p.Point)
		}
	}
	t.s.stats.Unseen++
	t.s.patcher.Rest(p)
}

// Wake implements throttle.Session. It arms the throttled points: exits first, so that no call is seen to begin whose
// end would be missed.
func (h throttleHost) Wake() {
	s := h.s
	s.patcher.Wake()
	if s.others.sysnames > 0 {
		s.world.releaseWorld(s.world.holdAll()) // resumes them in the other way
	}
}
