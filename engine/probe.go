package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"gotap/engine/module"
	"gotap/engine/place"
	"gotap/runtime/hook"
)

// probe is a logical probe. Its counters and state belong to the tracing thread.
type probe struct {
	spec    ProbeSpec
	order   int // of declaration
	enabled bool
	removed bool
	leaving bool   // a swap under way removes it
	seen    uint64 // times it came up, and its predicate let it through
	turned  uint64 // times its predicate turned down
	seen0   uint64 // when the present window began
	hits    uint64 // times its programs ran
	missed  uint64
	refused []string
	places0 int            // places it had in the last process that ended
	how     map[string]int // of them, by strategy

	mu     sync.Mutex // guards places and failed; held while a place is compiled
	places map[siteKey]*placement
	failed map[siteKey]error
}

// siteKey is a place in a file, whatever process maps it.
type siteKey struct {
	file  *module.File
	vaddr uint64
	name  string // one address may be meant by two marks, or as the choice of an indirect function
}

// placement is a logical probe at one place of a file, compiled for it. It is immutable and serves all processes.
type placement struct {
	probe  *probe
	target place.Target
	code   Handlers
	data   bool // a watchpoint on data: the code that meets it is anywhere
	funcN  string
	modN   string
}

// armed reports whether the probe wants breakpoints.
func (pr *probe) armed() bool { return pr.enabled && !pr.removed }

func (pr *probe) maxActive() int {
	if pr.spec.MaxActive > 0 {
		return pr.spec.MaxActive
	}
	return 1024
}

// excludes is the error of two placements that want the same position at one place, or one of which wants to be alone there; nil
// when both can be. A probe that is about to be removed, in the exchange that adds the other, is in nobody's way.
func (pl *placement) excludes(o *placement) error {
	a, b := pl.probe, o.probe
	if a == b || b.removed || b.leaving || !a.spec.Order.Excludes(b.spec.Order) {
		return nil
	}
	if a.spec.Order.Position == hook.Only {
		return fmt.Errorf("probe %s is there, and the new one is to be alone", b.spec.Name)
	}
	return fmt.Errorf("probe %s, which is there, is %s", b.spec.Name, b.spec.Order.Position)
}

// before reports whether the placement's programs run before those of another at the same place: by the order that the probes
// ask for, and then as they were declared.
func (pl *placement) before(o *placement) bool {
	if c := pl.probe.spec.Order.Compare(o.probe.spec.Order); c != 0 {
		return c < 0
	}
	return pl.probe.order < o.probe.order
}

// admit decides whether this hit counts: not while hits are to be let pass, and only each n-th where that was asked for.
// The probe disables itself with the last hit it may have.
func (pr *probe) admit(t *thread) bool {
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
		t.s.retireAfter(pr)
	}
	return true
}

// ErrNoProbe is for numbers that no probe has.
var ErrNoProbe = errors.New("no such probe")

func newProbe(spec ProbeSpec) *probe {
	return &probe{spec: spec, enabled: !spec.Disabled, how: map[string]int{},
		places: map[siteKey]*placement{}, failed: map[siteKey]error{}}
}

// Add registers a probe and arms it, unless it is disabled, in all processes there are and will be. All of it or
// nothing: when a place that was named outright is refused, or nothing matches and the probe is not optional, nothing
// stays. Errors of package place keep their type.
func (s *Session) Add(spec ProbeSpec) error {
	pr := newProbe(spec)
	if err := s.checkSpec(spec); err != nil {
		return err
	}
	procs, err := s.snapshot()
	if err != nil {
		return err
	}
	if err := s.prepare(pr, procs); err != nil {
		return err
	}
	return s.do(func() error { return s.register(pr) })
}

// checkSpec refuses what cannot be before anything is looked at.
func (s *Session) checkSpec(spec ProbeSpec) error {
	if len(spec.Specs) == 0 {
		return fmt.Errorf("cannot add probe %s: it names no place", spec.Name)
	}
	if spec.Compile == nil {
		return fmt.Errorf("cannot add probe %s: it has no program", spec.Name)
	}
	return nil
}

// register makes a prepared probe part of the session. Tracing thread.
func (s *Session) register(pr *probe) error {
	if s.byID[pr.spec.ID] != nil {
		return fmt.Errorf("cannot add probe %s: number %d is taken", pr.spec.Name, pr.spec.ID)
	}
	pr.order = len(s.probes)
	s.probes = append(s.probes, pr)
	s.byID[pr.spec.ID] = pr
	var err error
	for _, p := range s.procs {
		if e := s.armProbe(p, pr, p.space.mods); e != nil {
			err = errors.Join(err, e)
		}
	}
	if err == nil {
		err = s.addSpecials(pr)
	}
	if err != nil {
		s.drop(pr)
	}
	return err
}

