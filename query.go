package gotap

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gotap/engine"
	"gotap/engine/image/symname"
	"gotap/runtime/arena"
	"gotap/runtime/value"
	"gotap/script"
	"gotap/script/output"
	"gotap/script/shared"
)

// stateRemoved is the state of a probe that was taken out for good.
const stateRemoved = "removed"

// A Probe is a probe of a session as a query shows it: one that the engine has, or one that was left out because its
// place is missing.
type Probe struct {
	ProbeState
	Script string        // the inserted script that it is of; "": the session's own
	Codes  *output.Codes // of a definition file's probe; nil for others
}

// Query returns the state of every probe.
func (c *Control) Query() (list []Probe, err error) {
	err = c.change(func() error {
		list = c.query()
		return nil
	})
	return list, err
}

func (c *Control) query() (list []Probe) {
	for _, state := range c.s.engine.Query() {
		p := Probe{ProbeState: state, Script: c.guests.scriptOf(state.ID)}
		if p.State == stateRemoved {
			p.Places, p.Strategy, p.Refused, p.Sites = 0, nil, nil, nil
		}
		if o := c.s.waitsFor(p.ID); o != nil && p.State == "pending" {
			p.State, p.Refused = o.state, []string{o.why}
		}
		if d := c.s.definitions.Probe(p.ID); d != nil {
			p.Codes = definedProbe{d}.codes()
		}
		list = append(list, p)
	}
	for _, o := range c.s.leftOut {
		if o.id == 0 {
			list = append(list, Probe{ProbeState{Name: o.name, State: o.state, Refused: []string{o.why}}, o.script, o.codes})
		}
	}
	return list
}

// Inserted returns the names of the inserted scripts.
func (c *Control) Inserted() (names []string, err error) {
	err = c.change(func() error {
		for _, g := range c.guests.list {
			names = append(names, g.name)
		}
		return nil
	})
	return names, err
}

// A Value is a variable, an aggregation or a map as it stands.
type Value struct {
	Script string // the inserted script that it is of; "": the session's own
	Map
}

// Values returns all shared variables, aggregations and maps. With reset they are set back as they are read: what is
// added meanwhile is not lost.
func (c *Control) Values(reset bool) (list []Value, err error) {
	err = c.change(func() error {
		c.scripts(func(name string, one *script.Script) {
			read := one.Values
			if reset {
				read = one.TakeValues
			}
			for _, v := range read() {
				list = append(list, Value{name, v})
			}
		})
		c.arrays(func(name string, h *arena.Handle) {
			read := h.Entries
			if reset {
				read = h.Take
			}
			list = append(list, Value{name, read()})
		})
		return nil
	})
	return list, err
}

// Lost returns what was lost so far, by cause, without hits that were missed and programs that ended early.
func (c *Control) Lost() map[string]uint64 {
	lost := map[string]uint64{}
	c.change(func() error {
		for _, from := range []map[string]uint64{c.s.arena.Lost(), c.s.script().Lost()} {
			for cause, n := range from {
				if n > 0 {
					lost[explained(cause)] += n
				}
			}
		}
		return nil
	})
	return lost
}

// ValuesNamed returns those that a name or a pattern means: variables, aggregations and maps, or all of an inserted
// script.
func (c *Control) ValuesNamed(name string) ([]Value, error) {
	all, err := c.Values(false)
	var names []string
	found := slices.DeleteFunc(slices.Clone(all), func(v Value) bool {
		names = append(names, v.Object.Name)
		return v.Object.Name != name && v.Script != name && filepath.Base(v.Script) != name && !symname.Glob(name, v.Object.Name)
	})
	if err == nil && len(found) == 0 {
		err = hinted(NoMatch, fmt.Errorf("unknown variable %q", name), namesHint(names, "the session has no variables"))
	}
	return found, err
}

// ResetValues sets all shared variables, aggregations and maps back to what they were at the beginning.
func (c *Control) ResetValues() error {
	return c.change(func() error {
		c.scripts(func(_ string, one *script.Script) { one.Reset() })
		c.arrays(func(_ string, h *arena.Handle) { h.Clear() })
		return nil
	})
}

