package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gotap/engine/image/module"
	"gotap/engine/inject"
	"gotap/engine/inline"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/threadstate"
	"gotap/runtime/arena"
	"gotap/runtime/native/amd64"
)

// Turning breakpoints into jumps.
//
// A place waits for its jump from the start, or with Mixed once it has been hit often.
// The thread that hits a breakpoint whose place waits makes the process map memory, if there is none near yet. Then native code is made for all places of the address space that wait. Until here the other threads run. Then those that
// run code are stopped, and the jumps are written (package inline says in which order). The thread that hit runs through its
// jump; so does a thread whose hit is reported later.
//
// No thread may be behind the first byte of the bytes that change. The breakpoints have been there for some time: a thread that
// sleeps in the kernel is elsewhere and cannot get behind one unseen when it wakes up. So it suffices to look where each
// thread stands, and whether a signal handler will return there. A place where one stands, or may, waits for a later hit.

// spaceJumps is what the session has put into an address space in order to run programs there.
type spaceJumps struct {
	islands []*inline.Island
	waiting []*point          // places with breakpoints that are to become jumps
	bells   map[uint64]*bell  // by the address of the doorbell
	stubs   []stub            // sorted by address
	starts  map[uint64]*point // by the address of their jump, those that have or had one
	retry   time.Time         // no jumps are written before
	refused error             // why nothing runs without a stop in this address space; nil: it may
}

// retryAfter is the time between two attempts to write a jump at a place where a thread stands, and, with Mixed, between two batches of jumps.
const retryAfter = 10 * time.Millisecond

// clone returns it for a forked child, whose memory is a copy.
func (j *spaceJumps) clone() spaceJumps {
	c := spaceJumps{refused: j.refused, bells: map[uint64]*bell{}, starts: map[uint64]*point{}}
	for _, i := range j.islands {
		c.islands = append(c.islands, i.Clone())
	}
	for addr, b := range j.bells { // a handler that has interrupted a stub may have created the child
		silent := *b
		silent.run = nil
		c.bells[addr] = &silent
	}
	c.stubs = slices.Clone(j.stubs)
	return c
}

// mostIslands is how many islands an address space gets. One has room for some 10,000 stubs.
const mostIslands = 16

// near returns the island within reach of an address that has room, or nil.
func (j *spaceJumps) near(addr uint64) *inline.Island {
	for _, i := range j.islands {
		if !i.Full && inject.Near(i.Base, addr) {
			return i
		}
	}
	return nil
}

// promote turns breakpoints of the thread's address space into jumps, at a hit of p, and reports whether the thread now has to run the
// jump at p.
func (t *thread) promote(p *point) bool {
	c, sp := &t.s.patcher, p.sp
	if p.jump.in {
		return p.jump.before == 0 // else the thread was behind the jump when that was written
	}
	if !p.jump.waits || t.s.life.closing || t.s.throttle.Resting() || !(jumps{c}).warm(p) || time.Now().Before(sp.jumps.retry) {
		return false
	}
	if err := t.prepareIsland(p); err != nil && sp.mem.Gone() {
		return false // killed meanwhile
	} else if err != nil {
		c.refuseJumps(sp, t.proc.pid, err)
		return false
	}
	c.insertJumps(t, c.makeStubs(t, sp))
	if c.s.cfg.Engine == Mixed { // those that warm up meanwhile get theirs together
		sp.jumps.retry = time.Now().Add(retryAfter)
	}
	return p.jump.in && p.jump.before == 0
}

// prepareIsland makes sure that there is memory for native code near a point.
func (t *thread) prepareIsland(p *point) error {
	j := &p.sp.jumps
	if j.near(p.addr) != nil {
		return nil
	}
	if why := t.inject.Filtered(); why != "" {
		return errors.New(why)
	}
	if p.sp.guard.Base == 0 {
		return errNoHandler
	}
	if locked := procfs.Status(t.proc.pid, "VmLck"); locked != "" && !strings.HasPrefix(locked, "0 ") {
		return errLocks
	}
	c := &t.s.patcher
	if c.calls.stacks != nil {
		if _, err := c.calls.ownersOf(t.s, p.sp); err != nil {
			return err
		}
	}
	c.tableOf(p.sp)
	a := t.s.cfg.Arena
	i, err := inline.Target{Thread: &t.Thread, Calls: &t.inject}.Map(p.addr, a.FD(), a.Used())
	if err != nil {
		return err
	}
	j.islands = append(j.islands, i)
	if j.bells == nil {
		j.bells, j.starts = map[uint64]*bell{}, map[uint64]*point{}
	}
	return nil
}

