package gotap

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"gotap/compile/diag"
	"gotap/engine"
	"gotap/engine/registry"
	"gotap/script"
	"gotap/script/definition"
	"gotap/script/output"
)

// Control asks about a running session and changes it: further scripts join it, new versions replace running ones,
// probes are disabled and removed. Its methods are safe for concurrent use between Start and Freeze; changes happen one
// after the other.
type Control struct {
	s *Session

	mu     sync.Mutex // held while anything is changed; guards what follows, and the session's list of probes that were left out
	frozen bool       // nothing is changed any more
	guests guests
}

// Control returns the session's control.
func (s *Session) Control() *Control { return &s.control }

// Freeze refuses all further changes, and waits for one that is under way.
func (c *Control) Freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frozen = true
}

// errFrozen is for changes of a session that ends.
var errFrozen = errors.New("the session is ending")

// change does something to the session while nothing else changes it.
func (c *Control) change(do func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frozen {
		return failed(BadTarget, errFrozen)
	}
	return do()
}

// Replace loads a new version of the script, or of the definition file, and puts it in the place of the running one
// between two hits. Variables and aggregations of the same name and type keep their values. On error nothing has
// changed.
func (c *Control) Replace(text Script) error {
	return c.change(func() error { return c.replaceLocked(text) })
}

// replaceLocked is Replace; mu is held.
func (c *Control) replaceLocked(text Script) error {
	if text.isDefinition() {
		return c.replaceDefinition(text)
	}
	old := c.s.script()
	o := c.s.scriptOptions(text)
	o.Previous = old
	said := output.NewHeld(c.s.opts.Output)
	o.Output = said
	next, list := script.Load(o)
	if err := list.Err(); err != nil {
		return err
	}
	next.SetTracer(c.s.tracer)
	x, err := c.prepareScript(old, next)
	if err != nil {
		next.Close()
		return err
	}
	old.Pause()
	if err := x.Commit(); err != nil {
		old.Resume()
		next.Close()
		if errors.Is(err, engine.ErrInterrupted) {
			return err
		}
		return diagnoseProbes(next.Probes(), err)
	}
	next.TakeOver(old)
	c.s.current.Store(next)
	said.Release()
	next.Begin()
	next.Start()
	return nil
}

// mayMiss reports whether probes of a new version may lack their places.
func (c *Control) mayMiss() bool {
	return c.s.opts.Missing != MissingIsError || c.s.opts.Tool.MayAppear
}

// prepareScript works out which probes come and go between two versions of the script.
func (c *Control) prepareScript(old, next *script.Script) (exchange, error) {
	_, add, remove := next.Plan(old)
	var specs []engine.ProbeSpec
	for _, p := range add {
		spec, err := scriptProbe{p}.spec(c.s.tracer.linker)
		if err != nil {
			return nil, err
		}
		spec.Optional = spec.Optional || c.mayMiss()
		specs = append(specs, spec)
	}
	var gone []uint32
	for _, p := range remove {
		gone = append(gone, p.ID)
	}
	x, err := c.s.engine.Prepare(specs, gone)
	if err != nil && len(add) > 0 && !errors.Is(err, engine.ErrInterrupted) {
		return nil, failed(NoMatch, diagnoseProbes(add, err))
	}
	return x, err
}

// diagnoseProbes points the errors of several probes at each of them.
func diagnoseProbes(probes []*script.Probe, err error) diag.List {
	var list diag.List
	for _, e := range flat(err) {
		var of *registry.ProbeError
		i := -1
		if errors.As(e, &of) {
			i = slices.IndexFunc(probes, func(p *script.Probe) bool { return p.ID == of.ID })
		}
		if i < 0 {
			list = append(list, diag.Diagnostic{Text: e.Error()})
			continue
		}
		list = append(list, diagnose(scriptProbe{probes[i]}, of.Err)...)
	}
	return list
}

// replaceDefinition loads a new version of the session's definition file and puts it in the place of the running one;
// mu is held. Probes that do the same stay armed. On error nothing has changed.
func (c *Control) replaceDefinition(text Script) error {
	old := c.s.definitions.Files()[0]
	next, list := definition.Load(text.Name, text.Text, c.s.opts.Definition, c.s.definitions.variables(old), c.s.definitions.Next())
	if err := list.Err(); err != nil {
		return err
	}
	c.s.opts.Hooks.Warn(list)
	specs, gone, err := c.compareDefinitions(old, next)
	if err != nil {
		return err
	}
	c.s.definitions.Add(next, old) // before the first record can come
	x, err := c.s.engine.Prepare(specs, gone)
	if err == nil {
		err = x.Commit()
	}
	if err != nil {
		c.s.definitions.Add(old, next)
		return failed(NoMatch, fmt.Errorf("cannot arm the new definition: %w", err))
	}
	return nil
}

// compareDefinitions works out which probes come and go between two versions of a file. Those that stay keep their
// numbers.
func (c *Control) compareDefinitions(old, next *definition.File) (add []engine.ProbeSpec, remove []uint32, err error) {
	fresh, left := pairProbes(slices.Clone(old.Probes), next.Probes)
	for _, p := range fresh {
		spec, err := definedProbe{p}.spec(c.s.tracer.linker)
		if err != nil {
			return nil, nil, err
		}
		spec.Optional = spec.Optional || c.mayMiss()
		add = append(add, spec)
	}
	return add, numbersOf(left), nil
}

// pairProbes finds probes that do the same in two versions of a definition file: the new ones get the numbers of the
// old ones. It returns the others of each version, and uses the memory of old.
func pairProbes(old, next []*definition.Probe) (fresh, stale []*definition.Probe) {
	for _, p := range next {
		if i := slices.IndexFunc(old, p.Same); i >= 0 {
			p.ID = old[i].ID
			old = slices.Delete(old, i, i+1)
			continue
		}
		fresh = append(fresh, p)
	}
	return fresh, old
}
