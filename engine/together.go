package engine

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"gotap/arch"
	"gotap/engine/backend"
	"gotap/engine/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
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
func (s *Session) together(fn func()) map[*point]error {
	if s.batch != nil {
		fn()
		return nil
	}
	s.batch = &batch{}
	defer func() { s.batch = nil }()
	fn()
	return s.plantQueued()
}

// queue adds a point to the batch, to be planted with it.
func (s *Session) queue(p *point) error {
	n := p.Counted()
	if wanted := s.points + s.batch.counted + n; wanted > s.cfg.MaxProbes {
		return backend.TooManyError{Limit: s.cfg.MaxProbes, Wanted: wanted}
	}
	p.queued = true
	s.batch.counted += n
	s.batch.points = append(s.batch.points, p)
	return nil
}

// unqueue removes a point from the batch that is no longer wanted.
func (s *Session) unqueue(p *point) {
	p.queued = false
	s.batch.counted -= p.Counted()
}

// plantQueued plants the queued points.
func (s *Session) plantQueued() map[*point]error {
	queued := s.batch.points
	s.batch = nil
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
		sp.recordAll(points, s.stoppedTid(sp))
	}
	in := func(sp *space) bool { return bySpace[sp] != nil }
	if n > 1 {
		defer s.releaseWorld(s.holdRunning(in))
	}
	s.openBlockers(in)
	failed := map[*point]error{}
	for sp, points := range bySpace {
		s.pause(sp)
		s.rewrite(sp, points, true, failed)
	}
	return failed
}

// holdRunning stops the threads of the selected address spaces that run code, and returns those that it stopped.
// Threads that sleep in a system call are left alone.
func (s *Session) holdRunning(in func(*space) bool) []*thread {
	var asked, held []*thread
	for _, t := range s.threads {
		if in(t.proc.space) && !t.still() && !asleep(t.tid) && ptrace.Interrupt(t.tid) == 0 {
			asked = append(asked, t)
		}
	}
	for _, t := range asked {
		if s.holdOne(t) {
			held = append(held, t)
		}
	}
	return held
}

// still reports whether a thread runs no code until the session resumes it: it is in a stop, perhaps one that has
// not been handled yet.
func (t *thread) still() bool {
	if t.stopped || t.listening || t.fresh || t.vforking || t.gone {
		return true
	}
	tid, e := ptrace.PeekStop(t.tid, &t.s.special, false)
	return e == 0 && tid == t.tid
}

// allStill reports whether no thread of an address space runs.
func (s *Session) allStill(sp *space) bool {
	for _, t := range s.threads {
		if t.proc.space == sp && !t.still() {
			return false
		}
	}
	return true
}

// rewrite plants or removes breakpoints of one address space. It adds those that fail to failed. Removing a
// breakpoint that is no longer there does not count as a failure.
func (s *Session) rewrite(sp *space, points []*point, plant bool, failed map[*point]error) {
	still := s.allStill(sp)
	eachPage(points, func(page []*point) { s.rewritePage(page, plant, still, failed) })
}

// pageSize is the size of the pages that are written at once: the smallest page size there is.
const pageSize = 4096

// rewritePage is rewrite for points of one page, sorted by address. still means that no thread runs.
func (s *Session) rewritePage(points []*point, plant, still bool, failed map[*point]error) {
	sp, start, last := points[0].sp, points[0].addr, points[len(points)-1]
	page := make([]byte, last.addr+uint64(len(last.trap))-start)
	if len(points) == 1 || sp.mem.Peek(start, page) != nil {
		s.rewriteEach(points, plant, failed)
		return
	}
	var changed []*point
	for _, p := range points {
		there, from, to := page[p.addr-start:][:len(p.trap)], p.orig, p.trap
		if !plant {
			from, to = to, from
		}
		switch {
		case bytes.Equal(there, from):
			copy(there, to)
			changed = append(changed, p)
		case plant:
			failed[p] = errChanged(p)
		default: // somebody else has written to this place
			p.notePlanted(false)
		}
	}
	if !s.writePage(changed, start, page, plant, still && sp.private(start)) {
		s.rewriteEach(changed, plant, failed)
	}
}

