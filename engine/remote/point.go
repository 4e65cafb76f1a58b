package remote

import (
	"gotap/arch"
	"gotap/engine/executor"
	"gotap/engine/registry/retprobe"
)

// point is a physical probe point: an address that has one breakpoint while any owner needs it.
type point struct {
	retprobe.Point
	of      *breakpoints
	addr    uint64
	site    arch.Site
	kind    int // the breakpoint's kind in the stub's protocol
	how     arch.Strategy
	trap    []byte // the breakpoint, which we write if the stub does not
	orig    []byte
	by      executor.Executor // which runs its programs, or ran them last; nil: it has never been planted
	planted bool              // by has installed it

	internal func() // the session's own action here
}

// wanted reports whether any owner needs the breakpoint.
func (p *point) wanted() bool { return p.internal != nil || p.Wanted() }

// Address implements retprobe.Breakpoint and executor.Place.
func (p *point) Address() uint64 { return p.addr }

// Insn implements executor.Place.
func (p *point) Insn() arch.Site { return p.site }

// Owners implements executor.Place.
func (p *point) Owners() *retprobe.Point { return &p.Point }

// Sync implements retprobe.Breakpoint.
func (p *point) Sync() error { return p.of.sync(p) }

// Recount implements retprobe.Breakpoint.
func (p *point) Recount(by int) {
	if p.planted {
		p.of.armed += by
	}
}

// Strategy implements retprobe.Breakpoint: it returns the name of the way in which the point's programs run.
func (p *point) Strategy() string { return p.of.executors.How(p, p.by) }

// overlaps reports whether the breakpoint is in the target, and in any of n bytes at addr.
func (p *point) overlaps(addr uint64, n int) bool {
	return p.planted && p.addr < addr+uint64(n) && p.addr+uint64(len(p.orig)) > addr
}

// hideIn restores, in what was read at addr, the bytes that the breakpoint displaces, as far as they lie there.
func (p *point) hideIn(addr uint64, read []byte) {
	if !p.planted {
		return
	}
	for i, b := range p.orig {
		if at := p.addr + uint64(i) - addr; at < uint64(len(read)) {
			read[at] = b
		}
	}
}
