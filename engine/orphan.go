package engine

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"gotap/engine/abi"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// Children that nobody tells of. The kernel stops a child before it runs anything, and stops its maker for the tracer to be told; either may
// be seen first, and the child waits for its maker's stop (stranger). A maker that is killed on its way to that stop, or in it before
// anybody has looked, never tells: the child would stand still for ever, and with it whoever waits for it. So it is taken up without
// having been told of: at once where no process that is traced can be its maker, otherwise after some time.
//
// Whose copy its memory is the breakpoints in it tell. A child that was taken up too early does no harm: what its maker tells later is
// known already, and all that is missing are the leaves of the calls that the maker was in.

// orphanPatience is how long a child waits for a maker that may be alive.
const orphanPatience = time.Second

// mostLately is how many processes that have ended are remembered, for children of theirs.
const mostLately = 16

// earlyStop is the first stop of a child whose maker's stop has not been seen.
type earlyStop struct {
	status ptrace.Status
	came   time.Time
}

// children are those that nobody has told of yet, and who may have made them. Tracing thread.
type children struct {
	early  map[int]earlyStop // by number
	lately []*process        // that have ended, the latest last
	timer  bool              // one is under way for the early ones
}

// untold keeps the first stop of a child until it is told of.
func (s *Session) untold(pid int, st ptrace.Status) {
	s.children.early[pid] = earlyStop{st, time.Now()}
	s.takeOrphan(pid, false)
	s.watchEarly()
}

// watchEarly sees to the children that have waited for long, as long as there are any.
func (s *Session) watchEarly() {
	if s.children.timer || len(s.children.early) == 0 {
		return
	}
	s.children.timer = true
	time.AfterFunc(orphanPatience, func() {
		s.do(func() error {
			s.children.timer = false
			s.takeOrphans(time.Now().Add(-orphanPatience))
			s.watchEarly()
			return nil
		})
	})
}

// ended remembers a process that has ended.
func (c *children) ended(p *process) {
	if c.lately = append(c.lately, p); len(c.lately) > mostLately {
		c.lately = slices.Delete(c.lately, 0, 1)
	}
}

// takeOrphans takes up the children that have no maker, and those that have waited since before a time.
func (s *Session) takeOrphans(before time.Time) {
	for pid, e := range s.children.early {
		s.takeOrphan(pid, e.came.Before(before))
	}
}

// takeOrphan takes up a child, unless its maker may tell of it yet and it has not waited for long. Threads are their processes' business:
// they end with their makers.
func (s *Session) takeOrphan(pid int, long bool) {
	parent, _ := strconv.Atoi(procfs.Status(pid, "PPid"))
	if s.closing || procfs.Status(pid, "Tgid") != strconv.Itoa(pid) || s.procs[parent] != nil && !long {
		return
	}
	a, err := abi.OfProcess(pid)
	if err != nil {
		return // it has ended, which it will tell itself
	}
	sp, err := s.openSpace(pid, a)
	if err != nil {
		s.warn(err.Error())
		return
	}
	from := s.makerOf(sp, s.procs[parent], long)
	if from == nil {
		sp.mem.Close()
		return
	}
	s.newChild(from, nil, pid, sp, s.cfg.Follow != FollowChildren)
	s.takeEarly(pid)
}

// makerOf is the process whose memory a child has a copy of, as far as that can be told: parent, which may be nil, is its parent now. It
// is nil when there is none, and when it is alive and the child has not waited for long.
func (s *Session) makerOf(sp *space, parent *process, long bool) *process {
	alive := make([]*process, 0, len(s.procs)+1)
	if parent != nil {
		alive = append(alive, parent)
	}
	for _, p := range s.procs {
		alive = append(alive, p)
	}
	for _, p := range alive {
		switch {
		case !sp.isCopyOf(p):
		case long:
			return p
		default:
			return nil
		}
	}
	for _, p := range slices.Backward(s.children.lately) {
		if sp.isCopyOf(p) {
			return p
		}
	}
	if n := len(s.children.lately); parent == nil && n > 0 {
		return s.children.lately[n-1] // it has no breakpoints, so that it is all the same
	}
	return parent
}

// isCopyOf reports whether there is a breakpoint in a child's memory that a process has.
func (sp *space) isCopyOf(p *process) bool {
	if p.arch != sp.arch {
		return false
	}
	for addr, pt := range p.space.points {
		now := make([]byte, len(pt.trap))
		if sp.mem.Peek(addr, now) == nil && bytes.Equal(now, pt.trap) {
			return true
		}
	}
	return false
}
