package remote

import (
	"errors"

	"gotap/engine"
	"gotap/engine/registry"
)

// Swap is an exchange of probes that is prepared and not yet made.
type Swap struct {
	s      *Session
	add    []*probe
	remove []uint32
}

// Prepare resolves and compiles probes that are to take the place of others. Errors are as for Add; nothing has changed then. Those
// that are right can be exchanged all the same.
func (s *Session) Prepare(add []engine.ProbeSpec, remove []uint32) (*Swap, error) {
	w := &Swap{s: s, remove: remove}
	var all error
	for _, spec := range add {
		if err := w.Add(spec); err != nil {
			all = errors.Join(all, &registry.ProbeError{ID: spec.ID, Err: err})
		}
	}
	return w, all
}

// Add resolves and compiles one more probe. On error the exchange is as it was.
func (w *Swap) Add(spec engine.ProbeSpec) error {
	return w.s.held(func() error {
		pr, err := w.s.prepare(spec)
		if err == nil {
			w.add = append(w.add, pr)
		}
		return err
	})
}

// Commit makes the exchange, with the target stopped. When a new probe cannot be armed none is, and the old ones stay.
func (w *Swap) Commit() error {
	return w.s.held(func() error {
		return w.s.probes.Exchange(w.add, w.remove, w.s.registerAll, w.s.keepCalls, w.s.drop)
	})
}

// CommitEach is Commit for probes that do without each other: those that cannot be armed are left out, and their errors returned
// (registry.ProbeError).
func (w *Swap) CommitEach() error {
	var left error
	err := w.s.held(func() error {
		return w.s.probes.Exchange(w.add, w.remove, func(add []*probe) error {
			left = w.s.registerEach(add).Err(add)
			return nil
		}, w.s.keepCalls, w.s.drop)
	})
	if err != nil {
		return err
	}
	return left
}

// registerEach makes prepared probes part of the session. The result has those that cannot be.
func (s *Session) registerEach(add []*probe) registry.Failures {
	failed := registry.Failures{}
	for _, pr := range add {
		if err := s.register(pr); err != nil {
			failed[pr] = err
		}
	}
	return failed
}

// registerAll is registerEach for probes of which all are to be registered, or none.
func (s *Session) registerAll(add []*probe) error {
	failed := s.registerEach(add)
	for _, pr := range add {
		if len(failed) > 0 && failed[pr] == nil {
			s.drop(pr)
		}
	}
	return failed.Err(add)
}
