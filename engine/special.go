package engine

import (
	"errors"
	"fmt"

	"gotap/engine/place"
)

// Probes that are no breakpoints: on system calls and on data. This file is what the registry of probes knows of them.

// addSpecials arms the parts of a probe that name system calls or data.
func (s *Session) addSpecials(pr *probe) error {
	var all error
	for i, spec := range pr.Spec.Specs {
		var err error
		switch spec.Kind {
		case place.Syscall:
			err = s.addCalls(pr, spec)
		case place.Watch:
			err = s.addWatches(pr, spec)
		}
		if err != nil {
			all = errors.Join(all, &place.ListedError{Index: i, Err: err})
		}
	}
	if all == nil {
		all = s.syncSpecials()
	}
	return all
}

// addWatches makes the watchpoints of a specification in all processes.
func (s *Session) addWatches(pr *probe, spec place.Spec) error {
	var all error
	for _, p := range s.procs {
		err := s.addWatch(p, pr, spec, p.space.mods)
		var refused *place.RefusedError // names the place itself
		if err != nil && !errors.As(err, &refused) {
			err = fmt.Errorf("cannot watch %s: %w", spec, err)
		}
		all = errors.Join(all, err)
	}
	return all
}

// dropSpecials takes a probe off everything that is no breakpoint.
func (s *Session) dropSpecials(pr *probe) {
	s.specialsChanged()
	s.calls.drop(pr)
	s.warnOf(s.dropWatches(pr))
}

// specialsChanged is syncSpecials for moments in which an error can only be told.
func (s *Session) specialsChanged() { s.warnOf(s.syncSpecials()) }

// syncSpecials follows a change of the state of probes, in all that is no breakpoint.
func (s *Session) syncSpecials() error {
	s.syncCalls()
	err := s.syncWatches()
	for sp := range s.spaces() {
		s.countMarks(sp)
	}
	return err
}

// armSpecials arms watchpoints in modules that a process has just mapped, and gives its marks their semaphores.
func (s *Session) armSpecials(p *process) {
	for _, pr := range s.probes.All() {
		for _, spec := range pr.Spec.Specs {
			if spec.Kind != place.Watch || pr.Removed {
				continue
			}
			if err := s.addWatch(p, pr, spec, p.space.mods); err != nil {
				s.warnIn(p.space, fmt.Sprintf("cannot watch %s in process %d: %v", spec, p.pid, err))
			}
		}
	}
	s.warnOf(s.syncWatches())
	s.countMarks(p.space)
}

// specialPlaces counts what a probe has that is no breakpoint.
func (s *Session) specialPlaces(pr *probe) int { return s.calls.places(pr) + s.watchPlaces(pr) }

// raiseSemaphore is called when a mark has been armed.
func (s *Session) raiseSemaphore(p *process, pl *placement) {
	if m := pl.Target.Mark; m != nil && m.Semaphore != 0 {
		s.marks = true
		s.countMarks(p.space)
	}
}

// countMarks is syncSemaphores for moments in which an error can only be told.
func (s *Session) countMarks(sp *space) {
	if err := s.syncSemaphores(sp); err != nil {
		s.warnIn(sp, err.Error())
	}
}

// syncSemaphores makes the semaphores of an address space count the armed probes on their marks. A semaphore is a 16-bit
// counter in the program's data: other tracers may have raised it too, so what is written is the difference. Memory that is gone is
// no error.
func (s *Session) syncSemaphores(sp *space) error {
	if !s.marks {
		return nil
	}
	want := map[uint64]int{}
	if !s.closing {
		for addr, p := range sp.points {
			for _, pl := range p.Enters {
				m := pl.Target.Mark
				if m != nil && m.Semaphore != 0 && pl.Probe.Armed() {
					want[addr-m.PC+m.Semaphore]++
				}
			}
		}
	}
	for addr := range sp.sems {
		want[addr] += 0 // those that no probe needs any more
	}
	var all error
	for addr, n := range want {
		d := n - sp.sems[addr]
		if d == 0 {
			continue
		}
		switch err := s.addSemaphore(sp, addr, d); {
		case err == nil:
			sp.setSemaphore(addr, n)
		case !errors.Is(err, errGone):
			all = errors.Join(all, fmt.Errorf("cannot change the semaphore at %#x: %w", addr, err))
		}
	}
	return all
}

func (sp *space) setSemaphore(addr uint64, n int) {
	if sp.sems == nil {
		sp.sems = map[uint64]int{}
	}
	sp.sems[addr] = n
}

// addSemaphore adds to a semaphore. The error is errGone when its memory is.
func (s *Session) addSemaphore(sp *space, addr uint64, d int) error {
	var v [2]byte
	if sp.mem.Peek(addr, v[:]) != nil {
		return errGone
	}
	n := int(v[0]) + int(v[1])<<8 + d
	v[0], v[1] = byte(n), byte(n>>8)
	err := sp.mem.Poke(addr, v[:], s.stoppedTid(sp))
	if err != nil && sp.mem.Peek(addr, v[:]) != nil { // killed in between
		return errGone
	}
	return err
}

// clearSemaphores takes back what was added to the semaphores of a memory that is given up while its probes stay armed elsewhere.
func (s *Session) clearSemaphores(sp *space) {
	for addr, n := range sp.sems {
		if n == 0 {
			continue
		}
		if err := s.addSemaphore(sp, addr, -n); err == nil {
			sp.sems[addr] = 0
		} else if !errors.Is(err, errGone) {
			s.warnIn(sp, fmt.Sprintf("cannot change the semaphore at %#x: %v", addr, err))
		}
	}
}

// lowerSemaphores takes back what was added to semaphores.
func (s *Session) lowerSemaphores() (all error) {
	for sp := range s.spaces() {
		all = errors.Join(all, s.syncSemaphores(sp))
	}
	return all
}
