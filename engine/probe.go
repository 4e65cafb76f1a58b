package engine

import (
	"errors"

	"gotap/engine/registry"
)

// A probe is what a user asked for, a placement that probe at one place of a file: see package registry. Their counters and state belong to
// the tracing thread.
type (
	probe     = registry.Probe
	placement = registry.Placement
)

// ErrNoProbe is for numbers that no probe has.
var ErrNoProbe = registry.ErrNoProbe

// Add registers a probe and arms it, unless it is disabled, in all processes there are and will be. All of it or
// nothing: when a place that was named outright is refused, or nothing matches and the probe is not optional, nothing
// stays. Errors of package place keep their type.
func (s *Session) Add(spec ProbeSpec) error {
	for {
		err := s.add(spec)
		if !errors.Is(err, errReplacing) {
			return err
		}
		if err := s.settle(); err != nil {
			return err
		}
	}
}

// add is Add, but for processes that are just then replacing their programs: the error is errReplacing.
func (s *Session) add(spec ProbeSpec) error {
	pr, err := registry.New(spec)
	if err != nil {
		return err
	}
	if e, err := s.beginning(spec.ID); e != nil || err != nil {
		return s.complete(e, spec)
	}
	procs, err := s.snapshot()
	if err != nil {
		return err
	}
	if err := s.prepare(pr, spec.Specs, procs); err != nil {
		return err
	}
	return s.do(func() error {
		if s.replacing() {
			return errReplacing
		}
		return s.registerEach([]*probe{pr}, true)[pr]
	})
}

// registerEach makes prepared probes part of the session, and plants all that they want in one stop of the target. The result has those
// that cannot be part of it. With all, one of these keeps the others out too. Tracing thread.
func (s *Session) registerEach(list []*probe, all bool) registry.Failures {
	failed := registry.Failures{}
	lost := s.together(func() {
		for _, pr := range list {
			if err := s.register(pr); err != nil {
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
	for pr, err := range s.settleFailed(lost) {
		if s.drop(pr); s.replacing() {
			err = errReplacing
		}
		failed[pr] = err
	}
	if all && len(failed) > 0 {
		s.dropOthers(list, failed)
	}
	return failed
}

// dropOthers drops the probes of a list that did not fail.
func (s *Session) dropOthers(list []*probe, failed registry.Failures) {
	for _, pr := range list {
		if failed[pr] == nil && !pr.Removed {
			s.drop(pr)
		}
	}
}

// registerAll is registerEach for probes of which all are to be registered, or none.
func (s *Session) registerAll(list []*probe) error { return s.registerEach(list, true).Err(list) }

// register makes a prepared probe part of the session. Tracing thread.
func (s *Session) register(pr *probe) error {
	if err := s.probes.Add(pr); err != nil {
		return err
	}
	err := s.arm(pr)
	if err != nil {
		s.drop(pr)
		if s.replacing() {
			return errReplacing
		}
	}
	return err
}

// arm places a probe in all processes.
func (s *Session) arm(pr *probe) (err error) {
	for _, p := range s.procs {
		if e := s.armProbe(p, pr, p.space.mods); e != nil {
			err = errors.Join(err, e)
		}
	}
	if err == nil {
		err = s.addSpecials(pr)
	}
	return err
}

// drop removes a probe with all it placed.
func (s *Session) drop(pr *probe) {
	pr.Removed, pr.Enabled = true, false
	s.dropSpecials(pr)
	for sp := range s.spaces() {
		for _, p := range sp.points {
			p.Detach(pr)
		}
	}
	s.probes.Drop(pr)
}

// spaces is the set of address spaces there are.
func (s *Session) spaces() map[*space]bool {
	all := map[*space]bool{}
	for _, p := range s.procs {
		all[p.space] = true
	}
	return all
}

// setEnabled arms or disarms a probe everywhere. When it cannot be armed everywhere it is armed nowhere.
func (s *Session) setEnabled(pr *probe, on bool) error {
	if pr.Enabled == on || pr.Removed {
		return nil
	}
	pr.Enabled = on
	var err error
	for _, lost := range s.together(func() { err = errors.Join(s.syncProbe(pr), s.syncSpecials()) }) {
		err = errors.Join(err, lost)
	}
	if err != nil && on {
		pr.Enabled = false
		s.disarm(pr)
	}
	return err
}

// syncProbe plants or removes the breakpoints of a probe after it was enabled or disabled.
func (s *Session) syncProbe(pr *probe) error {
	var all error
	for sp := range s.spaces() {
		for _, p := range sp.points {
			if !pr.Has(p.Enters) {
				continue
			}
			if err, _ := p.SyncAll(); err != nil && !errors.Is(err, errGone) && !sp.mem.Gone() {
				all = errors.Join(all, err)
			}
		}
	}
	return all
}

// disarm takes the breakpoints away of a probe that has disabled or removed itself. It stays attached to its points: the hit in
// which it did is still going through their lists. That hit runs to its end: enabled is looked at before a program runs, and this
// one has been admitted.
func (s *Session) disarm(pr *probe) {
	s.syncProbe(pr)
	s.specialsChanged()
}

// Enable arms a probe that was disabled; its hits start to count towards its limit anew.
func (s *Session) Enable(id uint32) error {
	return s.withProbe(id, func(pr *probe) error {
		pr.Renew()
		return s.setEnabled(pr, true)
	})
}

// Disable disarms a probe; it stays registered. When Disable returns, its programs run no more.
func (s *Session) Disable(id uint32) error {
	return s.withProbe(id, func(pr *probe) error { return s.setEnabled(pr, false) })
}

// Remove removes a probe; Query still tells of it.
func (s *Session) Remove(id uint32) error {
	return s.withProbe(id, func(pr *probe) error {
		pr.Retire()
		s.disarm(pr)
		return nil
	})
}

// withProbe runs fn for a probe on the tracing thread.
func (s *Session) withProbe(id uint32, fn func(*probe) error) error {
	return s.do(func() error {
		pr, err := s.probes.Find(id)
		if err != nil {
			return err
		}
		return fn(pr)
	})
}

// Query tells the state of every probe, in the order of declaration.
func (s *Session) Query() []ProbeState {
	var all []ProbeState
	err := s.do(func() error {
		for _, pr := range s.probes.All() {
			all = append(all, s.state(pr))
		}
		s.lastQuery.Store(&all)
		return nil
	})
	if last := s.lastQuery.Load(); err != nil && last != nil {
		return *last // of the moment the session ended
	}
	return all
}

func (s *Session) state(pr *probe) ProbeState { return pr.State(s.where(pr), s.specialPlaces(pr)) }

// where counts the points of a probe by strategy.
func (s *Session) where(pr *probe) map[string]int {
	found := map[string]int{}
	for sp := range s.spaces() {
		for _, p := range sp.points {
			if pr.Has(p.Enters) {
				found[strategyName(p)]++
			}
		}
	}
	return found
}

// remember notes where the probes are before the last process goes.
func (s *Session) remember() {
	for _, pr := range s.probes.All() {
		pr.Last = s.where(pr)
	}
}

// strategyName names how a point's instruction is run, and how returns are watched where they are.
func strategyName(p *point) string { return strategyNames[p.how] + p.How() }

var strategyNames = [...]string{"refused", "emulated", "out of line", "in place"}
