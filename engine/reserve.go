package engine

import (
	"errors"
	"os"
	"syscall"
)

// A child that is made while this program can open no more files (RLIMIT_NOFILE) has to be let go without probes: its memory, a copy of
// its parent's with the breakpoints in it, is one file, and another tells what of it is filled in by others. Some files are kept
// open for nothing else, so that there is room for one child at a time while it is put right.

// reserveSize is how many files it takes to let a child go: its memory, the state of its pages, and what is read of it and closed again.
const reserveSize = 4

// reserve is files that can be done without. Tracing thread.
type reserve []*os.File

// fill opens what is missing, as far as that can be.
func (r *reserve) fill() {
	for len(*r) < reserveSize {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return
		}
		*r = append(*r, f)
	}
}

// free closes them all.
func (r *reserve) free() {
	for _, f := range *r {
		f.Close()
	}
	*r = nil
}

// letUnopenedGo lets a child go whose memory could not be opened, with the reason. It waits for the child's first stop, which is on
// its way, and runs nothing before.
func (s *Session) letUnopenedGo(parent *thread, pid int, why error) {
	if !errors.Is(why, syscall.EMFILE) && !errors.Is(why, syscall.ENFILE) {
		s.warn(why.Error())
		return
	}
	s.warn("too many files are open: processes that are made from now on may be left without probes (ulimit -n raises the limit)")
	s.reserve.free()
	defer s.reserve.fill()
	sp, err := s.openSpace(pid, parent.proc.arch)
	if err != nil {
		s.warn(err.Error())
		return
	}
	s.newChild(parent.proc, parent, pid, sp, true)
	e, early := s.children.early[pid]
	if delete(s.children.early, pid); !early {
		e.status, _ = s.waitFor(pid)
	}
	s.dispatch(pid, e.status)
}
