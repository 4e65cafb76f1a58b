package engine

import (
	"bytes"
	"slices"

	"gotap/arch"
	"gotap/engine/backend"
	"gotap/engine/crashsafe"
	"gotap/engine/executor"
	"gotap/engine/image/module"
	"gotap/engine/registry/retprobe"
)

// point is a physical probe point: one address of one address space, which has a breakpoint while any owner needs
// it. Any number of owners share it: probes, functions that exit there, calls that return there, and the watch on
// the loader. A point that no owner needs any more stays known: a thread may have hit its breakpoint before the
// breakpoint was removed, and its stop may be reported only later.
type point struct {
	retprobe.Point
	s         *Session
	sp        *space
	addr      uint64
	site      arch.Site
	length    int
	how       arch.Strategy
	trap      []byte            // the breakpoint's bytes
	orig      []byte            // the bytes that it displaces, of the same length
	by        executor.Executor // which runs its programs, or ran them last; nil: it has never been planted
	planted   bool              // by has installed it
	queued    bool              // waits to be planted with the rest of the session's batch
	slot      uint64            // address of the out-of-line copy; 0: none yet
	unsure    bool              // the copy may be missing: it was made in the parent process, perhaps after the fork
	alone     bool              // the other threads are held while the instruction is completed
	steps     int               // threads that are currently in a step of this instruction
	throttled bool              // removed for the rest of the window, to stay within the budget
	hits      uint32            // number of hits; wraps
	barred    bool              // it must not be planted: see inSequence

	jump  jump            // how its programs run without a stop
	guard crashsafe.Point // what the crash handler's part of the session knows of it

	float arch.FloatSite // nil unless the instruction leaves its address in the floating-point state

	internal    func(*thread, *point) (stay bool) // the engine's own action here; stay: the hit is postponed
	forAffinity bool                              // internal is that of package affinity
	resolvers   []*ifunc                          // probes on functions whose implementation the resolver function that starts here selects
}

// wanted reports whether any owner needs the breakpoint.
func (p *point) wanted() bool {
	if p.barred || p.sp.unpatched {
		return false
	}
	if p.internal != nil || p.Returns > 0 {
		return true
	}
	for _, pick := range p.resolvers {
		if !pick.probe.Removed {
			return true
		}
	}
	return !p.throttled && p.Wanted()
}

// Address implements retprobe.Breakpoint and executor.Place.
func (p *point) Address() uint64 { return p.addr }

// Insn implements executor.Place.
func (p *point) Insn() arch.Site { return p.site }

// Owners implements executor.Place.
func (p *point) Owners() *retprobe.Point { return &p.Point }

// Sync implements retprobe.Breakpoint.
func (p *point) Sync() error { return p.s.patcher.sync(p) }

// Recount implements retprobe.Breakpoint.
func (p *point) Recount(by int) {
	switch {
	case p.planted:
		p.s.patcher.points += by
	case p.queued:
		p.s.patcher.batch.counted += by
	}
}

// pointAt returns the point at an address, and creates it if necessary. Creating a point decodes and prepares the
// instruction there, and refuses with a reason an instruction that cannot be probed; mod is the module at the
// address and may be nil.
func (c *patcher) pointAt(sp *space, addr uint64, mod *module.Loaded) (*point, error) {
	return c.pointIn(sp, addr, mod, sp.arch.SetAt(mod, addr))
}

// pointTo is pointAt for the target of a code pointer.
func (c *patcher) pointTo(sp *space, pointer uint64) (*point, error) {
	addr, set := sp.arch.Pointer(pointer)
	mod := module.Find(sp.mods, addr)
	if set == nil {
		return c.pointAt(sp, addr, mod)
	}
	return c.pointIn(sp, addr, mod, set)
}

// pointIn is pointAt for code whose instruction set is known.
func (c *patcher) pointIn(sp *space, addr uint64, mod *module.Loaded, set arch.Arch) (*point, error) {
	if p := sp.points[addr]; p != nil {
		if p.planted || p.queued || c.unchanged(p) {
			return p, nil
		}
		delete(sp.points, addr)
	}
	p, err := c.preparePoint(sp, addr, mod, set)
	if err != nil {
		return nil, err
	}
	sp.points[addr] = p
	sp.lo, sp.hi = min(sp.lo, addr), max(sp.hi, addr+longestTrap)
	return p, nil
}

