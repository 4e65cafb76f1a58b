package crashsafe

// Unblocking SIGTRAP in threads that block all signals, and blocking it again: see mask.go.

import (
	"slices"
	"strings"
	"time"

	"gotap/engine/crashsafe/fallback"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/tracee"
)

// UnblockDue is Unblock if an earlier attempt to stop the thread for it has failed.
func (x *Thread) UnblockDue() {
	if x.openDue {
		x.Unblock()
	}
}

// Unblock unblocks SIGTRAP in a stopped thread that blocks all signals.
func (x *Thread) Unblock() {
	x.openDue = false
	if mask, ok := x.ownMask(); ok && blocksAll(mask) && x.space().seesMasks {
		x.setOwnMask(mask)
	}
}

// leaveOpen leaves SIGTRAP unblocked in a thread whose hit has unblocked it, and reports whether it did. The thread
// must block all other signals, and no SIGTRAP that was sent to it may be pending. Precondition: NoteMerged has been
// called.
func (x *Thread) leaveOpen() bool {
	x.open = x.space().seesMasks && x.blocksRest() && !x.meant && len(x.merged) == 0
	return x.open
}

// OpenBlockers unblocks SIGTRAP in those threads of the given address spaces that are in a section that blocks all
// signals and began before the engine could see it. It is called before breakpoints are written. It includes threads in
// a stop that has not been handled, new threads that their creators' stops have yet to report, and children that share
// the memory until they execute a program. Threads that would notice being stopped are handled at their next stop.
func (g *Guards) OpenBlockers(in func(*Space) bool) {
	for p := range g.on.Processes() {
		if sp := p.on.Space(); !in(sp) || !sp.seesMasks {
			continue
		}
		for _, tid := range procfs.Threads(p.on.Pid()) {
			if !blocksAll(procfs.SignalSet(tid, "SigBlk")) {
				continue
			}
			g.openBlocker(tid)
			for _, child := range procfs.ChildrenOf(tid) {
				if shares, known := ptrace.SharesMemory(tid, child); known && shares && blocksAll(procfs.SignalSet(child, "SigBlk")) {
					g.openBlocker(child)
				}
			}
		}
	}
}

// Hindered reports whether a breakpoint in a process could do harm for a moment: one of its threads blocks all signals
// and cannot be stopped, as while it waits for a child of vfork, or a traced child that uses its memory does not have
// the handler yet.
func (g *Guards) Hindered(pid int) bool {
	return slices.ContainsFunc(procfs.Threads(pid), func(tid int) bool {
		return blocksAll(procfs.SignalSet(tid, "SigBlk")) && strings.HasPrefix(procfs.Status(tid, "State"), "D")
	}) || slices.ContainsFunc(procfs.Children(pid), func(child int) bool {
		shares, known := ptrace.SharesMemory(pid, child)
		return known && shares && procfs.Status(child, "TracerPid") != "0" && !g.handles(child)
	})
}

// handles reports whether the session has installed the handler in a process.
func (g *Guards) handles(pid int) bool {
	for p := range g.on.Processes() {
		if p.on.Pid() == pid {
			return p.ours
		}
	}
	return false
}

// openBlocker unblocks SIGTRAP in one thread that blocks all signals. The session may not know the thread yet.
func (g *Guards) openBlocker(tid int) {
	x := g.on.Thread(tid)
	switch {
	case x != nil && x.on.Stopped():
		x.Unblock()
	case openStopped(tid):
		if x != nil {
			x.open, x.clear = true, true
		}
	case x != nil:
		x.openDue = true
		x.on.Interrupt(x.Unblock)
	default:
		openNew(tid)
	}
}

// newPatience is how long a new thread may take to reach its first stop.
const newPatience = 100 * time.Millisecond

// openNew unblocks SIGTRAP in a new thread that blocks all signals and is on its way to its first stop.
func openNew(tid int) {
	for end := time.Now().Add(newPatience); time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		if procfs.Ended(tid) || !blocksAll(procfs.SignalSet(tid, "SigBlk")) || openStopped(tid) {
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
	mask &^= ptrace.TrapBit
	return ptrace.SetSigMask(tid, &mask) == 0
}

// Close blocks SIGTRAP again in a stopped thread, if the program believes that the thread blocks it.
func (x *Thread) Close() {
	if !x.open {
		return
	}
	if mask, ok := x.ownMask(); ok && blocksAll(mask) {
		x.blockTrap()
	}
	x.open = false
}

// stillOpen reports whether SIGTRAP is left unblocked in a section that blocks all signals. It detects a section that
// ended in a way that is not watched.
func (x *Thread) stillOpen() bool {
	if x.open && !x.blocksRest() {
		x.open = false
	}
	return x.open
}

// Withhold is called when a stopped thread is about to be resumed with SIGTRAP, and reports whether the signal was sent
// to it and the program believes that the thread blocks it. Then SIGTRAP is blocked: the kernel makes a signal pending
// again that the thread blocks when it is resumed with it, as it does if the session is killed (ptrace_signal in
// kernel/signal.c). So the signal has its siginfo, and from Linux 5.17 on is again one for the whole process if it was.
// SIGTRAP is not unblocked again in this section.
func (x *Thread) Withhold() bool {
	if !x.stillOpen() || x.t.SignalCode() > 0 || x.t.Info.Signal() != ptrace.SIGTRAP || fallback.IsOwnCode(x.t.Info.Code()) {
		return false
	}
	x.on.Checkpoint(tracee.InSent)
	x.Close()
	x.on.Checkpoint(tracee.InSent)
	x.meant = true
	return true
}
