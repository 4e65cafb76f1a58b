package remote

import (
	"gotap/engine/executor"
)

// point is a physical probe point: an address that has one breakpoint while any owner needs it.
type point struct {
	executor.Spot
	of   *breakpoints
	kind int // the breakpoint's kind in the stub's protocol

	internal func() // the session's own action here
}

// wanted reports whether any owner needs the breakpoint.
func (p *point) wanted() bool { return p.internal != nil || p.Wanted() }

// Sync implements retprobe.Breakpoint.
func (p *point) Sync() error { return p.of.sync(p) }

// Recount implements retprobe.Breakpoint.
func (p *point) Recount(by int) {
	if p.Planted {
		p.of.armed += by
	}
}

// Strategy implements retprobe.Breakpoint: it returns the name of the way in which the point's programs run.
func (p *point) Strategy() string { return p.of.executors.How(p, p.By) }

// overlaps reports whether the breakpoint is in the target, and in any of n bytes at addr.
func (p *point) overlaps(addr uint64, n int) bool {
	return p.Planted && p.Addr < addr+uint64(n) && p.Addr+uint64(len(p.Orig)) > addr
}

// hideIn restores, in what was read at addr, the bytes that the breakpoint displaces, as far as they lie there.
func (p *point) hideIn(addr uint64, read []byte) {
	if p.Planted {
		executor.Overlay(addr, read, p.Addr, p.Orig)
	}
}