// unchanged reports whether the instruction of a point that is not planted is still the one that was prepared.
func (c *patcher) unchanged(p *point) bool {
	code := p.sp.code(p.addr, p.length)
	in := p.site.Insn()
	return len(code) == p.length && slices.Equal(code, in.Bytes[:p.length])
}

// preparePoint makes a point for the instruction at an address.
func (c *patcher) preparePoint(sp *space, addr uint64, mod *module.Loaded, set arch.Arch) (*point, error) {
	target := executor.Target{ISA: sp.arch.ISA, Code: sp.code, Exclusives: &sp.exclusives, Absent: "no memory is mapped there"}
	site, err := executor.Prepare(&target, addr, set, mod)
	if err != nil {
		return nil, err
	}
	in := site.Insn.Insn()
	if in.Control == arch.Syscall {
		c.callPoints++
	}
	p := &point{s: c.s, sp: sp, addr: addr, site: site.Insn, length: in.Len, how: c.strategy(site.Insn, sp.arch.WordSize()), trap: site.Trap, orig: site.Orig}
	p.At = p
	p.alone = sp.arch.NeedsStopWorld != nil && sp.arch.NeedsStopWorld(in)
	if f, ok := site.Insn.(arch.FloatSite); ok && f.LeavesAddress() {
		p.float = f
	}
	return p, nil
}

// strategy chooses how the instruction of a site runs while displaced. The copy of a call pushes the address behind
// the copy, which is corrected at the end of the step. Position-independent 32-bit code calls to find its own
// address; if the session were killed before the correction, that address would stay wrong for good. An emulated
// call pushes the right address and may be repeated. So calls in 32-bit code are not stepped out of line.
func (c *patcher) strategy(site arch.Site, word int) arch.Strategy {
	order := []arch.Strategy{site.Strategy(), arch.OutOfLine, arch.InPlace, arch.Emulated}
	switch c.s.cfg.Engine {
	case Emulate:
		order = []arch.Strategy{arch.Emulated, arch.OutOfLine, arch.InPlace}
	case Step:
		order = []arch.Strategy{arch.OutOfLine, arch.InPlace, arch.Emulated}
		if word == 4 && site.Insn().Control == arch.Call {
			order = []arch.Strategy{arch.Emulated, arch.InPlace, arch.OutOfLine}
		}
	}
	if c.s.inPlaceOnly {
		order = []arch.Strategy{arch.InPlace, arch.Emulated}
	}
	for _, how := range order {
		if how != arch.Refused && site.Allowed(how) {
			return how
		}
	}
	return arch.Refused
}

// present returns the bytes in memory where the breakpoint is or would be.
func (p *point) present() ([]byte, error) {
	now := make([]byte, len(p.trap))
	return now, p.sp.mem.Peek(p.addr, now)
}

// errGone means that the memory of a point no longer exists.
var errGone = backend.ErrGone

// isBreakpoint reports whether the memory at the point contains a breakpoint, no matter who wrote it.
func (p *point) isBreakpoint() bool {
	now, err := p.present()
	return err == nil && bytes.Equal(now, p.trap)
}

// copyPoints gives a forked child's address space, which is a copy of its parent's, its own points. The parent's
// points may have changed since the fork, so it reads from the child's memory which breakpoints are there. It writes
// nothing: see settleChild.
func (c *patcher) copyPoints(from, to *space) {
	to.lo, to.hi, to.mods = from.lo, from.hi, from.mods
	to.slots = from.slots.copy()
	to.sealed = from.sealed
	to.guard.Copy(&from.guard)
	to.sems = from.sems.Clone()
	to.keyed = from.keyed
	to.jumps = from.jumps.clone()
	var copies retprobe.Copies
	for addr, p := range from.points {
		q := *p
		q.At, q.sp, q.steps, q.unsure, q.resolvers = &q, to, 0, true, slices.Clone(p.resolvers)
		q.jump.function = 0
		copies.Add(&p.Point, &q.Point)
		to.points[addr] = &q
		if q.throttled {
			c.rested = append(c.rested, &q)
		}
	}
	copies.Finish()
	to.loader = from.loader
	for _, q := range to.points {
		q.planted = false
		if q.noteJump(); q.jump.code.Addr != 0 {
			to.jumps.starts[q.jump.code.Addr] = q
		}
		q.notePlanted(q.jump.in || q.by != nil && q.isBreakpoint())
	}
	to.fresh = true
}
