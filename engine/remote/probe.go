package remote

import (
	"errors"
	"fmt"
	"slices"

	"gotap/arch"
	"gotap/engine"
	"gotap/engine/module"
	"gotap/engine/place"
)

// probe is a logical probe: what a user asked for.
type probe struct {
	spec    engine.ProbeSpec
	order   int // of declaration
	enabled bool
	removed bool
	seen    uint64 // times it came up
	hits    uint64 // times its programs ran
	missed  uint64
	refused []string
	places  map[siteKey]*placement
}

// siteKey is a place in a file.
type siteKey struct {
	file  *module.File
	vaddr uint64
	name  string
}

// placement is a probe at one place, compiled for it. It is immutable.
type placement struct {
	probe  *probe
	target place.Target
	code   engine.Handlers
	data   bool // a watchpoint on data: the code that meets it is anywhere
	funcN  string
	modN   string
}

// armed reports whether the probe wants breakpoints.
func (pr *probe) armed() bool { return pr.enabled && !pr.removed }

// maxActive is how many calls at once a leave handler can tell apart.
func (pr *probe) maxActive() int {
	if pr.spec.MaxActive > 0 {
		return pr.spec.MaxActive
	}
	return 1024
}

// before reports whether the placement's programs run before those of another at the same place.
func (pl *placement) before(o *placement) bool {
	if c := pl.probe.spec.Order.Compare(o.probe.spec.Order); c != 0 {
		return c < 0
	}
	return pl.probe.order < o.probe.order
}

// admit decides whether this hit counts. The probe disables itself with the last hit it may have.
func (pr *probe) admit(s *Session) bool {
	if !pr.enabled {
		return false
	}
	pr.seen++
	if pr.seen <= pr.spec.After {
		return false
	}
	if every := pr.spec.Every; every > 1 && (pr.seen-pr.spec.After)%every != 0 {
		return false
	}
	pr.hits++
	if pr.spec.Limit > 0 && pr.hits >= pr.spec.Limit {
		s.retire(pr, false)
	}
	return true
}

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
	switch {
	case len(spec.Specs) == 0:
		return nil, fmt.Errorf("cannot add probe %s: it names no place", spec.Name)
	case spec.Compile == nil:
		return nil, fmt.Errorf("cannot add probe %s: it has no program", spec.Name)
	}
	pr := &probe{spec: spec, enabled: !spec.Disabled, places: map[siteKey]*placement{}}
	var all error
	for _, sp := range spec.Specs {
		targets, err := s.targets(sp)
		var missing *place.NotFoundError
		if err != nil && !(errors.As(err, &missing) && spec.Optional) {
			all = errors.Join(all, err)
		}
		for _, t := range targets {
			if _, err := s.place(pr, t); err != nil {
				return nil, err
			}
		}
	}
	return pr, all
}

