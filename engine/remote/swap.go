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

// Prepare resolves and compiles probes that are to take the place of others. Errors are as for Add; nothing has changed then.
func (s *Session) Prepare(add []engine.ProbeSpec, remove []uint32) (*Swap, error) {
	w := &Swap{s: s, remove: remove}
	err := s.held(func() error {
		var all error
		for _, spec := range add {
			pr, err := s.prepare(spec)
			if err != nil {
				all = errors.Join(all, &registry.ProbeError{ID: spec.ID, Err: err})
				continue
			}
			w.add = append(w.add, pr)
		}
		return all
	})
	return w, err
}

// Commit makes the exchange, with the target stopped. When a new probe cannot be armed none is, and the old ones stay.
func (w *Swap) Commit() error {
	return w.s.held(func() error {
		return w.s.probes.Exchange(w.add, w.remove, w.s.register, w.s.keepCalls, w.s.drop)
	})
}
