package space

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"gotap/engine/abi"
	"gotap/engine/backend"
	"gotap/engine/crashsafe"
	"gotap/engine/executor"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry/retprobe"
	"gotap/engine/tracee"
)

// Patcher makes the points of addresses and writes their breakpoints into the code of targets, one by one or together.
type Patcher struct {
	Executors executor.List
	Points    int // armed probe points
	CallSites int // points on system call instructions

	on     Host
	set    Settings
	batch  *batch   // nil: points are planted one by one
	rested []*Point // to be armed when probes no longer rest (package throttle)
}

// Settings are what a Patcher is told once.
type Settings struct {
	Strategy    backend.Strategy
	MaxPoints   int // the largest number of armed points
	Jumps       Jumps
	InPlaceOnly bool // for tests: nothing is emulated or stepped out of line
}

// Host is what a Patcher asks of the session.
type Host interface {
	Warn(text string)
	// Closing reports whether the session ends: nothing is planted any more.
	Closing() bool
	// Checkpoint tells tests that the session is at a moment.
	Checkpoint(m tracee.Moment)
	// Guard returns what package crashsafe knows of a thread.
	Guard(by retprobe.Target) *crashsafe.Thread
	// OpenBlockers prepares the selected address spaces for breakpoints: crashsafe.Guards.OpenBlockers.
	OpenBlockers(in func(*crashsafe.Space) bool)
	// AllStill reports whether no thread of an address space runs.
	AllStill(sp *Space) bool
	// StoppedTid returns the ID of a stopped thread that uses an address space, or 0.
	StoppedTid(sp *Space) int
	// Pause holds the threads of an address space while its code is written, on processors that need that. They run on
	// when the present stop or request has been handled.
	Pause(sp *Space)
	// HoldRunning stops the threads of the selected address spaces that run code, until release.
	HoldRunning(in func(*Space) bool) (release func())
}

// Jumps is the executor that replaces breakpoints by jumps, which are longer.
type Jumps interface {
	executor.Executor
	// Unfit returns why the programs of a point stop threads, if a jump was to be preferred and users ask for such
	// reasons.
	Unfit(p *Point) error
	// Uncover removes the jumps whose bytes include an address, for good: a probe is placed there.
	Uncover(sp *Space, addr uint64)
	// Copy makes what it knows of one address space known of another, which is a copy of it.
	Copy(from, to *Space)
	// Settle replaces the jump of a point in the memory of a forked child by the breakpoint.
	Settle(p *Point)
	// Silence has native code that still runs in an address space ask nothing of the session any more.
	Silence(sp *Space)
}

// Action is what the session itself does when a thread hits a point; stay: the thread stays at the breakpoint.
type Action func(by retprobe.Target, p *Point) (stay bool)

// NewPatcher returns a Patcher whose only executor is the breakpoint.
func NewPatcher(on Host, set Settings) *Patcher {
	c := &Patcher{on: on, set: set}
	c.Executors = executor.List{breakpoints{c}}
	return c
}

// Breakpoints returns the executor that plants breakpoints.
func (c *Patcher) Breakpoints() executor.Executor { return breakpoints{c} }

// InPlaceOnly makes all instructions run in place from now on, or no longer. Only tests use it.
func (c *Patcher) InPlaceOnly(only bool) { c.set.InPlaceOnly = only }

// NewSpace returns an address space without breakpoints.
func (c *Patcher) NewSpace(mem *ptrace.Memory, a *abi.ABI) *Space {
	sp := &Space{Mem: mem, ABI: a, ByAddr: map[uint64]*Point{}, Starts: map[uint64]*Point{}, lo: ^uint64(0)}
	sp.Guard.Init(guardHost{c, sp})
	return sp
}

// Drop is called when an address space no longer exists.
func (c *Patcher) Drop(sp *Space) {
	for _, p := range sp.ByAddr {
		c.lost(p)
	}
	sp.Mem.Close()
}

// lost is called for a point whose memory is gone.
func (c *Patcher) lost(p *Point) {
	if p.Planted {
		p.Planted = false
		c.Points -= p.Counted()
	}
}

// Unmapped discards the points of a module that is no longer mapped, and returns them. The memory may be in use for
// something else.
func (c *Patcher) Unmapped(sp *Space, gone *module.Loaded) (points []*Point) {
	for addr, p := range sp.ByAddr {
		if !gone.Contains(addr) {
			continue
		}
		c.lost(p)
		delete(sp.ByAddr, addr)
		sp.Guard.Unrecord(addr)
		start := p.Jump.Code.Addr
		if start != 0 && start != addr {
			sp.Guard.Unrecord(start)
		}
		if p.Slot != 0 && p.Steps == 0 {
			sp.slots.give(p.Slot)
		}
		points = append(points, p)
	}

	maps.DeleteFunc(sp.Starts, func(addr uint64, _ *Point) bool { return gone.Contains(addr) })
	maps.DeleteFunc(sp.Springboards, func(addr uint64, _ *Springboard) bool { return gone.Contains(addr) })
	return points
}

// Rest removes the breakpoint of a point until Wake.
func (c *Patcher) Rest(p *Point) {
	p.Throttled = true
	c.rested = append(c.rested, p)
	c.Sync(p)
}

// Wake arms the points that rest: exits first, so that no call is seen to begin whose end would be missed.
func (c *Patcher) Wake() {
	rested := c.rested
	c.rested = nil
	for _, p := range rested {
		p.Throttled = false
	}
	slices.SortStableFunc(rested, func(a, b *Point) int { return len(b.Exits) - len(a.Exits) })
	for _, p := range rested {
		if p.Space.ByAddr[p.Addr] != p || p.Space.Users == 0 {
			continue // its memory no longer exists
		}
		if err := c.Sync(p); err != nil && !c.on.Closing() {
			c.on.Warn(fmt.Sprintf("cannot arm %#x again: %v", p.Addr, err))
		}
	}
}

// warnIn warns about an error in an address space, unless its process has left it: then nothing can be done there.
func (c *Patcher) warnIn(sp *Space, err error) {
	if !sp.Mem.Gone() && !errors.Is(err, backend.ErrGone) {
		c.on.Warn(err.Error())
	}
}
