package crashsafe

import (
	"fmt"
	"time"

	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/inline"
	"gotap/engine/linux/ptrace"
)

// Taking over from a session that was killed.
//
// Such a session leaves in the process: its region; breakpoints; threads that have hit a breakpoint and have not yet
// received the signal; threads in the copy of an instruction; threads with signals withheld from them. The handler in
// the region handles all of these by itself. A new session, including the one with which Clean restores the action for
// SIGTRAP, must not remove what the handler needs for that:
//
//   - The table of breakpoints and the list of threads stay as they are, and grow.
//   - If a thread turns out to have hit a breakpoint of the table, the hit is handled as one of a breakpoint that was
//     just removed (LeftHit).
//   - The end of a step that the old session began is passed on to the handler (PassTrap).
//   - The new session starts with the next stub: a thread may still be executing the one that the old session used last
//     (fallback.Stubs).
//   - A thread that is detached gets its own mask and the signals that were withheld from it (SettleLeft).
//
// The CPUs that the old session has set are put back at once (pinned.go).

// LeftRegion is a region found in a process.
type LeftRegion struct {
	Base uint64
	Head fallback.Head
}

// FindRegions finds the regions in a process's memory. The kernel may have merged the mapping with others of its kind,
// so it examines every page that a region can begin at.
func FindRegions(mem *ptrace.Memory, maps []module.Mapping, word int) (found []LeftRegion) {
	const page = 4096
	for _, m := range maps {
		if m.Path != "" || !m.Exec || m.Write {
			continue
		}
		for base := m.Start; base+fallback.Size <= m.End; base += page {
			var p [fallback.HeadSize]byte
			if mem.Peek(base, p[:]) != nil {
				continue
			}
			if head, ok := fallback.ParseHead(p[:], word); ok {
				found = append(found, LeftRegion{base, head})
			}
		}
	}
	return found
}

// leftRegions finds the regions that earlier sessions left.
func (x *Thread) leftRegions() ([]LeftRegion, mappings) {
	maps, err := module.Maps(x.t.Tid)
	if err != nil {
		return nil, nil
	}
	return FindRegions(x.t.Memory(), maps, x.t.ABI().WordSize()), maps
}

// mappings are a process's mappings, sorted by address.
type mappings []module.Mapping

// data reports whether an address is in memory that maps no file and is not executable.
func (all mappings) data(addr uint64) bool {
	for _, m := range all {
		if addr >= m.Start && addr < m.End {
			return !m.File() && !m.Exec
		}
	}
	return false
}

// undoJumps restores the code that jumps of earlier sessions have replaced. The threads that run code are stopped. One
// that sleeps in the kernel could wake up and come to the place in the nanoseconds in which five bytes are copied; no
// thread is behind a jump's first byte.
func (x *Thread) undoJumps(maps mappings) {
	left := leftJumps(x.t.Memory(), maps)
	if len(left) == 0 {
		return
	}
	sp := x.space()
	defer x.in.on.HoldRunning(func(of *Space) bool { return of == sp })()
	for _, j := range left {
		if j.Springboard && !x.process().leavesSpringboard(&j, maps) {
			x.in.warnIn(sp, fmt.Sprintf("process %d: a thread may be in the padding at %#x, where a jump remains", x.t.Of.Pid(), j.Addr))
			continue
		}
		if err := j.Undo(x.t.Memory()); err != nil {
			x.in.warnIn(sp, fmt.Sprintf("process %d: cannot restore the code at %#x: %v", x.t.Of.Pid(), j.Addr, err))
		}
	}
}

// springboardPatience is how long it is waited for threads to be away from springboards.
const springboardPatience = 100 * time.Millisecond

