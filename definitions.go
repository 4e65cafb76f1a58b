package gotap

import (
	"slices"

	"gotap/runtime/arena"
	rtoutcome "gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/snapshot"
	"gotap/script/definition"
	"gotap/script/output"
)

// definitions are the definition files of a session, and their variables.
type definitions struct {
	definition.Set
	arena  *arena.Arena
	output output.Sink
}

// loadDefinition loads the session's text when it is a definition file.
func (s *Session) loadDefinition() error {
	if !s.text.isDefinition() {
		return nil
	}
	s.opts.Definition.Unsafe = s.opts.Unsafe
	s.opts.Definition.Served = s.facilities.Served
	f, list := definition.Load(s.text.Name, s.text.Text, s.opts.Definition, s.definitions.variables(nil), s.definitions.Next())
	if err := list.Err(); err != nil {
		return failed(BadScript, err)
	}
	s.opts.Hooks.Warn(list)
	s.definitions.Add(f, nil)
	return nil
}

// variables declare those of a definition file; before is its running version, or nil.
func (d *definitions) variables(before *definition.File) definition.Variables {
	return definition.Variables{Arena: d.arena, Shared: &d.Shared, Before: before}
}

// record prints a record of a definition file's probe; it reports whether it is one.
func (s *Session) record(rec *record.Record) bool {
	p := s.definitions.Probe(rec.Probe)
	if p == nil {
		return false
	}
	d := definition.NewRecord(rec, p)
	if rec.Kind == rtoutcome.ExitFacility && s.facilities.Deliver(d.Delivery()) {
		return true
	}
	if len(rec.Items) > 0 {
		s.opts.Output.Event(d.Event())
	}
	return true
}

// printVariables prints the variables of definition files that are not 0, as a script prints those that it never
// printed.
func (d *definitions) printVariables() {
	for _, f := range d.Files() {
		d.printArrays(f)
	}
	if id, made := d.Shared.Object(); made {
		d.printArray(id)
	}
}

// printArrays prints the variables of a definition file.
func (d *definitions) printArrays(f *definition.File) {
	for _, m := range f.Modules() {
		d.printArray(m.Locals)
	}
}

func (d *definitions) printArray(id int) {
	if id < 0 {
		return
	}
	snap := d.arena.Handle(id).Entries()
	snap.Entries = slices.DeleteFunc(slices.Clone(snap.Entries), func(e snapshot.Entry) bool { return e.Data.Int == 0 })
	if len(snap.Entries) > 0 {
		d.output.Aggregate(output.Aggregate{Snapshot: snap})
	}
}