// refuseJumps leaves the breakpoints of an address space where they are, for good.
func (c *patcher) refuseJumps(sp *space, pid int, why error) {
	sp.jumps.refused = why
	for _, p := range sp.points {
		if p.jump.waits {
			p.jump.waits, p.by = false, breakpoints{c}
		}
	}
	sp.jumps.waiting = nil
	if c.s.cfg.Engine != Inline {
		return // --stats has the reason
	}
	c.s.warn(fmt.Sprintf("process %d: its probes stop threads, because no program can run inside it: %v", pid, why))
}

// makeStubs writes native code for the places that wait, and returns those for which there is some. The others keep their breakpoints.
func (c *patcher) makeStubs(t *thread, sp *space) []*point {
	waiting := sp.jumps.waiting
	sp.jumps.waiting = nil
	var made []*point
	for _, p := range waiting {
		if !p.jump.waits || !p.planted || sp.points[p.addr] != p {
			continue
		}
		if sp.jumps.near(p.addr) == nil {
			sp.jumps.waiting = append(sp.jumps.waiting, p)
			continue
		}
		island := sp.jumps.near(p.addr)
		err := c.makeStub(t, p)
		if errors.Is(err, inline.ErrFull) && len(sp.jumps.islands) < mostIslands {
			island.Full = true // the next hit maps another one
			sp.jumps.waiting = append(sp.jumps.waiting, p)
			continue
		}
		if err != nil {
			c.drop(p, err)
			continue
		}
		made = append(made, p)
	}
	return made
}

// drop leaves the breakpoint of a point where it is, for good.
func (c *patcher) drop(p *point, why error) {
	p.jump.waits, p.jump.dropped = false, why
	p.by = breakpoints{c}
	for _, pl := range p.Enters {
		if c.s.cfg.Engine == Inline {
			pl.Probe.Refuse(fmt.Sprintf("%#x: threads stop there: %v", p.addr, why))
		}
	}
}

// makeStub writes native code for a point, unless it has been written for an attempt that failed, and has the crash handler restore all
// bytes that the jump displaces.
func (c *patcher) makeStub(t *thread, p *point) error {
	if err := p.occupied(); err != nil {
		return err
	}
	if runs := p.nativeRuns(); !slices.Equal(p.jump.runs, runs) {
		if err := c.writeStub(t, p, runs); err != nil {
			p.jump.runs = nil
			return err
		}
	}
	g := &p.sp.guard
	start := p.jump.code.Addr
	g.Record(start, p.jump.code.Orig[:], p.trap, t.Tid)
	if orig, _, _ := g.Table.Lookup(start); len(orig) != inline.JumpSize {
		return errTableFull
	}
	p.sp.jumps.starts[start] = p
	return nil
}

// writeStub writes native code that runs the programs of placements at a point.
func (c *patcher) writeStub(t *thread, p *point, runs []nativeRun) error {
	island := p.sp.jumps.near(p.addr)
	if c.calls.stacks != nil {
		if _, err := c.calls.ownersOf(c.s, p.sp); err != nil {
			return err
		}
	}
	c.tableOf(p.sp)
	if used := c.s.cfg.Arena.Used(); used > island.ArenaSize {
		return fmt.Errorf("the process has mapped %d bytes of the memory that programs share, of which there are %d", island.ArenaSize, used)
	}
	w := &p.jump.window
	at, err := island.Next(w.Addr)
	if err != nil {
		return err
	}
	stub, err := c.emitStub(t, p, runs, island, at)
	if err != nil {
		return err
	}
	j := inline.Jump{Addr: w.Addr}
	if copy(j.Orig[:], p.sp.code(j.Addr, inline.JumpSize)) != inline.JumpSize {
		return errGone
	}
	patch, err := w.Arch.Jump(j.Addr, at)
	if err != nil {
		return err
	}
	copy(j.Code[:], patch)
	j.Under = j.Orig
	if n := p.addr - j.Addr; n < inline.JumpSize {
		copy(j.Under[n:], p.trap)
	}
	if err := island.Add(p.sp.mem, j.Addr, j.Orig, at, stub.Code, t.Tid); err != nil {
		return err
	}
	p.jump.code, p.jump.runs, p.jump.stub = j, runs, at
	if !p.sp.reads.filled && slices.ContainsFunc(stub.Reads, func(f amd64.Read) bool { return !f.Own }) {
		reader{t}.fill()
	}
	if stub.Records {
		t.populateRing(island)
	}
	p.sp.jumps.noteStub(p, at, stub)
	return c.hangBells(p, at, stub, island.Arena, t.Tid)
}

