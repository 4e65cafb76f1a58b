package engine

import (
	"errors"

	"gotap/engine/registry"
)

// Swap is an exchange of probes that is prepared and not yet made.
type Swap struct {
	s      *Session
	specs  []ProbeSpec
	add    []*probe
	remove []uint32
}

// Prepare resolves and compiles probes that are to take the place of others, on the caller's goroutine, while those go on.
// Errors are as for Add; nothing has changed then. Those that are right can be exchanged all the same.
func (s *Session) Prepare(add []ProbeSpec, remove []uint32) (*Swap, error) {
	w := &Swap{s: s, remove: remove}
	var all error
	for _, spec := range add {
		if err := w.Add(spec); err != nil {
			all = errors.Join(all, &registry.ProbeError{ID: spec.ID, Err: err})
		}
	}
	return w, all
}

// Add resolves and compiles one more probe. On error the exchange is as it was. A probe that was begun (Session.Begin) is completed at
// once: its program has not started yet.
func (w *Swap) Add(spec ProbeSpec) error {
	pr, err := registry.New(spec)
	if err != nil {
		return err
	}
	if e, err := w.s.beginning(spec.ID); e != nil || err != nil {
		return w.s.complete(e, spec)
	}
	procs, err := w.s.snapshot()
	if err != nil {
		return err
	}
	if err := w.s.prepare(pr, spec.Specs, procs); err != nil {
		return err
	}
	w.specs, w.add = append(w.specs, spec), append(w.add, pr)
	return nil
}

// Commit makes the exchange between two hits: every hit runs either the programs of before or those of after. What is new is planted
// in one stop of the target. The breakpoints that both have stay planted all the while. When a new probe cannot be armed none is,
// and the old ones stay.
func (w *Swap) Commit() error {
	return w.unlessReplacing(func() error {
		return w.s.probes.Exchange(w.add, w.remove, w.s.registerAll, w.s.keepCalls, w.s.drop)
	})
}

// CommitEach is Commit for probes that do without each other: those that cannot be armed are left out, and their errors returned
// (registry.ProbeError).
func (w *Swap) CommitEach() error {
	var left error
	err := w.unlessReplacing(func() error {
		return w.s.probes.Exchange(w.add, w.remove, func(add []*probe) error {
			failed := w.s.registerEach(add, false)
			if left = failed.Err(add); errors.Is(left, errReplacing) {
				w.s.dropOthers(add, failed)
				return errReplacing
			}
			return nil
		}, w.s.keepCalls, w.s.drop)
	})
	if err != nil {
		return err
	}
	return left
}

// unlessReplacing runs fn on the tracing thread when no process is just then replacing its program. When one is, or begins to, the probes
// are prepared anew for the program that it will run.
func (w *Swap) unlessReplacing(fn func() error) error {
	for {
		err := w.s.do(func() error {
			if w.s.replacing() {
				return errReplacing
			}
			return fn()
		})
		if !errors.Is(err, errReplacing) {
			return err
		}
		if err := w.s.settle(); err != nil {
			return err
		}
		again, err := w.s.Prepare(w.specs, w.remove)
		if err != nil {
			return err
		}
		w.add = again.add
	}
}
