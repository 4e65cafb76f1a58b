package main

import (
	"fmt"
	"slices"
	"sync"

	"gotap/compile/diag"
	"gotap/engine"
	"gotap/runtime"
	"gotap/script"
	"gotap/script/output"
)

// A declaration is a probe as a front end declares it: a script, or a definition file.
type declaration interface {
	// spec is the probe as the engine takes it. Errors about the place point at the text that names it.
	spec(t *tracer) (engine.ProbeSpec, error)
	// spans are the texts that name the probe's places.
	spans() []diag.Span
	isOptional() bool
	// title is the probe's name, as the user gave it or the place it is at.
	title() string
}

// A scriptProbe is a script's probe, as a declaration.
type scriptProbe struct{ *script.Probe }

func (p scriptProbe) spec(t *tracer) (engine.ProbeSpec, error) { return t.spec(p.Probe) }

func (p scriptProbe) isOptional() bool { return p.Optional }

func (p scriptProbe) title() string { return p.Name }

func (p scriptProbe) spans() (list []diag.Span) {
	for _, s := range p.Specs {
		list = append(list, s.Span)
	}
	return list
}

// definitions are the definition files of a session. Safe for concurrent use: records reach it on the host's goroutine,
// changes on others.
type definitions struct {
	shared sharedVariables

	mu     sync.Mutex
	list   []*definition
	probes map[uint32]*definedProbe // all there ever were: records of removed probes may still be under way
	next   uint32                   // number of the next probe
}

// first is the number for the first probe of a file to be loaded. Numbers are never given twice.
func (d *definitions) first() uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return firstDefined + d.next
}

// add makes a file one of the session's, in the place of another if that is not nil.
func (d *definitions) add(file, before *definition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.probes == nil {
		d.probes = map[uint32]*definedProbe{}
	}
	for _, p := range file.probes {
		d.probes[p.id] = p
		d.next = max(d.next, p.id-firstDefined+1)
	}
	for i := range d.list {
		if d.list[i] == before {
			d.list[i] = file
			return
		}
	}
	d.list = append(d.list, file)
}

// all lists the files.
func (d *definitions) all() []*definition {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]*definition(nil), d.list...)
}

// probe finds the probe that a record is of.
func (d *definitions) probe(id uint32) *definedProbe {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.probes[id]
}

// loadDefinition loads the session's text when it is a definition file.
func (r *run) loadDefinition(text scriptText) error {
	if !isDefinition(text) {
		if r.plan.exits != "" {
			return withStatus(statusUsage, fmt.Errorf("--exits is for definition files, and %s is a script", text.name))
		}
		return r.plan.definitionFlags.refuse(text)
	}
	r.plan.definition.served = r.facilities.Served
	d, list := loadDefinition(text, r.plan.definition, definitionVariables{arena: r.arena, shared: &r.definitions.shared}, r.definitions.first())
	if err := list.Err(); err != nil {
		return withStatus(statusUsage, err)
	}
	r.warnings(list)
	r.definitions.add(d, nil)
	return nil
}

// inputs are the files to be watched for changes.
func (r *run) inputs() []string {
	all := r.definitions.all()
	if len(all) == 0 || !isDefinition(r.text) {
		return r.script().Inputs()
	}
	return all[0].inputs
}

// exchangeDefinition loads a new version of the session's definition file and puts it in the place of the running one;
// run.change is held. Probes that do the same stay armed, variables stay when there are as many. On error everything is as
// before.
func (r *run) exchangeDefinition(text scriptText) error {
	old := r.definitions.all()[0]
	next, list := loadDefinition(text, r.plan.definition,
		definitionVariables{arena: r.arena, shared: &r.definitions.shared, before: old}, r.definitions.first())
	if err := list.Err(); err != nil {
		return err
	}
	r.warnings(list)
	specs, gone, err := r.changes(old, next)
	if err != nil {
		return err
	}
	r.definitions.add(next, old) // before the first record can come
	swap, err := r.session.Prepare(specs, gone)
	if err == nil {
		err = swap.Commit()
	}
	if err != nil {
		r.definitions.add(old, next)
		return withStatus(statusNoProbe, fmt.Errorf("cannot arm the new definition: %w", err))
	}
	return nil
}

// changes works out which probes come and go between two versions of a file. Those that stay keep their numbers.
func (r *run) changes(old, next *definition) (add []engine.ProbeSpec, remove []uint32, err error) {
	left := append([]*definedProbe(nil), old.probes...)
	for _, p := range next.probes {
		if i := slices.IndexFunc(left, p.same); i >= 0 {
			p.id = left[i].id
			left = slices.Delete(left, i, i+1)
			continue
		}
		spec, err := p.spec(r.tracer)
		if err != nil {
			return nil, nil, err
		}
		spec.Optional = spec.Optional || r.plan.missing != "error" || r.demo
		add = append(add, spec)
	}
	for _, p := range left {
		remove = append(remove, p.id)
	}
	return add, remove, nil
}

// record prints a record of a definition's probe; it reports whether it is one.
func (r *run) record(rec *runtime.Record) bool {
	p := r.definitions.probe(rec.Probe)
	if p == nil {
		return false
	}
	d := newDefinitionRecord(rec, p)
	if rec.Kind == runtime.ExitFacility && r.facilities.Deliver(d.delivery(p.name)) {
		return true
	}
	if len(rec.Items) > 0 {
		r.out.Event(d.event(p.name))
	}
	return true
}

// printVariables prints the variables that are not 0, as a script's do that it never printed.
func (r *run) printVariables() {
	for _, d := range r.definitions.all() {
		r.printArray(d.file.Locals)
	}
	if s := &r.definitions.shared; s.made {
		r.printArray(s.id)
	}
}

func (r *run) printArray(id int) {
	if id < 0 {
		return
	}
	snapshot := r.arena.Handle(id).Entries()
	var used []runtime.Entry
	for _, e := range snapshot.Entries {
		if e.Data.Int != 0 {
			used = append(used, e)
		}
	}
	if len(used) > 0 {
		snapshot.Entries = used
		r.out.Aggregate(output.Aggregate{Snapshot: snapshot})
	}
}
