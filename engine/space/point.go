package space

import (
	"bytes"
	"slices"

	"gotap/arch"
	"gotap/engine/backend"
	"gotap/engine/crashsafe"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/executor"
	"gotap/engine/image/module"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
)

// Point is a physical probe point: one address of one address space, which has a breakpoint while any owner needs
// it. Any number of owners share it: probes, functions that exit there, calls that return there, and the watch on
// the loader. A point that no owner needs any more stays known: a thread may have hit its breakpoint before the
// breakpoint was removed, and its stop may be reported only later.
type Point struct {
	executor.Spot
	c         *Patcher
	Space     *Space
	Length    int
	Queued    bool   // waits to be planted with the rest of the session's batch
	Slot      uint64 // address of the out-of-line copy; 0: none yet
	unsure    bool   // the copy may be missing: it was made in the parent process, perhaps after the fork
	Alone     bool   // the other threads are held while the instruction is completed
	Steps     int    // threads that are currently in a step of this instruction
	Throttled bool   // removed for the rest of the window, to stay within the budget
	hits      uint32 // number of hits; wraps
	barred    bool   // it must not be planted: see inSequence

	Jump  Jump            // how its programs run without a stop
	Guard crashsafe.Point // what the crash handler's part of the session knows of it

	Float arch.FloatSite // nil unless the instruction leaves its address in the floating-point state

	Internal    Action   // the session's own, for a thread that hits it
	ForAffinity bool     // internal is that of package affinity
	Resolvers   []*IFunc // probes on functions whose implementation the resolver function that starts here selects
}

// wanted reports whether any owner needs the breakpoint.
func (p *Point) wanted() bool {
	if p.barred || p.Space.Unpatched {
		return false
	}
	if p.Internal != nil || p.Returns > 0 {
		return true
	}
	for _, pick := range p.Resolvers {
		if !pick.Probe.Removed {
			return true
		}
	}
	return !p.Throttled && p.Wanted()
}

// Sync implements retprobe.Breakpoint.
func (p *Point) Sync() error { return p.c.Sync(p) }

// Recount implements retprobe.Breakpoint.
func (p *Point) Recount(by int) {
	switch {
	case p.Planted:
		p.c.Points += by
	case p.Queued:
		p.c.batch.counted += by
	}
}

// PointAt returns the point at an address, and creates it if necessary. Creating a point decodes and prepares the
// instruction there, and refuses with a reason an instruction that cannot be probed; mod is the module at the
// address and may be nil.
func (c *Patcher) PointAt(sp *Space, addr uint64, mod *module.Loaded) (*Point, error) {
	return c.pointIn(sp, addr, mod, sp.ABI.SetAt(mod, addr))
}

// OwnersAt is PointAt for callers that need only the owners.
func (c *Patcher) OwnersAt(sp *Space, addr uint64, mod *module.Loaded) (*retprobe.Point, error) {
	p, err := c.PointAt(sp, addr, mod)
	if err != nil {
		return nil, err
	}
	return &p.Point, nil
}

// PointTo is pointAt for the target of a code pointer.
func (c *Patcher) PointTo(sp *Space, pointer uint64) (*Point, error) {
	addr, set := sp.ABI.Pointer(pointer)
	mod := module.Find(sp.Modules, addr)
	if set == nil {
		return c.PointAt(sp, addr, mod)
	}
	return c.pointIn(sp, addr, mod, set)
}

// pointIn is pointAt for code whose instruction set is known.
func (c *Patcher) pointIn(sp *Space, addr uint64, mod *module.Loaded, set arch.Arch) (*Point, error) {
	if p := sp.ByAddr[addr]; p != nil {
		if p.Planted || p.Queued || c.unchanged(p) {
			return p, nil
		}
		delete(sp.ByAddr, addr)
	}
	p, err := c.preparePoint(sp, addr, mod, set)
	if err != nil {
		return nil, err
	}
	sp.ByAddr[addr] = p
	sp.lo, sp.hi = min(sp.lo, addr), max(sp.hi, addr+longestTrap)
	return p, nil
}

// unchanged reports whether the instruction of a point that is not planted is still the one that was prepared.
func (c *Patcher) unchanged(p *Point) bool {
	code := p.Space.Code(p.Addr, p.Length)
	in := p.Site.Insn()
	return len(code) == p.Length && slices.Equal(code, in.Bytes[:p.Length])
}

