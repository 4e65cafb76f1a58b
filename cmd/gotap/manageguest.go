package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"gotap/cmd/gotap/wire"
	"gotap/compile/diag"
	"gotap/engine"
	"gotap/script"
	"gotap/script/output"
)

// A guest is what was inserted into a running session: a script, which has a machine of its own and shares the arena, the
// output and the goroutine of the session's script; or a definition file, which needs no machine.
type guest struct {
	name       string // as the user gave it
	path       string // absolute; "" when it is no file
	first      uint32 // number of its first probe
	script     *script.Script
	said       *output.Held // what the script says before it is certain that it joins; nil for a definition
	definition *definition  // or nil
}

// Numbers of guests' probes lie far above those of the session's own script, whose numbers grow with each reload, and of
// definition files; each script has a span, for what its callbacks add.
const (
	guestBase  = 1 << 30
	guestSpan  = 1 << 16
	mostGuests = (1<<32 - guestBase) / guestSpan
)

func (g *guest) owns(id uint32) bool {
	if g.definition != nil {
		return slices.ContainsFunc(g.definition.probes, func(p *definedProbe) bool { return p.id == id })
	}
	return id >= g.first && id-g.first < guestSpan
}

// declarations are the probes that the guest begins with.
func (g *guest) declarations() (list []declaration) {
	if g.definition != nil {
		for _, p := range g.definition.probes {
			list = append(list, p)
		}
		return list
	}
	for _, p := range g.script.Probes() {
		list = append(list, scriptProbe{p})
	}
	return list
}

// is reports whether a user means this guest: by the name or path it was inserted under, or by the file's name alone.
func (g *guest) is(name string) bool {
	return name == g.name || g.path != "" && (name == g.path || name == filepath.Base(g.path))
}

// scriptOf names the guest a probe belongs to; "" for the session's own script.
func (m *manager) scriptOf(id uint32) string {
	for _, g := range m.guests {
		if g.owns(id) {
			return g.name
		}
	}
	return ""
}

// insert has a further script join the run. With Replace it takes the place of the one of the same name: of an inserted one,
// which leaves, or of the session's own, as --watch would exchange it. With Merge a definition file that is there keeps its probes and
// gets those that are new.
func (m *manager) insert(q wire.Request) (wire.Reply, error) {
	if q.Script == nil {
		return wire.Reply{}, withStatus(statusUsage, errors.New("insert needs a script"))
	}
	if err := checkInsert(q.Replace, q.Merge, q.Missing); err != nil {
		return wire.Reply{}, withStatus(statusUsage, err)
	}
	if q.Script.Data != nil {
		q.Script.Text = string(q.Script.Data)
	}
	text := scriptText{name: q.Script.Name, dir: q.Script.Dir, text: q.Script.Text}
	i := slices.IndexFunc(m.guests, func(g *guest) bool { return g.name == text.name && g.path == q.Script.Path })
	own := m.isOwn(q.Script)
	switch {
	case q.Merge && !isDefinition(text):
		return wire.Reply{}, &hintError{withStatus(statusUsage, fmt.Errorf("cannot merge %s: only definition files are merged", text.name)), "--replace exchanges a script"}
	case own && isDefinition(text) && (q.Replace || q.Merge):
		return m.update(q, nil)
	case own && q.Replace:
		if err := m.r.exchange(text); err != nil {
			return wire.Reply{}, atLeast(statusUsage, err)
		}
		return wire.Reply{Notes: []string{"replaced " + text.name}}, nil
	case (own || i >= 0) && !q.Replace && !q.Merge:
		return wire.Reply{}, &hintError{withStatus(statusUsage, fmt.Errorf("%s is in the session already", text.name)), "--replace exchanges it, --merge adds what is new in a definition file"}
	case i >= 0 && m.guests[i].definition != nil && isDefinition(text):
		return m.update(q, m.guests[i])
	case i >= 0:
		return m.join(q, m.guests[i])
	}
	return m.join(q, nil)
}

// isOwn reports whether a script is the one the session was started with.
func (m *manager) isOwn(s *wire.Script) bool {
	own, err := filepath.Abs(m.r.text.name)
	return err == nil && s.Path != "" && s.Path == own
}

// atLeast gives an error a status that has none of its own.
func atLeast(status int, err error) error {
	var s *statusError
	if errors.As(err, &s) {
		return err
	}
	return withStatus(status, err)
}

