package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"gotap"
	"gotap/cmd/gotap/wire"
	"gotap/engine"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
	"gotap/script/output"
)

// ctlVerbs are the requests that a session answers.
var ctlVerbs = map[string]func(*manager, wire.Request) (wire.Reply, error){
	"session": (*manager).describe,
	"query":   (*manager).query,
	"getvars": (*manager).getvars,
	"reset":   (*manager).reset,
	"set":     (*manager).set,
	"enable":  (*manager).enable,
	"disable": (*manager).disable,
	"stop":    (*manager).stop,
	"insert":  (*manager).insert,
	"remove":  (*manager).remove,
}

func (m *manager) describe(wire.Request) (wire.Reply, error) {
	inserted, err := m.r.session.Control().Inserted()
	if err != nil {
		return wire.Reply{}, err
	}
	s := &wire.Session{ID: m.id, Script: m.r.text.Name, Inserted: inserted, Command: m.r.plan.command, Pids: m.r.session.Pids(), Started: m.started}
	slices.Sort(s.Pids)
	if m.r.w.control != nil {
		s.Supervisor = os.Getppid()
	}
	return wire.Reply{Session: s}, nil
}

func (m *manager) query(wire.Request) (wire.Reply, error) {
	list, err := m.r.session.Control().Query()
	reply := wire.Reply{Probes: []wire.Probe{}}
	for _, p := range list {
		reply.Probes = append(reply.Probes, wire.Probe{ID: p.ID, Name: p.Name, Script: p.Script, State: p.State, Hits: p.Hits, Missed: p.Missed,
			Places: p.Places, Strategy: p.Strategy, Refused: p.Refused, Codes: wireCodes(p.Codes), Kind: p.Kind, Sites: wireSites(p.Sites)})
	}
	return reply, err
}

// wireCodes are codes as they are sent; nil stays nil.
func wireCodes(c *output.Codes) *wire.Codes {
	if c == nil {
		return nil
	}
	return &wire.Codes{Major: int(c.Major), Minor: int(c.Minor), Group: c.Group, Type: c.Type}
}

// wireSites are sites as they are sent.
func wireSites(sites []engine.Site) (list []wire.Site) {
	for _, s := range sites {
		list = append(list, wire.Site{Place: s.Place, Address: fmt.Sprintf("%#x", s.Address)})
	}
	return list
}

func (m *manager) getvars(q wire.Request) (wire.Reply, error) {
	read := func() ([]gotap.Value, error) { return m.r.session.Control().Values(q.Reset) }
	if q.Name != "" {
		read = func() ([]gotap.Value, error) { return m.r.session.Control().ValuesNamed(q.Name) }
	}
	list, err := read()
	reply := wire.Reply{Values: []wire.Value{}}
	for _, v := range list {
		if q.Index != nil {
			if v.Map = indexed(v.Map, *q.Index); len(v.Map.Entries) == 0 {
				continue
			}
		}
		reply.Values = append(reply.Values, m.value(v.Script, v.Map))
	}
	return reply, err
}

// indexed leaves the entries whose key begins with a number of the range.
func indexed(v snapshot.Snapshot, r wire.Range) snapshot.Snapshot {
	v.Entries = slices.DeleteFunc(slices.Clone(v.Entries), func(e snapshot.Entry) bool {
		return len(e.Key) == 0 || e.Key[0].Kind != value.KindInt || e.Key[0].Int < r.First || e.Key[0].Int > r.Last
	})
	return v
}

func (m *manager) value(name string, v snapshot.Snapshot) wire.Value {
	options := snapshot.Options{Stack: m.r.session.Control().StackLines}
	data, err := json.Marshal(v.With(options).JSON())
	if err != nil {
		data = []byte("null")
	}
	return wire.Value{Script: name, Text: v.Text(options), Data: data}
}

func (m *manager) reset(wire.Request) (wire.Reply, error) {
	return noted("variables and aggregations are as at the beginning", m.r.session.Control().ResetValues())
}

func (m *manager) set(q wire.Request) (wire.Reply, error) {
	return noted(fmt.Sprintf("%s = %s", q.Name, q.Value), m.r.session.Control().SetValue(q.Name, q.Value))
}

func (m *manager) enable(q wire.Request) (wire.Reply, error) {
	return noted(m.r.session.Control().Enable(nameOf(q)))
}

func (m *manager) disable(q wire.Request) (wire.Reply, error) {
	return noted(m.r.session.Control().Disable(nameOf(q)))
}

// nameOf is the pattern of the probes that are meant.
func nameOf(q wire.Request) string {
	if q.All {
		return "*"
	}
	return q.Name
}

func (m *manager) remove(q wire.Request) (wire.Reply, error) {
	if q.All {
		return noted(m.r.session.Control().RemoveAll())
	}
	return noted(m.r.session.Control().Remove(q.Name))
}

// noted returns the reply with notes on what was done.
func noted(note string, err error) (wire.Reply, error) {
	if err != nil {
		return wire.Reply{}, err
	}
	return wire.Reply{Notes: []string{note}}, nil
}

// insert has a further script join the session.
func (m *manager) insert(q wire.Request) (wire.Reply, error) {
	if q.Script == nil {
		return wire.Reply{}, withStatus(statusUsage, errors.New("insert needs a script"))
	}
	if err := checkInsert(q.Replace, q.Merge, q.Missing); err != nil {
		return wire.Reply{}, withStatus(statusUsage, err)
	}
	in, err := insertion(q)
	if err != nil {
		return wire.Reply{}, withStatus(statusUsage, err)
	}
	notes, err := m.r.session.Control().Insert(in)
	return wire.Reply{Notes: notes}, err
}

// insertion understands a request to insert a script.
func insertion(q wire.Request) (gotap.Insertion, error) {
	in := gotap.Insertion{Script: gotap.Script{Name: q.Script.Name, Dir: q.Script.Dir, Text: q.Script.Text}, Path: q.Script.Path,
		Args: q.Script.Args, Replace: q.Replace, Merge: q.Merge, Missing: q.Missing}
	if q.Script.Data != nil {
		in.Script.Text = string(q.Script.Data)
	}
	flags := flagsOf(q.Script)
	switch {
	case flags.none():
		return in, nil
	case !isDefinition(in.Script):
		return in, flags.refuse(in.Script)
	}
	options, err := flags.options(false) // the session knows whether programs may change targets
	in.Definition = &options
	return in, err
}

// stop ends the run as Ctrl-C does.
func (m *manager) stop(wire.Request) (wire.Reply, error) {
	m.r.session.Stop()
	return noted(fmt.Sprintf("session %d ends", m.id), nil)
}
