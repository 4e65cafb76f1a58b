package registry

import "slices"

// Exchange puts probes in the place of others of the list, between two hits. register makes one of the new probes part of the
// session, drop takes a probe out of it, and keep is told of each old one before, whose calls under way are to end as they began.
// When a new probe cannot be registered none is, and the old ones stay.
func (l *List) Exchange(add []*Probe, remove []uint32, register func(*Probe) error, keep, drop func(*Probe)) error {
	l.leave(remove, true)
	for i, pr := range add {
		if err := register(pr); err != nil {
			for _, done := range add[:i] {
				drop(done)
			}
			l.leave(remove, false)
			return &ProbeError{ID: pr.Spec.ID, Err: err}
		}
	}
	for _, pr := range l.All() {
		if slices.Contains(remove, pr.Spec.ID) {
			keep(pr)
			drop(pr)
		}
	}
	return nil
}

// leave marks the probes that are to be removed, so that those that come may have their positions.
func (l *List) leave(remove []uint32, leaving bool) {
	for _, pr := range l.all {
		if slices.Contains(remove, pr.Spec.ID) {
			pr.Leaving = leaving
		}
	}
}
