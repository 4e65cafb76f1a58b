package engine

import (
	"errors"
	"syscall"
)

// If a child is created while this program can open no more files (RLIMIT_NOFILE), the session has to detach from it
// without probes. Its memory, a copy of its parent's including the breakpoints, takes one file, and another shows which
// of its pages other programs fill in. Some files are kept open only for this purpose, so that there is room to restore
// and detach one child at a time.

// reserveSize is how many files are needed to detach from a child: its memory, the state of its pages, and those that
// are read and closed again.
const reserveSize = 4

// letUnopenedGo detaches from a child whose memory could not be opened, for the reason why. It waits for the child's
// first stop, which is on its way. The child runs nothing before it.
func (n *arrivals) letUnopenedGo(parent *thread, pid int, why error) {
	if !errors.Is(why, syscall.EMFILE) && !errors.Is(why, syscall.ENFILE) {
		n.s.warn(why.Error())
		return
	}
	n.s.warn("too many files are open: processes that are made from now on may be left without probes (ulimit -n raises the limit)")
	n.reserve.Free()
	defer n.reserve.Fill(reserveSize)
	sp, err := n.s.openSpace(pid, parent.proc.arch)
	if err != nil {
		n.s.warn(err.Error())
		return
	}
	n.newChild(parent.proc, parent, pid, sp, true)
	e, early := n.children.early[pid]
	if delete(n.children.early, pid); !early {
		e.status, _ = n.s.stops.waitFor(pid)
	}
	n.s.dispatch(pid, e.status)
}