// leavesSpringboard waits until no thread is at a springboard, or may return there from a signal handler, and reports
// whether that has come. The threads that run code are stopped, but for those that have woken up since. No jump leads to
// the springboard any more.
func (p *Process) leavesSpringboard(j *inline.Jump, maps mappings) bool {
	for end := time.Now().Add(springboardPatience); ; time.Sleep(time.Millisecond) {
		if p.offSpringboard(j, maps) {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// offSpringboard moves threads that stand at a springboard to where it leads, and reports whether no other may be there.
func (p *Process) offSpringboard(j *inline.Jump, maps mappings) bool {
	off, at := true, inline.Ranges{{Start: j.Addr, End: j.Addr + 1}}
	to, _ := j.Leads()
	for o := range p.on.Threads() {
		pc, stack, known := o.t.UserPlace()
		if known && pc == 0 { // it has ended
			continue
		}
		if known && pc == j.Addr && o.t.GetRegs() {
			*o.t.PC() = to
			o.t.SetRegs()
			pc = to
		}
		off = off && known && at.Parked(o.t.Memory(), maps, pc, stack, func(inline.Range) { off = false })
	}
	return off
}

// anonymousCode yields the mappings of memory that maps no file and that can be executed, but not written.
func (all mappings) anonymousCode(yield func(inline.Range) bool) {
	for _, m := range all {
		if m.Path == "" && m.Exec && !m.Write && !yield(inline.Range{Start: m.Start, End: m.End}) {
			return
		}
	}
}

// adopt makes one of the regions that were left the session's own, removes the breakpoints of all of them, and returns
// the program's own action for SIGTRAP. now is the current action: the handler of a region, unless it was reset or
// replaced.
func (x *Thread) adopt(found []LeftRegion, maps mappings, now fallback.Action) (own fallback.Action) {
	sp := x.space()
	mine, own := found[0], now
	x.undoJumps(maps)
	for _, r := range found {
		fallback.Restore(x.t.Memory(), r.Base, r.Head, maps.data)
		if _, err := restorePinned(x.t.Of.Pid(), x.t.Memory(), r.Base); err != nil {
			x.in.on.Warn(err.Error())
		}
		switch {
		case now.Handler == fallback.Handler(r.Base):
			mine = r
		case x.t.ABI().Native.Taken(now, r.Head.Own, r.Base): // the kernel reset it
			mine, own = r, r.Head.Own
		}
		if r.Head.Watching {
			x.leftWatched()
		}
	}
	for range found { // the own action of one may be the handler of another
		for _, r := range found {
			if own.Handler == fallback.Handler(r.Base) {
				own = r.Head.Own
			}
		}
	}
	sp.Base, sp.Threads, sp.Stub = mine.Base, mine.Head.Threads, (mine.Head.Stub+1)%fallback.Stubs
	sp.Table = fallback.ReadTable(x.t.Memory(), mine.Base, mine.Head)
	sp.Left = map[int]int{}
	for i := range mine.Head.Threads {
		if kept, ok := fallback.ReadThread(x.t.Memory(), mine.Base, i); ok && kept.Tid != 0 {
			sp.Left[kept.Tid] = i
		}
	}
	for o := range x.process().on.Threads() {
		o.leftStep = true
	}
	x.storeOwn(own)
	_, at, number := fallback.StubPlace(sp.Base, sp.Stub)
	x.t.Memory().Poke(at, number, x.t.Tid)
	return own
}

// leftWatched records that the threads of the process may have debug registers that an earlier session left armed.
func (x *Thread) leftWatched() {
	x.space().Watching = true
	for o := range x.process().on.Threads() {
		o.on.LeftWatched()
	}
}

// LeftHit handles a breakpoint of an earlier session that the thread hit before it was removed, and reports whether it
// was such a hit.
func (x *Thread) LeftHit() bool {
	sp := x.space()
	addr := x.t.ABI().BreakpointPC(*x.t.PC())
	orig, trap, known := sp.Table.Lookup(addr)
	if sp.Left == nil || !known || x.t.SignalCode() != x.t.ABI().TrapCode {
		return false
	}
	now := make([]byte, len(trap))
	if x.t.Memory().Peek(addr, now) == nil && string(now) == trap {
		fallback.Rewrite(x.t.Memory(), addr, []byte(orig), len(trap), x.t.Tid)
	}
	if sp.Contains(addr) { // a call by which the program sets its action
		x.process().set = true
	}
	*x.t.PC() = addr
	x.t.SetRegs()
	x.on.Resume(0)
	return true
}

// SettleLeft does for a stopped thread what the handler would have done at the end of the step during which an earlier
// session was killed.
func (x *Thread) SettleLeft() {
	sp := x.space()
	if sp.Left == nil {
		return
	}
	i, listed := sp.Left[x.t.Tid]
	if !listed {
		return
	}
	delete(sp.Left, x.t.Tid)
	kept, ok := fallback.ReadThread(x.t.Memory(), sp.Base, i)
	if !ok || kept.Tid != x.t.Tid { // the handler has handled it
		return
	}
	at, none := fallback.Thread{}.Entry(sp.Base, i)
	x.t.Memory().Poke(at, none[:], x.t.Tid)
	if kept.Masked {
		ptrace.SetSigMask(x.t.Tid, &kept.Mask)
	}
	for sig := 1; sig <= 64; sig++ {
		if kept.Kept>>(sig-1)&1 == 1 {
			ptrace.SendThread(x.t.Of.Pid(), x.t.Tid, sig)
		}
	}
}