// populateRing provides the memory of the ring before the process writes records into it. The memory is ours. If we cannot have it, it is
// left to the faults, one page after the other.
func (t *thread) populateRing(island *inline.Island) {
	a := t.s.cfg.Arena
	if island.Populated || a.PopulateRing() != nil {
		return
	}
	ring := a.RingLayout()
	inline.Target{Thread: &t.Thread, Calls: &t.inject}.Populate(island, inline.Range{Start: ring.Data, End: ring.Data + ring.Size})
}

// emitStub makes native code that runs the programs of placements at a point, for an address in an island.
func (c *patcher) emitStub(t *thread, p *point, runs []nativeRun, island *inline.Island, at uint64) (*amd64.Stub, error) {
	if err := c.fitsCalls(p); err != nil {
		return nil, err
	}
	var programs []amd64.Program
	for _, r := range runs {
		one, err := c.nativeProgram(p, r)
		if err != nil {
			return nil, err
		}
		programs = append(programs, one)
	}
	w, site := &p.jump.window, amd64.Site{}
	if c.calls.noClock == nil {
		site.Clock = c.calls.clock.Offset()
	}
	if c.calls.none == nil {
		site.Owners, site.Stacks = p.sp.calls.owners.Offset(), c.calls.stacks.Offset()
		site.SelfAddressed = p.sp.calls.selfAddressed(t)
	}
	if p.sp.reads.table != nil {
		site.Ranges = p.sp.reads.table.Offset()
	}
	site.Ring = c.s.cfg.Arena.RingLayout()
	site.Addr, site.Place, site.Pid = at, p.addr, uint32(t.proc.pid)
	site.Arena, site.Control = island.Arena, island.Arena+arena.ControlOffset
	site.RedZone, site.Flags = !w.RedZoneFree, !w.FlagsDead
	if n := p.jump.before; n > 0 {
		site.Flags, site.RedZone = true, false // a return follows, behind which the function has nothing below the stack pointer
		site.Head = func(at uint64) ([]byte, error) {
			code, _, err := w.CopyFirst(n, at)
			return code, err
		}
	}
	if p.jump.inGo {
		site.Room = inline.GoRoom
	}
	rest := w.Rest(p.jump.before)
	site.Tail = func(at uint64) ([]byte, error) {
		code, _, err := rest.Copy(at)
		return code, err
	}
	return amd64.Emit(programs, site)
}

// insertJumps writes the jumps of points whose native code has been written. t is at the breakpoint of one of them.
func (c *patcher) insertJumps(t *thread, points []*point) {
	if len(points) == 0 {
		return
	}
	sp := points[0].sp
	defer c.s.world.releaseWorld(c.s.world.hold(func(o *thread) bool { return o != t && o.proc.space == sp && !o.still() && !asleep(o.Tid) }))
	began := time.Now()
	occupied, known := t.occupiedPlaces(points)
	var in []inline.Jump
	byAddr := map[uint64]*point{}
	for _, p := range points {
		if !known || occupied[p.jump.code.Addr] || p.steps > 0 { // steps: a thread is about to arrive behind the breakpoint
			sp.jumps.waiting = append(sp.jumps.waiting, p)
			sp.jumps.retry = began.Add(retryAfter)
			continue
		}
		in = append(in, p.jump.code)
		byAddr[p.jump.code.Addr] = p
	}
	for _, f := range inline.Insert(sp.mem, in, t.Tid) {
		c.drop(byAddr[f.Jump.Addr], f.Err)
		delete(byAddr, f.Jump.Addr)
	}
	for _, p := range byAddr {
		p.jump.in, p.jump.waits = true, false
	}
	c.s.stats.Inline += len(byAddr)
	c.s.stats.InlineStop = max(c.s.stats.InlineStop, time.Since(began))
}

// occupiedPlaces returns the addresses of those points where a thread stands behind the breakpoint, or a signal handler may return
// there. ok is false if that is not known of a thread. t is at a breakpoint. All other threads are stopped or asleep.
func (t *thread) occupiedPlaces(points []*point) (occupied map[uint64]bool, ok bool) {
	sp := points[0].sp
	var ranges inline.Ranges
	for _, p := range points {
		if len(p.jump.window.Insns) > 1 {
			ranges = append(ranges, inline.Range{Start: p.jump.code.Addr + 1, End: p.jump.code.Addr + inline.JumpSize})
		}
	}
	if len(ranges) == 0 {
		return nil, true
	}
	slices.SortFunc(ranges, func(a, b inline.Range) int { return cmp.Compare(a.Start, b.Start) })
	maps, err := module.Maps(t.proc.pid)
	if err != nil {
		return nil, false
	}
	occupied = map[uint64]bool{}
	for _, o := range t.s.threads {
		if o.proc.space != sp || o.state.Now() == threadstate.Gone {
			continue
		}
		pc, stack, known := o.standsAt()
		if o == t {
			pc, stack, known = *t.PC(), t.SP(), true
		}
		if !known && procfs.Ended(o.Tid) {
			continue
		}
		if !known || !ranges.Parked(sp.mem, maps, pc, stack, func(r inline.Range) { occupied[r.Start-1] = true }) {
			return nil, false
		}
	}
	return occupied, true
}

