package probes

import (
	"errors"

	"gotap/engine/locate"
	"gotap/engine/registry"
)

// Exchange is an exchange of probes that is prepared and not yet made.
type Exchange struct {
	s      *Set
	specs  []registry.Spec
	add    []*registry.Probe
	remove []uint32
}

// Prepare resolves and compiles probes that are to replace others, while those stay armed. Errors are as for Add;
// nothing has changed then. The probes without an error can be exchanged nevertheless.
func (s *Set) Prepare(add []registry.Spec, remove []uint32) (*Exchange, error) {
	x := &Exchange{s: s, remove: remove}
	wanting, left := x.addEach(add, true)
	_, more := x.addEach(wanting, false)
	return x, errors.Join(append(left, more...)...)
}

// addEach adds probes. With later it returns those that are to be added when the others are, without their errors.
func (x *Exchange) addEach(add []registry.Spec, later bool) (wanting []registry.Spec, left []error) {
	for _, spec := range add {
		var want *registry.WantingError
		switch err := x.Add(spec); {
		case later && errors.As(err, &want):
			wanting = append(wanting, spec)
		case err != nil:
			left = append(left, &registry.ProbeError{ID: spec.ID, Err: err})
		}
	}
	return wanting, left
}

// Add resolves and compiles one more probe. On error the exchange is as it was. A probe that was begun (Set.Begin) is
// completed at once: its program has not started yet.
func (x *Exchange) Add(spec registry.Spec) error {
	pr, err := registry.New(spec, x.s.cfg.Arena)
	if err != nil {
		return err
	}
	return x.s.tracer.Prepare(func(procs []locate.Process, do Do) error {
		if done, err := x.s.complete(spec, procs, do); done {
			return err
		}
		if err := x.s.places.Prepare(pr, spec.Specs, procs); err != nil {
			return err
		}
		x.specs, x.add = append(x.specs, spec), append(x.add, pr)
		return nil
	})
}

// Commit makes the exchange between two hits: every hit runs either the programs of before or those of after. What is
// new is planted in one stop of the target. Breakpoints that both have stay planted. When a new probe cannot be armed
// none is, and the old ones stay.
func (x *Exchange) Commit() error {
	return x.commit(func(add []*registry.Probe) error { return x.s.registerEach(add, true).Err(add) })
}

// CommitEach is Commit for probes that are independent of each other: those that cannot be armed are left out, and
// their errors are returned (registry.ProbeError).
func (x *Exchange) CommitEach() error {
	var left error
	err := x.commit(func(add []*registry.Probe) error {
		failed := x.s.registerEach(add, false)
		if left = failed.Err(add); errors.Is(left, ErrReplacing) {
			x.s.dropOthers(add, failed)
			return ErrReplacing
		}
		return nil
	})
	if err != nil {
		return err
	}
	return left
}

// commit makes the exchange with new probes registered by a function. When a process replaces its program, the probes
// are prepared again for the program that it then runs.
func (x *Exchange) commit(register func([]*registry.Probe) error) error {
	if len(x.remove) > 0 {
		defer x.s.tracer.AwaitPrograms()
	}
	again := false
	return x.s.retry(func() error {
		if again {
			anew, err := x.s.Prepare(x.specs, x.remove)
			if err != nil {
				return err
			}
			x.add = anew.add
		}
		again = true
		return x.s.unlessReplacing(x.s.tracer.Do, func() error {
			return x.s.list.Exchange(x.add, x.remove, register, x.s.keepCalls, x.s.Drop)
		})
	})
}

// keepCalls makes the leave handlers due of all calls that are under way for a probe, which is about to be dropped.
func (s *Set) keepCalls(pr *registry.Probe) {
	if pr.Armed() {
		s.tracer.KeepCalls(pr)
	}
}
