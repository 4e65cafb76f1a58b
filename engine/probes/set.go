package probes

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"gotap/engine/arming"
	"gotap/engine/backend"
	"gotap/engine/image/module"
	"gotap/engine/locate"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
)

// Set is the probes of one session.
type Set struct {
	tracer Tracer
	places *locate.Locator
	armer  arming.Armer
	cfg    *backend.Config

	last atomic.Pointer[[]registry.State] // the answer to the latest Query

	list  registry.List
	begun map[uint32]*begun // by number
	marks bool              // there have been probes on static marks, which may have semaphores
}

// New returns a Set without probes.
func New(tracer Tracer, places *locate.Locator, cfg *backend.Config) *Set {
	return &Set{tracer: tracer, places: places, armer: arming.Armer{Places: places, Interrupted: cfg.Interrupted}, cfg: cfg,
		begun: map[uint32]*begun{}}
}

// Add registers a probe and arms it, unless it is disabled, in all processes that exist and will exist: all of it or
// nothing. When a place that was named outright is refused, or nothing matches and the probe is not optional, nothing
// stays. Errors of package place keep their type.
func (s *Set) Add(spec registry.Spec) error {
	return s.retry(func() error { return s.add(spec) })
}

// retry calls fn again for as long as processes replace their programs.
func (s *Set) retry(fn func() error) error {
	for {
		err := fn()
		if !errors.Is(err, ErrReplacing) {
			return err
		}
		if err := s.tracer.AwaitReplaced(); err != nil {
			return err
		}
	}
}

// add is Add, but for processes that replace their programs: the error is ErrReplacing.
func (s *Set) add(spec registry.Spec) error {
	pr, err := registry.New(spec, s.cfg.Arena)
	if err != nil {
		return err
	}
	return s.tracer.Prepare(func(procs []locate.Process, do Do) error {
		if done, err := s.complete(spec, procs, do); done {
			return err
		}
		if err := s.places.Prepare(pr, spec.Specs, procs); err != nil {
			return err
		}
		return s.unlessReplacing(do, func() error { return s.registerEach([]*registry.Probe{pr}, true)[pr] })
	})
}

// unlessReplacing runs fn through do when no process replaces its program just then.
func (s *Set) unlessReplacing(do Do, fn func() error) error {
	return do(func() error {
		if s.tracer.Replacing() {
			return ErrReplacing
		}
		return fn()
	})
}

// registerEach makes prepared probes part of the session, and plants all that they want in one stop. The result has
// those that failed. With all, one of these keeps the others out too.
func (s *Set) registerEach(list []*registry.Probe, all bool) registry.Failures {
	failed := registry.Failures{}
	lost := s.tracer.Together(func() {
		for _, pr := range list {
			if err := s.Register(pr); err != nil {
				failed[pr] = err
			}
		}
		if all && len(failed) > 0 {
			s.dropOthers(list, failed)
		}
		if err := s.cfg.Interrupted(); err != nil {
			s.dropOthers(list, failed)
			for _, pr := range list {
				failed[pr] = err
			}
		}
	})
	for pr, err := range unplanted(list, lost) {
		if s.Drop(pr); s.tracer.Replacing() {
			err = ErrReplacing
		}
		failed[pr] = err
	}
	if all && len(failed) > 0 {
		s.dropOthers(list, failed)
	}
	return failed
}

// unplanted deals with points that could not be planted for new probes: the calls of functions that are left there are
// watched by their return addresses, and of the new probes that are entered there those that named the place outright
// have failed. The result has their errors. Other probes that are entered there are disabled, and stay so.
func unplanted(added []*registry.Probe, lost map[*retprobe.Point]error) registry.Failures {
	of := registry.Failures{}
	for p, err := range lost {
		p.LoseExit()
		if errors.Is(err, backend.ErrGone) {
			continue
		}
		for _, pl := range slices.Clone(p.Enters) {
			if !slices.Contains(added, pl.Probe) {
				continue
			}
			if pl.Probe.Spec.Patterns() {
				pl.Probe.Refuse(pl.Target.Name + ": " + err.Error())
				p.Detach(pl.Probe)
				continue
			}
			of[pl.Probe] = errors.Join(of[pl.Probe], err)
		}
	}
	return of
}

// dropOthers drops the probes of a list that did not fail.
func (s *Set) dropOthers(list []*registry.Probe, failed registry.Failures) {
	for _, pr := range list {
		if failed[pr] == nil && !pr.Removed {
			s.Drop(pr)
		}
	}
}

