package trampoline

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gotap/engine/backend"
	"gotap/engine/executor"
	"gotap/engine/image/module"
	"gotap/engine/inline"
	"gotap/engine/registry"
	"gotap/engine/space"
	"gotap/runtime"
	"gotap/runtime/opcode"
	"gotap/runtime/ranges"
)

// Executor is the executor that runs programs in the target, without a stop: a jump at the place leads to native code,
// which ends with a copy of the instructions that the jump replaces (package inline).
//
// It plants a breakpoint first. Hits of the breakpoint are interpreted, and at the first one all places of the address
// space that have one get their jumps (promote.go): then there is a thread that can make the process map memory. A
// place that is never hit costs nothing. While a place has its jump, its breakpoint counts as planted.
type Executor struct {
	on         Host
	set        Settings
	patcher    *space.Patcher
	calls      nativeCalls
	freeRanges []*ranges.Table // of address spaces that no longer exist
	noJumps    error           // why no program runs without a stop; nil: it may
}

var _ space.Jumps = (*Executor)(nil)

// spaceCode is what the session has put into an address space in order to run programs there.
type spaceCode struct {
	jumps spaceJumps
	calls spaceCalls // that native code follows
	reads spaceReads // what native code reads
}

// Maps implements space.Native.
func (n *spaceCode) Maps(addr uint64, size int) bool {
	for _, i := range n.jumps.islands {
		if addr < i.Base+inline.IslandSize && addr+uint64(size) > i.Base || addr < i.Arena+i.ArenaSize && addr+uint64(size) > i.Arena {
			return true
		}
	}
	return false
}

// codeIn returns what is in an address space.
func codeIn(sp *space.Space) *spaceCode {
	n, ok := sp.Native.(*spaceCode)
	if !ok {
		n = &spaceCode{}
		sp.Native = n
	}
	return n
}

// Name implements executor.Executor.
func (*Executor) Name() string { return "inline" }

// Reasons why the programs of a place stop its threads.
var (
	errOwnUse      = errors.New("gotap itself stops threads here")
	errLeaves      = errors.New("calls are followed to their return")
	errLeft        = errors.New("calls return here")
	errPost        = errors.New("a handler runs after the instruction, or if it faults")
	errAtReturn    = errors.New("the predicate runs at the return")
	errFrom        = errors.New("calls are counted by where they come from and by a predicate")
	ErrWatched     = errors.New("debug registers stop threads before an instruction")
	errNoFile      = errors.New("it is in no file")
	errNoArena     = errors.New("the memory of the programs cannot be shared")
	errOccupied    = errors.New("another probe is in the bytes that the jump would replace")
	errNoHandler   = errors.New("the process has no crash handler")
	errCallChecked = errors.New("a call is among the first instructions, and the processor checks return addresses")
	errDiffers     = errors.New("the code differs from that of the file")
	errLocks       = errors.New("it locks its memory")
	errTableFull   = errors.New("the table of the crash handler is full")
)

// Fits implements executor.Executor. With Mixed a place is examined when it has been hit often (warm): until then it
// needs a breakpoint.
func (c *Executor) Fits(at executor.Place) error {
	p := at.(*space.Point)
	if c.set.Strategy == backend.Mixed {
		return cmp.Or(c.patcher.Breakpoints().Fits(p), c.mayFit(p))
	}
	return c.settle(p)
}

// settle is examine for a point that gets its jump where that has turned out to fit.
func (c *Executor) settle(p *space.Point) error {
	room, err := c.examine(p)
	if err == nil {
		p.Jump.Room = room
	}
	return err
}

// mayFit returns why a place gets no jump, whatever its programs and instructions are.
func (c *Executor) mayFit(p *space.Point) error {
	if err := cmp.Or(p.Jump.Dropped, c.noJumps); err != nil {
		return err
	}
	return c.fitsJump(p)
}

