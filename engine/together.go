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
// The places of a probe belong together, and so do the probes of a script: were they planted one by one while the target runs, the
// first would count before the last is there. So registering probes plants nothing. It prepares: instructions are read, decoded and
// compared with the file, programs are compiled, and the points that want a breakpoint are queued. When all are queued, the
// threads of the target are stopped, the breakpoints are written a page at a time, and the threads go on.
//
// A thread that sleeps in a system call is not stopped: it runs no code, and some calls do not go on exactly where they were. When
// it wakes up in the middle of the writing it stops at the first breakpoint it meets, as every thread does, and that hit is dealt
// with after the last breakpoint has been written. Before that it may have run through a place that was still to be written, as it
// would have if the stop had come a moment later.
//
// A page is written back whole, with bytes that are not ours, only while nothing can change those: no thread of the address space
// runs, and the mapping is private. Otherwise each breakpoint is written by itself.

// batch is the points that wait to be planted together.
type batch struct {
	points  []*point
	counted int // of these, those that count against the limit
}

// together runs fn, and plants what it syncs in one stop of the target afterwards. The result has the points that could not be
// planted, with the reason.
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

// queue has a point planted with the others of the batch.
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

// unqueue is for a point that nobody wants any more before it has been planted.
func (s *Session) unqueue(p *point) {
	p.queued = false
	s.batch.counted -= p.Counted()
}

// plantQueued plants what has been queued.
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

// holdRunning stops the threads of certain address spaces that run code, and returns those that it has stopped. Threads that sleep in a
// system call are left alone.
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

// still reports whether a thread runs nothing until the session lets it: it is in a stop, perhaps one that has not been dealt with.
func (t *thread) still() bool {
	if t.stopped || t.listening || t.fresh || t.vforking || t.gone {
		return true
	}
	tid, e := ptrace.PeekStop(t.tid, &t.s.special, false)
	return e == 0 && tid == t.tid
}

// allStill reports whether no thread runs that has an address space.
func (s *Session) allStill(sp *space) bool {
	for _, t := range s.threads {
		if t.proc.space == sp && !t.still() {
			return false
		}
	}
	return true
}

// rewrite plants breakpoints of one address space, or takes them out. What could not be done is added to failed; that a breakpoint is no longer there
// is no failure to take it out.
func (s *Session) rewrite(sp *space, points []*point, plant bool, failed map[*point]error) {
	still := s.allStill(sp)
	eachPage(points, func(page []*point) { s.rewritePage(page, plant, still, failed) })
}

// pageSize is that of the pages that are written at once: the smallest there are.
const pageSize = 4096

// rewritePage is rewrite for points of one page, in the order of their addresses. still says that no thread runs.
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
		default: // somebody else has written there
			p.notePlanted(false)
		}
	}
	if !s.writePage(changed, start, page, plant, still && sp.private(start)) {
		s.rewriteEach(changed, plant, failed)
	}
}

// writePage writes a page in which the breakpoints of points have been put, or taken out: whole, or only those. What is there is read back. It reports
// false when not everything is as it should be.
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

// rewriteEach plants breakpoints one by one, or takes them out, where that has yet to be done.
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

// notePlanted notes whether the breakpoint of a point is in the code.
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

// errChanged says that the instruction of a point is another one than it was when the point was made.
func errChanged(p *point) error {
	return &arch.RefusedError{Addr: p.addr, Reason: "the instruction there has changed"}
}

// left is the points of an address space at which there is a breakpoint in memory, whoever put it there. Memory is read a page at a time.
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

// eachPage calls fn with the points of each page, in the order of their addresses.
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