// join loads a guest and makes it part of the run. The one it replaces goes in the same moment between two hits.
func (m *manager) join(q wire.Request, old *guest) (wire.Reply, error) {
	g, list, err := m.load(q.Script)
	if err != nil {
		return wire.Reply{}, err
	}
	swap, out, err := m.prepare(q, g.declarations(), m.probesOf(old))
	if err == nil {
		err = m.enter(g)
	}
	if err != nil {
		g.discard()
		return wire.Reply{}, err
	}
	if err := swap.Commit(); err != nil {
		m.leave(g)
		return wire.Reply{}, withStatus(statusTarget, fmt.Errorf("cannot arm %s: %w", g.name, err))
	}
	m.guests = append(m.guests, g)
	if g.said != nil {
		g.said.Release()
	}
	m.forgetLeftOut(g.name)
	m.r.leftOut = append(m.r.leftOut, out...)
	verb := "inserted"
	if old != nil {
		verb = "replaced"
		m.leave(old)
	}
	var notes []string
	for _, d := range list {
		notes = append(notes, d.String())
	}
	notes = append(notes, leftOutNotes(q, out)...)
	return wire.Reply{Notes: append(notes, fmt.Sprintf("%s %s: %s", verb, g.name, m.size(g.owns)))}, nil
}

// load makes a guest of what was sent; warnings come with it.
func (m *manager) load(sent *wire.Script) (*guest, diag.List, error) {
	flags := flagsOf(sent)
	text := scriptText{name: sent.Name, dir: sent.Dir, text: sent.Text}
	if isDefinition(text) {
		return m.loadDefinition(sent, text, flags)
	}
	if err := flags.refuse(text); err != nil {
		return nil, nil, err
	}
	if m.inserted >= mostGuests {
		return nil, nil, withStatus(statusFailure, fmt.Errorf("cannot insert more than %d scripts into one session", mostGuests))
	}
	g := &guest{name: text.name, path: sent.Path, first: guestBase + m.inserted*guestSpan}
	m.inserted++
	o := m.r.options(text)
	g.said = output.NewHeld(m.r.out)
	o.Output = g.said
	o.FirstProbe, o.Args = g.first, sent.Args
	loaded, list := script.Load(o)
	if err := list.Err(); err != nil {
		return nil, nil, withStatus(statusUsage, err)
	}
	g.script = loaded
	g.script.SetTracer(m.r.tracer)
	return g, list, nil
}

func (m *manager) loadDefinition(sent *wire.Script, text scriptText, flags definitionFlags) (*guest, diag.List, error) {
	options, err := flags.options(m.r.plan.unsafe)
	if err != nil {
		return nil, nil, withStatus(statusUsage, err)
	}
	d, list, err := m.parseDefinition(sent, text, options, nil)
	if err != nil {
		return nil, nil, err
	}
	return &guest{name: sent.Name, path: sent.Path, definition: d}, list, nil
}

// parseDefinition loads a definition file; local variables stay those of the version before, if there is one.
func (m *manager) parseDefinition(sent *wire.Script, text scriptText, o definitionOptions, before *definition) (*definition, diag.List, error) {
	if sent.Path != "" {
		text.name = sent.Path // what it includes is found beside it
	}
	o.served = m.r.facilities.Served
	all := &m.r.definitions
	d, list := loadDefinition(text, o, definitionVariables{arena: m.r.arena, shared: &all.shared, before: before}, all.first())
	return d, list, withStatus(statusUsage, list.Err())
}

// discard frees a guest that never entered.
func (g *guest) discard() {
	if g.script != nil {
		g.script.Close()
	}
}

// enter has the guest's records find it, before there are any.
func (m *manager) enter(g *guest) error {
	if g.definition != nil {
		m.r.definitions.add(g.definition, nil)
		return nil
	}
	return withStatus(statusFailure, m.r.script().Join(g.script))
}

// probesOf are the numbers of a guest's probes; none of nil.
func (m *manager) probesOf(g *guest) (list []uint32) {
	if g == nil {
		return nil
	}
	for _, s := range m.r.session.Query() {
		if g.owns(s.ID) {
			list = append(list, s.ID)
		}
	}
	return list
}