// register makes a prepared probe part of the session.
func (s *Session) register(pr *probe) error {
	if s.byID[pr.spec.ID] != nil {
		return fmt.Errorf("cannot add probe %s: number %d is taken", pr.spec.Name, pr.spec.ID)
	}
	pr.order = len(s.probes)
	s.probes = append(s.probes, pr)
	s.byID[pr.spec.ID] = pr
	err := s.armProbe(pr, s.mods)
	if err == nil {
		err = errors.Join(s.syncWatches(), s.syncSemaphores())
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
	for _, spec := range pr.spec.Specs {
		targets, _ := s.targets(spec)
		for _, t := range targets {
			err := s.armTarget(pr, spec, t, mods)
			var many errTooMany
			switch {
			case err == nil:
			case !spec.Pattern() && !spec.Every || errors.As(err, &many):
				all = errors.Join(all, err)
			default:
				pr.refuse(fmt.Sprintf("%s: %v", t.Name, err))
			}
		}
	}
	return all
}

// refuse notes a place that a pattern matched and that is left out.
func (pr *probe) refuse(text string) {
	if !slices.Contains(pr.refused, text) {
		pr.refused = append(pr.refused, text)
	}
}

// armTarget arms a probe at one place, in each module that is the place's file.
func (s *Session) armTarget(pr *probe, spec place.Spec, t place.Target, mods []module.Loaded) error {
	for i := range mods {
		m := &mods[i]
		if m.File != t.File || m.Err != nil {
			continue
		}
		pl, err := s.place(pr, t)
		if err != nil {
			return err
		}
		if spec.Kind == place.Watch && spec.Access != place.OnExecute {
			s.addWatch(pl, spec, m.Addr(t.Vaddr))
			continue
		}
		if err := s.armAt(pl, m.Addr(t.Vaddr), m); err != nil {
			return fmt.Errorf("cannot probe %s: %w", t.Name, err)
		}
	}
	return nil
}

// armAt attaches a placement to the point at an address.
func (s *Session) armAt(pl *placement, addr uint64, m *module.Loaded) error {
	if pl.code.Leave != nil && !pl.target.Entry() {
		return &place.RefusedError{Place: pl.target.Name, Reason: "only functions are left, and this is not the start of one"}
	}
	pt, err := s.pointAt(addr, nil)
	if err != nil {
		return err
	}
	if pt.how == arch.Emulated && pt.site.Insn().Control == arch.Syscall && s.isa.Stepless && s.kernel {
		return &arch.RefusedError{Addr: addr, Reason: "a kernel makes no system calls"}
	}
	if slices.Contains(pt.enters, pl) {
		return s.sync(pt)
	}
	if pt.planted && len(pt.enters) == 0 {
		s.armed++
	}
	i := len(pt.enters)
	for i > 0 && pl.before(pt.enters[i-1]) {
		i--
	}
	pt.enters = slices.Insert(slices.Clone(pt.enters), i, pl)
	if err := s.sync(pt); err != nil {
		return err
	}
	if pl.code.Leave != nil {
		s.watchExits(pt, pl, m)
	}
	return nil
}

// drop removes a probe with all it placed.
func (s *Session) drop(pr *probe) {
	pr.removed, pr.enabled = true, false
	for _, p := range s.points {
		s.detachFrom(p, pr)
	}
	s.watches = slices.DeleteFunc(s.watches, func(w *watch) bool {
		if w.pl.probe == pr {
			s.unwatchData(w)
		}
		return w.pl.probe == pr
	})
	s.syncSemaphores()
	s.probes = slices.DeleteFunc(s.probes, func(o *probe) bool { return o == pr })
	delete(s.byID, pr.spec.ID)
}

// detachFrom takes a probe off a point.
func (s *Session) detachFrom(p *point, pr *probe) {
	owns := func(pl *placement) bool { return pl.probe == pr }
	before := p.counted()
	var left []*placement
	for _, pl := range p.enters {
		if !owns(pl) {
			left = append(left, pl)
		} else if pl.code.Leave != nil && p.fn != nil {
			s.unwatch(p.fn)
		}
	}
	p.enters = left
	if p.planted {
		s.armed -= before - p.counted()
	}
	s.sync(p)
}

// syncProbe plants or removes the breakpoints of a probe after it was enabled or disabled.
func (s *Session) syncProbe(pr *probe) error {
	var all error
	for _, p := range s.points {
		if !slices.ContainsFunc(p.enters, func(pl *placement) bool { return pl.probe == pr }) {
			continue
		}
		all = errors.Join(all, s.sync(p))
		if p.fn != nil {
			for _, e := range p.fn.exits {
				all = errors.Join(all, s.sync(e))
			}
		}
	}
	return errors.Join(all, s.syncWatches(), s.syncSemaphores())
}

// retire disables a probe that has had its last hit, or that removes itself. Its present hit runs to the end.
func (s *Session) retire(pr *probe, forGood bool) {
	pr.enabled = false
	pr.removed = pr.removed || forGood
	s.syncProbe(pr)
}

// Enable arms a probe that was disabled; its hits start to count towards its limit anew.
func (s *Session) Enable(id uint32) error {
	return s.withProbe(id, func(pr *probe) error {
		if pr.spec.Limit > 0 && pr.hits >= pr.spec.Limit {
			pr.spec.Limit += pr.hits
		}
		if pr.removed {
			return nil
		}
		pr.enabled = true
		err := s.syncProbe(pr)
		if err != nil {
			pr.enabled = false
			s.syncProbe(pr)
		}
		return err
	})
}

// Disable disarms a probe; it stays registered.
func (s *Session) Disable(id uint32) error {
	return s.withProbe(id, func(pr *probe) error {
		pr.enabled = false
		return s.syncProbe(pr)
	})
}

// Remove removes a probe; Query still tells of it.
func (s *Session) Remove(id uint32) error {
	return s.withProbe(id, func(pr *probe) error {
		s.retire(pr, true)
		return nil
	})
}

// withProbe runs fn for a probe with the target stopped.
func (s *Session) withProbe(id uint32, fn func(*probe) error) error {
	return s.held(func() error {
		pr := s.byID[id]
		if pr == nil {
			return fmt.Errorf("cannot find probe %d: %w", id, engine.ErrNoProbe)
		}
		return fn(pr)
	})
}

// Query tells the state of every probe, in the order of declaration.
func (s *Session) Query() []engine.ProbeState {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []engine.ProbeState
	for _, pr := range s.probes {
		all = append(all, s.state(pr))
	}
	return all
}

func (s *Session) state(pr *probe) engine.ProbeState {
	st := engine.ProbeState{ID: pr.spec.ID, Name: pr.spec.Name, State: "active", Hits: pr.hits, Missed: pr.missed,
		Refused: slices.Clone(pr.refused), Strategy: map[string]int{}}
	for _, p := range s.points {
		if slices.ContainsFunc(p.enters, func(pl *placement) bool { return pl.probe == pr }) {
			st.Places++
			st.Strategy[strategyName(p)]++
		}
	}
	for _, w := range s.watches {
		if w.pl.probe == pr {
			st.Places++
		}
	}
	switch {
	case pr.removed:
		st.State = "removed"
	case !pr.enabled:
		st.State = "disabled"
	case st.Places == 0:
		st.State = "pending"
	}
	return st
}

// strategyName names how a point's instruction is completed, and how returns are watched where they are.
func strategyName(p *point) string {
	how := "emulated"
	if p.how != arch.Emulated {
		how = "stepped by the stub"
	}
	switch {
	case p.fn == nil:
	case p.fn.byReturn:
		how += ", returns by return address"
	default:
		how += ", returns by return sites"
	}
	return how
}

// Swap is an exchange of probes that is prepared and not yet made.
type Swap struct {
	s      *Session
	add    []*probe
	remove []uint32
}

// Prepare resolves and compiles probes that are to take the place of others. Errors are as for Add; nothing has changed then.
func (s *Session) Prepare(add []engine.ProbeSpec, remove []uint32) (*Swap, error) {
	w := &Swap{s: s, remove: remove}
	err := s.held(func() error {
		var all error
		for _, spec := range add {
			pr, err := s.prepare(spec)
			if err == nil {
				w.add = append(w.add, pr)
			}
			all = errors.Join(all, err)
		}
		return all
	})
	return w, err
}

// Commit makes the exchange, with the target stopped. When a new probe cannot be armed none is, and the old ones stay.
func (w *Swap) Commit() error {
	return w.s.held(func() error {
		for i, pr := range w.add {
			if err := w.s.register(pr); err != nil {
				for _, done := range w.add[:i] {
					w.s.drop(done)
				}
				return err
			}
		}
		for _, pr := range slices.Clone(w.s.probes) {
			if slices.Contains(w.remove, pr.spec.ID) {
				w.s.drop(pr)
			}
		}
		return nil
	})
}
