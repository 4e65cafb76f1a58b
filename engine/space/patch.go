package space

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
)

// rewrite plants or removes breakpoints of one address space. It adds those that fail to failed. Removing a
// breakpoint that somebody has overwritten succeeds.
func (c *Patcher) rewrite(points []*Point, plant bool, failed map[*Point]error) {
	still := c.on.AllStill(points[0].Space)
	eachPage(points, func(page []*Point) { c.rewritePage(page, plant, still, failed) })
}

// pageSize is the size of the pages that are written at once: the smallest page size there is.
const pageSize = 4096

// rewritePage is rewrite for points of one page, sorted by address. still means that no thread runs.
func (c *Patcher) rewritePage(points []*Point, plant, still bool, failed map[*Point]error) {
	sp, start, last := points[0].Space, points[0].Addr, points[len(points)-1]
	page := make([]byte, last.Addr+uint64(len(last.Trap))-start)
	if len(points) == 1 || sp.Mem.Peek(start, page) != nil {
		c.rewriteEach(points, plant, failed)
		return
	}
	var changed []*Point
	for _, p := range points {
		there, from, to := page[p.Addr-start:][:len(p.Trap)], p.Orig, p.Trap
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
			p.NotePlanted(false)
		}
	}
	if !c.writePage(changed, start, page, plant, still && sp.Private(start)) {
		c.rewriteEach(changed, plant, failed)
	}
}

// writePage writes a page to which the breakpoints of points were added or from which they were removed: the whole
// range, or only the breakpoints. It reads the memory back, and reports whether everything is as it should be.
func (c *Patcher) writePage(points []*Point, start uint64, page []byte, plant, whole bool) bool {
	if len(points) == 0 {
		return true
	}
	sp := points[0].Space
	stopped := c.on.StoppedTid(sp)
	if whole && sp.Mem.Poke(start, page, stopped) != nil {
		return false
	}
	for _, p := range points {
		if !whole && sp.Mem.Poke(p.Addr, page[p.Addr-start:][:len(p.Trap)], stopped) != nil {
			return false
		}
	}
	back := make([]byte, len(page))
	if sp.Mem.Peek(start, back) != nil {
		return false
	}
	done := true
	for _, p := range points {
		at := p.Addr - start
		if bytes.Equal(back[at:][:len(p.Trap)], page[at:][:len(p.Trap)]) {
			p.NotePlanted(plant)
		} else {
			done = false
		}
	}
	return done
}

// rewriteEach plants or removes breakpoints one by one, where that is still to be done.
func (c *Patcher) rewriteEach(points []*Point, plant bool, failed map[*Point]error) {
	for _, p := range points {
		if err := c.rewriteOne(p, plant); err != nil {
			failed[p] = err
		}
	}
}

// rewriteOne plants or removes a breakpoint, if that is still to be done.
func (c *Patcher) rewriteOne(p *Point, plant bool) error {
	switch {
	case plant && !p.Planted:
		return c.plant(p)
	case !plant && p.Planted:
		return c.unplant(p)
	}
	return nil
}

// NotePlanted records whether the breakpoint of a point is in the code.
func (p *Point) NotePlanted(planted bool) {
	if p.Planted == planted {
		return
	}
	p.Planted = planted
	if planted {
		p.c.Points += p.Counted()
	} else {
		p.c.Points -= p.Counted()
	}
}

// StillPatched returns those of an address space's points that have a breakpoint in memory, no matter who wrote it.
// Memory is read a page at a time.
func StillPatched(points []*Point) (found []*Point) {
	eachPage(points, func(page []*Point) {
		sp, start, last := page[0].Space, page[0].Addr, page[len(page)-1]
		code := make([]byte, last.Addr+uint64(len(last.Trap))-start)
		n := sp.Mem.PeekAvailable(start, code)
		for _, p := range page {
			at := int(p.Addr - start)
			read := at+len(p.Trap) <= n
			if !bytes.Equal(p.Orig, p.Trap) && (read && bytes.Equal(code[at:][:len(p.Trap)], p.Trap) || !read && p.IsBreakpoint()) {
				found = append(found, p)
			}
		}
	})
	return found
}

// eachPage calls fn with the points of each page, sorted by address.
func eachPage(points []*Point, fn func(page []*Point)) {
	slices.SortFunc(points, func(a, b *Point) int { return cmp.Compare(a.Addr, b.Addr) })
	for len(points) > 0 {
		n := 1
		for n < len(points) && points[n].Addr/pageSize == points[0].Addr/pageSize {
			n++
		}
		fn(points[:n])
		points = points[n:]
	}
}