// standsAt returns where a thread continues that is stopped, or asleep in a system call, and its stack pointer. A thread that has just hit
// a breakpoint, and whose hit has not been handled, continues at the breakpoint.
func (t *thread) standsAt() (pc, sp uint64, known bool) {
	regs := t.Regs
	if ptrace.GetRegs(t.Tid, &regs) == 0 {
		pc, sp = regs[t.proc.arch.PC()], regs[t.proc.arch.SP()]
		at := t.proc.arch.BreakpointPC(pc)
		if t.proc.space.plantedAt(at) && t.hasToHit() {
			pc = at
		}
		return pc, sp, true
	}
	const fields = 9 // of /proc/TID/syscall during a call: its number, six arguments, stack pointer and program counter
	call := strings.Fields(procfs.Read(t.Tid, "syscall"))
	if len(call) == 3 && call[0] == "-1" { // it sleeps outside a system call
		call = append(make([]string, fields-2), call[1:]...)
	}
	if len(call) != fields {
		return 0, 0, false
	}
	sp, err := strconv.ParseUint(call[fields-2], 0, 64)
	pc, err2 := strconv.ParseUint(call[fields-1], 0, 64)
	return pc, sp, err == nil && err2 == nil
}

// plantedAt reports whether there is a breakpoint of ours at an address, or may be one for a moment.
func (sp *space) plantedAt(addr uint64) bool {
	p := sp.points[addr]
	return p != nil && p.planted || sp.jumps.starts[addr] != nil
}

// backToJump handles a SIGTRAP of a thread that came to the start of a jump while that was written or removed, and reports whether it
// is one. The thread runs again what is there now.
func (t *thread) backToJump() bool {
	start := t.proc.arch.BreakpointPC(*t.PC())
	if p := t.proc.space.jumps.starts[start]; p == nil || p.jump.before == 0 || t.SignalCode() != t.proc.arch.TrapCode {
		return false
	}
	*t.PC() = start
	t.SetRegs()
	t.resume(0)
	return true
}

// hasToHit reports whether a stopped thread has hit a breakpoint and its hit has not been handled: the stop is that of the SIGTRAP, or
// the SIGTRAP is still to come.
func (t *thread) hasToHit() bool {
	var info ptrace.SigInfo
	if t.state.MayRun() && ptrace.GetSigInfo(t.Tid, &info) == 0 && info.Signal() == ptrace.SIGTRAP && info.Code() == t.proc.arch.TrapCode {
		return true
	}
	return t.RaisedTrap()
}

// ranges returns where the islands lie.
func (j *spaceJumps) ranges() (all inline.Ranges) {
	for _, i := range j.islands {
		all = append(all, inline.Range{Start: i.Base, End: i.Base + inline.IslandSize})
	}
	slices.SortFunc(all, func(a, b inline.Range) int { return cmp.Compare(a.Start, b.Start) })
	return all
}

// unmapIslands unmaps the memory for native code. It is called when nothing leads there any more, and the threads of the process are
// stopped or asleep. A thread may be in that memory, or a signal handler return to it: then it stays mapped.
func (t *thread) unmapIslands() {
	sp := t.proc.space
	maps, err := module.Maps(t.proc.pid)
	if err != nil || len(sp.jumps.islands) == 0 {
		return
	}
	ranges := sp.jumps.ranges()
	for _, o := range t.s.threads {
		if o.proc.space != sp || o.state.Now() == threadstate.Gone {
			continue
		}
		pc, stack, known := o.standsAt()
		inside := false
		if !known || !ranges.Parked(sp.mem, maps, pc, stack, func(inline.Range) { inside = true }) || inside {
			return
		}
	}
	for _, i := range sp.jumps.islands {
		if (inline.Target{Thread: &t.Thread, Calls: &t.inject}).Unmap(i) != nil {
			return
		}
	}
	sp.jumps.islands = nil
}
