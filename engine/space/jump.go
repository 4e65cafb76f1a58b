package space

import (
	"gotap/arch"
	"gotap/engine/executor"
	"gotap/engine/inline"
	"gotap/engine/registry"
)

// Room is where a jump of a point fits.
type Room struct {
	Window arch.Window // the instructions that the jump replaces
	Before int         // those of them that come before the place; their jump is in front of it
	Pads   []uint64    // where a short jump can continue, best first; nil: the jump is not short
	InGo   bool        // the place is in a function of Go
}

// End returns the end of the bytes in which no point but that at an address may be: those of the jump, and the
// instructions that its native code runs before the programs.
func (r *Room) End(addr uint64) uint64 {
	return max(r.Window.Addr+uint64(r.Window.Arch.JumpLen()), addr)
}

// Jump is a point's part in running its programs without a stop.
type Jump struct {
	Room           // that of its jump; it is known once that fits
	In       bool  // the jump is in the code
	Half     bool  // in a child: the breakpoint is in the code, and behind it a part of the jump
	Waits    bool  // it is to be written at a hit
	Cold     int   // hits that are left until it is asked for, with Mixed; until then it may turn out not to fit
	Judged   bool  // it is known whether it fits, although it has not been hit often: Unfit
	Unfit    error // Judged: why not; nil: it fits
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

// JumpEnd returns the end of the bytes in which no other point may be because of the jump of this one.
func (p *Point) JumpEnd() uint64 { return p.Jump.End(p.Addr) }

// Springboard is a springboard in the code of an address space. It belongs to one address for good, whatever point is
// there, and wherever the jumps of that point lead later.
type Springboard struct {
	inline.Springboard
	Of uint64 // the address whose point's jumps lead there
}

// mask puts the padding into what was read at addr, as far as it overlaps the springboard.
func (s *Springboard) mask(addr uint64, read []byte) {
	executor.Overlay(addr, read, s.Addr, s.Orig[:])
}

// NoteSpringboard makes a springboard known that is to be written, for as long as the memory there exists.
func (sp *Space) NoteSpringboard(s *Springboard) {
	if sp.Springboards == nil {
		sp.Springboards = map[uint64]*Springboard{}
	}
	sp.Springboards[s.Addr] = s
	sp.lo, sp.hi = min(sp.lo, s.Addr), max(sp.hi, s.Addr+longestTrap)
}

// copySpringboards makes the springboards known of an address space that is a copy of another, whose points it has
// copies of. The other's may have changed since.
func (sp *Space) copySpringboards(from *Space) {
	for _, s := range from.Springboards {
		if own := *s; own.Look(sp.Mem) {
			sp.NoteSpringboard(&own)
		}
	}
	for _, q := range sp.ByAddr {
		if via := q.Jump.Code.Via; via == nil {
			continue
		} else if own := sp.Springboards[via.Addr]; own != nil {
			q.Jump.Code.Via = &own.Springboard
		} else {
			q.Jump.Code.Via = nil
		}
	}
}
