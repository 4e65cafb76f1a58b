package engine

import (
	"errors"

	"gotap/engine/registry"
)

// Swap is an exchange of probes that is prepared and not yet made.
type Swap struct {
	s      *Session
	add    []*probe
	remove []uint32
}

// Prepare resolves and compiles probes that are to take the place of others, on the caller's goroutine, while those go on.
// Errors are as for Add; nothing has changed then.
func (s *Session) Prepare(add []ProbeSpec, remove []uint32) (*Swap, error) {
	w := &Swap{s: s, remove: remove}
	procs, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	var all error
	for _, spec := range add {
		pr, err := registry.New(spec)
		if err == nil {
			err = s.prepare(pr, spec.Specs, procs)
		}
		if err != nil {
			all = errors.Join(all, &registry.ProbeError{ID: spec.ID, Err: err})
			continue
		}
		w.add = append(w.add, pr)
	}
	return w, all
}

// Commit makes the exchange between two hits: every hit runs either the programs of before or those of after. The breakpoints
// that both have stay planted all the while. When a new probe cannot be armed none is, and the old ones stay.
func (w *Swap) Commit() error {
	if err := w.s.settle(); err != nil {
		return err
	}
	return w.s.do(func() error {
		return w.s.probes.Exchange(w.add, w.remove, w.s.register, w.s.keepCalls, w.s.drop)
	})
}
