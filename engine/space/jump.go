package space

import (
	"gotap/arch"
	"gotap/engine/executor"
	"gotap/engine/inline"
	"gotap/engine/registry"
)

// Jump is a point's part in running its programs without a stop.
type Jump struct {
	Window   arch.Window // the instructions that the jump replaces; they are known once it fits
	Before   int         // those of them that come before the place; their jump is in front of it
	Pads     []uint64    // where a short jump can continue, best first; nil: the jump is not short
	InGo     bool        // the place is in a function of Go
	In       bool        // the jump is in the code
	Half     bool        // in a child: the breakpoint is in the code, and behind it a part of the jump
	Waits    bool        // it is to be written at a hit
	Cold     int         // hits that are left until it is asked for, with Mixed; until then it may turn out not to fit
	Judged   bool        // it is known whether it fits, although it has not been hit often: Unfit
	Unfit    error       // Judged: why not; nil: it fits
	Code     inline.Jump
	Runs     []Run  // what the stub runs, in its order; nil: the stub is not used again
	Stub     uint64 // the address of the latest stub
	Function uint32 // the number by which native code knows the function that is entered here; 0: none
	Rings    int    // with Mixed: doorbells that threads have rung here since HitsBefore
	// HitsBefore is the number of hits of the probe at the first of these rings.
	HitsBefore uint64
	Dropped    error // why the place has lost its jump for good; nil: it has not
}

// Run is a part of what runs natively at a point.
type Run struct {
	Placement *registry.Placement
	Ends      *Point // a call ends that began there; nil: the placement is at the point itself
}

// noteJump finds out whether a point has its jump in the memory of a forked child, which is a copy of its parent's. The
// parent's memory may have changed since the fork, and the copy have been made while a jump was removed. It writes
// nothing.
func (q *Point) noteJump() {
	q.Jump.In, q.Jump.Half = false, false
	var now [inline.JumpSize]byte
	if q.Jump.Code.Addr == 0 || q.Space.Mem.Peek(q.Jump.Code.Addr, now[:q.Jump.Code.Len]) != nil {
		return
	}
	q.Jump.In = now == q.Jump.Code.Code
	q.Jump.Half = q.Jump.Code.IsHalf(now)
}

// JumpEnd returns the end of the bytes in which no other point may be: those of the jump, and the instructions that its
// native code runs before the programs.
func (p *Point) JumpEnd() uint64 {
	return max(p.Jump.Window.Addr+uint64(p.Jump.Window.Arch.JumpLen()), p.Addr)
}

// maskSpringboard puts the padding into what was read at addr, as far as it overlaps the springboard of a point.
func (p *Point) maskSpringboard(addr uint64, read []byte) {
	executor.Overlay(addr, read, p.Jump.Code.Via.Addr, p.Jump.Code.Via.Orig[:])
}

// TakeSpringboard notes that the jump of a point leads to a springboard, for as long as the memory there exists.
func (p *Point) TakeSpringboard(via inline.Springboard) {
	sp := p.Space
	if sp.Springboards == nil {
		sp.Springboards = map[uint64]*Point{}
	}
	p.Jump.Code.Via = via
	sp.Springboards[via.Addr] = p
	sp.lo, sp.hi = min(sp.lo, via.Addr), max(sp.hi, via.Addr+longestTrap)
}

// copySpringboards makes the springboards known of an address space that is a copy of another.
func (sp *Space) copySpringboards(from *Space) {
	for addr, p := range from.Springboards {
		q := sp.ByAddr[p.Addr]
		if q == nil || q.Jump.Code.Via.Addr != addr {
			lost := *p
			q = &lost
			q.Space = sp
		}
		if q.Jump.Code.Via.Look(sp.Mem) {
			q.TakeSpringboard(q.Jump.Code.Via)
		}
	}
}