// examine finds the room of a place's jump, or why it gets none. It plans the programs and looks at the instructions,
// and changes nothing. The first place of a file has all code of the file decoded.
func (c *Executor) examine(p *space.Point) (room space.Room, err error) {
	if err = c.mayFit(p); err == nil && c.set.Strategy == backend.Mixed {
		err = c.mayNotRing(p)
	}
	if err == nil {
		err = c.fitsCalls(p)
	}
	for i := 0; err == nil && i < len(p.Enters); i++ {
		if pl := p.Enters[i]; matters(c.set.Strategy, pl) {
			err = c.fitsNative(p, pl)
		}
	}
	if err == nil {
		room, err = c.roomOf(p)
	}
	if err == nil {
		err = fitsChanges(p, &room)
	}
	return room, err
}

// matters reports whether a jump has to run the programs of a placement. With Mixed those of probes that are disabled do
// not matter, and Replace asks again when one is enabled.
func matters(by backend.Strategy, pl *registry.Placement) bool {
	return pl.Probe.Enabled || by != backend.Mixed
}

// fitsCalls returns why native code cannot follow the calls that begin or end at a point.
func (c *Executor) fitsCalls(p *space.Point) error {
	if len(p.Exits) > 0 {
		if err := c.fitsExit(p); err != nil {
			return err
		}
	}
	if p.Fn != nil {
		return c.calls.fits(p.Fn)
	}
	return nil
}

// fitsJump returns why a point cannot have a jump, whatever its programs are.
func (c *Executor) fitsJump(p *space.Point) error {
	switch {
	case machineOf(p.Space) == nil:
		return inline.ErrOtherArch
	case p.Internal != nil || len(p.Resolvers) > 0 || p.Guard.Call != 0:
		return errOwnUse
	case p.Returns > 0:
		return errLeft
	case codeIn(p.Space).jumps.refused != nil:
		return codeIn(p.Space).jumps.refused
	case c.on.Watching():
		return ErrWatched
	}
	return nil
}

// farthest is how far behind the start of a jump its place may be: some instructions.
const farthest = 4 * 15

// fitsNative returns why the programs of a placement at a point cannot run natively.
func (c *Executor) fitsNative(p *space.Point, pl *registry.Placement) error {
	switch {
	case c.set.Arena == nil || c.set.Arena.FD() < 0:
		return errNoArena
	case pl.Code.Post != nil || pl.Code.Fault != nil:
		return errPost
	case pl.Code.AtReturn:
		return errAtReturn
	case len(pl.Probe.Spec.From) > 0 && pl.Code.When != nil:
		return errFrom
	}
	_, err := c.nativeProgram(p, space.Run{Placement: pl})
	return err
}

// nativeRuns returns what runs at a hit of a point.
func nativeRuns(p *space.Point) (runs []space.Run) {
	for _, pl := range p.Enters {
		if pl.Probe.Enabled {
			runs = append(runs, space.Run{Placement: pl})
		}
	}
	for _, f := range p.Exits {
		for _, pl := range f.Entry().Leaves() {
			if pl.Probe.Enabled {
				runs = append(runs, space.Run{Placement: pl, Ends: f.Entry().At.(*space.Point)})
			}
		}
	}
	return runs
}

// Install implements executor.Executor.
func (c *Executor) Install(places ...executor.Place) []executor.Failure {
	failed := c.patcher.Breakpoints().Install(places...)
	for _, at := range places {
		if p := at.(*space.Point); p.Planted {
			c.await(p)
		}
	}
	return failed
}

// await makes a point get its jump at a hit: at the next of any place, or with Mixed when the place itself has been hit
// often.
func (c *Executor) await(p *space.Point) {
	if p.Jump.Waits {
		return
	}
	p.Jump.Waits, p.Jump.Judged = true, false
	if p.Jump.Cold = 0; c.set.Strategy == backend.Mixed {
		p.Jump.Cold = coldHits
		return
	}
	codeIn(p.Space).jumps.waiting = append(codeIn(p.Space).jumps.waiting, p)
}

// coldHits is how often a place stops threads, with Mixed, before it is examined and gets its jump. That takes about as
// long as so many stops, and most places of a wide pattern are hit seldom or never. The first place of a file with much
// code takes longer, because all of the code is searched, and waits for more of them (module.File.WorthSearching).
const coldHits = 16

