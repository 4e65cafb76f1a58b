package gotap

import (
	"fmt"
	"path/filepath"
	"slices"

	"gotap/compile/diag"
	"gotap/engine"
	"gotap/script"
	"gotap/script/definition"
	"gotap/script/output"
)

// A guest is a script or a definition file that was inserted into a running session. A script has a machine of its own
// and shares the arena, the output and the host's goroutine with the session's script; a definition file needs no
// machine.
type guest struct {
	name       string // as the user gave it
	path       string // absolute; "" when it is not a file
	first      uint32 // number of its first probe
	script     *script.Script
	said       *output.Held     // holds back what the script prints until it has joined; nil for a definition
	definition *definition.File // or nil
}

// Numbers of guests' probes lie far above those of the session's own script, which grow with each reload, and of
// definition files. Each script has a range of numbers, because its callbacks may add probes.
const (
	guestBase = 1 << 30
	guestSpan = 1 << 16
	maxGuests = (1<<32 - guestBase) / guestSpan
)

func (g *guest) owns(id uint32) bool {
	if g.definition != nil {
		return slices.ContainsFunc(g.definition.Probes, func(p *definition.Probe) bool { return p.ID == id })
	}
	return id >= g.first && id-g.first < guestSpan
}

// declarations returns the probes that the guest begins with.
func (g *guest) declarations() (list []declaration) {
	if g.definition != nil {
		return declarationsOf(g.definition)
	}
	for _, p := range g.script.Probes() {
		list = append(list, scriptProbe{p})
	}
	return list
}

// is reports whether a name means this guest: the name or path that it was inserted under, or the file's base name.
func (g *guest) is(name string) bool {
	return name == g.name || g.path != "" && (name == g.path || name == filepath.Base(g.path))
}

// scriptOf names the guest a probe belongs to; "" for the session's own script.
func (m *guests) scriptOf(id uint32) string {
	for _, g := range m.list {
		if g.owns(id) {
			return g.name
		}
	}
	return ""
}

// guests are what was inserted into a session. They are changed under the session's lock.
type guests struct {
	s        *Session
	list     []*guest
	inserted uint32 // scripts so far, for the numbers of their probes
}

// An Insertion is a script or a definition file that is to join a session.
type Insertion struct {
	Script     Script
	Path       string // absolute; "" when the text does not come from a file
	Args       map[string]string
	Definition *definition.Options // nil: those of the session for its own file, and the defaults for others
	Replace    bool                // take the place of the script of the same name
	Merge      bool                // a definition file that is there keeps its probes and gets those that are new
	Missing    string              // error, warn or ignore; "": as the session has it
}

// missing returns how missing places are treated: as the insertion says, or else as the session's options say.
func (in *Insertion) missing(s *Session) Missing {
	switch in.Missing {
	case "":
		return s.opts.Missing
	case "error":
		return MissingIsError
	}
	return Missing(in.Missing)
}

// Insert has a further script join the session, between two hits. With Replace it takes the place of the script of the
// same name, which may be the session's own. The notes report what was done and which probes were left out.
func (c *Control) Insert(in Insertion) (notes []string, err error) {
	err = c.change(func() error {
		notes, err = c.guests.insert(in)
		return err
	})
	return notes, err
}

func (m *guests) insert(in Insertion) ([]string, error) {
	i := slices.IndexFunc(m.list, func(g *guest) bool { return g.name == in.Script.Name && g.path == in.Path })
	name, isDefinition, own := in.Script.Name, in.Script.isDefinition(), m.isOwn(in)
	switch {
	case in.Merge && !isDefinition:
		return nil, hinted(BadScript, fmt.Errorf("cannot merge %s: only definition files are merged", name), "--replace exchanges a script")
	case own && isDefinition && (in.Replace || in.Merge):
		return m.update(in, nil)
	case own && in.Replace:
		if err := m.s.control.replaceLocked(in.Script); err != nil {
			return nil, atLeast(BadScript, err)
		}
		return []string{"replaced " + name}, nil
	case (own || i >= 0) && !in.Replace && !in.Merge:
		return nil, hinted(BadScript, fmt.Errorf("%s is in the session already", name),
			"--replace exchanges it, --merge adds what is new in a definition file")
	case i >= 0 && m.list[i].definition != nil && isDefinition:
		return m.update(in, m.list[i])
	case i >= 0:
		return m.join(in, m.list[i])
	}
	return m.join(in, nil)
}

