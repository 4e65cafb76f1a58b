package trampoline

import (
	"bytes"
	"cmp"
	"slices"

	"gotap/engine/image/module"
	"gotap/engine/inline"
	"gotap/engine/space"
	"gotap/engine/threadstate"
)

// Springboards.
//
// Where a jump of five bytes does not fit, a jump of two bytes may. It leads to a springboard: a jump to the native code
// in padding near the place. A springboard belongs to its place for as long as the memory exists, because a thread may
// be between the two jumps at any time. So it stays when the place gets its breakpoint back, and leads to new native
// code when the place gets a jump again: this is written while the threads are held, one of which may stand there. At
// the end of the session the padding is restored, if no thread is there: also where a thread is still in native code,
// whose memory then stays.

// padsIn returns those places for springboards of a site that contain in a process what they contain in the file.
func padsIn(sp *space.Space, m *module.Loaded, site *inline.Site) (pads []uint64) {
	for _, vaddr := range site.Springboards {
		file, err := m.File.Code(vaddr, inline.JumpSize)
		if at := m.Addr(vaddr); err == nil && (sp.Mem.Gone() || bytes.Equal(sp.Code(at, inline.JumpSize), file)) {
			pads = append(pads, at)
		}
	}
	return pads
}

// springboardFor returns where the springboard of a point in a room is or can be: nothing else is there. 0: nowhere.
func springboardFor(p *space.Point, r *space.Room) uint64 {
	for _, at := range r.Pads {
		if of := p.Space.Springboards[at]; of != nil && of.Of == p.Addr {
			return at
		}
	}
	for _, at := range r.Pads {
		if !overSpringboard(p.Space, at, at+inline.JumpSize) && !taken(p, at, at+inline.JumpSize) {
			return at
		}
	}
	return 0
}

// overSpringboard reports whether a springboard has bytes between two addresses, be it one of the same place.
func overSpringboard(sp *space.Space, start, end uint64) bool {
	for at := start - (inline.JumpSize - 1); at != end; at++ {
		if sp.Springboards[at] != nil {
			return true
		}
	}
	return false
}

// reserveSpringboard returns the springboard for a point whose jump is short.
func reserveSpringboard(p *space.Point) (*inline.Springboard, error) {
	at := springboardFor(p, &p.Jump.Room)
	if at == 0 {
		return nil, errOccupied
	}
	s := p.Space.Springboards[at]
	if s == nil {
		s = &space.Springboard{Springboard: inline.Springboard{Addr: at}, Of: p.Addr}
		if copy(s.Orig[:], p.Space.Code(at, inline.JumpSize)) != inline.JumpSize {
			return nil, errOccupied
		}
		s.Now = s.Orig
		p.Space.NoteSpringboard(s)
	}
	return &s.Springboard, nil
}

// stubAt returns the native code that contains an address of an address space, or where a springboard there leads; nil
// if there is none.
func stubAt(sp *space.Space, addr uint64) *stub {
	j := &codeIn(sp).jumps
	if s := sp.Springboards[addr]; s != nil {
		if to, ok := s.Leads(); ok {
			addr = to
		}
	}
	return j.stubAt(addr)
}

// withSpringboards adds to ranges the addresses from which springboards lead there.
func withSpringboards(ranges inline.Ranges, sp *space.Space) inline.Ranges {
	for at := range sp.Springboards {
		ranges = append(ranges, inline.Range{Start: at, End: at + 1})
	}
	slices.SortFunc(ranges, func(a, b inline.Range) int { return cmp.Compare(a.Start, b.Start) })
	return ranges
}

// standInside reports whether a thread of the process is in native code or at a springboard, or may come back to one from
// a signal handler. known is false if that cannot be told of a thread.
func (t *Thread) standInside() (inIsland, atSpringboard, known bool) {
	sp := t.proc.Space
	maps, err := module.Maps(t.proc.Pid)
	if err != nil {
		return false, false, false
	}
	ranges := withSpringboards(codeIn(sp).jumps.ranges(), sp)
	note := func(r inline.Range) {
		at := sp.Springboards[r.Start] != nil
		atSpringboard, inIsland = atSpringboard || at, inIsland || !at
	}
	for o := range t.by.on.Threads() {
		if o.proc.Space != sp || o.parts.State.Now() == threadstate.Gone {
			continue
		}
		pc, stack, known := o.standsAt()
		if !known || !ranges.Parked(sp.Mem, maps, pc, stack, note) {
			return false, false, false
		}
	}
	return inIsland, atSpringboard, true
}

// restorePadding removes the springboards of an address space, in which no thread is or can come to them.
func (c *Executor) restorePadding(sp *space.Space) (err error) {
	for addr, s := range sp.Springboards {
		if err = s.Restore(sp.Mem, c.on.StoppedTid(sp)); err != nil {
			return err
		}
		delete(sp.Springboards, addr)
	}
	return nil
}
