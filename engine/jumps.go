package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gotap/arch"
	"gotap/engine/abi"
	"gotap/engine/executor"
	"gotap/engine/image/module"
	"gotap/engine/inline"
	"gotap/engine/registry/retprobe"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64"
	"gotap/runtime/opcode"
)

// jumps is the executor that runs programs in the target, without a stop: a jump at the place leads to native code,
// which ends with a copy of the instructions that the jump replaces (package inline).
//
// It plants a breakpoint first. Hits of the breakpoint are interpreted, and at the first one all places of the address space that have
// one get their jumps (promote.go): then there is a thread that can make the process map memory. A place that is never hit costs nothing.
// While a place has its jump, its breakpoint counts as planted.
type jumps struct{ c *patcher }

var _ executor.Executor = jumps{}

// jump is a point's part in running its programs without a stop.
type jump struct {
	window   arch.Window // the instructions that the jump replaces; they are known once it fits
	before   int         // those of them that come before the place; their jump is in front of it
	inGo     bool        // the place is in a function of Go
	in       bool        // the jump is in the code
	half     bool        // in a child: the breakpoint is in the code, and behind it a part of the jump
	waits    bool        // it is to be written at a hit
	cold     int         // hits that are left until it is asked for, with Mixed; until then it may turn out not to fit
	judged   bool        // it is known whether it fits, although it has not been hit often: unfit
	unfit    error       // judged: why not; nil: it fits
	code     inline.Jump
	runs     []nativeRun // what the stub runs, in its order; nil: the stub is not used again
	stub     uint64      // the address of the latest stub
	function uint32      // the number by which native code knows the function that is entered here; 0: none
	dropped  error       // why the place has lost its jump for good; nil: it has not
}

// Name implements executor.Executor.
func (jumps) Name() string { return "inline" }

// Reasons why the programs of a place stop its threads.
var (
	errOwnUse      = errors.New("gotap itself stops threads here")
	errLeaves      = errors.New("calls are followed to their return")
	errLeft        = errors.New("calls return here")
	errPost        = errors.New("a handler runs after the instruction, or if it faults")
	errAtReturn    = errors.New("the predicate runs at the return")
	errFrom        = errors.New("calls are counted by where they come from")
	errWatched     = errors.New("data is watched")
	errGo          = errors.New("calls of a function of Go are followed by their goroutine")
	errNoFile      = errors.New("it is in no file")
	errNoArena     = errors.New("the memory of the programs cannot be shared")
	errOccupied    = errors.New("another probe is in the bytes that the jump would replace")
	errNoHandler   = errors.New("the process has no crash handler")
	errCallChecked = errors.New("a call is among the first instructions, and the processor checks return addresses")
	errDiffers     = errors.New("the code differs from that of the file")
	errLocks       = errors.New("it locks its memory")
	errTableFull   = errors.New("the table of the crash handler is full")
)

// Fits implements executor.Executor. With Mixed a place is examined when it has been hit often (warm): until then it needs a breakpoint.
func (j jumps) Fits(at executor.Place) error {
	p := at.(*point)
	if j.c.s.cfg.Engine == Mixed {
		return cmp.Or(breakpoints(j).Fits(p), j.mayFit(p))
	}
	return j.examine(p)
}

// mayFit returns why a place gets no jump, whatever its programs and instructions are.
func (j jumps) mayFit(p *point) error {
	if err := cmp.Or(p.jump.dropped, j.c.noJumps); err != nil {
		return err
	}
	if slices.ContainsFunc(p.Exits, func(f *retprobe.Function) bool { return f.Entry().At.(*point) == p }) {
		return errBoth
	}
	return p.fitsJump()
}

// examine returns why a place gets no jump. It plans the programs and looks at the instructions. The first place of a file has all code of the file decoded.
func (j jumps) examine(p *point) error {
	if err := j.mayFit(p); err != nil {
		return err
	}
	if j.c.s.cfg.Engine == Mixed {
		if err := j.c.neverRings(p); err != nil {
			return err
		}
	}
	if err := j.c.fitsCalls(p); err != nil {
		return err
	}
	for _, pl := range p.Enters {
		if err := j.c.fitsNative(p, pl); err != nil {
			return err
		}
	}
	if err := j.c.findWindow(p); err != nil {
		return err
	}
	return p.occupied()
}