// Register makes a prepared probe part of the session.
func (s *Set) Register(pr *registry.Probe) error {
	if err := s.list.Add(pr); err != nil {
		return err
	}
	err := s.arm(pr)
	if err != nil {
		s.Drop(pr)
		if s.tracer.Replacing() {
			return ErrReplacing
		}
	}
	return err
}

// arm places a probe in all processes.
func (s *Set) arm(pr *registry.Probe) (all error) {
	for _, p := range s.tracer.Processes() {
		all = errors.Join(all, s.armer.Probe(p, pr, p.Modules()))
	}
	if all != nil {
		return all
	}
	return s.addNonBreakpoints(pr)
}

// Appeared arms all probes in modules that have just appeared in a process. There is no caller to return an error to:
// what is refused is noted with the probe and reported.
func (s *Set) Appeared(p Process, mods []module.Loaded) {
	for _, pr := range s.list.All() {
		err := s.armer.Probe(p, pr, mods)
		if errors.Is(err, backend.ErrInterrupted) {
			return
		}
		if err != nil {
			pr.Refuse(err.Error())
			s.tracer.Warn(fmt.Sprintf("probe %s%s: %v", pr.Spec.Name, inProcess(p), err))
		}
	}
	s.nonBreakpointsAppeared(p)
}

// inProcess names a process that has a number.
func inProcess(p arming.Process) string {
	if p.Pid() == 0 {
		return ""
	}
	return fmt.Sprintf(" in process %d", p.Pid())
}

// Drop removes a probe with all it placed.
func (s *Set) Drop(pr *registry.Probe) {
	pr.Removed, pr.Enabled = true, false
	s.dropNonBreakpoints(pr)
	for _, sp := range s.tracer.Spaces() {
		for p := range sp.Points() {
			p.Detach(pr)
		}
	}
	s.list.Drop(pr)
}

// SetEnabled arms or disarms a probe everywhere. When it cannot be armed everywhere it is armed nowhere.
func (s *Set) SetEnabled(pr *registry.Probe, on bool) error {
	if pr.Enabled == on || pr.Removed {
		return nil
	}
	pr.Enabled = on
	var err error
	for _, lost := range s.tracer.Together(func() { err = s.sync(pr) }) {
		if !errors.Is(lost, backend.ErrGone) {
			err = errors.Join(err, lost)
		}
	}
	if !on {
		return err
	}
	if pr.Unable = err; err != nil {
		pr.Enabled = false
		s.Disarm(pr)
	}
	return err
}

// sync follows a change of a probe's state everywhere.
func (s *Set) sync(pr *registry.Probe) error {
	return errors.Join(s.syncPoints(pr), s.syncNonBreakpoints())
}

// syncPoints plants or removes the breakpoints of a probe. Memory that no longer exists is not an error.
func (s *Set) syncPoints(pr *registry.Probe) (all error) {
	for _, sp := range s.tracer.Spaces() {
		for p := range sp.Points() {
			if !pr.Has(p.Enters) {
				continue
			}
			entry, exits := p.SyncAll()
			err := errors.Join(entry, exits)
			if err != nil && !errors.Is(err, backend.ErrGone) && !sp.Gone() {
				all = errors.Join(all, err)
			}
		}
	}
	return all
}

// Disarm takes the breakpoints away of a probe that has disabled or removed itself. It stays attached to its points:
// the hit in which it did is still going through their lists. That hit runs to its end: a probe's state is asked for
// before its program runs, and this one has been admitted.
func (s *Set) Disarm(pr *registry.Probe) {
	if err := s.sync(pr); err != nil {
		s.tracer.Warn(err.Error())
	}
}

// Enable arms a probe that was disabled; its limit counts from zero again.
func (s *Set) Enable(id uint32) error {
	return s.with(id, func(pr *registry.Probe) error {
		pr.Renew()
		return s.SetEnabled(pr, true)
	})
}

// Disable disarms a probe; it stays registered. When Disable returns, its programs run no more.
func (s *Set) Disable(id uint32) error {
	defer s.tracer.AwaitPrograms()
	return s.with(id, func(pr *registry.Probe) error { return s.SetEnabled(pr, false) })
}

// Remove removes a probe; Query still reports it. When Remove returns, its programs run no more.
func (s *Set) Remove(id uint32) error {
	defer s.tracer.AwaitPrograms()
	return s.with(id, func(pr *registry.Probe) error {
		pr.Retire()
		return s.sync(pr)
	})
}

// with runs fn for a probe.
func (s *Set) with(id uint32, fn func(*registry.Probe) error) error {
	return s.tracer.Do(func() error {
		pr, err := s.list.Find(id)
		if err != nil {
			return err
		}
		return fn(pr)
	})
}

// All are the probes in the order of declaration.
func (s *Set) All() []*registry.Probe { return s.list.All() }
