package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"gotap/cmd/gotap/wire"
	"gotap/engine"
	"gotap/runtime"
	"gotap/script"
)

// ctlVerbs are what a session can be asked. They run one at a time, under run.change.
var ctlVerbs = map[string]func(*manager, wire.Request) (wire.Reply, error){
	"session": (*manager).describe,
	"query":   (*manager).query,
	"getvars": (*manager).getvars,
	"reset":   (*manager).reset,
	"enable":  (*manager).enable,
	"disable": (*manager).disable,
	"stop":    (*manager).stop,
	"insert":  (*manager).insert,
	"remove":  (*manager).remove,
}

func (m *manager) describe(wire.Request) (wire.Reply, error) {
	s := &wire.Session{ID: m.id, Script: m.r.text.name, Command: m.r.plan.command, Pids: m.r.session.Pids(), Started: m.started}
	slices.Sort(s.Pids)
	if m.r.w.control != nil {
		s.Supervisor = os.Getppid()
	}
	for _, g := range m.guests {
		s.Inserted = append(s.Inserted, g.name)
	}
	return wire.Reply{Session: s}, nil
}

func (m *manager) query(wire.Request) (wire.Reply, error) {
	reply := wire.Reply{Probes: []wire.Probe{}}
	for _, s := range m.r.session.Query() {
		p := wire.Probe{ID: s.ID, Name: s.Name, Script: m.scriptOf(s.ID), State: s.State,
			Hits: s.Hits, Missed: s.Missed, Places: s.Places, Strategy: s.Strategy, Refused: s.Refused}
		if s.State == "removed" {
			p.Places, p.Strategy, p.Refused = 0, nil, nil
		}
		if o := m.r.waitsFor(s.ID); o != nil && s.State == "pending" {
			p.State, p.Refused = o.state, []string{o.why}
		}
		if d := m.r.definitions.probe(s.ID); d != nil {
			p.Codes = d.codes()
		}
		reply.Probes = append(reply.Probes, p)
	}
	for _, o := range m.r.leftOut {
		if o.id != 0 {
			continue
		}
		reply.Probes = append(reply.Probes, wire.Probe{Name: o.name, Script: o.script, State: o.state, Refused: []string{o.why}, Codes: o.codes})
	}
	return reply, nil
}

// scripts are the session's own script and those that were inserted.
func (m *manager) scripts(visit func(name string, s *script.Script)) {
	visit("", m.r.script())
	for _, g := range m.guests {
		if g.script != nil {
			visit(g.name, g.script)
		}
	}
}

// arrays are the variables of definition files: those of each, and those that all share.
func (m *manager) arrays(visit func(name string, h *runtime.Handle)) {
	for _, d := range m.r.definitions.all() {
		name := ""
		for _, g := range m.guests {
			if g.definition == d {
				name = g.name
			}
		}
		if d.file.Locals >= 0 {
			visit(name, m.r.arena.Handle(d.file.Locals))
		}
	}
	if s := &m.r.definitions.shared; s.made {
		visit("", m.r.arena.Handle(s.id))
	}
}

// getvars reads the variables; with Reset it takes them, so that nothing is counted twice or not at all.
func (m *manager) getvars(q wire.Request) (wire.Reply, error) {
	reply := wire.Reply{Values: []wire.Value{}}
	m.scripts(func(name string, s *script.Script) {
		read := s.Values
		if q.Reset {
			read = s.TakeValues
		}
		for _, v := range read() {
			reply.Values = append(reply.Values, m.value(name, v))
		}
	})
	m.arrays(func(name string, h *runtime.Handle) {
		read := h.Entries
		if q.Reset {
			read = h.Take
		}
		reply.Values = append(reply.Values, m.value(name, read()))
	})
	return reply, nil
}

func (m *manager) value(name string, v runtime.Snapshot) wire.Value {
	data, err := json.Marshal(v.With(runtime.PrintOptions{Stack: m.stackLines}).JSON())
	if err != nil {
		data = []byte("null")
	}
	return wire.Value{Script: name, Text: m.valueText(v), Data: data}
}

