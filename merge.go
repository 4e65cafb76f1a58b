package gotap

import (
	"fmt"
	"slices"

	"gotap/compile/diag"
	"gotap/script/definition"
)

// update gives a definition file in the session a new version: a guest's file, or with nil the session's own. Probes
// that do the same at the same place stay armed and keep their counts; local variables stay when there are as many.
// Probes that only the running version has are removed, or stay with Merge. All of it happens between two hits; on
// error nothing has changed.
func (m *guests) update(in Insertion, g *guest) ([]string, error) {
	old := m.runningDefinition(g)
	next, warnings, err := m.loadUpdate(in, g, old)
	if err != nil {
		return nil, err
	}
	if in.Merge && next.Vars != old.Vars {
		return nil, hinted(BadScript, fmt.Errorf("cannot merge %s: it has %s, and the running version %d",
			in.Script.Name, plural(next.Vars, "local variable"), old.Vars), "--replace exchanges it")
	}
	fresh, stale := m.divide(old, next)
	var gone []uint32
	if !in.Merge {
		gone = numbersOf(stale)
	}
	swap, out, err := m.prepare(in, fresh, gone)
	if err != nil {
		return nil, err
	}
	if in.Merge {
		next.Probes = append(stale, next.Probes...)
	}
	m.s.definitions.Add(next, old) // before the first record can come
	if err := swap.Commit(); err != nil {
		m.s.definitions.Add(old, next)
		return nil, failed(BadTarget, fmt.Errorf("cannot arm %s: %w", in.Script.Name, err))
	}
	m.updated(in, g, next, out)
	return m.updateNotes(in, next, warnings, out), nil
}

// runningDefinition returns the running version. The session's own file is the first of the set.
func (m *guests) runningDefinition(g *guest) *definition.File {
	if g != nil {
		return g.definition
	}
	return m.s.definitions.Files()[0]
}

// loadUpdate loads the new version. The session's own file keeps the options of the session, unless others come with
// it.
func (m *guests) loadUpdate(in Insertion, g *guest, old *definition.File) (*definition.File, diag.List, error) {
	o := in.definitionOptions()
	if g == nil && in.Definition == nil {
		o = m.s.opts.Definition
	}
	return m.loadDefinition(in, o, old)
}

// divide returns the probes that only the new version has, and those that only the running one has. Probes of both keep
// the running one's number; a probe that was removed counts as new.
func (m *guests) divide(old, next *definition.File) (fresh []declaration, stale []*definition.Probe) {
	removed := map[uint32]bool{}
	for _, s := range m.s.engine.Query() {
		removed[s.ID] = s.State == stateRemoved
	}
	for _, p := range old.Probes {
		if state, known := removed[p.ID]; known && !state {
			stale = append(stale, p)
		}
	}
	unpaired, stale := pairProbes(stale, next.Probes)
	for _, p := range unpaired {
		fresh = append(fresh, definedProbe{p})
	}
	return fresh, stale
}

func numbersOf(list []*definition.Probe) (numbers []uint32) {
	for _, p := range list {
		numbers = append(numbers, p.ID)
	}
	return numbers
}

// updated records the new version in the session.
func (m *guests) updated(in Insertion, g *guest, next *definition.File, out []leftOut) {
	name := ""
	if g != nil {
		g.definition, name = next, g.name
	}
	for i := range out {
		out[i].script = name
	}
	if !in.Merge {
		m.forgetLeftOut(name)
	}
	m.s.leftOut = append(m.s.leftOut, out...)
}

// updateNotes report what an update has done.
func (m *guests) updateNotes(in Insertion, next *definition.File, warnings diag.List, out []leftOut) []string {
	notes := append(textsOf(warnings), leftOutNotes(in, out)...)
	verb := "replaced"
	if in.Merge {
		verb = "merged"
	}
	own := func(id uint32) bool {
		return slices.ContainsFunc(next.Probes, func(p *definition.Probe) bool { return p.ID == id })
	}
	return append(notes, fmt.Sprintf("%s %s: %s", verb, in.Script.Name, m.size(own)))
}