// warm counts a hit of a place that waits for its jump, and reports whether it is to get it now.
func (c *Executor) warm(p *space.Point) bool {
	if p.Jump.Cold == 0 {
		return true
	}
	if p.Jump.Cold--; p.Jump.Cold > 0 {
		return false
	}
	if m := module.Find(p.Space.Modules, p.Addr); m != nil && m.File != nil && machineOf(p.Space).searched && !m.File.WorthSearching() {
		p.Jump.Cold = 1 // the next hit asks again
		return false
	}
	if c.settle(p) != nil {
		p.Jump.Waits, p.By = false, c.patcher.Breakpoints()
		return false
	}
	codeIn(p.Space).jumps.waiting = append(codeIn(p.Space).jumps.waiting, p)
	return true
}

// Unfit implements space.Jumps.
func (c *Executor) Unfit(p *space.Point) error {
	switch {
	case !c.set.Explain || c.set.Strategy != backend.Mixed:
		return nil
	case p.By == executor.Executor(c):
		return c.stops(p)
	}
	_, err := c.examine(p)
	return err
}

// stops returns why the programs of a place that waits for its jump will not get it; nil if they will, or if that is
// not to be found out yet.
func (c *Executor) stops(p *space.Point) error {
	if !c.set.Explain || !p.Jump.Waits || p.Jump.Cold == 0 {
		return nil
	}
	if !p.Jump.Judged {
		_, err := c.examine(p)
		p.Jump.Judged, p.Jump.Unfit = true, err
	}
	return p.Jump.Unfit
}

// Replace implements executor.Executor. A place whose programs have changed gets its breakpoint back, and a new jump at
// its next hit if its programs still fit.
func (c *Executor) Replace(at executor.Place) error {
	p := at.(*space.Point)
	if p.Jump.In && c.fitsJump(p) == nil && occupied(p, &p.Jump.Room) == nil && hasStub(p, nativeRuns(p)) {
		return nil
	}
	c.removeJumps([]*space.Point{p})
	p.Jump.Runs = nil
	if p.Fn != nil {
		defer p.Fn.SyncExits() // they know the leave handlers
	}
	if err := c.Fits(p); err != nil {
		p.Jump.Waits = false
		p.By = c.patcher.Breakpoints()
		return nil
	}
	c.await(p)
	return nil
}

// Remove implements executor.Executor.
func (c *Executor) Remove(places ...executor.Place) []executor.Failure {
	points := space.PointsOf(places)
	failed := c.removeJumps(points)
	for _, p := range points {
		p.Jump.Waits = false
	}
	return append(failed, c.patcher.Breakpoints().Remove(places...)...)
}

// Verify implements executor.Executor.
func (c *Executor) Verify(places []executor.Place) error {
	points := space.PointsOf(places)
	return errors.Join(executor.Err(c.removeJumps(points)), c.patcher.Breakpoints().Verify(places))
}

// How implements executor.Executor. A place that has not been examined, and is not to be, counts as what it is so far.
func (c *Executor) How(at executor.Place) string {
	p := at.(*space.Point)
	unknown := p.Jump.Waits && p.Jump.Cold > 0 && !c.set.Explain
	if unknown || c.stops(p) != nil {
		return c.patcher.Breakpoints().How(p)
	}
	return c.Name()
}

// removeJumps replaces the jumps of points of one address space by their breakpoints.
func (c *Executor) removeJumps(points []*space.Point) (failed []executor.Failure) {
	var in []inline.Jump
	byAddr := map[uint64]*space.Point{}
	for _, p := range points {
		if p.Jump.Half {
			p.Jump.Half = false
			p.Space.Mem.Poke(p.Jump.Code.Addr, p.Jump.Code.Under[:p.Jump.Code.Len], c.on.StoppedTid(p.Space))
		}
		if p.Jump.In {
			in = append(in, p.Jump.Code)
			byAddr[p.Jump.Code.Addr] = p
		}
	}
	if len(in) == 0 {
		return nil
	}
	sp := points[0].Space
	stopped := c.on.StoppedTid(sp)
	for _, f := range inline.Remove(sp.Mem, in, stopped) {
		p := byAddr[f.Jump.Addr]
		delete(byAddr, p.Jump.Code.Addr)
		p.Jump.In = false
		p.NotePlanted(false) // somebody else has written there
		if _, err := p.Present(); err == nil {
			failed = append(failed, executor.Failure{Place: p, Err: f.Err})
		}
	}
	for _, p := range byAddr {
		p.Jump.In = false
	}
	return failed
}

