package main

import (
	"fmt"
	"slices"

	"gotap/cmd/gotap/wire"
	"gotap/compile/diag"
)

// update gives a definition file that is in the session a new version: a guest's, or with nil the session's own. Probes that do the
// same at the same place stay armed and keep their counts, local variables stay when there are as many. The probes that only the
// running version has go with replace, and stay with merge. All of it happens between two hits, or nothing does.
func (m *manager) update(q wire.Request, g *guest) (wire.Reply, error) {
	old := m.runningDefinition(g)
	next, warnings, err := m.loadUpdate(q.Script, g, old)
	if err != nil {
		return wire.Reply{}, err
	}
	if q.Merge && next.file.Vars != old.file.Vars {
		return wire.Reply{}, &hintError{withStatus(statusUsage, fmt.Errorf("cannot merge %s: it has %s, and the running version %d",
			q.Script.Name, plural(next.file.Vars, "local variable"), old.file.Vars)), "--replace exchanges it"}
	}
	fresh, stale := m.divide(old, next)
	var gone []uint32
	if !q.Merge {
		gone = numbersOf(stale)
	}
	swap, out, err := m.prepare(q, fresh, gone)
	if err != nil {
		return wire.Reply{}, err
	}
	if q.Merge {
		next.probes = append(stale, next.probes...)
	}
	m.r.definitions.add(next, old) // before the first record can come
	if err := swap.Commit(); err != nil {
		m.r.definitions.add(old, next)
		return wire.Reply{}, withStatus(statusTarget, fmt.Errorf("cannot arm %s: %w", q.Script.Name, err))
	}
	m.updated(q, g, next, out)
	return m.tellUpdate(q, next, warnings, out), nil
}

// runningDefinition is the version that runs. The session's own file is the first of all.
func (m *manager) runningDefinition(g *guest) *definition {
	if g != nil {
		return g.definition
	}
	return m.r.definitions.all()[0]
}

// loadUpdate loads the new version. The session's own file keeps the flags that the run was given, unless others come with it.
func (m *manager) loadUpdate(sent *wire.Script, g *guest, old *definition) (*definition, diag.List, error) {
	flags := flagsOf(sent)
	options, err := flags.options(m.r.plan.unsafe)
	if err != nil {
		return nil, nil, withStatus(statusUsage, err)
	}
	if g == nil && flags.none() {
		options = m.r.plan.definition
	}
	text := scriptText{name: sent.Name, dir: sent.Dir, text: sent.Text}
	return m.parseDefinition(sent, text, options, old)
}

// divide finds which probes of a new version are new, and which of the running one it does not have. Those that both have keep
// the running one's number; one that was removed is new again.
func (m *manager) divide(old, next *definition) (fresh []declaration, stale []*definedProbe) {
	removed := map[uint32]bool{}
	for _, s := range m.r.session.Query() {
		removed[s.ID] = s.State == "removed"
	}
	for _, p := range old.probes {
		if state, known := removed[p.id]; known && !state {
			stale = append(stale, p)
		}
	}
	for _, p := range next.probes {
		if i := slices.IndexFunc(stale, p.same); i >= 0 {
			p.id = stale[i].id
			stale = slices.Delete(stale, i, i+1)
			continue
		}
		fresh = append(fresh, p)
	}
	return fresh, stale
}

func numbersOf(list []*definedProbe) (numbers []uint32) {
	for _, p := range list {
		numbers = append(numbers, p.id)
	}
	return numbers
}

// updated notes what the session has now.
func (m *manager) updated(q wire.Request, g *guest, next *definition, out []leftOut) {
	name := ""
	if g != nil {
		g.definition, name = next, g.name
	}
	for i := range out {
		out[i].script = name
	}
	if !q.Merge {
		m.forgetLeftOut(name)
	}
	m.r.leftOut = append(m.r.leftOut, out...)
}

func (m *manager) tellUpdate(q wire.Request, next *definition, warnings diag.List, out []leftOut) (reply wire.Reply) {
	for _, d := range warnings {
		reply.Notes = append(reply.Notes, d.String())
	}
	reply.Notes = append(reply.Notes, leftOutNotes(q, out)...)
	verb := "replaced"
	if q.Merge {
		verb = "merged"
	}
	own := func(id uint32) bool {
		return slices.ContainsFunc(next.probes, func(p *definedProbe) bool { return p.id == id })
	}
	reply.Notes = append(reply.Notes, fmt.Sprintf("%s %s: %s", verb, q.Script.Name, m.size(own)))
	return reply
}
