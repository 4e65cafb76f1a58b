package probes

import (
	"errors"
	"fmt"

	"gotap/engine/place"
	"gotap/engine/registry"
)

// Parts of probes that breakpoints do not serve: on system calls (package syscallprobe), on data (package watchpoint),
// samples, and the semaphores of static marks (package semaphore), which are breakpoints besides.

// addNonBreakpoints arms the system calls, watchpoints, samples and semaphores of a probe.
func (s *Set) addNonBreakpoints(pr *registry.Probe) (all error) {
	for i, spec := range pr.Spec.Specs {
		var err error
		switch spec.Kind {
		case place.Syscall:
			err = s.tracer.AddCalls(pr, spec)
		case place.Watch:
			err = s.watch(pr, spec)
		case place.Sample:
			err = s.tracer.AddSample(pr, spec)
		case place.Mark:
			s.marks = true
		}
		if err != nil {
			all = errors.Join(all, &place.ListedError{Index: i, Err: err})
		}
	}
	if all != nil {
		return all
	}
	return s.syncNonBreakpoints()
}

// watch adds the watchpoints of a specification to all processes.
func (s *Set) watch(pr *registry.Probe, spec place.Spec) (all error) {
	for _, p := range s.tracer.Processes() {
		all = errors.Join(all, watchIn(p, pr, spec))
	}
	return all
}

// watchIn adds the watchpoints of a specification to a process. A name that means nothing there may appear later:
// whether it means anything at all was decided when the probe was prepared.
func watchIn(p Process, pr *registry.Probe, spec place.Spec) error {
	in, ok := p.Watchable(spec)
	if !ok {
		return nil
	}
	err := p.Watches().Add(pr, spec, in)
	var missing *place.NotFoundError
	var refused *place.RefusedError // names the place itself
	switch {
	case err == nil, errors.As(err, &missing):
		return nil
	case errors.As(err, &refused):
		return err
	}
	return fmt.Errorf("cannot watch %s: %w", spec, err)
}

// nonBreakpointsAppeared arms watchpoints in modules that a process has just mapped, and updates the semaphores of its
// marks.
func (s *Set) nonBreakpointsAppeared(p Process) {
	for _, pr := range s.list.All() {
		for _, spec := range pr.Spec.Specs {
			if spec.Kind != place.Watch || pr.Removed {
				continue
			}
			if err := watchIn(p, pr, spec); err != nil && !p.Gone() {
				s.tracer.Warn(fmt.Sprintf("probe %s%s: %v", pr.Spec.Name, inProcess(p), err))
			}
		}
	}
	s.warnOf(errors.Join(s.tracer.SyncWatches(), s.syncMarks(p.AddressSpace())))
}

// dropNonBreakpoints removes a probe, which is disabled, from everything that is not a breakpoint. The first sync is
// for back ends that know only what is in the lists, the second for those where watchpoints have numbers, which change.
func (s *Set) dropNonBreakpoints(pr *registry.Probe) {
	s.warnOf(s.syncNonBreakpoints())
	s.tracer.Calls().Drop(pr)
	s.tracer.DropSamples(pr)
	for _, p := range s.tracer.Processes() {
		p.Watches().Drop(pr)
	}
	s.warnOf(s.tracer.SyncWatches())
}

// syncNonBreakpoints applies a change of the state of probes to everything that is not a breakpoint.
func (s *Set) syncNonBreakpoints() error {
	s.tracer.SyncSamples()
	all := errors.Join(s.tracer.SyncCalls(), s.tracer.SyncWatches())
	for _, sp := range s.tracer.Spaces() {
		all = errors.Join(all, s.syncMarks(sp))
	}
	return all
}

// nonBreakpoints counts the system calls, the watchpoints and the samples of a probe.
func (s *Set) nonBreakpoints(pr *registry.Probe) int {
	n := s.tracer.Calls().Count(pr) + s.tracer.Samples(pr)
	for _, p := range s.tracer.Processes() {
		n += p.Watches().Count(pr)
	}
	return n
}

// syncMarks makes the semaphores of an address space count the armed probes on their marks; none when the session ends.
func (s *Set) syncMarks(sp Space) error {
	switch {
	case !s.marks:
		return nil
	case s.tracer.Closing():
		return s.ClearMarks(sp)
	}
	counts, mem := sp.Semaphores()
	return unlessGone(sp, counts.Sync(mem, sp.Points()))
}

// ClearMarks takes back what was added to the semaphores of an address space that is given up.
func (s *Set) ClearMarks(sp Space) error {
	counts, mem := sp.Semaphores()
	return unlessGone(sp, counts.Clear(mem))
}

// ClearAllMarks is ClearMarks for all address spaces.
func (s *Set) ClearAllMarks() (all error) {
	for _, sp := range s.tracer.Spaces() {
		all = errors.Join(all, s.ClearMarks(sp))
	}
	return all
}

// unlessGone returns an error of an address space whose memory still exists.
func unlessGone(sp Space, err error) error {
	if sp.Gone() {
		return nil
	}
	return err
}

// warnOf warns the user of an error, if there is one.
func (s *Set) warnOf(err error) {
	if err != nil {
		s.tracer.Warn(err.Error())
	}
}
