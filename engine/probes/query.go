package probes

import (
	"slices"

	"gotap/engine/registry"
)

// Query returns the state of every probe, in the order of declaration. When the session is over it is the state at its end.
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
		all = append(all, pr.State(s.where(pr), s.tracer.NonBreakpoints(pr)))
	}
	s.last.Store(&all)
	return all
}

// Recount brings the counts of hits in the answer that States has kept up to date: programs that run in targets without a stop may have run
// since. The back end calls it when nothing leads to them any more.
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

// where counts the points of a probe by strategy.
func (s *Set) where(pr *registry.Probe) map[string]int {
	found := map[string]int{}
	for _, sp := range s.tracer.Spaces() {
		for p := range sp.Points() {
			if pr.Has(p.Enters) {
				found[p.How()]++
			}
		}
	}
	return found
}

// Remember notes where the probes are, before the last process ends.
func (s *Set) Remember() {
	for _, pr := range s.list.All() {
		pr.Last = s.where(pr)
	}
}