// writePage writes a page to which the breakpoints of points were added or from which they were removed: the whole
// range, or only the breakpoints. It reads the memory back, and reports whether everything is as it should be.
func (s *Session) writePage(points []*point, start uint64, page []byte, plant, whole bool) bool {
	if len(points) == 0 {
		return true
	}
	sp := points[0].sp
	stopped := s.stoppedTid(sp)
	if whole && sp.mem.Poke(start, page, stopped) != nil {
		return false
	}
	for _, p := range points {
		if !whole && sp.mem.Poke(p.addr, page[p.addr-start:][:len(p.trap)], stopped) != nil {
			return false
		}
	}
	back := make([]byte, len(page))
	if sp.mem.Peek(start, back) != nil {
		return false
	}
	done := true
	for _, p := range points {
		at := p.addr - start
		if bytes.Equal(back[at:][:len(p.trap)], page[at:][:len(p.trap)]) {
			p.notePlanted(plant)
		} else {
			done = false
		}
	}
	return done
}

// rewriteEach plants or removes breakpoints one by one, where that is still to be done.
func (s *Session) rewriteEach(points []*point, plant bool, failed map[*point]error) {
	for _, p := range points {
		var err error
		switch {
		case plant && !p.planted:
			err = s.plant(p)
		case !plant && p.planted:
			err = s.unplant(p)
		}
		if err != nil {
			failed[p] = err
		}
	}
}

// notePlanted records whether the breakpoint of a point is in the code.
func (p *point) notePlanted(planted bool) {
	if p.planted == planted {
		return
	}
	p.planted = planted
	if planted {
		p.s.points += p.Counted()
	} else {
		p.s.points -= p.Counted()
	}
}

// private reports whether an address is in a private mapping of a module.
func (sp *space) private(addr uint64) bool {
	m := module.Find(sp.mods, addr)
	if m == nil {
		return false
	}
	for _, one := range m.Mappings {
		if addr >= one.Start && addr < one.End {
			return !one.Shared
		}
	}
	return false
}

// errChanged returns the error for a point whose instruction has changed since the point was created.
func errChanged(p *point) error {
	return &arch.RefusedError{Addr: p.addr, Reason: "the instruction there has changed"}
}

// left returns the points of an address space that have a breakpoint in memory, no matter who wrote it. Memory is
// read a page at a time.
func (sp *space) left() (found []*point) {
	points := slices.Collect(maps.Values(sp.points))
	eachPage(points, func(page []*point) {
		start, last := page[0].addr, page[len(page)-1]
		code := make([]byte, last.addr+uint64(len(last.trap))-start)
		n := sp.mem.PeekAvailable(start, code)
		for _, p := range page {
			at := int(p.addr - start)
			read := at+len(p.trap) <= n
			if !bytes.Equal(p.orig, p.trap) && (read && bytes.Equal(code[at:][:len(p.trap)], p.trap) || !read && p.isBreakpoint()) {
				found = append(found, p)
			}
		}
	})
	return found
}

// eachPage calls fn with the points of each page, sorted by address.
func eachPage(points []*point, fn func(page []*point)) {
	slices.SortFunc(points, func(a, b *point) int { return cmp.Compare(a.addr, b.addr) })
	for len(points) > 0 {
		n := 1
		for n < len(points) && points[n].addr/pageSize == points[0].addr/pageSize {
			n++
		}
		fn(points[:n])
		points = points[n:]
	}
}

// recordAll is record for many points.
func (sp *space) recordAll(points []*point, stopped int) {
	if sp.guard.base == 0 {
		return
	}
	list := make([]fallback.Displaced, 0, len(points))
	for _, p := range points {
		list = append(list, fallback.Displaced{Addr: p.addr, Orig: p.orig, Trap: p.trap})
	}
	sp.guard.table.RecordAll(sp.mem, sp.guard.base, list, stopped)
}