// drop removes a probe with all it placed.
func (s *Session) drop(pr *probe) {
	pr.removed, pr.enabled = true, false
	s.dropSpecials(pr)
	for sp := range s.spaces() {
		for _, p := range sp.points {
			s.detachFrom(p, pr)
		}
	}
	s.probes = slices.DeleteFunc(s.probes, func(o *probe) bool { return o == pr })
	delete(s.byID, pr.spec.ID)
}

// detachFrom takes a probe off a point.
func (s *Session) detachFrom(p *point, pr *probe) {
	owns := func(pl *placement) bool { return pl.probe == pr }
	if !slices.ContainsFunc(p.enters, owns) {
		return
	}
	leaves := 0
	for _, pl := range p.enters {
		if owns(pl) && pl.code.Leave != nil {
			leaves++
		}
	}
	before := p.counted()
	p.enters = slices.DeleteFunc(slices.Clone(p.enters), owns)
	if p.planted {
		s.points -= before - p.counted()
	}
	for fn := p.fn; leaves > 0 && fn != nil; leaves-- {
		s.unwatch(fn)
	}
	s.sync(p)
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
	if pr.enabled == on || pr.removed {
		return nil
	}
	pr.enabled = on
	err := s.syncProbe(pr)
	if err != nil && on {
		pr.enabled = false
		s.syncProbe(pr)
	}
	s.enableSpecials(pr, pr.enabled)
	return err
}

// syncProbe plants or removes the breakpoints of a probe after it was enabled or disabled.
func (s *Session) syncProbe(pr *probe) error {
	var all error
	for sp := range s.spaces() {
		for _, p := range sp.points {
			if !slices.ContainsFunc(p.enters, func(pl *placement) bool { return pl.probe == pr }) {
				continue
			}
			if err := s.sync(p); err != nil && !errors.Is(err, errGone) {
				all = errors.Join(all, err)
			}
			if p.fn != nil {
				for _, e := range p.fn.exits {
					s.sync(e)
				}
			}
		}
	}
	return all
}

// retire disables a probe for good, at its own request. It stays attached to its points: the hit that asked for
// it is still going through their lists.
func (s *Session) retire(pr *probe) {
	pr.enabled = false
	pr.removed = true
	s.syncProbe(pr)
	s.enableSpecials(pr, false)
}

// retireAfter disables a probe that has had its last hit. Its breakpoints go now, its present hit runs to the end:
// enabled is looked at before a program runs, and this one has been admitted.
func (s *Session) retireAfter(pr *probe) {
	pr.enabled = false
	s.syncProbe(pr)
	s.enableSpecials(pr, false)
}

// Enable arms a probe that was disabled; its hits start to count towards its limit anew.
func (s *Session) Enable(id uint32) error {
	return s.withProbe(id, func(pr *probe) error {
		if pr.spec.Limit > 0 && pr.hits >= pr.spec.Limit {
			pr.spec.Limit += pr.hits
		}
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
		s.retire(pr)
		return nil
	})
}

// withProbe runs fn for a probe on the tracing thread.
func (s *Session) withProbe(id uint32, fn func(*probe) error) error {
	return s.do(func() error {
		pr := s.byID[id]
		if pr == nil {
			return fmt.Errorf("cannot find probe %d: %w", id, ErrNoProbe)
		}
		return fn(pr)
	})
}

// Query tells the state of every probe, in the order of declaration.
func (s *Session) Query() []ProbeState {
	var all []ProbeState
	err := s.do(func() error {
		for _, pr := range s.probes {
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

func (s *Session) state(pr *probe) ProbeState {
	st := ProbeState{ID: pr.spec.ID, Name: pr.spec.Name, State: "active", Hits: pr.hits, Missed: pr.missed,
		Refused: slices.Clone(pr.refused), Strategy: map[string]int{}}
	for sp := range s.spaces() {
		for _, p := range sp.points {
			if slices.ContainsFunc(p.enters, func(pl *placement) bool { return pl.probe == pr }) {
				st.Places++
				st.Strategy[strategyName(p)]++
			}
		}
	}
	st.Places += s.specialPlaces(pr)
	switch {
	case pr.removed:
		st.State = "removed"
	case !pr.enabled:
		st.State = "disabled"
	case st.Places == 0 && pr.places0 > 0: // there was a process to be in
		st.Places, st.Strategy = pr.places0, maps.Clone(pr.how)
	case st.Places == 0:
		st.State = "pending"
	}
	return st
}

// remember notes where the probes are before the last process goes.
func (s *Session) remember() {
	for _, pr := range s.probes {
		st := s.state(pr)
		pr.places0, pr.how = st.Places, st.Strategy
	}
}

// strategyName names how a point's instruction is run, and how returns are watched where they are.
func strategyName(p *point) string {
	how := strategyNames[p.how]
	switch {
	case p.fn == nil:
	case p.fn.byReturn:
		how += ", returns by return address"
	default:
		how += ", returns by return sites"
	}
	return how
}

var strategyNames = [...]string{"refused", "emulated", "out of line", "in place"}