// prepare resolves probes that are to be inserted. What is wrong with them is told all together; where that is not an error, those that
// cannot be placed are left out, and out lists them.
func (m *manager) prepare(q wire.Request, list []declaration, gone []uint32) (swap exchange, out []leftOut, err error) {
	missing := cmp.Or(q.Missing, m.r.plan.missing)
	var specs []engine.ProbeSpec
	var failed diag.List
	status := 0
	kept := m.r.leftOut
	for _, p := range list {
		spec, err := p.spec(m.r.tracer)
		optional := p.isOptional() || missing != "error" || m.r.demo
		spec.Optional = spec.Optional || optional
		if err == nil {
			_, err = m.r.session.Prepare([]engine.ProbeSpec{spec}, nil)
		}
		switch {
		case err == nil:
			specs = append(specs, spec)
		case optional && isLeftOut(err):
			m.r.leaveOut(q.Script.Name, p, err)
		default:
			failed = append(failed, diagnose(p, err)...)
			status = max(status, statusOfProbe(err))
		}
	}
	out = slices.Clone(m.r.leftOut[len(kept):])
	m.r.leftOut = kept
	if len(failed) > 0 {
		return nil, nil, withStatus(status, failed)
	}
	swap, err = m.r.session.Prepare(specs, gone)
	return swap, out, withStatus(statusTarget, err)
}

// leftOutNotes warn of what was left out.
func leftOutNotes(q wire.Request, out []leftOut) (notes []string) {
	for _, o := range out {
		if q.Missing != "ignore" {
			notes = append(notes, fmt.Sprintf("%s is left out: %s", o.name, o.why))
		}
	}
	return notes
}

// forgetLeftOut forgets what a version of a file left out that is no more.
func (m *manager) forgetLeftOut(script string) {
	m.r.leftOut = slices.DeleteFunc(m.r.leftOut, func(o leftOut) bool { return o.script == script })
}

// size says how much there is of certain probes.
func (m *manager) size(owns func(id uint32) bool) string {
	probes, places := 0, 0
	for _, s := range m.r.session.Query() {
		if owns(s.ID) && s.State != "removed" {
			probes++
			places += s.Places
		}
	}
	return plural(probes, "probe") + " at " + plural(places, "place")
}

// leave takes a guest out of the run, after its probes: its end callbacks run, its aggregations print.
func (m *manager) leave(g *guest) {
	m.guests = slices.DeleteFunc(m.guests, func(o *guest) bool { return o == g })
	if !slices.ContainsFunc(m.guests, func(o *guest) bool { return o.name == g.name }) {
		m.forgetLeftOut(g.name)
	}
	for _, s := range m.r.session.Query() { // what its callbacks have added since
		if g.owns(s.ID) {
			m.r.session.Remove(s.ID) // it is there: nobody else removes for good
		}
	}
	host := m.r.script()
	switch {
	case g.definition != nil:
		if host.CatchUp() == nil {
			m.r.printArray(g.definition.file.Locals)
			m.r.out.Flush()
		}
		m.r.definitions.drop(g.definition)
	case host.Leave(g.script) == nil:
		g.script.Close()
	}
}

// drop forgets a file; records of its probes that are still under way are printed all the same.
func (d *definitions) drop(file *definition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = slices.DeleteFunc(d.list, func(o *definition) bool { return o == file })
}

// remove takes probes out for good: those of a name, those of an inserted script, or all. An inserted script leaves with its
// last probe.
func (m *manager) remove(q wire.Request) (wire.Reply, error) {
	if q.All {
		return m.removeAll()
	}
	for _, g := range m.guests {
		if g.is(q.Name) {
			m.leave(g)
			return wire.Reply{Notes: []string{"removed " + g.name}}, nil
		}
	}
	found, _ := m.named(q.Name)
	reply, err := m.each(q.Name, "remove", "removed", m.r.session.Remove)
	if err == nil {
		m.sendOff(found)
	}
	return reply, err
}

func (m *manager) removeAll() (wire.Reply, error) {
	n := 0
	for _, s := range m.r.session.Query() {
		if s.State == "removed" {
			continue
		}
		if err := m.r.session.Remove(s.ID); err != nil {
			return wire.Reply{}, withStatus(statusFailure, fmt.Errorf("cannot remove %s: %w", s.Name, err))
		}
		n++
	}
	for _, g := range slices.Clone(m.guests) {
		m.leave(g)
	}
	return wire.Reply{Notes: []string{"removed " + plural(n, "probe")}}, nil
}

// sendOff lets those guests go whose last probe is among the removed.
func (m *manager) sendOff(removed []engine.ProbeState) {
	left := slices.DeleteFunc(m.r.session.Query(), func(s engine.ProbeState) bool { return s.State == "removed" })
	for _, g := range slices.Clone(m.guests) {
		owns := func(s engine.ProbeState) bool { return g.owns(s.ID) }
		if slices.ContainsFunc(removed, owns) && !slices.ContainsFunc(left, owns) {
			m.leave(g)
		}
	}
}
