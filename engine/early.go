package engine

import (
	"errors"
	"slices"

	"gotap/engine/module"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/runtime"
)

// Probes in a program's first moments. Most places are known only when the loader has mapped the libraries, which is where Launch leaves
// a program; but the loader makes system calls on its way there, and has functions of its own. So a program may be started in two
// halves, Spawn and Settle, and probes be begun in between: what of a probe needs nothing that is mapped later is armed then, and
// the rest when the probe is added, as if all of it had been.
//
// A begun probe is a whole one in every other respect: it counts, may be disabled, and removes itself. It is dropped by Start when nobody
// has added it until then.

// earlyProbe is a probe that was begun.
type earlyProbe struct {
	pr   *probe
	done []bool // by specification: it is armed
}

// errStops is for probes that are not begun: a process left stopped in its loader would keep all other probes from being placed.
var errStops = errors.New("it may leave the process stopped")

// ErrSettled is for programs that are no longer, or never were, between Spawn and Settle.
var ErrSettled = errors.New("the program has no loader that has yet to map anything")

// Begin registers a probe in a program that is between Spawn and Settle, and arms what it has on system calls and in the program's
// loader: armed is the number of its specifications that this goes for. Add with the same number does the rest, and tells what is
// wrong with it. An error says that nothing was registered, and is no reason not to add the probe. It is ErrSettled where nothing
// can be begun.
func (s *Session) Begin(spec ProbeSpec) (armed int, err error) {
	pr, err := registry.New(spec)
	if err != nil {
		return 0, err
	}
	if err := s.do(s.checkUnsettled); err != nil {
		return 0, err
	}
	procs, err := s.snapshot()
	if err != nil {
		return 0, err
	}
	e := &earlyProbe{pr, make([]bool, len(spec.Specs))}
	var first []place.Spec
	for i, one := range spec.Specs {
		if e.done[i] = isEarly(one, procs); e.done[i] {
			first = append(first, one)
		}
	}
	pr.Spec.Specs, pr.Spec.Compile = first, unlessStopping(spec.Compile)
	if err := s.prepare(pr, first, procs); err != nil {
		return 0, err
	}
	return len(first), s.do(func() error {
		if err := s.register(pr); err != nil {
			return err
		}
		pr.Spec.Compile = spec.Compile
		s.begun[spec.ID] = e
		s.protectEarly(pr)
		return nil
	})
}

// protectEarly puts the fallback into a program that will hit breakpoints at once: they are in its loader.
func (s *Session) protectEarly(pr *probe) {
	t := s.settling.t
	code := func(spec place.Spec) bool { return spec.Kind != place.Syscall }
	if t != nil && pr.Armed() && slices.ContainsFunc(pr.Spec.Specs, code) && t.getRegs() {
		s.protect(t)
	}
}

func (s *Session) checkUnsettled() error {
	if s.settling.t == nil {
		return ErrSettled
	}
	return nil
}

// isEarly reports whether a specification means nothing that the loader has yet to map: a system call, or code of the loader itself,
// which has to be named since functions of the program come first.
func isEarly(spec place.Spec, procs []procView) bool {
	switch {
	case spec.Kind == place.Syscall:
		return true
	case spec.Kind == place.Watch, spec.Module == "", module.IsGlob(spec.Module):
		return false
	}
	for _, p := range procs {
		for i := range p.mods {
			if m := &p.mods[i]; i > 0 && isLoader(m) && place.MatchModule(spec.Module, m.Path) {
				return true
			}
		}
	}
	return false
}

// unlessStopping compiles programs, but for those that may leave the process stopped.
func unlessStopping(compile Compile) Compile {
	return func(at PlaceInfo) (Handlers, error) {
		h, err := compile(at)
		for _, code := range []*runtime.Code{h.Enter, h.Post, h.Leave, h.Fault, h.When} {
			if code != nil && slices.ContainsFunc(code.Insts, stops) {
				return h, errors.Join(err, errStops)
			}
		}
		return h, err
	}
}

// stops reports whether an instruction may leave the process stopped: what a facility does is not known here.
func stops(i runtime.Inst) bool {
	kind := runtime.ExitKind(i.A)
	return i.Op == runtime.OpExit && (kind == runtime.ExitStop || kind == runtime.ExitFacility)
}

// beginning is the probe that was begun with a number, nil if there is none.
func (s *Session) beginning(id uint32) (e *earlyProbe, err error) {
	err = s.do(func() error { e = s.begun[id]; return nil })
	return e, err
}

// complete arms what a begun probe lacks. Where that cannot be resolved the probe stays as it was, so that it may be
// added in another way; when something cannot be armed nothing stays of it.
func (s *Session) complete(e *earlyProbe, spec ProbeSpec) error {
	procs, err := s.snapshot()
	if err != nil {
		return err
	}
	var rest []place.Spec
	var index []int
	for i, one := range spec.Specs {
		if !e.done[i] {
			rest, index = append(rest, one), append(index, i)
		}
	}
	if err := s.do(func() error { e.pr.Spec.Optional = spec.Optional; return nil }); err != nil {
		return err
	}
	if err := s.prepare(e.pr, rest, procs); err != nil {
		return relist(err, index)
	}
	return s.do(func() error {
		delete(s.begun, spec.ID)
		e.pr.Spec.Specs = rest
		err := s.arm(e.pr)
		e.pr.Spec.Specs = spec.Specs
		if err != nil {
			s.drop(e.pr)
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

// dropBegun drops the probes that were begun and never added.
func (s *Session) dropBegun() {
	for id, e := range s.begun {
		s.drop(e.pr)
		delete(s.begun, id)
	}
}
