package arming

import (
	"errors"
	"fmt"

	"gotap/engine/backend"
	"gotap/engine/image/module"
	"gotap/engine/locate"
	"gotap/engine/place"
	"gotap/engine/registry"
)

// Process is a process in which probes are armed.
type Process interface {
	// Pid is its number; 0: it has none.
	Pid() int
	// Modules are what it maps, the main program first.
	Modules() []module.Loaded
	// HasVDSO reports whether the kernel maps code of its own into it.
	HasVDSO() bool
	// Gone reports whether its memory no longer exists.
	Gone() bool
	// ArmSpecial arms a probe at a target that is not plain code, in a module of the target's file. done is false when
	// the target is plain code.
	ArmSpecial(pr *registry.Probe, spec place.Spec, t place.Target, m *module.Loaded) (done bool, err error)
	// Attach attaches a placement to the point at an address, which is made when there is none.
	Attach(pl *registry.Placement, addr uint64, m *module.Loaded) error
}

// Armer arms the probes of one session.
type Armer struct {
	Places      *locate.Locator
	Interrupted func() error // returns an error once placing probes is to end
}

// Probe arms a probe in a process, at all places that it has in modules.
func (a *Armer) Probe(p Process, pr *registry.Probe, mods []module.Loaded) error {
	if pr.Removed {
		return nil
	}
	var all error
	for i, spec := range pr.Spec.Specs {
		if text := locate.LeftOut(spec); text != "" && p.HasVDSO() {
			pr.Refuse(text)
		}
		err := a.spec(p, pr, i, mods)
		if all = errors.Join(all, err); ends(err) {
			break
		}
	}
	if all != nil && p.Gone() { // it has ended meanwhile, and its exit is about to be reported
		return nil
	}
	return all
}

// ends reports whether every further place would meet the same error.
func ends(err error) bool {
	var many backend.TooManyError
	return errors.Is(err, backend.ErrInterrupted) || errors.As(err, &many)
}

// spec is Probe for one of the probe's specifications.
func (a *Armer) spec(p Process, pr *registry.Probe, index int, mods []module.Loaded) (all error) {
	spec := pr.Spec.Specs[index]
	targets, _ := a.Places.Of(pr, spec, p.Modules())
	if err := a.Interrupted(); err != nil { // places may be missing
		return err
	}
	for _, t := range targets {
		if err := a.Interrupted(); err != nil {
			return err
		}
		err := a.target(p, pr, spec, t, mods)
		switch {
		case err == nil:
		case p.Gone():
			return nil
		case ends(err):
			return errors.Join(all, &place.ListedError{Index: index, Err: err})
		case !spec.Pattern() && !spec.Every:
			all = errors.Join(all, &place.ListedError{Index: index, Err: err})
		default:
			pr.Refuse(fmt.Sprintf("%s: %v", t.Name, err))
		}
	}
	return all
}

// target arms a probe at one target, in each module that maps the target's file there.
func (a *Armer) target(p Process, pr *registry.Probe, spec place.Spec, t place.Target, mods []module.Loaded) error {
	for i := range mods {
		m := &mods[i]
		if m.File != t.File || m.Err != nil || !m.Covers(t.Vaddr) {
			continue
		}
		done, err := p.ArmSpecial(pr, spec, t, m)
		if !done && err == nil {
			err = a.code(p, pr, spec, t, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// code arms a probe at code in a module.
func (a *Armer) code(p Process, pr *registry.Probe, spec place.Spec, t place.Target, m *module.Loaded) error {
	pl, err := a.Places.Place(pr, spec, t)
	if pl == nil || err != nil {
		return err
	}
	err = Attach(p, pl, m.Addr(registry.PlantedAt(t)), m)
	var refused *place.RefusedError // names the place itself
	if err == nil || errors.As(err, &refused) {
		return err
	}
	return fmt.Errorf("cannot probe %s: %w", t.Name, err)
}

// Attach attaches a placement to the point at an address, and refuses leave handlers that are not at the start of a
// function.
func Attach(p Process, pl *registry.Placement, addr uint64, m *module.Loaded) error {
	if pl.Code.Leave != nil && !pl.Target.Entry() {
		return &place.RefusedError{Place: pl.Target.Name, Reason: "leave() needs a function entry"}
	}
	return p.Attach(pl, addr, m)
}
