package trampoline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gotap/engine/backend"
	"gotap/engine/image/module"
	"gotap/engine/inject"
	"gotap/engine/inline"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
	"gotap/engine/threadstate"
	"gotap/runtime/native"
)

// Turning breakpoints into jumps.
//
// A place waits for its jump from the start, or with Mixed once it has been hit often. The thread that hits a
// breakpoint whose place waits makes the process map memory, if there is none near yet. Then native code is made for
// all places of the address space that wait. Until here the other threads run. Then those that run code are stopped,
// and the jumps are written (package inline says in which order). The thread that hit runs through its jump; so does a
// thread whose hit is reported later.
//
// No thread may be behind the first byte of the bytes that change. The breakpoints have been there for some time: a
// thread that sleeps in the kernel is elsewhere and cannot get behind one unseen when it wakes up. So it suffices to
// look where each thread stands, and whether a signal handler will return there. A place where one stands, or may,
// waits for a later hit.

// spaceJumps is what the session has put into an address space in order to run programs there.
type spaceJumps struct {
	islands []*inline.Island
	waiting []*space.Point   // places with breakpoints that are to become jumps
	bells   map[uint64]*bell // by the address of the doorbell
	stubs   []stub           // sorted by address
	retry   time.Time        // no jumps are written before
	refused error            // why nothing runs without a stop in this address space; nil: it may
}

// retryAfter is the time between two attempts to write a jump at a place where a thread stands, and, with Mixed,
// between two batches of jumps.
const retryAfter = 10 * time.Millisecond

// Copy implements Jumps.
func (c *Executor) Copy(from, to *space.Space) { codeIn(to).jumps = codeIn(from).jumps.clone() }