// Settle implements Jumps. The child gets a jump of its own at a hit.
func (c *Executor) Settle(q *space.Point) {
	if q.Jump.Code.Addr == 0 { // it never had one
		return
	}
	c.removeJumps([]*space.Point{q})
	if q.Jump.Runs = nil; q.By == (c) && q.Jump.Dropped == nil {
		c.await(q)
	}
}

// Enable lets native code run, from now on until the session ends, however it ends. It runs on the tracing thread.
func (c *Executor) Enable() {
	if !c.Inlines() || c.set.Arena == nil || c.set.Arena.FD() < 0 {
		return
	}
	if err := inline.Enable(c.set.Arena.Control()); err != nil {
		c.noJumps = fmt.Errorf("the kernel does not tell targets when gotap ends: %w", err)
	}
}

// Disable makes native code run no programs any more.
func (c *Executor) Disable() {
	if c.Inlines() && c.set.Arena != nil {
		inline.Disable(c.set.Arena.Control())
	}
}

// DropAll replaces all jumps of the session by breakpoints, for good.
func (c *Executor) DropAll(why error) {
	for sp := range c.on.Spaces() {
		for _, p := range sp.ByAddr {
			if p.Jump.In || p.Jump.Waits {
				c.removeJumps([]*space.Point{p})
				c.drop(p, why)
			}
		}
	}
}

// Uncover implements Jumps. A place whose jump is removed gets a short one instead, if that leaves the address free.
func (c *Executor) Uncover(sp *space.Space, addr uint64) {
	for at := addr - farthest; at != addr+1; at++ {
		if q := sp.Starts[at]; q != nil && q.Addr != addr && covers(q, &q.Jump.Room, addr) && (q.Jump.In || q.Jump.Waits) {
			c.removeJumps([]*space.Point{q})
			c.giveRoom(q)
			q.Jump.Runs = nil
			room, err := c.freeRoom(q, inline.ShortSiteOf)
			if err != nil || covers(q, &room, addr) {
				c.drop(q, errOccupied)
				continue
			}
			q.Jump.Room = room
			c.await(q)
		}
	}
}

// covers reports whether no other point may be at an address if the jump of a point is in a room.
func covers(p *space.Point, r *space.Room, addr uint64) bool {
	return r.Window.Addr <= addr && addr < r.End(p.Addr)
}

// keepsRecords reports whether a program of the point logs something, or asks for something to be done at its end. A
// stop does that when the instruction has completed; native code, which comes before the instruction, does it at once.
func keepsRecords(p *space.Point) bool {
	return slices.ContainsFunc(p.Enters, func(pl *registry.Placement) bool { return writesRecord(pl.Code.Enter) })
}

// writesRecord says that of a program; nil writes none.
func writesRecord(code *runtime.Code) bool {
	const needs = opcode.NeedLog | opcode.NeedEvent | opcode.NeedHold | opcode.NeedDump | opcode.NeedStop | opcode.NeedFacility
	return code != nil && code.Needs&needs != 0
}

// siteIn finds the site of a place in a process. With around, the jump may be in front of the place.
func siteIn(sp *space.Space, m *module.Loaded, addr uint64, around bool, find findSite) (inline.Site, error) {
	site, err := find(m.File, m.Vaddr(addr), around)
	if err != nil {
		return site, err
	}
	const behind = 16 // bytes that show whether what follows is padding
	inFile := site.Window
	start := m.Addr(inFile.Addr)
	file, err := m.File.Code(inFile.Addr, inFile.Len+behind)
	if err != nil {
		return site, err
	}
	code := sp.Code(start, len(file))
	if sp.Mem.Gone() { // somebody asks how its places were
		code = file
	}
	if site.Window, err = inFile.Arch.WindowOver(code, start, addr); err != nil {
		return site, err
	}
	if site.Window.Len != inFile.Len || !bytes.HasPrefix(code, file[:inFile.Len]) {
		return site, errDiffers
	}
	site.Window.RedZoneFree, site.Window.FlagsDead = inFile.RedZoneFree, inFile.FlagsDead
	return site, nil
}
