package remote

import (
	"errors"
	"fmt"
	"slices"

	"gotap/arch"
	"gotap/engine"
	"gotap/engine/module"
	"gotap/engine/place"
	"gotap/engine/registry"
)

// A probe is what a user asked for, a placement that probe at one place of a file: see package registry.
type (
	probe     = registry.Probe
	placement = registry.Placement
)

// Add registers a probe and arms it, unless it is disabled: all of it or nothing. Errors of package place keep their type.
func (s *Session) Add(spec engine.ProbeSpec) error {
	return s.held(func() error {
		pr, err := s.prepare(spec)
		if err != nil {
			return err
		}
		return s.register(pr)
	})
}

// prepare resolves and compiles a probe.
func (s *Session) prepare(spec engine.ProbeSpec) (*probe, error) {
	pr, err := registry.New(spec)
	if err != nil {
		return nil, err
	}
	var all error
	for i, sp := range spec.Specs {
		if sp.Kind == place.Syscall && !s.kernel {
			if _, err := s.compileCalls(pr, sp); err != nil {
				all = errors.Join(all, &place.ListedError{Index: i, Err: err})
			}
			continue
		}
		targets, err := s.targets(sp)
		if e := s.cfg.Interrupted(); e != nil { // places may be missing
			return nil, e
		}
		var missing *place.NotFoundError
		if err != nil && !(errors.As(err, &missing) && spec.Optional) {
			all = errors.Join(all, &place.ListedError{Index: i, Err: err})
		}
		for _, t := range targets {
			if err := s.cfg.Interrupted(); err != nil {
				return nil, err
			}
			if _, err := s.place(pr, sp, t); err != nil {
				return nil, err
			}
		}
	}
	return pr, all
}

// register makes a prepared probe part of the session.
func (s *Session) register(pr *probe) error {
	if err := s.probes.Add(pr); err != nil {
		return err
	}
	err := s.armProbe(pr, s.mods)
	if err == nil {
		err = errors.Join(s.syncWatches(), s.syncSemaphores(), s.addCalls(pr))
	}
	if err != nil {
		s.drop(pr)
	}
	return err
}

// armProbe arms a probe at all places that it has in modules. What a pattern matched and cannot be probed is left out and told; what
// was named outright is an error.
func (s *Session) armProbe(pr *probe, mods []module.Loaded) error {
	var all error
	for i, spec := range pr.Spec.Specs {
		targets, _ := s.targets(spec)
		if err := s.cfg.Interrupted(); err != nil { // places may be missing
			return err
		}
		for _, t := range targets {
			if err := s.cfg.Interrupted(); err != nil {
				return err
			}
			err := s.armTarget(pr, spec, t, mods)
			var many errTooMany
			switch {
			case err == nil:
			case errors.As(err, &many): // of every further place there would be the same to say
				return errors.Join(all, &place.ListedError{Index: i, Err: err})
			case !spec.Pattern() && !spec.Every:
				all = errors.Join(all, &place.ListedError{Index: i, Err: err})
			default:
				pr.Refuse(fmt.Sprintf("%s: %v", t.Name, err))
			}
		}
	}
	return all
}

// armTarget arms a probe at one place, in each module that is the place's file.
func (s *Session) armTarget(pr *probe, spec place.Spec, t place.Target, mods []module.Loaded) error {
	for i := range mods {
		m := &mods[i]
		if m.File != t.File || m.Err != nil {
			continue
		}
		pl, err := s.place(pr, spec, t)
		if err != nil {
			return err
		}
		if onData(spec) {
			if err := pl.Code.Fits(spec); err != nil {
				return err
			}
			s.addWatch(pl, spec, m.Addr(t.Vaddr))
			continue
		}
		if err := s.armAt(pl, m.Addr(registry.PlantedAt(t)), m); err != nil {
			return fmt.Errorf("cannot probe %s: %w", t.Name, err)
		}
	}
	return nil
}

