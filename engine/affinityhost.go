package engine

import (
	"fmt"
	"time"

	"gotap/engine/abi"
	"gotap/engine/affinity"
	"gotap/engine/image/module"
	"gotap/engine/linux/cpumask"
	"gotap/engine/space"
)

// What package affinity asks of the session and of a thread.

// affinityHost is the session as package affinity sees it: it implements affinity.Session.
type affinityHost struct{ s *Session }

// After implements affinity.Session.
func (h affinityHost) After(d time.Duration, fn func()) { h.s.loop.After(d, fn) }

// Post implements affinity.Session.
func (h affinityHost) Post(fn func()) { h.s.loop.Do(fn) }

// Together implements affinity.Session.
func (h affinityHost) Together(together bool) { h.s.throttle.Together(together) }

// Warn implements affinity.Session.
func (h affinityHost) Warn(text string) { h.s.warn(text) }

// Only implements affinity.Session.
func (h affinityHost) Only() (affinity.Target, string) {
	if n := len(h.s.threads); n != 1 || len(h.s.procs) != 1 {
		return nil, fmt.Sprintf("%d threads are traced", n)
	}
	for _, t := range h.s.threads {
		p := t.proc
		switch {
		case !h.s.life.started || h.s.life.closing:
			return nil, "the target has not been started"
		case p.arch != &abi.AMD64:
			return nil, "the target is not an x86-64 program"
		case p.space.Users != 1 || p.unprobed:
			return nil, "the target shares its memory with another process"
		case p.space.Guard.Base == 0 || !p.guard.Handled():
			return nil, "the target has no handler for the case that gotap is killed"
		}
		return sharer{t}, ""
	}
	return nil, ""
}

// sharer is a thread as package affinity sees it: it implements affinity.Target.
type sharer struct{ t *thread }

// IDs implements affinity.Target.
func (r sharer) IDs() (pid, tid int) { return r.t.proc.pid, r.t.Tid }

// Image implements affinity.Target.
func (r sharer) Image() any { return r.t.proc.space }

// Modules implements affinity.Target.
func (r sharer) Modules() []module.Loaded { return r.t.proc.space.Modules }

// IsLibC implements affinity.Target.
func (r sharer) IsLibC(m *module.Loaded) bool {
	sp := r.t.proc.space
	return sp.Loader.At != 0 && (sp.Guard.IsLibC(m) || m.IsLoader())
}

// RecordPinned implements affinity.Target.
func (r sharer) RecordPinned(former, given cpumask.Mask) bool {
	return r.t.proc.space.Guard.RecordPinned(former, given)
}

// ForgetPinned implements affinity.Target.
func (r sharer) ForgetPinned() { r.t.proc.space.Guard.ForgetPinned() }

// Watch implements affinity.Target.
func (r sharer) Watch(m *module.Loaded, at affinity.Site, on func(tid int, number uint64)) bool {
	sp := r.t.proc.space
	addr, calls := m.Addr(at.Addr), &r.t.proc.arch.Calls
	number := calls.Number
	if at.Entry {
		number = calls.Args[0] // the register of the first argument of functions, too
	}
	if p := sp.ByAddr[addr]; p != nil && p.Internal != nil {
		return p.ForAffinity
	}
	r.t.s.patcher.WatchInternally(sp, m, at.Addr, internally(func(t *thread, _ *space.Point) bool {
		on(t.Tid, t.Regs[number])
		return false
	}))
	p := sp.ByAddr[addr]
	if p == nil || p.Internal == nil {
		return false
	}
	p.ForAffinity = true
	return true
}

// Unwatch implements affinity.Target.
func (r sharer) Unwatch() {
	for _, p := range r.t.proc.space.ByAddr {
		if p.ForAffinity {
			p.ForAffinity, p.Internal = false, nil
			r.t.s.patcher.Sync(p)
		}
	}
}
