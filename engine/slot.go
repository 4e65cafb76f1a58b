package engine

import (
	"fmt"

	"gotap/engine/crashsafe/fallback"
	"gotap/engine/inject"
	"gotap/engine/threadstate"
)

// slotPools are areas of memory mapped into a target for copies of displaced instructions. Every point has its own
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
type slotPools struct{ pools []slotPool }

// slotPool is one such area.
type slotPool struct {
	start, next, end uint64
	free             []uint64
}

const slotArea = 64 << 10

func (ps slotPools) copy() slotPools {
	c := slotPools{pools: append([]slotPool(nil), ps.pools...)}
	for i := range c.pools {
		c.pools[i].free = append([]uint64(nil), c.pools[i].free...)
	}
	return c
}

// take allocates a slot near an address. It returns 0 if there is none.
func (ps *slotPools) take(addr, size uint64) uint64 {
	for i := range ps.pools {
		if p := &ps.pools[i]; inject.Near(p.start, addr) {
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
func (ps *slotPools) give(slot uint64) {
	for i := range ps.pools {
		if p := &ps.pools[i]; slot >= p.start && slot < p.end {
			p.free = append(p.free, slot)
		}
	}
}

// slotFor allocates the point's slot if necessary, through a thread that has hit the point. It returns false if the
// instruction must run in place.
func (c *patcher) slotFor(p *point, t *thread) bool {
	if p.slot != 0 && (!p.unsure || p.fillSlot(t)) {
		return true
	}
	p.slot = 0
	sp := p.sp
	size := uint64(sp.arch.SlotSize())
	slot := sp.slots.take(p.addr, size)
	if slot == 0 {
		if !c.mapSlots(p, t) {
			return false
		}
		slot = sp.slots.take(p.addr, size)
	}
	if slot == 0 {
		return false
	}
	if p.slot = slot; !p.fillSlot(t) {
		sp.slots.give(slot)
		p.slot = 0
	}
	return p.slot != 0
}

// fillSlot writes the copy of a point's instruction into its slot.
func (p *point) fillSlot(t *thread) bool {
	p.unsure = false
	code, err := p.site.OutOfLine(p.slot)
	return err == nil && p.sp.mem.Poke(p.slot, code, t.Tid) == nil
}

// mapSlots makes the target map memory for slots near a point.
func (c *patcher) mapSlots(p *point, t *thread) bool {
	sp := p.sp
	if sp.sealed {
		return false
	}
	sp.sealed = true // until the mapping has succeeded
	if why := t.inject.Filtered(); why != "" {
		c.s.warn(fmt.Sprintf("process %d: %s; instructions are stepped in place, which holds its other threads", t.proc.pid, why))
		return false
	}
	base, err := t.inject.MapNear(p.addr, slotArea)
	if err != nil {
		c.s.warn(fmt.Sprintf("process %d: %v; instructions are stepped in place, which holds its other threads", t.proc.pid, err))
		return false
	}
	sp.sealed = false
	sp.slots.pools = append(sp.slots.pools, slotPool{start: base, next: base, end: base + slotArea})
	return true
}

// unmap unmaps what the session has mapped into a process, through a stopped thread. It is called when the
// process's own SIGTRAP action is restored and all its threads are stopped, not at a breakpoint, or asleep in the
// kernel: then nothing leads to that memory any more. Memory that an earlier session left may still be in use, and
// the program's own SIGTRAP handler may still return through the region; both stay mapped.
func (t *thread) unmap() {
	sp := t.proc.space
	g := &sp.guard
	if sp.users > 1 || g.Left != nil || t.state.Now() == threadstate.Gone {
		return
	}
	number := t.proc.arch.Calls.Munmap
	for _, pool := range sp.slots.pools {
		if _, err := t.inject.Call(number, pool.start, pool.end-pool.start); err != nil {
			return
		}
	}
	sp.slots.pools = nil
	t.unmapIslands()
	if base := g.Base; base != 0 && !t.proc.guard.Catches() {
		g.Base = 0 // so that the call is not made from that region
		t.inject.Call(number, base, fallback.Size)
	}
}
