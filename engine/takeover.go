package engine

import (
	"gotap/engine/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
)

// Taking over from a session that was killed.
//
// Such a session leaves its region in the process, breakpoints, threads that have hit one and have yet to be sent the signal, threads in the
// copy of an instruction, and threads with signals kept from them. The handler in the region deals with all of them by itself. A new
// session, the one by which Clean puts the action for SIGTRAP back among them, must not take away what the handler needs for that:
//
//   - The table of breakpoints and the list of threads stay as they are, and grow.
//   - A breakpoint of the table that a thread turns out to have hit is handled as one that was just taken out (leftHit).
//   - The end of a step that the old session began is passed on to the handler (passTrap).
//   - The stub that the old session last used is left alone: a thread may be on its way through it (fallback.Stubs).
//   - A thread that is let go gets its own mask, and the signals that were kept from it (settleLeft).

// left is what a process has of an earlier session.
type left struct {
	threads map[int]int // numbers of threads that signals were kept from, with their entries in the list
}

// region is a fallback found in a process.
type region struct {
	base uint64
	head fallback.Head
}

// regionsOf finds the regions in a process's memory. The kernel may have merged the mapping with others of its kind, so every page is looked
// at that a region can begin with.
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
func (t *thread) leftRegions() ([]region, mappings) {
	maps, err := module.Maps(t.tid)
	if err != nil {
		return nil, nil
	}
	return regionsOf(t.proc.space.mem, maps, t.proc.arch.WordSize()), maps
}

// mappings are those of a process, by address.
type mappings []module.Mapping

// data reports whether an address is in memory that is of no file and cannot be executed.
func (all mappings) data(addr uint64) bool {
	for _, m := range all {
		if addr >= m.Start && addr < m.End {
			return !m.File() && !m.Exec
		}
	}
	return false
}

// adopt makes one of the regions that were left the session's own, takes out the breakpoints of all of them, and returns the program's own
// action for SIGTRAP. The present one is now: the handler of a region where nobody has taken it away.
func (t *thread) adopt(found []region, maps mappings, now fallback.Action) (own fallback.Action) {
	sp := t.proc.space
	mine, own := found[0], now
	for _, r := range found {
		fallback.Restore(sp.mem, r.base, r.head, maps.data)
		switch {
		case now.Handler == fallback.Handler(r.base):
			mine = r
		case now.TakenFrom(r.head.Own, r.base): // by the kernel
			mine, own = r, r.head.Own
		}
		if r.head.Watching {
			t.proc.leftWatched()
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
	g.base, g.threads, g.stub = mine.base, mine.head.Threads, (mine.head.Stub+1)%fallback.Stubs
	g.table = fallback.ReadTable(sp.mem, mine.base, mine.head)
	g.left = &left{threads: map[int]int{}}
	for i := range mine.head.Threads {
		if kept, ok := fallback.ReadThread(sp.mem, mine.base, i); ok && kept.Tid != 0 {
			g.left.threads[kept.Tid] = i
		}
	}
	for _, o := range t.proc.threads {
		o.leftStep = true
	}
	head := make([]byte, fallback.HeadSize)
	if sp.mem.Peek(g.base, head) == nil {
		fallback.SetOwn(head, g.base, own, t.proc.arch.WordSize())
		sp.mem.Poke(g.base, head, t.tid)
	}
	_, at, number := fallback.StubPlace(g.base, g.stub)
	sp.mem.Poke(at, number, t.tid)
	return own
}

// leftHit deals with a breakpoint of an earlier session that the thread hit before it was taken out, and reports whether it is one.
func (t *thread) leftHit() bool {
	sp := t.proc.space
	addr := t.proc.arch.BreakpointPC(*t.pc())
	orig, trap, known := sp.guard.table.Lookup(addr)
	if sp.guard.left == nil || !known || t.trapCode() != t.proc.arch.TrapCode {
		return false
	}
	now := make([]byte, len(trap))
	if sp.mem.Peek(addr, now) == nil && string(now) == trap {
		sp.mem.Poke(addr, []byte(orig), t.tid)
	}
	*t.pc() = addr
	t.setRegs()
	t.resume(0)
	return true
}

// settleLeft does for a stopped thread what the handler would have done when the step ended in which an earlier session was killed.
func (t *thread) settleLeft() {
	sp := t.proc.space
	if sp.guard.left == nil {
		return
	}
	i, listed := sp.guard.left.threads[t.tid]
	if !listed {
		return
	}
	delete(sp.guard.left.threads, t.tid)
	kept, ok := fallback.ReadThread(sp.mem, sp.guard.base, i)
	if !ok || kept.Tid != t.tid { // the handler was here
		return
	}
	at, none := fallback.Thread{}.Entry(sp.guard.base, i)
	sp.mem.Poke(at, none[:], t.tid)
	if kept.Masked {
		ptrace.SetSigMask(t.tid, &kept.Mask)
	}
	for sig := 1; sig <= 64; sig++ {
		if kept.Kept>>(sig-1)&1 == 1 {
			ptrace.SendThread(t.proc.pid, t.tid, sig)
		}
	}
}