// isOwn reports whether a script is the one that the session was opened with.
func (m *guests) isOwn(in Insertion) bool {
	own, err := filepath.Abs(m.s.text.Name)
	return err == nil && in.Path != "" && in.Path == own
}

// join loads a guest and makes it part of the session. The guest that it replaces leaves between the same two hits.
func (m *guests) join(in Insertion, old *guest) ([]string, error) {
	g, list, err := m.load(in)
	if err != nil {
		return nil, err
	}
	x, out, err := m.prepare(in, g.declarations(), m.probesOf(old))
	if err == nil {
		err = m.enter(g)
	}
	if err != nil {
		g.discard()
		return nil, err
	}
	if err := x.Commit(); err != nil {
		m.leave(g)
		return nil, failed(BadTarget, fmt.Errorf("cannot arm %s: %w", g.name, err))
	}
	m.list = append(m.list, g)
	if g.said != nil {
		g.said.Release()
	}
	m.forgetLeftOut(g.name)
	m.s.leftOut = append(m.s.leftOut, out...)
	verb := "inserted"
	if old != nil {
		verb = "replaced"
		m.leave(old)
	}
	notes := append(textsOf(list), leftOutNotes(in, out)...)
	return append(notes, fmt.Sprintf("%s %s: %s", verb, g.name, m.size(g.owns))), nil
}

// textsOf are diagnostics as text.
func textsOf(list diag.List) (texts []string) {
	for _, d := range list {
		texts = append(texts, d.String())
	}
	return texts
}

// load makes a guest; warnings come with it.
func (m *guests) load(in Insertion) (*guest, diag.List, error) {
	if in.Script.isDefinition() {
		f, list, err := m.loadDefinition(in, in.definitionOptions(), nil)
		return &guest{name: in.Script.Name, path: in.Path, definition: f}, list, err
	}
	if m.inserted >= maxGuests {
		return nil, nil, failed(Failure, fmt.Errorf("cannot insert more than %d scripts into one session", maxGuests))
	}
	g := &guest{name: in.Script.Name, path: in.Path, first: guestBase + m.inserted*guestSpan}
	m.inserted++
	o := m.s.scriptOptions(in.Script)
	g.said = output.NewHeld(m.s.opts.Output)
	o.Output = g.said
	o.FirstProbe, o.Args = g.first, in.Args
	loaded, list := script.Load(o)
	if err := list.Err(); err != nil {
		return nil, nil, failed(BadScript, err)
	}
	g.script = loaded
	g.script.SetTracer(m.s.tracer)
	return g, list, nil
}

// definitionOptions are those that came with an insertion.
func (in *Insertion) definitionOptions() definition.Options {
	if in.Definition == nil {
		return definition.Options{}
	}
	return *in.Definition
}

// loadDefinition loads a definition file; local variables stay those of the version before, if there is one.
func (m *guests) loadDefinition(in Insertion, o definition.Options, before *definition.File) (*definition.File, diag.List, error) {
	name := in.Script.Name
	if in.Path != "" {
		name = in.Path // included files are found beside it
	}
	o.Unsafe, o.Served = m.s.opts.Unsafe, m.s.facilities.Served
	f, list := definition.Load(name, in.Script.Text, o, m.s.definitions.variables(before), m.s.definitions.Next())
	return f, list, failed(BadScript, list.Err())
}

// discard frees a guest that has not joined.
func (g *guest) discard() {
	if g.script != nil {
		g.script.Close()
	}
}

// enter makes the session deliver the guest's records to it; it is called before there are any.
func (m *guests) enter(g *guest) error {
	if g.definition != nil {
		m.s.definitions.Add(g.definition, nil)
		return nil
	}
	return failed(Failure, m.s.script().Join(g.script))
}

// probesOf returns the numbers of a guest's probes; none of nil.
func (m *guests) probesOf(g *guest) (list []uint32) {
	if g == nil {
		return nil
	}
	for _, s := range m.s.engine.Query() {
		if g.owns(s.ID) {
			list = append(list, s.ID)
		}
	}
	return list
}