// Sync plants the breakpoint of a point if it is wanted, and removes it if not. While a batch is collected, the
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
func (c *Patcher) Sync(p *Point) error {
	want := p.wanted() && !c.on.Closing()
	if want && !p.Planted && !p.Queued {
		c.set.Jumps.Uncover(p.Space, p.Addr)
	}
	switch {
	case p.Space.fresh:
	case want && p.Queued:
	case want && p.Planted:
		return p.By.Replace(p)
	case want && c.batch != nil && p.Internal == nil && len(p.Resolvers) == 0:
		return c.queue(p)
	case want:
		return c.install(p)
	case p.Queued:
		c.unqueue(p)
	case p.Planted:
		return executor.Err(p.By.Remove(p))
	}
	return nil
}

// install makes the programs of a point run that is wanted.
func (c *Patcher) install(p *Point) error {
	if err := c.withinLimit(c.Points + p.Counted()); err != nil {
		return err
	}
	by, err := c.chooseFor(p)
	if err == nil {
		err = executor.Err(by.Install(p))
	}
	if err == nil {
		p.By = by
	}
	return err
}

// withinLimit returns an error for more places than the session may have.
func (c *Patcher) withinLimit(places int) error {
	if most := c.set.MaxPoints; places > most {
		return backend.TooManyError{Limit: most, Wanted: places}
	}
	return nil
}

// plant plants the breakpoint of a point.
func (c *Patcher) plant(p *Point) error {
	now, err := p.Present()
	if err != nil {
		return fmt.Errorf("cannot place a probe at %#x: %w", p.Addr, err)
	}
	if !bytes.Equal(now, p.Orig) {
		return errChanged(p)
	}
	stopped := c.on.StoppedTid(p.Space)
	p.Space.Guard.Record(p.Addr, p.Orig, p.Trap, stopped)
	if err := c.writeCode(p, p.Trap, stopped); err != nil {
		return fmt.Errorf("cannot place a probe at %#x: %w", p.Addr, err)
	}
	p.NotePlanted(true)
	return nil
}

// writeCode writes a breakpoint, or the bytes that it displaces. stopped is a stopped thread, or 0.
func (c *Patcher) writeCode(p *Point, code []byte, stopped int) error {
	c.on.Pause(p.Space)
	return p.Space.Mem.Poke(p.Addr, code, stopped)
}

// unplant restores the original bytes. If the memory no longer contains the breakpoint, somebody else has written
// there and it is left alone.
func (c *Patcher) unplant(p *Point) error {
	p.NotePlanted(false)
	return c.Restore(p, c.on.StoppedTid(p.Space))
}

// Restore writes the original bytes over a breakpoint and reads them back. stopped is a stopped thread, or 0.
func (c *Patcher) Restore(p *Point, stopped int) error {
	now, err := p.Present()
	if err != nil {
		return backend.ErrGone
	}
	if !bytes.Equal(now, p.Trap) {
		return nil
	}
	if err := c.writeCode(p, p.Orig, stopped); err != nil {
		if _, gone := p.Present(); gone != nil { // the process was killed meanwhile
			return backend.ErrGone
		}
		return fmt.Errorf("cannot restore the instruction at %#x: %w", p.Addr, err)
	}
	if now, err = p.Present(); err != nil {
		return backend.ErrGone
	}
	if !bytes.Equal(now, p.Orig) {
		return fmt.Errorf("cannot restore the instruction at %#x: there is %x, not %x", p.Addr, now, p.Orig)
	}
	return nil
}

// Replant restores a breakpoint that was removed for one instruction of a thread. The other threads that share the
// memory are held.
func (c *Patcher) Replant(p *Point, t *tracee.Thread) {
	if !p.wanted() {
		return
	}
	err := p.Space.Mem.Poke(p.Addr, p.Trap, t.Tid)
	if err == nil {
		p.Planted = true
		return
	}
	p.NotePlanted(false)
	if _, gone := p.Present(); gone == nil {
		c.on.Warn(fmt.Sprintf("cannot put the breakpoint at %#x of process %d back: %v", p.Addr, t.Of.Pid(), err))
	}
}

