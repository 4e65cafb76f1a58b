package gotap

import (
	"cmp"
	"errors"
	"os"
	"slices"

	"gotap/engine"
	"gotap/engine/linux/procfs"
)

// followScript takes what the script asks for with follow(), where nobody else has chosen. "" asks for nothing.
func (o *Options) followScript(which string) {
	if !o.ByScript {
		return
	}
	switch which {
	case "none":
		o.Follow = FollowNone
	case "threads":
		o.Follow = FollowThreads
	case "children":
		o.Follow = FollowChildren
	}
}

// attaching is a session while it attaches to the processes that the user named.
type attaching struct{ *Session }

// all attaches to the processes of Options.Pids, and to their children when they are followed.
func (s attaching) all() error {
	var traced []int
	var first error // of a process that has ended
	for _, pid := range s.opts.Pids {
		if s.placesNoMore() {
			return engine.ErrInterrupted
		}
		switch err := s.one(pid); {
		case err == nil:
			traced = append(traced, pid)
		case s.opts.Tool.MayEnd && procfs.Ended(pid):
			first = cmp.Or(first, err)
		default:
			return err
		}
	}
	if s.opts.Pids = traced; len(traced) == 0 {
		return first
	}
	if s.opts.Follow == FollowChildren {
		s.children()
	}
	return nil
}

// one attaches to a process that the user named.
func (s attaching) one(pid int) error {
	s.opts.Hooks.Process(pid, true)
	s.outcomes.expect("?", pid)
	if err := s.engine.Attach(pid); err != nil {
		if s.opts.Tool.MayEnd {
			s.opts.Hooks.Process(pid, false)
			s.outcomes.drop(pid)
		}
		return err
	}
	s.outcomes.attached(pid)
	return nil
}

// children attaches to the descendants that the processes of Options.Pids have already. Those that start from now on
// are followed: their parents are traced. What cannot be traced is noted.
func (s attaching) children() {
	traced := slices.Clone(s.opts.Pids)
	seen, n := map[int]bool{os.Getpid(): true}, 0
	for _, pid := range append(s.opts.Tool.Own, traced...) {
		seen[pid] = true
	}
	for len(traced) > 0 {
		pid := traced[0]
		traced = traced[1:]
		for _, child := range procfs.Children(pid) {
			if seen[child] {
				continue
			}
			seen[child] = true
			s.opts.Hooks.Process(child, true)
			if err := s.engine.Attach(child); err != nil {
				s.opts.Hooks.Process(child, false)
				if !errors.Is(err, engine.ErrNoProcess) && procfs.Name(child) != "" && !procfs.Ended(child) {
					s.note("a child is not traced: %v", err)
				}
				continue
			}
			traced, n = append(traced, child), n+1
		}
	}
	switch n {
	case 0:
	case 1:
		s.note("1 child that was there already is traced, too")
	default:
		s.note("%d children that were there already are traced, too", n)
	}
}
