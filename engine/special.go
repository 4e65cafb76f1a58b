package engine

import (
	"errors"
	"fmt"

	"gotap/engine/place"
)

// Probes that are not breakpoints: on system calls and on data. This file connects them to the registry of probes.

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

// addWatches adds the watchpoints of a specification to all processes.
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

// dropSpecials removes a probe from everything that is not a breakpoint.
func (s *Session) dropSpecials(pr *probe) {
	s.specialsChanged()
	s.calls.drop(pr)
	s.warnOf(s.dropWatches(pr))
}

// specialsChanged is syncSpecials for callers that can only warn of an error.
func (s *Session) specialsChanged() { s.warnOf(s.syncSpecials()) }

// syncSpecials applies a change of the state of probes to everything that is not a breakpoint.
func (s *Session) syncSpecials() error {
	s.syncCalls()
	err := s.syncWatches()
	for sp := range s.spaces() {
		s.countMarks(sp)
	}
	return err
}

// armSpecials arms watchpoints in modules that a process has just mapped, and updates the semaphores of its marks.
func (s *Session) armSpecials(p *process) {
	for _, pr := range s.All() {
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

// raiseSemaphore is called when a mark has been armed.
func (s *Session) raiseSemaphore(p *process, pl *placement) {
	if m := pl.Target.Mark; m != nil && m.Semaphore != 0 {
		s.marks = true
		s.countMarks(p.space)
	}
}

// countMarks is syncSemaphores for callers that can only warn of an error.
func (s *Session) countMarks(sp *space) {
	if err := s.syncSemaphores(sp); err != nil {
		s.warnIn(sp, err.Error())
	}
}

// syncSemaphores makes the semaphores of an address space count the armed probes on their marks.
func (s *Session) syncSemaphores(sp *space) error {
	switch {
	case !s.marks:
		return nil
	case s.closing:
		return sp.sems.Clear(markMemory{s, sp})
	}
	return sp.sems.Sync(markMemory{s, sp}, sp.Points())
}

// clearSemaphores subtracts what was added to the semaphores of an address space that is given up while its probes
// stay armed elsewhere.
func (s *Session) clearSemaphores(sp *space) {
	if err := sp.sems.Clear(markMemory{s, sp}); err != nil {
		s.warnIn(sp, err.Error())
	}
}

// lowerSemaphores subtracts what was added to the semaphores of all address spaces.
func (s *Session) lowerSemaphores() (all error) {
	for sp := range s.spaces() {
		all = errors.Join(all, s.syncSemaphores(sp))
	}
	return all
}

// markMemory is the memory of an address space that has semaphores. It implements semaphore.Memory.
type markMemory struct {
	s  *Session
	sp *space
}

// ReadMemory implements semaphore.Memory.
func (m markMemory) ReadMemory(addr uint64, p []byte) error { return m.sp.mem.Peek(addr, p) }

// WriteMemory implements semaphore.Memory.
func (m markMemory) WriteMemory(addr uint64, p []byte) error {
	return m.sp.mem.Poke(addr, p, m.s.stoppedTid(m.sp))
}