// prepare resolves probes that are to be inserted. Errors of all of them are returned together; where a missing place
// is no error, probes that cannot be placed are left out, and out lists them.
func (m *guests) prepare(in Insertion, list []declaration, gone []uint32) (x exchange, out []leftOut, err error) {
	mayMiss := in.missing(m.s) != MissingIsError || m.s.opts.Tool.MayAppear
	var specs []engine.ProbeSpec
	var wrong diag.List
	var kind Kind
	for _, p := range list {
		spec, err := p.spec(m.s.tracer.linker)
		optional := p.isOptional() || mayMiss
		spec.Optional = spec.Optional || optional
		if err == nil {
			_, err = m.s.engine.Prepare([]engine.ProbeSpec{spec}, nil)
		}
		switch {
		case err == nil:
			specs = append(specs, spec)
		case optional && isLeftOut(err):
			out = append(out, leftOutOf(in.Script.Name, p, err))
		default:
			wrong = append(wrong, diagnose(p, err)...)
			kind = max(kind, kindOfProbe(err))
		}
	}
	if len(wrong) > 0 {
		return nil, nil, failed(kind, wrong)
	}
	x, err = m.s.engine.Prepare(specs, gone)
	return x, out, failed(BadTarget, err)
}

// leftOutNotes warn of what was left out.
func leftOutNotes(in Insertion, out []leftOut) (notes []string) {
	for _, o := range out {
		if in.Missing != string(MissingIgnored) {
			notes = append(notes, fmt.Sprintf("%s is left out: %s", o.name, o.why))
		}
	}
	return notes
}

// forgetLeftOut drops the probes that an earlier version of a file left out.
func (m *guests) forgetLeftOut(script string) {
	m.s.leftOut = slices.DeleteFunc(m.s.leftOut, func(o leftOut) bool { return o.script == script })
}

// size counts certain probes and their places: "2 probes at 3 places".
func (m *guests) size(owns func(id uint32) bool) string {
	probes, places := 0, 0
	for _, s := range m.s.engine.Query() {
		if owns(s.ID) && s.State != stateRemoved {
			probes++
			places += s.Places
		}
	}
	return plural(probes, "probe") + " at " + plural(places, "place")
}

// leave removes a guest's probes and then the guest: its end callbacks run, and its aggregations print.
func (m *guests) leave(g *guest) {
	m.list = slices.DeleteFunc(m.list, func(o *guest) bool { return o == g })
	if !slices.ContainsFunc(m.list, func(o *guest) bool { return o.name == g.name }) {
		m.forgetLeftOut(g.name)
	}
	for _, s := range m.s.engine.Query() { // what its callbacks have added since
		if g.owns(s.ID) {
			m.s.engine.Remove(s.ID) // no error: only control removes probes, under its lock
		}
	}
	host := m.s.script()
	switch {
	case g.definition != nil:
		if host.CatchUp() == nil {
			m.s.definitions.printArrays(g.definition)
			m.s.opts.Output.Flush()
		}
		m.s.definitions.Drop(g.definition)
	case host.Leave(g.script) == nil:
		g.script.Close()
	}
}

// Remove takes probes out for good: those of a name, of a number (#7), of a definition's codes (7,1), or all of an
// inserted script, which leaves with its last probe.
func (c *Control) Remove(name string) (note string, err error) {
	err = c.change(func() error {
		note, err = c.guests.remove(name)
		return err
	})
	return note, err
}

func (m *guests) remove(name string) (string, error) {
	for _, g := range m.list {
		if g.is(name) {
			m.leave(g)
			return "removed " + g.name, nil
		}
	}
	found, _ := m.s.control.named(name)
	note, err := m.s.control.each(name, "remove", "removed", m.s.engine.Remove)
	if err == nil {
		m.leaveWith(found)
	}
	return note, err
}

// RemoveAll takes out all probes and inserted scripts for good. The session goes on.
func (c *Control) RemoveAll() (note string, err error) {
	err = c.change(func() error {
		note, err = c.guests.removeAll()
		return err
	})
	return note, err
}

func (m *guests) removeAll() (string, error) {
	n := 0
	for _, p := range m.s.engine.Query() {
		if p.State == stateRemoved {
			continue
		}
		if err := m.s.engine.Remove(p.ID); err != nil {
			return "", failed(Failure, fmt.Errorf("cannot remove %s: %w", p.Name, err))
		}
		n++
	}
	for _, g := range slices.Clone(m.list) {
		m.leave(g)
	}
	return "removed " + plural(n, "probe"), nil
}

// leaveWith has those guests leave whose last probe is among the removed.
func (m *guests) leaveWith(removed []engine.ProbeState) {
	left := slices.DeleteFunc(m.s.engine.Query(), func(s engine.ProbeState) bool { return s.State == stateRemoved })
	for _, g := range slices.Clone(m.list) {
		owns := func(s engine.ProbeState) bool { return g.owns(s.ID) }
		if slices.ContainsFunc(removed, owns) && !slices.ContainsFunc(left, owns) {
			m.leave(g)
		}
	}
}
