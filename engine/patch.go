package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gotap/engine/backend"
	"gotap/engine/crashsafe"
	"gotap/engine/executor"
	"gotap/engine/image/module"
	"gotap/engine/tracee"
	"gotap/runtime/ranges"
)

// patcher makes the points of addresses and writes their breakpoints into the code of targets, one by one or together.
type patcher struct {
	s          *Session
	points     int    // armed probe points
	batch      *batch // nil: points are planted one by one
	executors  executor.List
	callPoints int // points on system call instructions
	calls      nativeCalls
	freeRanges []*ranges.Table // of address spaces that no longer exist
	noJumps    error           // why no program runs without a stop; nil: it may
	rested     []*point        // to be armed when probes no longer rest (package throttle)
}

// rewrite plants or removes breakpoints of one address space. It adds those that fail to failed. Removing a
// breakpoint that somebody has overwritten succeeds.
func (c *patcher) rewrite(points []*point, plant bool, failed map[*point]error) {
	still := c.s.world.allStill(points[0].sp)
	eachPage(points, func(page []*point) { c.rewritePage(page, plant, still, failed) })
}

// pageSize is the size of the pages that are written at once: the smallest page size there is.
const pageSize = 4096

// rewritePage is rewrite for points of one page, sorted by address. still means that no thread runs.
func (c *patcher) rewritePage(points []*point, plant, still bool, failed map[*point]error) {
	sp, start, last := points[0].sp, points[0].addr, points[len(points)-1]
	page := make([]byte, last.addr+uint64(len(last.trap))-start)
	if len(points) == 1 || sp.mem.Peek(start, page) != nil {
		c.rewriteEach(points, plant, failed)
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
	if !c.writePage(changed, start, page, plant, still && sp.private(start)) {
		c.rewriteEach(changed, plant, failed)
	}
}

// writePage writes a page to which the breakpoints of points were added or from which they were removed: the whole
// range, or only the breakpoints. It reads the memory back, and reports whether everything is as it should be.
func (c *patcher) writePage(points []*point, start uint64, page []byte, plant, whole bool) bool {
	if len(points) == 0 {
		return true
	}
	sp := points[0].sp
	stopped := c.s.world.stoppedTid(sp)
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
func (c *patcher) rewriteEach(points []*point, plant bool, failed map[*point]error) {
	for _, p := range points {
		if err := c.rewriteOne(p, plant); err != nil {
			failed[p] = err
		}
	}
}

// rewriteOne plants or removes a breakpoint, if that is still to be done.
func (c *patcher) rewriteOne(p *point, plant bool) error {
	switch {
	case plant && !p.planted:
		return c.plant(p)
	case !plant && p.planted:
		return c.unplant(p)
	}
	return nil
}

// notePlanted records whether the breakpoint of a point is in the code.
func (p *point) notePlanted(planted bool) {
	if p.planted == planted {
		return
	}
	p.planted = planted
	if planted {
		p.s.patcher.points += p.Counted()
	} else {
		p.s.patcher.points -= p.Counted()
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

// stillPatched returns those of an address space's points that have a breakpoint in memory, no matter who wrote it. Memory is
// read a page at a time.
func stillPatched(points []*point) (found []*point) {
	eachPage(points, func(page []*point) {
		sp, start, last := page[0].sp, page[0].addr, page[len(page)-1]
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

// sync plants the breakpoint of a point if it is wanted, and removes it if not. While a batch is collected, the
// breakpoint is planted with the batch: see together.go. The engine's own breakpoints are planted at once. In a child
// that has not come to its first stop, nothing is planted: see settleChild.
//
// Writing while threads run is safe on x86. The breakpoint is one byte, and a byte is written atomically: another
// processor that fetches the instruction meanwhile sees either the complete old instruction or the new first byte.
// With the new byte it traps at the first byte, and the remaining bytes mean nothing. No thread can be between the
// first byte and the rest, because an instruction is not interrupted in the middle. (A repeated string instruction
// can be, but it is fetched again from its first byte and is then hit; the step continues it.) The write goes to a
// private copy of the page, so no other process sees it. The kernel maps the copy in place of the old page and
// flushes the translations of other processors before they continue. A processor that has already fetched the old
// byte ran the instruction before the probe was armed, as far as anyone can tell.
func (c *patcher) sync(p *point) error {
	want := p.wanted() && !c.s.life.closing
	if want && !p.planted && !p.queued {
		c.uncover(p.sp, p.addr)
	}
	switch {
	case p.sp.fresh:
	case want && p.queued:
	case want && p.planted:
		return p.by.Replace(p)
	case want && c.batch != nil && p.internal == nil && len(p.resolvers) == 0:
		return c.queue(p)
	case want:
		return c.install(p)
	case p.queued:
		c.unqueue(p)
	case p.planted:
		return executor.Err(p.by.Remove(p))
	}
	return nil
}

// install makes the programs of a point run that is wanted.
func (c *patcher) install(p *point) error {
	if err := c.withinLimit(c.points + p.Counted()); err != nil {
		return err
	}
	by, err := c.chooseFor(p)
	if err == nil {
		err = executor.Err(by.Install(p))
	}
	if err == nil {
		p.by = by
	}
	return err
}

// withinLimit returns an error for more places than the session may have.
func (c *patcher) withinLimit(places int) error {
	if most := c.s.cfg.MaxProbes; places > most {
		return backend.TooManyError{Limit: most, Wanted: places}
	}
	return nil
}

// plant plants the breakpoint of a point.
func (c *patcher) plant(p *point) error {
	now, err := p.present()
	if err != nil {
		return fmt.Errorf("cannot place a probe at %#x: %w", p.addr, err)
	}
	if !bytes.Equal(now, p.orig) {
		return errChanged(p)
	}
	stopped := c.s.world.stoppedTid(p.sp)
	p.sp.guard.Record(p.addr, p.orig, p.trap, stopped)
	if err := c.writeCode(p, p.trap, stopped); err != nil {
		return fmt.Errorf("cannot place a probe at %#x: %w", p.addr, err)
	}
	p.notePlanted(true)
	return nil
}

// writeCode writes a breakpoint, or the bytes that it displaces. stopped is a stopped thread, or 0.
func (c *patcher) writeCode(p *point, code []byte, stopped int) error {
	c.s.world.pause(p.sp)
	return p.sp.mem.Poke(p.addr, code, stopped)
}

// unplant restores the original bytes. If the memory no longer contains the breakpoint, somebody else has written
// there and it is left alone.
func (c *patcher) unplant(p *point) error {
	p.notePlanted(false)
	return c.restore(p, c.s.world.stoppedTid(p.sp))
}

// restore writes the original bytes over a breakpoint and reads them back. stopped is a stopped thread, or 0.
func (c *patcher) restore(p *point, stopped int) error {
	now, err := p.present()
	if err != nil {
		return errGone
	}
	if !bytes.Equal(now, p.trap) {
		return nil
	}
	if err := c.writeCode(p, p.orig, stopped); err != nil {
		if _, gone := p.present(); gone != nil { // the process was killed meanwhile
			return errGone
		}
		return fmt.Errorf("cannot restore the instruction at %#x: %w", p.addr, err)
	}
	if now, err = p.present(); err != nil {
		return errGone
	}
	if !bytes.Equal(now, p.orig) {
		return fmt.Errorf("cannot restore the instruction at %#x: there is %x, not %x", p.addr, now, p.orig)
	}
	return nil
}

// replant restores a breakpoint that was removed for one instruction of a thread. The other threads that share the
// memory are held.
func (c *patcher) replant(p *point, t *thread) {
	if !p.wanted() {
		return
	}
	err := p.sp.mem.Poke(p.addr, p.trap, t.Tid)
	if err == nil {
		p.planted = true
		return
	}
	p.notePlanted(false)
	if _, gone := p.present(); gone == nil {
		c.s.warn(fmt.Sprintf("cannot put the breakpoint at %#x of process %d back: %v", p.addr, t.proc.pid, err))
	}
}

// plantLanding plants a breakpoint at which a thread stops after one instruction (inplacearm.go). All other threads that
// share the memory are held, and it is removed before they run. ok is false if the memory cannot be written.
func (c *patcher) plantLanding(sp *space, addr uint64, trap []byte, stopped int) (l landing, ok bool) {
	l = landing{addr: addr, old: make([]byte, len(trap))}
	return l, sp.mem.Peek(addr, l.old) == nil && sp.mem.Poke(addr, trap, stopped) == nil
}

// removeLanding removes the breakpoint.
func (c *patcher) removeLanding(sp *space, l landing, stopped int) {
	sp.mem.Poke(l.addr, l.old, stopped)
}

// restoreAll removes everything that points have put into an address space. Memory that no longer exists is not an
// error.
func (c *patcher) restoreAll(sp *space) error {
	planted := map[executor.Executor][]executor.Place{}
	for _, p := range sp.points {
		if p.planted {
			planted[p.by] = append(planted[p.by], p)
		}
	}
	var all error
	for by, places := range planted {
		for _, f := range by.Remove(places...) {
			if !errors.Is(f.Err, errGone) {
				all = errors.Join(all, f.Err)
			}
		}
	}
	c.silenceBells(sp)
	return all
}

// settleChild makes the breakpoints in a forked child's memory what they should be, at the end of the child's first stop.
//
// Until then nothing is planted there. A child may be created while its parent blocks SIGTRAP or has no handler for it,
// before the parent's breakpoints are planted. Its copy of the memory has none, and it would run unharmed if the session
// were killed. With breakpoints it would end at the first of them. In its first stop SIGTRAP is unblocked and the
// handler installed. The child has not run since copyPoints noted which breakpoints its memory has.
func (c *patcher) settleChild(sp *space) {
	if !sp.fresh {
		return
	}
	sp.fresh = false
	if c.s.life.closing {
		if err := c.restoreAll(sp); err != nil {
			c.s.warnIn(sp, err.Error())
		}
		return
	}
	for _, kind := range slices.Backward(crashsafe.RemovalOrder) {
		for _, q := range sp.points {
			if q.guard.Call == kind {
				c.settlePoint(q)
			}
		}
	}
}

// settlePoint plants the breakpoint of a point in a child's memory if it is wanted, and removes it if not.
func (c *patcher) settlePoint(q *point) {
	c.settleJump(q)
	want := q.wanted()
	if q.by == nil {
		by, err := c.executors.For(q)
		want = want && err == nil
		q.by = by
	}
	if q.planted != want {
		c.s.passed(tracee.InFork)
	}
	if err := c.rewriteOne(q, want); err != nil && !errors.Is(err, errGone) {
		c.s.warnIn(q.sp, err.Error())
	}
}

// verify makes sure that nothing is left in an address space of what points had put there.
func (c *patcher) verify(sp *space) error {
	used := map[executor.Executor][]executor.Place{}
	for _, p := range sp.points {
		if p.by != nil {
			used[p.by] = append(used[p.by], p)
		}
	}
	var all error
	for by, places := range used {
		all = errors.Join(all, by.Verify(places))
	}
	return all
}
