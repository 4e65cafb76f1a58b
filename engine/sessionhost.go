package engine

import (
	"iter"

	"gotap/engine/abi"
	"gotap/engine/crashsafe"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
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
	held := h.s.world.holdRunning(func(sp *space) bool { return in(&sp.guard) })
	return func() { h.s.world.releaseWorld(held) }
}

// spaceHost is an address space as package crashsafe sees it: it implements crashsafe.Memory.
type spaceHost struct {
	s  *Session
	sp *space
}

// Memory implements crashsafe.Memory.
func (h spaceHost) Memory() *ptrace.Memory { return h.sp.mem }

// ABI implements crashsafe.Memory.
func (h spaceHost) ABI() *abi.ABI { return h.sp.arch }

// Users implements crashsafe.Memory.
func (h spaceHost) Users() int { return h.sp.users }

// Modules implements crashsafe.Memory.
func (h spaceHost) Modules() []module.Loaded { return h.sp.mods }

// IsLinked implements crashsafe.Memory.
func (h spaceHost) IsLinked() bool { return h.sp.loader.at != 0 }

// PointAt implements crashsafe.Memory.
func (h spaceHost) PointAt(addr uint64) *crashsafe.Point {
	if p := h.sp.points[addr]; p != nil {
		return &p.guard
	}
	return nil
}

// Prepare implements crashsafe.Memory.
func (h spaceHost) Prepare(m *module.Loaded, addr uint64) (d fallback.Displaced, ok bool) {
	p, err := h.s.patcher.pointAt(h.sp, addr, m)
	if err != nil {
		return d, false
	}
	return p.displaced(), true
}

// Planted implements crashsafe.Memory.
func (h spaceHost) Planted() iter.Seq[fallback.Displaced] {
	return func(yield func(fallback.Displaced) bool) {
		for _, p := range h.sp.points {
			if p.planted && !yield(p.displaced()) {
				return
			}
		}
	}
}

// displaced returns the point's breakpoint.
func (p *point) displaced() fallback.Displaced {
	return fallback.Displaced{Addr: p.addr, Orig: p.orig, Trap: p.trap}
}

// StoppedTid implements crashsafe.Memory.
func (h spaceHost) StoppedTid() int { return h.s.world.stoppedTid(h.sp) }

// Hook implements crashsafe.Memory.
func (h spaceHost) Hook(m *module.Loaded, vaddr uint64, do crashsafe.Hook) {
	h.s.patcher.watchInternally(h.sp, m, vaddr, func(t *thread, p *point) bool {
		if do(&t.guard, &p.guard) {
			p.internal = nil
			h.s.patcher.sync(p)
		}
		return false
	})
}

// watchInternally plants one of the session's own breakpoints, unless the address has one already.
func (c *patcher) watchInternally(sp *space, m *module.Loaded, vaddr uint64, do func(*thread, *point) bool) {
	p, err := c.pointAt(sp, m.Addr(vaddr), m)
	if err != nil || p.internal != nil {
		return
	}
	p.internal = do
	if c.sync(p) != nil {
		p.internal = nil
	}
}
