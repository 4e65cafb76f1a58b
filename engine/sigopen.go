package engine

// Unblocking SIGTRAP in threads that block all signals, and blocking it again: see sigmask.go.

import (
	"time"

	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// openTrap unblocks SIGTRAP in a stopped thread that blocks all signals.
func (t *thread) openTrap() {
	t.openDue = false
	if mask, ok := t.ownMask(); ok && blocksAll(mask) && t.proc.space.seesMasks {
		t.setOwnMask(mask)
	}
}

// leaveOpen leaves SIGTRAP unblocked in a thread whose hit has unblocked it, and reports whether it did. The thread
// must block all other signals, and no SIGTRAP that was sent to it may be pending. Precondition: noteMerged has been
// called.
func (t *thread) leaveOpen() bool {
	t.trapOpen = t.proc.space.seesMasks && t.blocksRest() && !t.trapMeant && len(t.merged) == 0
	return t.trapOpen
}

// openBlockers unblocks SIGTRAP in those threads of the given address spaces that are in a section that blocks all
// signals and began before the engine could see it. It is called before breakpoints are written. It includes threads in
// a stop that has not been handled, new threads that their creators' stops have yet to report, and children that share
// the memory until they execute a program. Threads that would notice being stopped are handled at their next stop.
func (s *Session) openBlockers(in func(*space) bool) {
	for _, p := range s.procs {
		if !in(p.space) || !p.space.seesMasks {
			continue
		}
		for _, tid := range procfs.Threads(p.pid) {
			if !blocksAll(hexField(tid, "SigBlk")) {
				continue
			}
			s.openBlocker(tid)
			for _, child := range procfs.ChildrenOf(tid) {
				if shares, known := ptrace.SharesMemory(tid, child); known && shares && blocksAll(hexField(child, "SigBlk")) {
					s.openBlocker(child)
				}
			}
		}
	}
}

// openBlocker unblocks SIGTRAP in one thread that blocks all signals. The session may not know the thread yet.
func (s *Session) openBlocker(tid int) {
	t := s.threads[tid]
	switch {
	case t != nil && t.stopped && !t.listening:
		t.openTrap()
	case openStopped(tid):
		if t != nil {
			t.trapOpen, t.trapClear = true, true
		}
	case t != nil:
		if t.openDue = true; t.interruptable() {
			s.withStopped(t, t.openTrap)
		}
	default:
		openNew(tid)
	}
}

// newPatience is how long a new thread may take to reach its first stop.
const newPatience = 100 * time.Millisecond

// openNew unblocks SIGTRAP in a new thread that blocks all signals and is on its way to its first stop.
func openNew(tid int) {
	for end := time.Now().Add(newPatience); time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		if procfs.Ended(tid) || !blocksAll(hexField(tid, "SigBlk")) || openStopped(tid) {
			return
		}
	}
}

// openStopped unblocks SIGTRAP in a thread that blocks all signals and is in a stop, whether that stop has been handled
// or not. It reports whether it did.
func openStopped(tid int) bool {
	var mask uint64
	if ptrace.GetSigMask(tid, &mask) != 0 || !blocksAll(mask) {
		return false
	}
	mask &^= trapBit
	return ptrace.SetSigMask(tid, &mask) == 0
}

// closeTrap blocks SIGTRAP again in a stopped thread, if the program believes that the thread blocks it.
func (t *thread) closeTrap() {
	if !t.trapOpen {
		return
	}
	if mask, ok := t.ownMask(); ok && blocksAll(mask) {
		t.blockTrap()
	}
	t.trapOpen = false
}

// stillOpen reports whether SIGTRAP is left unblocked in a section that blocks all signals. It detects a section that
// ended in a way that is not watched.
func (t *thread) stillOpen() bool {
	if t.trapOpen && !t.blocksRest() {
		t.trapOpen = false
	}
	return t.trapOpen
}

// waitsForTrap withholds a SIGTRAP that was sent to a thread that the program believes blocks it, and reports whether
// it did. The signal stays pending in the kernel, blocked, as the program wants. SIGTRAP is not unblocked again in this
// section.
func (t *thread) waitsForTrap() bool {
	if !t.stillOpen() || t.trapCode() > 0 || t.info.Signal() != ptrace.SIGTRAP {
		return false
	}
	t.closeTrap()
	t.trapMeant = true
	info := t.info
	if ptrace.SendThread(t.proc.pid, t.tid, ptrace.SIGTRAP) == 0 {
		t.resent = append(t.resent, info)
	}
	t.resume(0)
	return true
}