// SetValue gives a variable that programs share a value: an integer, true or false, or a text. Of several scripts with
// such a variable, the session's own comes first.
func (c *Control) SetValue(name, text string) error {
	return c.change(func() error {
		found, failed, missing := false, error(nil), error(nil)
		c.scripts(func(_ string, one *script.Script) {
			if found {
				return
			}
			err := one.SetValue(name, text)
			var e *shared.SetError
			if found = !errors.As(err, &e) || !e.Unknown; found {
				failed = err
			} else if missing == nil {
				missing = err
			}
		})
		if found {
			return failed
		}
		return missing
	})
}

// StackLines names the frames of a stack in a key of a map, innermost first.
func (c *Control) StackLines(v value.Value) []string {
	return script.StackLines(v, c.s.tracer.Stack(int(v.Int), v.Stack))
}

// scripts are the session's own script and those that were inserted.
func (c *Control) scripts(visit func(name string, one *script.Script)) {
	visit("", c.s.script())
	for _, g := range c.guests.list {
		if g.script != nil {
			visit(g.name, g.script)
		}
	}
}

// arrays are the variables of definition files: those of each, and those that all share.
func (c *Control) arrays(visit func(name string, h *arena.Handle)) {
	for _, f := range c.s.definitions.Files() {
		name := ""
		for _, g := range c.guests.list {
			if g.definition == f {
				name = g.name
			}
		}
		for _, m := range f.Modules() {
			if m.Locals >= 0 {
				visit(name, c.s.arena.Handle(m.Locals))
			}
		}
	}
	if id, made := c.s.definitions.Shared.Object(); made {
		visit("", c.s.arena.Handle(id))
	}
}

// Enable arms the probes of a name again.
func (c *Control) Enable(name string) (note string, err error) {
	err = c.change(func() error {
		note, err = c.each(name, "enable", "enabled", c.s.engine.Enable)
		return err
	})
	return note, err
}

// Disable disarms the probes of a name; they stay registered.
func (c *Control) Disable(name string) (note string, err error) {
	err = c.change(func() error {
		note, err = c.each(name, "disable", "disabled", c.s.engine.Disable)
		return err
	})
	return note, err
}

// each does something to all probes of a name: several may have it.
func (c *Control) each(name, verb, done string, do func(id uint32) error) (note string, err error) {
	found, err := c.named(name)
	if err != nil {
		return "", err
	}
	var all error
	for _, p := range found {
		if err := do(p.ID); err != nil {
			all = errors.Join(all, fmt.Errorf("cannot %s %s: %w", verb, p.Name, err))
		}
	}
	switch {
	case name == "*":
		name = plural(len(found), "probe")
	case len(found) > 1:
		name = fmt.Sprintf("%d probes named %s", len(found), name)
	}
	return done + " " + name, failed(Failure, all)
}

// named finds the probes of a name, or if there is none of a pattern, that have not been removed.
func (c *Control) named(name string) ([]engine.ProbeState, error) {
	var found, like []engine.ProbeState
	var others []string
	removed := false
	for _, p := range c.s.engine.Query() {
		switch {
		case c.means(p, name) && p.State != stateRemoved:
			found = append(found, p)
		case c.means(p, name):
			removed = true
		case p.State != stateRemoved:
			if symname.Glob(name, p.Name) {
				like = append(like, p)
			}
			if !slices.Contains(others, p.Name) {
				others = append(others, p.Name)
			}
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case len(like) > 0:
		return like, nil
	case removed:
		return nil, failed(NoMatch, fmt.Errorf("probe %s was removed", name))
	}
	return nil, hinted(NoMatch, fmt.Errorf("unknown probe %q", name), namesHint(others, "the session has no probes"))
}

// means reports whether a user means this probe: by its name, its number as #7, or the codes of a definition's as 7,1.
func (c *Control) means(p engine.ProbeState, name string) bool {
	if p.Name == name || name == fmt.Sprintf("#%d", p.ID) {
		return true
	}
	d := c.s.definitions.Probe(p.ID)
	return d != nil && name == fmt.Sprintf("%d,%d", d.Major, d.Minor)
}

// namesHint lists names, as many as fit on a line.
func namesHint(names []string, none string) string {
	const maxNames = 10
	switch {
	case len(names) == 0:
		return none
	case len(names) > maxNames:
		return fmt.Sprintf("there are %s and %d more", strings.Join(names[:maxNames], ", "), len(names)-maxNames)
	}
	return "there is " + strings.Join(names, ", ")
}