// clone returns it for a forked child, whose memory is a copy.
func (j *spaceJumps) clone() spaceJumps {
	c := spaceJumps{refused: j.refused, bells: map[uint64]*bell{}}
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
func (j *spaceJumps) near(addr, reach uint64) *inline.Island {
	for _, i := range j.islands {
		if !i.Full && inject.Near(i.Base, addr, reach) {
			return i
		}
	}
	return nil
}

// nearIsland returns the island of a point.
func nearIsland(p *space.Point) *inline.Island {
	return codeIn(p.Space).jumps.near(p.Addr, inline.FormOf(p.Space.ABI.Machine).Reach)
}

// Promote turns breakpoints of the thread's address space into jumps, at a hit of p, and reports whether native code now
// runs the programs: the thread has to continue where its program counter is.
func (t *Thread) Promote(p *space.Point) bool {
	c, sp := t.by, p.Space
	if p.Jump.In {
		return p.Jump.Before == 0 // else the thread was behind the jump when that was written
	}
	if !p.Jump.Waits || t.by.on.Closing() || t.by.on.Resting() {
		return false
	}
	if n := machineOf(sp).aligned; n > 1 && t.SP()%n != 0 { // native code would fault as soon as it uses the stack
		c.drop(p, errMisaligned)
		return false
	}
	if !c.warm(p) || time.Now().Before(codeIn(sp).jumps.retry) {
		return false
	}
	if err := t.prepareIsland(p); err != nil && sp.Mem.Gone() {
		return false // killed meanwhile
	} else if err != nil {
		c.refuseJumps(sp, t.proc.Pid, err)
		return false
	}
	t.enlist(t.ownData())
	c.insertJumps(t, p, c.makeStubs(t, sp))
	if c.set.Strategy == backend.Mixed { // those that warm up meanwhile get theirs together
		codeIn(sp).jumps.retry = time.Now().Add(retryAfter)
	}
	if p.Jump.In && p.Jump.Before > 0 { // the thread is behind the jump
		*t.PC() = codeIn(sp).jumps.stubAt(p.Jump.Stub).behindHead
	}
	return p.Jump.In
}

// prepareIsland makes sure that there is memory for native code near a point.
func (t *Thread) prepareIsland(p *space.Point) error {
	j := &codeIn(p.Space).jumps
	form := inline.FormOf(p.Space.ABI.Machine)
	if j.near(p.Addr, form.Reach) != nil {
		return nil
	}
	if why := t.parts.Inject.Filtered(); why != "" {
		return errors.New(why)
	}
	if p.Space.Guard.Base == 0 {
		return errNoHandler
	}
	if locked := procfs.Status(t.proc.Pid, "VmLck"); locked != "" && !strings.HasPrefix(locked, "0 ") {
		return errLocks
	}
	c := t.by
	if c.calls.stacks != nil {
		if _, err := c.calls.ownersOf(t.by.set.Arena, p.Space); err != nil {
			return err
		}
	}
	c.tableOf(p.Space)
	a := t.by.set.Arena
	i, err := inline.Target{Thread: t.Thread, Calls: t.parts.Inject}.Map(form, p.Addr, a.FD(), a.Used())
	if err != nil {
		return err
	}
	j.islands = append(j.islands, i)
	if j.bells == nil {
		j.bells = map[uint64]*bell{}
	}
	return nil
}

// refuseJumps leaves the breakpoints of an address space where they are, for good.
func (c *Executor) refuseJumps(sp *space.Space, pid int, why error) {
	codeIn(sp).jumps.refused = why
	for _, p := range sp.ByAddr {
		if p.Jump.Waits {
			p.Jump.Waits, p.By = false, c.patcher.Breakpoints()
		}
	}
	codeIn(sp).jumps.waiting = nil
	if c.set.Strategy != backend.Inline {
		return // --stats has the reason
	}
	c.on.Warn(fmt.Sprintf("process %d: its probes stop threads, because no program can run inside it: %v", pid, why))
}

// makeStubs writes native code for the places that wait, and returns those for which there is some. The others keep
// their breakpoints.
func (c *Executor) makeStubs(t *Thread, sp *space.Space) []*space.Point {
	waiting := codeIn(sp).jumps.waiting
	codeIn(sp).jumps.waiting = nil
	var made []*space.Point
	for _, p := range waiting {
		if !p.Jump.Waits || !p.Planted || sp.ByAddr[p.Addr] != p {
			continue
		}
		island := nearIsland(p)
		if island == nil {
			codeIn(sp).jumps.waiting = append(codeIn(sp).jumps.waiting, p)
			continue
		}
		err := c.makeStub(t, p)
		if errors.Is(err, inline.ErrFull) && len(codeIn(sp).jumps.islands) < mostIslands {
			island.Full = true // the next hit maps another one
			codeIn(sp).jumps.waiting = append(codeIn(sp).jumps.waiting, p)
			continue
		}
		if errors.Is(err, errStarts) {
			codeIn(sp).jumps.waiting = append(codeIn(sp).jumps.waiting, p)
			codeIn(sp).jumps.retry = time.Now().Add(retryAfter)
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
func (c *Executor) drop(p *space.Point, why error) {
	p.Jump.Waits, p.Jump.Dropped = false, why
	p.By = c.patcher.Breakpoints()
	c.giveRoom(p)
	if c.set.Strategy == backend.Inline {
		p.RefuseJump(why)
	}
}

// giveRoom has the crash handler leave the bytes alone that the latest jump of a point has displaced, but for the
// breakpoint: they do not change any more, and may become those of another jump.
func (c *Executor) giveRoom(p *space.Point) {
	switch start, g := p.Jump.Code.Addr, &p.Space.Guard; {
	case start == p.Addr:
		g.Record(p.Addr, p.Orig, p.Trap, c.on.StoppedTid(p.Space))
	case start != 0:
		g.Unrecord(start)
	}
}

// makeStub writes native code for a point, unless it has been written for an attempt that failed, and has the crash
// handler restore all bytes that the jump displaces.
func (c *Executor) makeStub(t *Thread, p *space.Point) error {
	if occupied(p, &p.Jump.Room) != nil {
		p.Jump.Runs = nil
		room, err := c.roomOf(p)
		if err != nil {
			return err
		}
		p.Jump.Room = room
	}
	if runs := nativeRuns(p); !hasStub(p, runs) {
		if err := c.writeStub(t, p, runs); err != nil {
			p.Jump.Runs = nil
			return err
		}
	}
	g := &p.Space.Guard
	start := p.Jump.Code.Addr
	g.Record(start, p.Jump.Code.Orig[:p.Jump.Code.Len], p.Trap, t.Tid)
	if orig, _, _ := g.Table.Lookup(start); len(orig) != p.Jump.Code.Len {
		return errTableFull
	}
	p.Space.Starts[start] = p
	return nil
}

// hasStub reports whether the native code that was written last for a point still fits: it runs these programs, and its
// jump replaces the instructions that the point's jump replaces now. Another probe may have changed which those are.
func hasStub(p *space.Point, runs []space.Run) bool {
	code, w := &p.Jump.Code, &p.Jump.Window
	return code.Addr == w.Addr && code.Len == w.Arch.JumpLen() && (code.Via != nil) == (p.Jump.Pads != nil) && slices.Equal(p.Jump.Runs, runs)
}

// writeStub writes native code that runs the programs of placements at a point.
func (c *Executor) writeStub(t *Thread, p *space.Point, runs []space.Run) error {
	if err := t.findBase(p.Space); err != nil {
		return err
	}
	island := nearIsland(p)
	if c.calls.stacks != nil {
		if _, err := c.calls.ownersOf(c.set.Arena, p.Space); err != nil {
			return err
		}
	}
	c.tableOf(p.Space)
	operand := operandOf(p)
	if err := c.lookUp(p.Space, operand); err != nil {
		return err
	}
	if used := c.set.Arena.Used(); used > island.ArenaSize {
		return fmt.Errorf("the process has mapped %d bytes of the memory that programs share, of which there are %d", island.ArenaSize, used)
	}
	w := &p.Jump.Window
	j := inline.Jump{Addr: w.Addr, Len: w.Arch.JumpLen()}
	from := j.Addr
	if p.Jump.Pads != nil {
		via, err := reserveSpringboard(p)
		if err != nil {
			return err
		}
		j.Via = via
		from = j.Via.Addr
	}
	at, err := island.Next(from)
	if err != nil {
		return err
	}
	stub, err := c.emitStub(t, p, runs, island, at)
	if err != nil {
		return err
	}
	if copy(j.Orig[:], p.Space.Code(j.Addr, j.Len)) != j.Len {
		return backend.ErrGone
	}
	if err := j.LeadTo(at, w.Arch); err != nil {
		return err
	}
	j.Under = j.Orig
	if n := p.Addr - j.Addr; n < uint64(j.Len) {
		copy(j.Under[n:], p.Trap)
	}
	if err := island.Add(p.Space.Mem, &j, at, stub.Code, t.Tid); err != nil {
		return err
	}
	p.Jump.Code, p.Jump.Runs, p.Jump.Stub = j, runs, at
	if !codeIn(p.Space).reads.filled && (operand != nil || slices.ContainsFunc(stub.Reads, func(f native.Read) bool { return !f.Own })) {
		reader{t}.fill()
	}
	if stub.Records {
		t.populateRing(island)
	}
	codeIn(p.Space).jumps.noteStub(p, at, stub)
	return c.hangBells(p, at, stub, island.Arena, t.Tid)
}

// populateRing provides the memory of the ring before the process writes records into it. The memory is ours. If we
// cannot have it, it is left to the faults, one page after the other.
func (t *Thread) populateRing(island *inline.Island) {
	a := t.by.set.Arena
	if island.Populated || a.PopulateRing() != nil {
		return
	}
	ring := a.RingLayout()
	inline.Target{Thread: t.Thread, Calls: t.parts.Inject}.Populate(island, inline.Range{Start: ring.Data, End: ring.Data + ring.Size})
}

// emitStub makes native code that runs the programs of placements at a point, for an address in an island.
func (c *Executor) emitStub(t *Thread, p *space.Point, runs []space.Run, island *inline.Island, at uint64) (*native.Stub, error) {
	if err := c.fitsCalls(p); err != nil {
		return nil, err
	}
	var programs []native.Program
	for _, r := range runs {
		one, err := c.nativeProgram(p, r)
		if err != nil {
			return nil, err
		}
		programs = append(programs, one)
	}
	return machineOf(p.Space).emit(t, p, programs, island, at)
}

// insertJumps writes the jumps of points whose native code has been written. t is at the breakpoint of hit, which may be
// one of them.
func (c *Executor) insertJumps(t *Thread, hit *space.Point, points []*space.Point) {
	if len(points) == 0 {
		return
	}
	sp := points[0].Space
	held := c.on.Hold(func(o *Thread) bool { return o != t && o.proc.Space == sp })
	defer c.on.Release(held)
	for _, o := range held {
		o.enlistEarly()
	}
	began := time.Now()
	occupied, known := t.occupiedPlaces(hit, points)
	var in []inline.Jump
	byAddr := map[uint64]*space.Point{}
	for _, p := range points {
		if !known || occupied[p.Jump.Code.Addr] || p.Steps > 0 { // steps: a thread is about to arrive behind the breakpoint
			codeIn(sp).jumps.waiting = append(codeIn(sp).jumps.waiting, p)
			codeIn(sp).jumps.retry = began.Add(retryAfter)
			continue
		}
		if byAddr[p.Jump.Code.Addr] == p { // it has been disabled and enabled while it waited
			continue
		}
		in = append(in, p.Jump.Code)
		byAddr[p.Jump.Code.Addr] = p
	}
	for _, f := range inline.Insert(sp.Mem, in, t.Tid) {
		c.drop(byAddr[f.Jump.Addr], f.Err)
		delete(byAddr, f.Jump.Addr)
	}
	for _, p := range byAddr {
		p.Jump.In, p.Jump.Waits = true, false
	}
	c.set.Stats.Inline += len(byAddr)
	c.set.Stats.InlineStop = max(c.set.Stats.InlineStop, time.Since(began))
}

// occupiedPlaces returns the addresses of those points where a thread stands behind the breakpoint, or a signal handler
// may return there. ok is false if that is not known of a thread. t is at the breakpoint of hit, and will continue in the
// native code if hit gets its jump. All other threads are stopped or asleep.
func (t *Thread) occupiedPlaces(hit *space.Point, points []*space.Point) (occupied map[uint64]bool, ok bool) {
	sp := points[0].Space
	var ranges inline.Ranges
	for _, p := range points {
		if len(p.Jump.Window.Insns) > 1 {
			ranges = append(ranges, inline.Range{Start: p.Jump.Code.Addr + 1, End: p.Jump.Code.Addr + uint64(p.Jump.Code.Len)})
		}
	}
	if len(ranges) == 0 {
		return nil, true
	}
	slices.SortFunc(ranges, func(a, b inline.Range) int { return cmp.Compare(a.Start, b.Start) })
	maps, err := module.Maps(t.proc.Pid)
	if err != nil {
		return nil, false
	}
	occupied = map[uint64]bool{}
	for o := range t.by.on.Threads() {
		if o.proc.Space != sp || o.parts.State.Now() == threadstate.Gone {
			continue
		}
		pc, stack, known := o.standsAt()
		if o == t {
			pc, stack, known = *t.PC(), t.SP(), true
			if hit.Jump.Before > 0 && slices.Contains(points, hit) {
				pc = hit.Jump.Code.Addr
			}
		}
		if !known && procfs.Ended(o.Tid) {
			continue
		}
		if !known || !ranges.Parked(sp.Mem, maps, pc, stack, func(r inline.Range) { occupied[r.Start-1] = true }) {
			return nil, false
		}
	}
	return occupied, true
}

// standsAt returns where a thread continues that is stopped, or asleep, and its stack pointer. A
// thread that has just hit a breakpoint, and whose hit has not been handled, continues at the breakpoint.
func (t *Thread) standsAt() (pc, sp uint64, known bool) {
	regs := t.Regs
	if ptrace.GetRegs(t.Tid, &regs) == 0 {
		pc, sp = regs[t.proc.Space.ABI.PC()], regs[t.proc.Space.ABI.SP()]
		at := t.proc.Space.ABI.BreakpointPC(pc)
		if t.proc.Space.PlantedAt(at) && t.hasToHit() {
			pc = at
		}
		return pc, sp, true
	}
	return procfs.SleepsAt(t.Tid)
}

// BackToJump handles a SIGTRAP of a thread that came to the start of a jump while that was written or removed, and
// reports whether it is one. The thread runs again what is there now.
func (t *Thread) BackToJump() bool {
	start := t.proc.Space.ABI.BreakpointPC(*t.PC())
	if p := t.proc.Space.Starts[start]; p == nil || p.Addr == start || t.SignalCode() != t.proc.Space.ABI.TrapCode {
		return false
	}
	*t.PC() = start
	t.SetRegs()
	t.on.Resume(0)
	return true
}

// hasToHit reports whether a stopped thread has hit a breakpoint and its hit has not been handled: the stop is that of
// the SIGTRAP, or the SIGTRAP is still to come.
func (t *Thread) hasToHit() bool {
	var info ptrace.SigInfo
	if t.parts.State.MayRun() && ptrace.GetSigInfo(t.Tid, &info) == 0 && info.Signal() == ptrace.SIGTRAP && info.Code() == t.proc.Space.ABI.TrapCode {
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

// wakePatience is how long UnmapIslands waits for threads that have woken up.
const wakePatience = 100 * time.Millisecond

// UnmapIslands removes the springboards of the process and unmaps the memory for native code. It is called when no jump
// leads there any more, and the threads of the process are stopped or asleep. A thread may be in that memory, or a
// signal handler return to it: then it stays mapped. So does the padding if that may be so of a springboard.
func (t *Thread) UnmapIslands() {
	sp := t.proc.Space
	if len(codeIn(sp).jumps.islands) == 0 {
		return
	}
	inIsland, atSpringboard, known := t.standInside()
	// A thread that was asleep may have woken up for a moment, and is not known until it sleeps again.
	for end := time.Now().Add(wakePatience); !known && time.Now().Before(end); inIsland, atSpringboard, known = t.standInside() {
		time.Sleep(runOutPause)
	}
	if !known || atSpringboard || t.by.restorePadding(sp) != nil || inIsland {
		return
	}
	for _, i := range codeIn(sp).jumps.islands {
		if (inline.Target{Thread: t.Thread, Calls: t.parts.Inject}).Unmap(i) != nil {
			return
		}
	}
	codeIn(sp).jumps.islands = nil
}
