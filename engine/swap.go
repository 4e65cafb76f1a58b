package engine

import (
	"errors"
	"slices"

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
			err = s.prepare(pr, procs)
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
	return w.s.do(func() error {
		w.leave(true)
		for i, pr := range w.add {
			if err := w.s.register(pr); err != nil {
				for _, done := range w.add[:i] {
					w.s.drop(done)
				}
				w.leave(false)
				return &registry.ProbeError{ID: pr.Spec.ID, Err: err}
			}
		}
		for _, pr := range w.s.probes.All() {
			if slices.Contains(w.remove, pr.Spec.ID) {
				w.s.keepCalls(pr)
				w.s.drop(pr)
			}
		}
		return nil
	})
}

// leave marks the probes that are to be removed, so that those that come may have their positions. Tracing thread.
func (w *Swap) leave(leaving bool) {
	for _, pr := range w.s.probes.All() {
		if slices.Contains(w.remove, pr.Spec.ID) {
			pr.Leaving = leaving
		}
	}
}
