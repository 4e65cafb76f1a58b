package probes

import (
	"slices"

	"gotap/engine/registry"
)

// Query returns the state of every probe, in the order of declaration. When the session is over it is the state at its
// end.
func (s *Set) Query() []registry.State {
	var all []registry.State
	err := s.tracer.Read(func() { all = s.States() })
	if last := s.last.Load(); err != nil && last != nil {
		return *last
	}
	return all
}

// States is Query for the back end. It keeps the answer for the time when the session is over.
func (s *Set) States() []registry.State {
	var all []registry.State
	for _, pr := range s.list.All() {
		where, stops := s.where(pr)
		st := pr.State(where, s.nonBreakpoints(pr))
		if len(where) > 0 {
			st.Stops = stops
		}
		all = append(all, st)
	}
	s.last.Store(&all)
	return all
}

// Recount brings the counts of hits in the answer that States has kept up to date: programs that run in targets without
// a stop may have run since. The back end calls it when nothing leads to them any more.
func (s *Set) Recount() {
	last := s.last.Load()
	if last == nil {
		return
	}
	all := slices.Clone(*last)
	for _, pr := range s.list.All() {
		for i := range all {
			if all[i].ID == pr.Spec.ID {
				all[i].Hits = pr.Hits()
			}
		}
	}
	s.last.Store(&all)
}

// Stopper is a breakpoint that can say why its programs stop threads although native code was preferred; "": they do
// not, or it was not.
type Stopper interface{ Stops() string }

// where counts the points of a probe by strategy, and those that stop threads by the reason.
func (s *Set) where(pr *registry.Probe) (found, stops map[string]int) {
	found, stops = map[string]int{}, map[string]int{}
	for _, sp := range s.tracer.Spaces() {
		for p := range sp.Points() {
			if pr.Has(p.Enters) {
				found[p.How()]++
				if at, ok := p.At.(Stopper); ok {
					if why := at.Stops(); why != "" {
						stops[why]++
					}
				}
			}
		}
	}
	return found, stops
}

// Remember notes where the probes are, before the last process ends.
func (s *Set) Remember() {
	for _, pr := range s.list.All() {
		pr.Last, pr.Stopped = s.where(pr)
	}
}
