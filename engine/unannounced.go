package engine

import (
	"slices"
	"strconv"
	"time"

	"gotap/engine/abi"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
)

// Children that are never reported. The kernel stops a child before it runs anything, and stops its creator to notify
// the tracer. Either stop may be seen first; the child waits for its creator's stop (unknownThread). A creator that is
// killed on its way to that stop, or in it before the tracer has seen it, never reports the child. The child, and any
// process that waits for it, would then be stopped forever. So the session adopts the child without the report:
// immediately if no traced process can be its creator, otherwise after some time.
//
// The breakpoints in the child's memory show which process it is a copy of. Adopting a child too early does no harm: a
// later report by its creator is ignored, and only the returns of the calls that the creator was in are missing.

// orphanPatience is how long a child waits for a creator that may be alive.
const orphanPatience = time.Second

// mostRecent is how many ended processes are remembered, because they may have left children.
const mostRecent = 16

// earlyStop is the first stop of a child whose creator's stop has not been seen.
type earlyStop struct {
	status ptrace.Status
	came   time.Time
}

// children holds the children that have not been reported yet, and the ended processes that may have created them.
// Tracing thread only.
type children struct {
	early  map[int]earlyStop // by process ID
	recent []*process        // ended processes, latest last
	timer  bool              // a timer is running for the early ones
}

// keepUnannounced keeps the first stop of a child until the child is reported.
func (n *arrivals) keepUnannounced(pid int, st ptrace.Status) {
	n.children.early[pid] = earlyStop{st, time.Now()}
	n.takeOrphan(pid, false)
	n.watchEarly()
}

// watchEarly runs a timer that adopts children that have waited long, as long as there are any early ones.
func (n *arrivals) watchEarly() {
	if n.children.timer || len(n.children.early) == 0 {
		return
	}
	n.children.timer = true
	time.AfterFunc(orphanPatience, func() {
		n.s.do(func() error {
			n.children.timer = false
			n.takeOrphans(time.Now().Add(-orphanPatience))
			n.watchEarly()
			return nil
		})
	})
}

// ended remembers a process that has ended.
func (c *children) ended(p *process) {
	if c.recent = append(c.recent, p); len(c.recent) > mostRecent {
		c.recent = slices.Delete(c.recent, 0, 1)
	}
}

// takeOrphans adopts the children that have no creator, and those that have waited since before the given time.
func (n *arrivals) takeOrphans(before time.Time) {
	for pid, e := range n.children.early {
		n.takeOrphan(pid, e.came.Before(before))
	}
}

// takeOrphan adopts a child, unless its creator may still report it and it has not waited long. It ignores threads:
// they end with their creators.
func (n *arrivals) takeOrphan(pid int, long bool) {
	parent, _ := strconv.Atoi(procfs.Status(pid, "PPid"))
	if n.s.life.closing || procfs.Status(pid, "Tgid") != strconv.Itoa(pid) || n.s.procs[parent] != nil && !long {
		return
	}
	a, err := abi.OfProcess(pid)
	if err != nil {
		return // it has ended, which its own stop reports
	}
	sp, err := n.s.openSpace(pid, a)
	if err != nil {
		n.s.warn(err.Error())
		return
	}
	from := n.makerOf(sp, n.s.procs[parent], long)
	if from == nil {
		sp.Mem.Close()
		return
	}
	n.newChild(from, nil, pid, sp, n.s.cfg.Follow != FollowChildren)
	n.takeEarly(pid)
}

// makerOf returns the process whose memory the child has a copy of, as far as that can be determined. parent is the
// child's present parent, or nil. makerOf returns nil if there is no such process, or if that process is alive and the
// child has not waited long.
func (n *arrivals) makerOf(sp *space.Space, parent *process, long bool) *process {
	alive := make([]*process, 0, len(n.s.procs)+1)
	if parent != nil {
		alive = append(alive, parent)
	}
	for _, p := range n.s.procs {
		alive = append(alive, p)
	}
	for _, p := range alive {
		switch {
		case !sp.IsCopyOf(p.space):
		case long:
			return p
		default:
			return nil
		}
	}
	for _, p := range slices.Backward(n.children.recent) {
		if sp.IsCopyOf(p.space) {
			return p
		}
	}
	if last := len(n.children.recent) - 1; parent == nil && last >= 0 {
		return n.children.recent[last] // the child has no breakpoints, so any ended process will do
	}
	return parent
}