// armAt attaches a placement to the point at an address.
func (s *Session) armAt(pl *placement, addr uint64, m *module.Loaded) error {
	if pl.Code.Leave != nil && !pl.Target.Entry() {
		return &place.RefusedError{Place: pl.Target.Name, Reason: "only functions are left, and this is not the start of one"}
	}
	pt, err := s.pointAt(addr, nil)
	if err != nil {
		return err
	}
	if pt.how == arch.Emulated && pt.site.Insn().Control == arch.Syscall && s.isa.Stepless && s.kernel {
		return &arch.RefusedError{Addr: addr, Reason: "a kernel makes no system calls"}
	}
	return pt.Attach(pl, &body{s, pt, pl.Target, m})
}

// drop removes a probe with all it placed.
func (s *Session) drop(pr *probe) {
	pr.Removed, pr.Enabled = true, false
	for _, p := range s.points {
		p.Detach(pr)
	}
	s.watches = slices.DeleteFunc(s.watches, func(w *watch) bool {
		if w.pl.Probe == pr {
			s.unwatchData(w)
		}
		return w.pl.Probe == pr
	})
	s.calls = slices.DeleteFunc(s.calls, func(c callProbe) bool { return c.pl.Probe == pr })
	s.syncSemaphores()
	s.syncCalls()
	s.probes.Drop(pr)
}

// syncProbe plants or removes the breakpoints of a probe after it was enabled or disabled.
func (s *Session) syncProbe(pr *probe) error {
	var all error
	for _, p := range s.points {
		if !pr.Has(p.Enters) {
			continue
		}
		entry, exits := p.SyncAll()
		all = errors.Join(all, entry, exits)
	}
	return errors.Join(all, s.syncWatches(), s.syncSemaphores(), s.syncCalls())
}

// Enable arms a probe that was disabled; its hits start to count towards its limit anew.
func (s *Session) Enable(id uint32) error {
	return s.withProbe(id, func(pr *probe) error {
		pr.Renew()
		if pr.Removed {
			return nil
		}
		pr.Enabled = true
		err := s.syncProbe(pr)
		if err != nil {
			pr.Enabled = false
			s.syncProbe(pr)
		}
		return err
	})
}

// Disable disarms a probe; it stays registered.
func (s *Session) Disable(id uint32) error {
	return s.withProbe(id, func(pr *probe) error {
		pr.Enabled = false
		return s.syncProbe(pr)
	})
}

// Remove removes a probe; Query still tells of it.
func (s *Session) Remove(id uint32) error {
	return s.withProbe(id, func(pr *probe) error {
		pr.Retire()
		return s.syncProbe(pr)
	})
}

// withProbe runs fn for a probe with the target stopped.
func (s *Session) withProbe(id uint32, fn func(*probe) error) error {
	return s.held(func() error {
		pr, err := s.probes.Find(id)
		if err != nil {
			return err
		}
		return fn(pr)
	})
}

// Query tells the state of every probe, in the order of declaration.
func (s *Session) Query() []engine.ProbeState {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []engine.ProbeState
	for _, pr := range s.probes.All() {
		all = append(all, s.state(pr))
	}
	return all
}

func (s *Session) state(pr *probe) engine.ProbeState {
	found, others := map[string]int{}, 0
	for _, p := range s.points {
		if pr.Has(p.Enters) {
			found[strategyName(p)]++
		}
	}
	for _, w := range s.watches {
		if w.pl.Probe == pr {
			others++
		}
	}
	for _, c := range s.calls {
		if c.pl.Probe == pr {
			others++
		}
	}
	return pr.State(found, others)
}

// strategyName names how a point's instruction is completed, and how returns are watched where they are.
func strategyName(p *point) string {
	how := "emulated"
	if p.how != arch.Emulated {
		how = "stepped by the stub"
	}
	return how + p.How()
}
