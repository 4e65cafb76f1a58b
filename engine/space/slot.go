package space

import (
	"errors"
	"fmt"
	"slices"

	"gotap/engine/inject"
	"gotap/engine/tracee"
)

// Slots are areas of memory mapped into a target for copies of displaced instructions. Every point has its own
// slot, whose contents never change while it is in use, so that any number of threads may be in it at once and a
// hit writes nothing.
//
// There is a pool near the code of every probed module, so that a copy can reach what the instruction reaches: the
// copy then needs no borrowed register, and the thread returns to its own code by itself if the tracer dies in the
// middle of the step.
//
// The target itself maps the memory, through a thread that has just hit a breakpoint: that thread is in user mode,
// between two instructions and not in a system call, so nothing needs to be restarted (see inject). The session
// unmaps the memory in the same way when it ends.
type Slots struct {
	pools []slotPool
	full  []uint64 // addresses within whose reach no memory could be mapped; at most mostFull
}

// slotPool is one such area.
type slotPool struct {
	start, next, end uint64
	free             []uint64
}

const (
	slotArea = 64 << 10
	// fullShare is the part of the reach around an address in full in which no memory is looked for again. A point at
	// its edge might still have a gap within its reach, but one in eight at most of all that it reaches was not
	// searched.
	fullShare = 8
	// mostFull is how many addresses are in full: code of a space that has this many neighbourhoods without room gets
	// no further memory.
	mostFull = 32
)

// isFull reports whether an earlier search near an address found no memory, or whether so many have failed that none is
// made any more.
func (ps *Slots) isFull(addr, reach uint64) bool {
	return len(ps.full) >= mostFull || slices.ContainsFunc(ps.full, func(a uint64) bool { return inject.Near(a, addr, reach/fullShare) })
}

func (ps Slots) copy() Slots {
	c := Slots{pools: append([]slotPool(nil), ps.pools...), full: slices.Clone(ps.full)}
	for i := range c.pools {
		c.pools[i].free = append([]uint64(nil), c.pools[i].free...)
	}
	return c
}

// take allocates a slot near an address. It returns 0 if there is none.
func (ps *Slots) take(addr, size, reach uint64) uint64 {
	for i := range ps.pools {
		if p := &ps.pools[i]; inject.Near(p.start, addr, reach) {
			if slot := p.take(size); slot != 0 {
				return slot
			}
		}
	}
	return 0
}

// take allocates a slot. It returns 0 if the pool is full.
func (p *slotPool) take(size uint64) uint64 {
	if n := len(p.free); n > 0 {
		slot := p.free[n-1]
		p.free = p.free[:n-1]
		return slot
	}
	if p.next+size > p.end {
		return 0
	}
	slot := p.next
	p.next += size
	return slot
}

// give frees a slot.
func (ps *Slots) give(slot uint64) {
	for i := range ps.pools {
		if p := &ps.pools[i]; slot >= p.start && slot < p.end {
			p.free = append(p.free, slot)
		}
	}
}

// SlotFor allocates the point's slot if necessary, through a thread that has hit the point. It returns false if the
// instruction must run in place.
func (c *Patcher) SlotFor(p *Point, t *tracee.Thread, calls *inject.Caller) bool {
	if p.Slot != 0 && (!p.unsure || p.fillSlot(t.Tid)) {
		return true
	}
	p.Slot = 0
	sp := p.Space
	size := uint64(sp.ABI.SlotSize())
	slot := sp.slots.take(p.Addr, size, sp.ABI.SlotReach)
	if slot == 0 {
		if !c.mapSlots(p, t, calls) {
			return false
		}
		slot = sp.slots.take(p.Addr, size, sp.ABI.SlotReach)
	}
	if slot == 0 {
		return false
	}
	if p.Slot = slot; !p.fillSlot(t.Tid) {
		sp.slots.give(slot)
		p.Slot = 0
	}
	return p.Slot != 0
}

// fillSlot writes the copy of a point's instruction into its slot.
func (p *Point) fillSlot(tid int) bool {
	p.unsure = false
	code, err := p.Site.OutOfLine(p.Slot)
	return err == nil && p.Space.Mem.Poke(p.Slot, code, tid) == nil
}

// mapSlots makes the target map memory for slots near a point. A seccomp filter refuses it for the whole space, a lack
// of room only for the neighbourhood of the point.
func (c *Patcher) mapSlots(p *Point, t *tracee.Thread, calls *inject.Caller) bool {
	sp := p.Space
	if sp.sealed || sp.slots.isFull(p.Addr, sp.ABI.SlotReach) {
		return false
	}
	if why := calls.Filtered(); why != "" {
		sp.sealed = true
		c.warnInPlace(t, why, "instructions")
		return false
	}
	base, err := calls.MapNear(p.Addr, slotArea, sp.ABI.SlotReach)
	if err == nil {
		sp.slots.pools = append(sp.slots.pools, slotPool{start: base, next: base, end: base + slotArea})
		return true
	}
	if errors.Is(err, inject.ErrNotNow) {
		return false
	}
	which := "instructions there"
	if none := (inject.NoRoomError{}); !errors.As(err, &none) {
		sp.sealed, which = true, "instructions"
	} else if sp.slots.full = append(sp.slots.full, p.Addr); len(sp.slots.full) == mostFull {
		which = "instructions there, and in all further places like it,"
	}
	c.warnInPlace(t, err.Error(), which)
	return false
}

// warnInPlace warns that instructions of a process are stepped in place.
func (c *Patcher) warnInPlace(t *tracee.Thread, why, which string) {
	if t.ABI().Stepless { // a system call is made elsewhere: see armcall.go in package stepping
		return
	}
	c.on.Warn(fmt.Sprintf("process %d: %s; %s are stepped in place, which holds its other threads", t.Of.Pid(), why, which))
}

// UnmapSlots unmaps the areas for copies, through a stopped thread. The caller makes sure that nothing leads there any
// more.
func (sp *Space) UnmapSlots(calls *inject.Caller) error {
	for _, pool := range sp.slots.pools {
		if _, err := calls.Call(sp.ABI.Calls.Munmap, pool.start, pool.end-pool.start); err != nil {
			return err
		}
	}
	sp.slots.pools = nil
	return nil
}

// HasSlots reports whether an address is in an area for copies of displaced instructions.
func (sp *Space) HasSlots(addr uint64) bool {
	return slices.ContainsFunc(sp.slots.pools, func(p slotPool) bool { return addr >= p.start && addr < p.end })
}