// preparePoint makes a point for the instruction at an address.
func (c *Patcher) preparePoint(sp *Space, addr uint64, mod *module.Loaded, set arch.Arch) (*Point, error) {
	target := executor.Target{ISA: sp.ABI.ISA, Code: sp.Code, Exclusives: &sp.Exclusives, Absent: "no memory is mapped there"}
	site, err := executor.Prepare(&target, addr, set, mod)
	if err != nil {
		return nil, err
	}
	in := site.Insn.Insn()
	if in.Control == arch.Syscall {
		c.CallSites++
	}
	p := &Point{c: c, Space: sp, Length: in.Len}
	p.Spot = executor.Spot{Addr: addr, Site: site.Insn, How: c.strategy(site.Insn, sp.ABI.WordSize()), Trap: site.Trap, Orig: site.Orig}
	p.At = p
	p.Alone = sp.ABI.NeedsStopWorld != nil && sp.ABI.NeedsStopWorld(in)
	if f, ok := site.Insn.(arch.FloatSite); ok && f.LeavesAddress() {
		p.Float = f
	}
	return p, nil
}

// strategy chooses how the instruction of a site runs while displaced. The copy of a call pushes the address behind
// the copy, which is corrected at the end of the step. Position-independent 32-bit code calls to find its own
// address; if the session were killed before the correction, that address would stay wrong for good. An emulated
// call pushes the right address and may be repeated. So calls in 32-bit code are not stepped out of line.
func (c *Patcher) strategy(site arch.Site, word int) arch.Strategy {
	order := []arch.Strategy{site.Strategy(), arch.OutOfLine, arch.InPlace, arch.Emulated}
	switch c.set.Strategy {
	case backend.Emulate:
		order = []arch.Strategy{arch.Emulated, arch.OutOfLine, arch.InPlace}
	case backend.Step:
		order = []arch.Strategy{arch.OutOfLine, arch.InPlace, arch.Emulated}
		if word == 4 && site.Insn().Control == arch.Call {
			order = []arch.Strategy{arch.Emulated, arch.InPlace, arch.OutOfLine}
		}
	}
	if c.set.InPlaceOnly {
		order = []arch.Strategy{arch.InPlace, arch.Emulated}
	}
	for _, how := range order {
		if how != arch.Refused && site.Allowed(how) {
			return how
		}
	}
	return arch.Refused
}

// Present returns the bytes in memory where the breakpoint is or would be.
func (p *Point) Present() ([]byte, error) {
	now := make([]byte, len(p.Trap))
	return now, p.Space.Mem.Peek(p.Addr, now)
}

// IsBreakpoint reports whether the memory at the point contains a breakpoint, no matter who wrote it.
func (p *Point) IsBreakpoint() bool {
	now, err := p.Present()
	return err == nil && bytes.Equal(now, p.Trap)
}

// CopyPoints gives a forked child's address space, which is a copy of its parent's, its own points. The parent's
// points may have changed since the fork, so it reads from the child's memory which breakpoints are there. It writes
// nothing: see settleChild.
func (c *Patcher) CopyPoints(from, to *Space) {
	to.lo, to.hi, to.Modules, to.Unarmed = from.lo, from.hi, from.Modules, from.Unarmed
	to.slots = from.slots.copy()
	to.sealed = from.sealed
	to.Guard.Copy(&from.Guard)
	to.Semaphores = from.Semaphores.Clone()
	to.Keyed = from.Keyed
	var copies retprobe.Copies
	for addr, p := range from.ByAddr {
		q := *p
		q.At, q.Space, q.Steps, q.unsure, q.Resolvers = &q, to, 0, true, slices.Clone(p.Resolvers)
		q.Jump.Function = 0
		copies.Add(&p.Point, &q.Point)
		to.ByAddr[addr] = &q
		if q.Throttled {
			c.rested = append(c.rested, &q)
		}
	}
	copies.Finish()
	to.Loader = from.Loader
	for _, q := range to.ByAddr {
		q.Planted = false
		if q.noteJump(); q.Jump.Code.Addr != 0 {
			to.Starts[q.Jump.Code.Addr] = q
		}
		q.NotePlanted(q.Jump.In || q.By != nil && q.IsBreakpoint())
	}
	to.copySpringboards(from)
	to.fresh = true
	c.set.Jumps.Copy(from, to)
}

// Stops implements probes.Stopper: it returns why the point's programs stop threads, where native code was to be
// preferred.
func (p *Point) Stops() string {
	if len(p.c.Executors) == 1 || !p.isOnlyProbed() {
		return ""
	}
	if err := p.c.set.Jumps.Unfit(p); err != nil {
		return reasonOf(err)
	}
	return ""
}

// Strategy implements retprobe.Breakpoint: it returns the name of the way in which the point's programs run.
func (p *Point) Strategy() string { return p.c.Executors.How(p, p.By) }

// displaced returns the point's breakpoint.
func (p *Point) displaced() fallback.Displaced {
	return fallback.Displaced{Addr: p.Addr, Orig: p.Orig, Trap: p.Trap}
}

// LooksForSequence reports whether this hit of a point must check for a sequence.
func (p *Point) LooksForSequence() bool {
	p.hits++
	return p.hits&(p.hits-1) == 0
}

// IFunc is an indirect function that a probe needs: its implementation is selected by the loader.
type IFunc struct {
	Probe  *registry.Probe
	Target place.Target
}
