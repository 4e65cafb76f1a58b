package manager

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gotap"
	"gotap/cmd/gotap/status"
	"gotap/cmd/gotap/wire"
	"gotap/engine"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
	"gotap/script/output"
)

// verbs are the requests that a session answers.
var verbs = map[string]func(*Manager, wire.Request) (wire.Reply, error){
	"session": (*Manager).describe,
	"query":   (*Manager).query,
	"getvars": (*Manager).getvars,
	"reset":   (*Manager).reset,
	"set":     (*Manager).set,
	"enable":  (*Manager).enable,
	"disable": (*Manager).disable,
	"stop":    (*Manager).stop,
	"insert":  (*Manager).insert,
	"remove":  (*Manager).remove,
}

func (m *Manager) describe(wire.Request) (wire.Reply, error) {
	inserted, err := m.Session.Control().Inserted()
	if err != nil {
		return wire.Reply{}, err
	}
	s := &wire.Session{ID: m.id, Script: m.Script, Inserted: inserted, Command: m.Command, Pids: m.Session.Pids(), Started: m.started, Supervisor: m.Supervisor}
	slices.Sort(s.Pids)
	return wire.Reply{Session: s}, nil
}

func (m *Manager) query(wire.Request) (wire.Reply, error) {
	list, err := m.Session.Control().Query()
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

func (m *Manager) getvars(q wire.Request) (wire.Reply, error) {
	read := func() ([]gotap.Value, error) { return m.Session.Control().Values(q.Reset) }
	if q.Name != "" {
		read = func() ([]gotap.Value, error) { return m.Session.Control().ValuesNamed(q.Name) }
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

func (m *Manager) value(name string, v snapshot.Snapshot) wire.Value {
	options := snapshot.Options{Stack: m.Session.Control().StackLines}
	data, err := json.Marshal(v.With(options).JSON())
	if err != nil {
		data = []byte("null")
	}
	return wire.Value{Script: name, Text: v.Text(options), Data: data}
}

func (m *Manager) reset(wire.Request) (wire.Reply, error) {
	return noted("variables and aggregations are as at the beginning", m.Session.Control().ResetValues())
}

func (m *Manager) set(q wire.Request) (wire.Reply, error) {
	return noted(fmt.Sprintf("%s = %s", q.Name, q.Value), m.Session.Control().SetValue(q.Name, q.Value))
}

func (m *Manager) enable(q wire.Request) (wire.Reply, error) {
	return noted(m.Session.Control().Enable(nameOf(q)))
}

func (m *Manager) disable(q wire.Request) (wire.Reply, error) {
	return noted(m.Session.Control().Disable(nameOf(q)))
}

// nameOf is the pattern of the probes that are meant.
func nameOf(q wire.Request) string {
	if q.All {
		return "*"
	}
	return q.Name
}

func (m *Manager) remove(q wire.Request) (wire.Reply, error) {
	if q.All {
		return noted(m.Session.Control().RemoveAll())
	}
	return noted(m.Session.Control().Remove(q.Name))
}

// noted returns the reply with notes on what was done.
func noted(note string, err error) (wire.Reply, error) {
	if err != nil {
		return wire.Reply{}, err
	}
	return wire.Reply{Notes: []string{note}}, nil
}

// insert has a further script join the session.
func (m *Manager) insert(q wire.Request) (wire.Reply, error) {
	if q.Script == nil {
		return wire.Reply{}, status.With(status.Usage, errors.New("insert needs a script"))
	}
	if err := q.CheckInsert(); err != nil {
		return wire.Reply{}, status.With(status.Usage, err)
	}
	in, err := m.Insertion(q.Script)
	if err != nil {
		return wire.Reply{}, status.With(status.Usage, err)
	}
	in.Replace, in.Merge, in.Missing = q.Replace, q.Merge, q.Missing
	notes, err := m.Session.Control().Insert(in)
	return wire.Reply{Notes: notes}, err
}

// stop ends the run as Ctrl-C does.
func (m *Manager) stop(wire.Request) (wire.Reply, error) {
	m.Session.Stop()
	return noted(fmt.Sprintf("session %d ends", m.id), nil)
}