// fitsCalls returns why native code cannot follow the calls that begin or end at a point.
func (c *patcher) fitsCalls(p *point) error {
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
func (p *point) fitsJump() error {
	switch {
	case p.sp.arch != &abi.AMD64:
		return inline.ErrOtherArch
	case p.internal != nil || len(p.resolvers) > 0 || p.guard.Call != 0:
		return errOwnUse
	case p.Returns > 0:
		return errLeft
	case p.sp.jumps.refused != nil:
		return p.sp.jumps.refused
	case p.s.others.watching > 0:
		return errWatched
	}
	return nil
}

// occupied returns why the jump of a point cannot be where it would be: another point is among the instructions that it replaces, or
// another jump.
func (p *point) occupied() error {
	start, end := p.jump.window.Addr, p.jumpEnd()
	for addr := start; addr < end; addr++ {
		if q := p.sp.points[addr]; q != nil && q != p && (q.planted || q.queued) {
			return errOccupied
		}
	}
	for addr := start - farthest; addr != end; addr++ {
		if q := p.sp.jumps.starts[addr]; q != nil && q != p && q.jumpEnd() > start && (q.jump.in || q.jump.waits) {
			return errOccupied
		}
	}
	return nil
}

// jumpEnd returns the end of the bytes in which no other point may be: those of the jump, and the instructions that its native code runs
// before the programs.
func (p *point) jumpEnd() uint64 {
	return max(p.jump.window.Addr+inline.JumpSize, p.addr)
}

// farthest is how far behind the start of a jump its place may be: some instructions.
const farthest = 4 * 15

// fitsNative returns why the programs of a placement at a point cannot run natively.
func (c *patcher) fitsNative(p *point, pl *placement) error {
	switch {
	case c.s.cfg.Arena == nil || c.s.cfg.Arena.FD() < 0:
		return errNoArena
	case pl.Code.Post != nil || pl.Code.Fault != nil:
		return errPost
	case pl.Code.AtReturn:
		return errAtReturn
	case len(pl.Probe.Spec.From) > 0:
		return errFrom
	}
	_, err := c.nativeProgram(p, nativeRun{pl: pl})
	return err
}

// nativeRun is a part of what runs natively at a point.
type nativeRun struct {
	pl   *placement
	ends *point // a call ends that began there; nil: the placement is at the point itself
}

// nativeRuns returns what runs at a hit of a point.
func (p *point) nativeRuns() (runs []nativeRun) {
	for _, pl := range p.Enters {
		if pl.Probe.Enabled {
			runs = append(runs, nativeRun{pl: pl})
		}
	}
	for _, f := range p.Exits {
		for _, pl := range f.Entry().Leaves() {
			if pl.Probe.Enabled {
				runs = append(runs, nativeRun{pl, f.Entry().At.(*point)})
			}
		}
	}
	return runs
}

// nativeProgram plans a part of what runs natively at a point.
func (c *patcher) nativeProgram(p *point, r nativeRun) (program amd64.Program, err error) {
	code, counts, at := r.pl.Code, true, native.Place{}
	program.Probe = r.pl.Probe.Spec.ID
	c.calls.prepare(c.s)
	at.Thread, at.Clock, at.Reads = c.calls.none == nil, c.calls.noClock == nil, p.sp.reads.refused == nil
	if code.When != nil && r.ends == nil {
		if program.When, err = native.PlanOf(code.When, c.s.cfg.Arena, amd64.Features, at); err != nil {
			return program, err
		}
	}
	run := code.Enter
	if code.Leave != nil {
		counts = code.CountsEntry() == (r.ends == nil)
		at.Call, at.Ends, at.This = true, r.ends != nil, r.pl.Probe.Spec.ThisBytes
		program.Call = &amd64.Call{Ends: at.Ends, This: at.This, Timed: timed(r.pl)}
		if program.Call.Ends {
			run, p = code.Leave, r.ends
		}
		program.Call.Func = p.sp.calls.number(p, r.pl)
	}
	if counts {
		program.Gate = r.pl.Probe.Gate
	}
	if err = amd64.Admits(program.Gate); err != nil || run == nil {
		return program, err
	}
	program.Run, err = native.PlanOf(run, c.s.cfg.Arena, amd64.Features, at)
	return program, err
}

// findWindow finds the instructions that a jump at a point replaces.
func (c *patcher) findWindow(p *point) error {
	m := module.Find(p.sp.mods, p.addr)
	if m == nil || m.File == nil {
		return errNoFile
	}
	site, err := p.sp.siteIn(m, p.addr, len(p.Exits) > 0 && len(p.Enters) == 0)
	if err != nil {
		return err
	}
	if site.Window.Pushes && c.s.images.hasShadow != nil {
		return errCallChecked
	}
	if err := site.Records(); err != nil && p.keepsRecords() {
		return err
	}
	p.jump.window, p.jump.before, p.jump.inGo = site.Window, site.Before, site.Go
	return nil
}

// Install implements executor.Executor.
func (j jumps) Install(places ...executor.Place) []executor.Failure {
	failed := breakpoints(j).Install(places...)
	for _, at := range places {
		if p := at.(*point); p.planted {
			j.await(p)
		}
	}
	return failed
}

// await makes a point get its jump at a hit: at the next of any place, or with Mixed when the place itself has been hit often.
func (j jumps) await(p *point) {
	if p.jump.waits {
		return
	}
	p.jump.waits, p.jump.judged = true, false
	if p.jump.cold = 0; j.c.s.cfg.Engine == Mixed {
		p.jump.cold = coldHits
		return
	}
	p.sp.jumps.waiting = append(p.sp.jumps.waiting, p)
}

// coldHits is how often a place stops threads, with Mixed, before it is examined and gets its jump. That takes about as long as so many
// stops, and most places of a wide pattern are hit seldom or never.
const coldHits = 16

// warm counts a hit of a place that waits for its jump, and reports whether it is to get it now.
func (j jumps) warm(p *point) bool {
	if p.jump.cold == 0 {
		return true
	}
	if p.jump.cold--; p.jump.cold > 0 {
		return false
	}
	if j.examine(p) != nil {
		p.jump.waits, p.by = false, breakpoints(j)
		return false
	}
	p.sp.jumps.waiting = append(p.sp.jumps.waiting, p)
	return true
}

// stops returns why the programs of a place that waits for its jump will not get it; nil if they will, or if that is not to be found out yet.
func (j jumps) stops(p *point) error {
	if !j.c.s.cfg.Explain || !p.jump.waits || p.jump.cold == 0 {
		return nil
	}
	if !p.jump.judged {
		p.jump.judged, p.jump.unfit = true, j.examine(p)
	}
	return p.jump.unfit
}

// Replace implements executor.Executor. A place whose programs have changed gets its breakpoint back, and a new jump at its next hit
// if its programs still fit.
func (j jumps) Replace(at executor.Place) error {
	p := at.(*point)
	if p.jump.in && p.fitsJump() == nil && p.occupied() == nil && slices.Equal(p.jump.runs, p.nativeRuns()) {
		return nil
	}
	j.c.removeJumps([]*point{p})
	p.jump.runs = nil
	if p.Fn != nil {
		defer p.Fn.SyncExits() // they know the leave handlers
	}
	if err := j.Fits(p); err != nil {
		p.jump.waits = false
		p.by = breakpoints(j)
		return nil
	}
	j.await(p)
	return nil
}

// Remove implements executor.Executor.
func (j jumps) Remove(places ...executor.Place) []executor.Failure {
	points := pointsOf(places)
	failed := j.c.removeJumps(points)
	for _, p := range points {
		p.jump.waits = false
	}
	return append(failed, breakpoints(j).Remove(places...)...)
}

// Verify implements executor.Executor.
func (j jumps) Verify(places []executor.Place) error {
	points := pointsOf(places)
	return errors.Join(executor.Err(j.c.removeJumps(points)), breakpoints(j).Verify(places))
}

// How implements executor.Executor. A place that has not been examined, and is not to be, counts as what it is so far.
func (j jumps) How(at executor.Place) string {
	p := at.(*point)
	unknown := p.jump.waits && p.jump.cold > 0 && !j.c.s.cfg.Explain
	if unknown || j.stops(p) != nil {
		return breakpoints(j).How(p)
	}
	return j.Name()
}

// removeJumps replaces the jumps of points of one address space by their breakpoints.
func (c *patcher) removeJumps(points []*point) (failed []executor.Failure) {
	var in []inline.Jump
	byAddr := map[uint64]*point{}
	for _, p := range points {
		if p.jump.half {
			p.jump.half = false
			p.sp.mem.Poke(p.jump.code.Addr, p.jump.code.Under[:], c.s.world.stoppedTid(p.sp))
		}
		if p.jump.in {
			in = append(in, p.jump.code)
			byAddr[p.jump.code.Addr] = p
		}
	}
	if len(in) == 0 {
		return nil
	}
	sp := points[0].sp
	stopped := c.s.world.stoppedTid(sp)
	for _, f := range inline.Remove(sp.mem, in, stopped) {
		p := byAddr[f.Jump.Addr]
		delete(byAddr, p.jump.code.Addr)
		p.jump.in = false
		p.notePlanted(false) // somebody else has written there
		if _, err := p.present(); err == nil {
			failed = append(failed, executor.Failure{Place: p, Err: f.Err})
		}
	}
	for _, p := range byAddr {
		p.jump.in = false
	}
	return failed
}

// noteJump finds out whether a point has its jump in the memory of a forked child, which is a copy of its parent's. The parent's memory may
// have changed since the fork, and the copy have been made while a jump was removed. It writes nothing.
func (q *point) noteJump() {
	q.jump.in, q.jump.half = false, false
	var now [inline.JumpSize]byte
	if q.jump.code.Addr == 0 || q.sp.mem.Peek(q.jump.code.Addr, now[:]) != nil {
		return
	}
	q.jump.in = now == q.jump.code.Code
	q.jump.half = now[0] == q.trap[0] && now != q.jump.code.Under
}

// settleJump replaces the jump of a point in the memory of a forked child by the breakpoint. The child gets a jump of its own at a hit.
func (c *patcher) settleJump(q *point) {
	if q.jump.code.Addr == 0 { // it never had one
		return
	}
	c.removeJumps([]*point{q})
	if q.jump.runs = nil; q.by == (jumps{c}) && q.jump.dropped == nil {
		jumps{c}.await(q)
	}
}

// enableJumps lets native code run, from now on until the session ends, however it ends. It runs on the tracing thread.
func (c *patcher) enableJumps() {
	if !c.inlines() || c.s.cfg.Arena == nil || c.s.cfg.Arena.FD() < 0 {
		return
	}
	if err := inline.Enable(c.s.cfg.Arena.Control()); err != nil {
		c.noJumps = fmt.Errorf("the kernel does not tell targets when gotap ends: %w", err)
	}
}

// disableJumps makes native code run no programs any more.
func (c *patcher) disableJumps() {
	if c.inlines() && c.s.cfg.Arena != nil {
		inline.Disable(c.s.cfg.Arena.Control())
	}
}

// dropJumps replaces all jumps of the session by breakpoints, for good.
func (c *patcher) dropJumps(why error) {
	for sp := range c.s.spaces() {
		for _, p := range sp.points {
			if p.jump.in || p.jump.waits {
				c.removeJumps([]*point{p})
				c.drop(p, why)
			}
		}
	}
}

// uncover removes the jumps whose bytes include an address, for good: a probe is placed there.
func (c *patcher) uncover(sp *space, addr uint64) {
	for at := addr - farthest; at != addr+1; at++ {
		if q := sp.jumps.starts[at]; q != nil && q.addr != addr && addr < q.jumpEnd() && (q.jump.in || q.jump.waits) {
			c.removeJumps([]*point{q})
			c.drop(q, errOccupied)
		}
	}
}

// keepsRecords reports whether a program of the point logs something, or asks for something to be done at its end. A stop does that when the
// instruction has completed; native code, which comes before the instruction, does it at once.
func (p *point) keepsRecords() bool {
	const needs = opcode.NeedLog | opcode.NeedEvent | opcode.NeedHold | opcode.NeedDump | opcode.NeedStop | opcode.NeedFacility
	for _, pl := range p.Enters {
		if pl.Code.Enter != nil && pl.Code.Enter.Needs&needs != 0 {
			return true
		}
	}
	return false
}

// siteIn finds the site of a place in a process. With around, the jump may be in front of the place.
func (sp *space) siteIn(m *module.Loaded, addr uint64, around bool) (inline.Site, error) {
	site, err := inline.SiteOf(m.File, m.Vaddr(addr), around)
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
	code := sp.code(start, len(file))
	if sp.mem.Gone() { // somebody asks how its places were
		code = file
	}
	if site.Window, err = inline.Windows.WindowOver(code, start, addr); err != nil {
		return site, err
	}
	if site.Window.Len != inFile.Len || !bytes.HasPrefix(code, file[:inFile.Len]) {
		return site, errDiffers
	}
	site.Window.RedZoneFree, site.Window.FlagsDead = inFile.RedZoneFree, inFile.FlagsDead
	return site, nil
}