// PlantLanding plants a breakpoint at which a thread stops after one instruction. All other threads that
// share the memory are held, and it is removed before they run. ok is false if the memory cannot be written.
func (c *Patcher) PlantLanding(sp *Space, addr uint64, trap []byte, stopped int) (l Landing, ok bool) {
	l = Landing{addr: addr, old: make([]byte, len(trap))}
	return l, sp.Mem.Peek(addr, l.old) == nil && sp.Mem.Poke(addr, trap, stopped) == nil
}

// RemoveLanding removes the breakpoint.
func (c *Patcher) RemoveLanding(sp *Space, l Landing, stopped int) {
	sp.Mem.Poke(l.addr, l.old, stopped)
}

// RestoreAll removes everything that points have put into an address space. Memory that no longer exists is not an
// error.
func (c *Patcher) RestoreAll(sp *Space) error {
	planted := map[executor.Executor][]executor.Place{}
	for _, p := range sp.ByAddr {
		if p.Planted {
			planted[p.By] = append(planted[p.By], p)
		}
	}
	var all error
	for by, places := range planted {
		for _, f := range by.Remove(places...) {
			if !errors.Is(f.Err, backend.ErrGone) {
				all = errors.Join(all, f.Err)
			}
		}
	}
	c.set.Jumps.Silence(sp)
	return all
}

// SettleChild makes the breakpoints in a forked child's memory what they should be, at the end of the child's first
// stop.
//
// Until then nothing is planted there. A child may be created while its parent blocks SIGTRAP or has no handler for it,
// before the parent's breakpoints are planted. Its copy of the memory has none, and it would run unharmed if the
// session were killed. With breakpoints it would end at the first of them. In its first stop SIGTRAP is unblocked and
// the handler installed. The child has not run since copyPoints noted which breakpoints its memory has.
func (c *Patcher) SettleChild(sp *Space) {
	if !sp.fresh {
		return
	}
	sp.fresh = false
	if c.on.Closing() {
		if err := c.RestoreAll(sp); err != nil {
			c.warnIn(sp, err)
		}
		return
	}
	for _, kind := range slices.Backward(crashsafe.RemovalOrder) {
		for _, q := range sp.ByAddr {
			if q.Guard.Call == kind {
				c.settlePoint(q)
			}
		}
	}
}

// settlePoint plants the breakpoint of a point in a child's memory if it is wanted, and removes it if not.
func (c *Patcher) settlePoint(q *Point) {
	c.set.Jumps.Settle(q)
	want := q.wanted()
	if q.By == nil {
		by, err := c.Executors.For(q)
		want = want && err == nil
		q.By = by
	}
	if q.Planted != want {
		c.on.Checkpoint(tracee.InFork)
	}
	if err := c.rewriteOne(q, want); err != nil {
		c.warnIn(q.Space, err)
	}
}

// Verify makes sure that nothing is left in an address space of what points had put there.
func (c *Patcher) Verify(sp *Space) error {
	used := map[executor.Executor][]executor.Place{}
	for _, p := range sp.ByAddr {
		if p.By != nil {
			used[p.By] = append(used[p.By], p)
		}
	}
	var all error
	for by, places := range used {
		all = errors.Join(all, by.Verify(places))
	}
	return all
}

// Bar removes, for good, a breakpoint that must not be in the code.
func (c *Patcher) Bar(p *Point, pid int) {
	p.barred = true
	reason := fmt.Sprintf("%#x: it is in the way of a restartable sequence, which would never come to its end", p.Addr)
	for _, pl := range p.Enters {
		pl.Probe.Miss()
		pl.Probe.Refuse(reason)
	}
	c.on.Warn(fmt.Sprintf("process %d: the probe is taken out of %s", pid, reason))
	if err := c.Sync(p); err != nil {
		c.on.Warn(err.Error())
	}
}

// Repatch restores the breakpoints that were removed for a surrendered child.
func (c *Patcher) Repatch(sp *Space) {
	if !sp.Unpatched {
		return
	}
	sp.Unpatched = false
	for _, p := range sp.ByAddr {
		if err := c.Sync(p); err != nil {
			c.warnIn(sp, err)
		}
	}
}

// WatchInternally plants one of the session's own breakpoints, unless the address has one already.
func (c *Patcher) WatchInternally(sp *Space, m *module.Loaded, vaddr uint64, do Action) {
	p, err := c.PointAt(sp, m.Addr(vaddr), m)
	if err != nil || p.Internal != nil {
		return
	}
	p.Internal = do
	if c.Sync(p) != nil {
		p.Internal = nil
	}
}

// Landing is a temporary breakpoint.
type Landing struct {
	addr uint64
	old  []byte
}
