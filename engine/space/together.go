package space

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
	points  []*Point
	counted int // how many of them count against the limit
}

// Together runs fn, and then plants the points that fn syncs, in one stop of the target. It returns the points that
// could not be planted, with the reasons.
func (c *Patcher) Together(fn func()) map[*Point]error {
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
func (c *Patcher) queue(p *Point) error {
	n := p.Counted()
	if err := c.withinLimit(c.Points + c.batch.counted + n); err != nil {
		return err
	}
	p.Queued = true
	c.batch.counted += n
	c.batch.points = append(c.batch.points, p)
	return nil
}

// unqueue removes a point from the batch that is no longer wanted.
func (c *Patcher) unqueue(p *Point) {
	p.Queued = false
	c.batch.counted -= p.Counted()
}

// plantQueued plants the queued points.
func (c *Patcher) plantQueued() map[*Point]error {
	queued := c.batch.points
	c.batch = nil
	bySpace := map[*Space][]*Point{}
	n := 0
	for _, p := range queued {
		if p.Queued && p.Space.ByAddr[p.Addr] == p {
			p.Queued = false
			bySpace[p.Space] = append(bySpace[p.Space], p)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	for sp, points := range bySpace {
		sp.recordAll(points, c.on.StoppedTid(sp))
	}
	in := func(sp *Space) bool { return bySpace[sp] != nil }
	if n > 1 {
		defer c.on.HoldRunning(in)()
	}
	c.on.OpenBlockers(guardsOf(bySpace))
	failed := map[*Point]error{}
	for sp, points := range bySpace {
		c.on.Pause(sp)
		for by, places := range c.choose(points, failed) {
			for _, f := range by.Install(places...) {
				failed[f.Place.(*Point)] = f.Err
			}
		}
	}
	return failed
}

// choose chooses the executors of points. It adds the points that none fits to failed.
func (c *Patcher) choose(points []*Point, failed map[*Point]error) map[executor.Executor][]executor.Place {
	chosen := map[executor.Executor][]executor.Place{}
	for _, p := range points {
		by, err := c.chooseFor(p)
		if err != nil {
			failed[p] = err
			continue
		}
		p.By = by
		chosen[by] = append(chosen[by], p)
	}
	return chosen
}

// guardsOf returns whether a fallback belongs to one of several address spaces.
func guardsOf[V any](spaces map[*Space]V) func(*crashsafe.Space) bool {
	return func(of *crashsafe.Space) bool {
		for sp := range spaces {
			if &sp.Guard == of {
				return true
			}
		}
		return false
	}
}

// errChanged returns the error for a point whose instruction has changed since the point was created.
func errChanged(p *Point) error {
	return &arch.RefusedError{Addr: p.Addr, Reason: "the instruction there has changed"}
}

// recordAll is record for many points.
func (sp *Space) recordAll(points []*Point, stopped int) {
	list := make([]fallback.Displaced, 0, len(points))
	for _, p := range points {
		list = append(list, fallback.Displaced{Addr: p.Addr, Orig: p.Orig, Trap: p.Trap})
	}
	sp.Guard.RecordAll(list, stopped)
}
