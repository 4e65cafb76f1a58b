package engine

import (
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
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
//     just removed (leftHit).
//   - The end of a step that the old session began is passed on to the handler (passTrap).
//   - The new session starts with the next stub: a thread may still be executing the one that the old session used last
//     (fallback.Stubs).
//   - A thread that is detached gets its own mask and the signals that were withheld from it (settleLeft).

// region is a fallback found in a process.
type region struct {
	base uint64
	head fallback.Head
}

// regionsOf finds the regions in a process's memory. The kernel may have merged the mapping with others of its kind, so
// it examines every page that a region can begin at.
func regionsOf(mem *ptrace.Memory, maps []module.Mapping, word int) (found []region) {
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
				found = append(found, region{base, head})
			}
		}
	}
	return found
}

// leftRegions finds the regions that earlier sessions left.
func (k *protection) leftRegions() ([]region, mappings) {
	maps, err := module.Maps(k.t.Tid)
	if err != nil {
		return nil, nil
	}
	return regionsOf(k.t.proc.space.mem, maps, k.t.proc.arch.WordSize()), maps
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

// adopt makes one of the regions that were left the session's own, removes the breakpoints of all of them, and returns
// the program's own action for SIGTRAP. now is the current action: the handler of a region, unless it was reset or
// replaced.
func (k *protection) adopt(found []region, maps mappings, now fallback.Action) (own fallback.Action) {
	sp := k.t.proc.space
	mine, own := found[0], now
	for _, r := range found {
		fallback.Restore(sp.mem, r.base, r.head, maps.data)
		switch {
		case now.Handler == fallback.Handler(r.base):
			mine = r
		case now.TakenFrom(r.head.Own, r.base): // the kernel reset it
			mine, own = r, r.head.Own
		}
		if r.head.Watching {
			k.t.proc.leftWatched()
		}
	}
	for range found { // the own action of one may be the handler of another
		for _, r := range found {
			if own.Handler == fallback.Handler(r.base) {
				own = r.head.Own
			}
		}
	}
	g := &sp.guard
	g.Base, g.Threads, g.Stub = mine.base, mine.head.Threads, (mine.head.Stub+1)%fallback.Stubs
	g.Table = fallback.ReadTable(sp.mem, mine.base, mine.head)
	g.Left = map[int]int{}
	for i := range mine.head.Threads {
		if kept, ok := fallback.ReadThread(sp.mem, mine.base, i); ok && kept.Tid != 0 {
			g.Left[kept.Tid] = i
		}
	}
	for _, o := range k.t.proc.threads {
		o.protection.leftStep = true
	}
	head := make([]byte, fallback.HeadSize)
	if sp.mem.Peek(g.Base, head) == nil {
		fallback.SetOwn(head, g.Base, own, k.t.proc.arch.WordSize())
		sp.mem.Poke(g.Base, head, k.t.Tid)
	}
	_, at, number := fallback.StubPlace(g.Base, g.Stub)
	sp.mem.Poke(at, number, k.t.Tid)
	return own
}

// leftHit handles a breakpoint of an earlier session that the thread hit before it was removed, and reports whether it
// was such a hit.
func (k *protection) leftHit() bool {
	sp := k.t.proc.space
	addr := k.t.proc.arch.BreakpointPC(*k.t.PC())
	orig, trap, known := sp.guard.Table.Lookup(addr)
	if sp.guard.Left == nil || !known || k.t.SignalCode() != k.t.proc.arch.TrapCode {
		return false
	}
	now := make([]byte, len(trap))
	if sp.mem.Peek(addr, now) == nil && string(now) == trap {
		sp.mem.Poke(addr, []byte(orig), k.t.Tid)
	}
	*k.t.PC() = addr
	k.t.SetRegs()
	k.t.resume(0)
	return true
}

// settleLeft does for a stopped thread what the handler would have done at the end of the step during which an earlier
// session was killed.
func (k *protection) settleLeft() {
	sp := k.t.proc.space
	if sp.guard.Left == nil {
		return
	}
	i, listed := sp.guard.Left[k.t.Tid]
	if !listed {
		return
	}
	delete(sp.guard.Left, k.t.Tid)
	kept, ok := fallback.ReadThread(sp.mem, sp.guard.Base, i)
	if !ok || kept.Tid != k.t.Tid { // the handler has handled it
		return
	}
	at, none := fallback.Thread{}.Entry(sp.guard.Base, i)
	sp.mem.Poke(at, none[:], k.t.Tid)
	if kept.Masked {
		ptrace.SetSigMask(k.t.Tid, &kept.Mask)
	}
	for sig := 1; sig <= 64; sig++ {
		if kept.Kept>>(sig-1)&1 == 1 {
			ptrace.SendThread(k.t.proc.pid, k.t.Tid, sig)
		}
	}
}
