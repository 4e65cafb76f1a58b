package probes

import (
	"errors"
	"slices"

	"gotap/engine/backend"
	"gotap/engine/locate"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/runtime"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// Probes in a program's first moments. Most places are known only when the loader has mapped the libraries; but the
// loader makes system calls on its way there, and has functions of its own. So a program may be started in two halves,
// and probes be begun in between: the part of a probe that needs nothing that is mapped later is armed then, and the
// rest when the probe is added.
//
// A begun probe is a whole one in every other respect: it counts, may be disabled, and removes itself. It is dropped by
// DropBegun when it has not been added until then.

// begun is a probe that was begun.
type begun struct {
	pr    *registry.Probe
	armed []bool // by specification
}

// ErrStops is for probes that are not begun: a process that is left stopped in its loader would keep all other probes
// from being placed.
var ErrStops = errors.New("it may leave the process stopped")

// Begin registers a probe in a program that has a loader which has yet to map its libraries, and arms what the probe
// has on system calls and in the loader: armed is the number of these specifications. Add with the same number does the
// rest, and reports what is wrong with it. An error says that nothing was registered; the probe may be added
// nevertheless. It is backend.ErrSettled where nothing can be begun.
func (s *Set) Begin(spec registry.Spec) (armed int, err error) {
	launcher, ok := s.tracer.(Launcher)
	if !ok {
		return 0, backend.ErrSettled
	}
	pr, err := registry.New(spec, s.cfg.Arena)
	if err != nil {
		return 0, err
	}
	err = s.tracer.Prepare(func(procs []locate.Process, do Do) error {
		b, first, err := begin(launcher, pr, procs, do)
		if err != nil {
			return err
		}
		armed = len(first)
		pr.Spec.Specs, pr.Spec.Compile = first, unlessStopping(spec.Compile)
		if err := s.places.Prepare(pr, first, procs); err != nil {
			return err
		}
		return do(func() error {
			if err := s.Register(pr); err != nil {
				return err
			}
			pr.Spec.Compile = spec.Compile
			s.begun[spec.ID] = b
			launcher.Begun(pr)
			return nil
		})
	})
	if err != nil {
		return 0, err
	}
	return armed, nil
}

// begin finds the specifications of a probe that can be armed early.
func begin(l Launcher, pr *registry.Probe, procs []locate.Process, do Do) (b *begun, first []place.Spec, err error) {
	err = do(func() error {
		if !l.Unsettled() {
			return backend.ErrSettled
		}
		return nil
	})
	b = &begun{pr, make([]bool, len(pr.Spec.Specs))}
	for i, one := range pr.Spec.Specs {
		if b.armed[i] = isEarly(l, one, procs); b.armed[i] {
			first = append(first, one)
		}
	}
	return b, first, err
}

// isEarly reports whether a specification means nothing that the loader has yet to map: a system call, or code of the
// loader itself, which has to be named since functions of the program come first.
func isEarly(l Launcher, spec place.Spec, procs []locate.Process) bool {
	switch {
	case spec.Kind == place.Syscall:
		return true
	case spec.Kind == place.Watch, spec.Kind == place.Sample, !spec.OneModule():
		return false
	}
	for _, p := range procs {
		for i := range p.Mods {
			if m := &p.Mods[i]; i > 0 && l.IsLoader(m) && place.MatchModule(spec.Module, m.Path) {
				return true
			}
		}
	}
	return false
}

// unlessStopping compiles programs, except those that may leave the process stopped.
func unlessStopping(compile registry.Compile) registry.Compile {
	return func(at registry.PlaceInfo) (registry.Handlers, error) {
		h, err := compile(at)
		for _, code := range []*runtime.Code{h.Enter, h.Post, h.Leave, h.Fault, h.When} {
			if code != nil && slices.ContainsFunc(code.Insts, stops) {
				return h, errors.Join(err, ErrStops)
			}
		}
		return h, err
	}
}

// stops reports whether an instruction may leave the process stopped: what a facility does is not known here.
func stops(i runtime.Inst) bool {
	kind := outcome.ExitKind(i.A)
	return i.Op == opcode.Exit && (kind == outcome.ExitStop || kind == outcome.ExitFacility)
}

// complete arms what the probe that was begun with a number lacks; done is false when none was. Where the rest cannot
// be resolved the probe stays as it was, so that it may be added in another way; when something cannot be armed nothing
// stays of it.
func (s *Set) complete(spec registry.Spec, procs []locate.Process, do Do) (done bool, err error) {
	var b *begun
	err = do(func() error {
		if b = s.begun[spec.ID]; b != nil {
			b.pr.Spec.Optional = spec.Optional
		}
		return nil
	})
	if b == nil || err != nil {
		return err != nil, err
	}
	var rest []place.Spec
	var index []int
	for i, one := range spec.Specs {
		if !b.armed[i] {
			rest, index = append(rest, one), append(index, i)
		}
	}
	if err := s.places.Prepare(b.pr, rest, procs); err != nil {
		return true, relist(err, index)
	}
	return true, do(func() error {
		delete(s.begun, spec.ID)
		b.pr.Spec.Specs = rest
		err := s.arm(b.pr)
		b.pr.Spec.Specs = spec.Specs
		if err != nil {
			s.Drop(b.pr)
		}
		return relist(err, index)
	})
}

// relist gives errors about a part of a list of specifications the positions in the whole.
func relist(err error, index []int) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all error
		for _, one := range joined.Unwrap() {
			all = errors.Join(all, relist(one, index))
		}
		return all
	}
	if at, ok := err.(*place.ListedError); ok {
		return &place.ListedError{Index: index[at.Index], Err: at.Err}
	}
	return err
}

// DropBegun drops the probes that were begun and never added.
func (s *Set) DropBegun() {
	for id, b := range s.begun {
		s.Drop(b.pr)
		delete(s.begun, id)
	}
}
