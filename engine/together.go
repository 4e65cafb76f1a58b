package engine

import (
	"gotap/arch"
	"gotap/engine/crashsafe"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/executor"
)

// Planting breakpoints together.
//
// The places of a probe belong together, and so do the probes of a script: if they were planted one by one while
// the target runs, the first would count hits before the last is planted. So registering probes plants nothing. It
// only prepares: instructions are read, decoded and compared with the file, programs are compiled, and the points
// that need a breakpoint are queued. When all are queued, the threads of the target are stopped, the breakpoints
// are written a page at a time, and the threads resume.
//
// A thread that sleeps in a system call is not stopped: it runs no code, and some calls do not continue exactly
// where they were. If it wakes up during the writing, it stops at the first breakpoint that it reaches, as any
// thread does, and that hit is handled after the last breakpoint has been written. Before that it may run through a
// place that is not written yet, just as if the stop had come a moment later.
//
// A whole page is written back, including bytes that are not ours, only while nothing can change those bytes: no
// thread of the address space runs, and the mapping is private. Otherwise each breakpoint is written separately.

// batch holds the points that wait to be planted together.
type batch struct {
	points  []*point
	counted int // how many of them count against the limit
}

// together runs fn, and then plants the points that fn syncs, in one stop of the target. It returns the points that
// could not be planted, with the reasons.
func (c *patcher) together(fn func()) map[*point]error {
	if c.batch != nil {
		fn()
		return nil
	}
	c.batch = &batch{}
	defer func() { c.batch = nil }()
	fn()
	return c.plantQueued()
}

// queue adds a point to the batch, to be planted with it.
func (c *patcher) queue(p *point) error {
	n := p.Counted()
	if err := c.withinLimit(c.points + c.batch.counted + n); err != nil {
		return err
	}
	p.queued = true
	c.batch.counted += n
	c.batch.points = append(c.batch.points, p)
	return nil
}

// unqueue removes a point from the batch that is no longer wanted.
func (c *patcher) unqueue(p *point) {
	p.queued = false
	c.batch.counted -= p.Counted()
}

// plantQueued plants the queued points.
func (c *patcher) plantQueued() map[*point]error {
	queued := c.batch.points
	c.batch = nil
	bySpace := map[*space][]*point{}
	n := 0
	for _, p := range queued {
		if p.queued && p.sp.points[p.addr] == p {
			p.queued = false
			bySpace[p.sp] = append(bySpace[p.sp], p)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	for sp, points := range bySpace {
		sp.recordAll(points, c.s.world.stoppedTid(sp))
	}
	in := func(sp *space) bool { return bySpace[sp] != nil }
	if n > 1 {
		defer c.s.world.releaseWorld(c.s.world.holdRunning(in))
	}
	c.s.guards.OpenBlockers(guardsOf(bySpace))
	failed := map[*point]error{}
	for sp, points := range bySpace {
		c.s.world.pause(sp)
		for by, places := range c.choose(points, failed) {
			for _, f := range by.Install(places...) {
				failed[f.Place.(*point)] = f.Err
			}
		}
	}
	return failed
}

// choose chooses the executors of points. It adds the points that none fits to failed.
func (c *patcher) choose(points []*point, failed map[*point]error) map[executor.Executor][]executor.Place {
	chosen := map[executor.Executor][]executor.Place{}
	for _, p := range points {
		by, err := c.chooseFor(p)
		if err != nil {
			failed[p] = err
			continue
		}
		p.by = by
		chosen[by] = append(chosen[by], p)
	}
	return chosen
}

// guardsOf returns whether a fallback belongs to one of several address spaces.
func guardsOf[V any](spaces map[*space]V) func(*crashsafe.Space) bool {
	return func(of *crashsafe.Space) bool {
		for sp := range spaces {
			if &sp.guard == of {
				return true
			}
		}
		return false
	}
}

// errChanged returns the error for a point whose instruction has changed since the point was created.
func errChanged(p *point) error {
	return &arch.RefusedError{Addr: p.addr, Reason: "the instruction there has changed"}
}

// recordAll is record for many points.
func (sp *space) recordAll(points []*point, stopped int) {
	list := make([]fallback.Displaced, 0, len(points))
	for _, p := range points {
		list = append(list, fallback.Displaced{Addr: p.addr, Orig: p.orig, Trap: p.trap})
	}
	sp.guard.RecordAll(list, stopped)
}