// valueText is a variable as "name = value", all else as it prints.
func (m *manager) valueText(v runtime.Snapshot) string {
	switch o := v.Object; {
	case o.Kind == runtime.KindInt && len(v.Entries) == 1:
		return fmt.Sprintf("%s = %d", o.Name, v.Entries[0].Data.Int)
	case o.Kind == runtime.KindText && len(v.Entries) == 1:
		return fmt.Sprintf("%s = %q", o.Name, v.Entries[0].Data.Text)
	case o.Kind == runtime.KindArray:
		return arrayText(v)
	case len(v.Entries) == 0 && o.Keys == 0 && (o.Kind == runtime.KindCount || o.Kind == runtime.KindSum):
		return fmt.Sprintf("@%s: 0", o.Name)
	case len(v.Entries) == 0:
		return fmt.Sprintf("@%s: nothing yet", o.Name)
	}
	var b strings.Builder
	v.Print(&b, runtime.PrintOptions{Stack: m.stackLines}) // a builder takes everything
	return strings.TrimRight(b.String(), "\n")
}

// arrayText is a line for each element of an array that is not 0.
func arrayText(v runtime.Snapshot) string {
	elements := slices.Clone(v.Entries)
	slices.SortFunc(elements, func(a, b runtime.Entry) int { return cmp.Compare(a.Key[0].Int, b.Key[0].Int) })
	var lines []string
	for _, e := range elements {
		if e.Data.Int != 0 {
			lines = append(lines, fmt.Sprintf("%s[%d] = %d", v.Object.Name, e.Key[0].Int, e.Data.Int))
		}
	}
	if lines == nil {
		return fmt.Sprintf("%s: all 0", v.Object.Name)
	}
	return strings.Join(lines, "\n")
}

// stackLines names the frames of a stack in a key.
func (m *manager) stackLines(v runtime.Value) []string {
	return script.StackLines(v, m.r.tracer.Stack(int(v.Int), v.Stack))
}

func (m *manager) reset(wire.Request) (wire.Reply, error) {
	m.scripts(func(_ string, s *script.Script) { s.Reset() })
	m.arrays(func(_ string, h *runtime.Handle) { h.Clear() })
	return wire.Reply{Notes: []string{"variables and aggregations are as at the beginning"}}, nil
}

func (m *manager) enable(q wire.Request) (wire.Reply, error) {
	return m.each(q.Name, "enable", "enabled", m.r.session.Enable)
}

func (m *manager) disable(q wire.Request) (wire.Reply, error) {
	return m.each(q.Name, "disable", "disabled", m.r.session.Disable)
}

// each does something to all probes of a name: several may have it.
func (m *manager) each(name, verb, done string, do func(id uint32) error) (wire.Reply, error) {
	found, err := m.named(name)
	if err != nil {
		return wire.Reply{}, err
	}
	var all error
	for _, s := range found {
		if err := do(s.ID); err != nil {
			all = errors.Join(all, fmt.Errorf("cannot %s %s: %w", verb, s.Name, err))
		}
	}
	if all != nil {
		return wire.Reply{}, withStatus(statusFailure, all)
	}
	return wire.Reply{Notes: []string{fmt.Sprintf("%s %s", done, counted(found, name))}}, nil
}

// counted is a name, and how many probes have it when that is not one.
func counted(found []engine.ProbeState, name string) string {
	if len(found) == 1 {
		return name
	}
	return fmt.Sprintf("%d probes named %s", len(found), name)
}

// named finds the probes of a name that have not been removed.
func (m *manager) named(name string) ([]engine.ProbeState, error) {
	var found []engine.ProbeState
	var others []string
	gone := false
	for _, s := range m.r.session.Query() {
		switch {
		case m.means(s, name) && s.State != "removed":
			found = append(found, s)
		case m.means(s, name):
			gone = true
		case s.State != "removed" && !slices.Contains(others, s.Name):
			others = append(others, s.Name)
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case gone:
		return nil, withStatus(statusNoProbe, fmt.Errorf("probe %s was removed", name))
	}
	return nil, &hintError{withStatus(statusNoProbe, fmt.Errorf("there is no probe %q", name)), probesHint(others)}
}

// means reports whether a user means this probe: by its name, its number as #7, or the codes of a definition's as 7,1.
func (m *manager) means(s engine.ProbeState, name string) bool {
	if s.Name == name || name == fmt.Sprintf("#%d", s.ID) {
		return true
	}
	d := m.r.definitions.probe(s.ID)
	return d != nil && name == fmt.Sprintf("%d,%d", d.Major, d.Minor)
}

// probesHint lists what there is, as far as a line goes.
func probesHint(names []string) string {
	const most = 10
	switch {
	case len(names) == 0:
		return "the session has no probes"
	case len(names) > most:
		return fmt.Sprintf("there are %s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return "there is " + strings.Join(names, ", ")
}

// stop ends the run as Ctrl-C does.
func (m *manager) stop(wire.Request) (wire.Reply, error) {
	m.r.stop(0)
	return wire.Reply{Notes: []string{fmt.Sprintf("session %d ends", m.id)}}, nil
}
