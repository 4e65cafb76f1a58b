package registry

import (
	"errors"
	"slices"
)

// Exchange puts probes in the place of others of the list, between two hits. register makes all new probes part of the session, or
// none, drop takes a probe out of it, and keep is told of each old one before, whose calls under way are to end as they began.
// When the new probes cannot be registered the old ones stay.
func (l *List) Exchange(add []*Probe, remove []uint32, register func([]*Probe) error, keep, drop func(*Probe)) error {
	l.leave(remove, true)
	if err := register(add); err != nil {
		l.leave(remove, false)
		return err
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

// Failures are the errors of probes that were to be registered together.
type Failures map[*Probe]error

// Err is the errors as those of the probes they belong to (ProbeError), in the order of a list; nil when there are none.
func (f Failures) Err(list []*Probe) (all error) {
	for _, pr := range list {
		if err := f[pr]; err != nil {
			all = errors.Join(all, &ProbeError{ID: pr.Spec.ID, Err: err})
		}
	}
	return all
}
