package registry

import (
	"errors"
	"slices"
)

// Exchange replaces probes of the list by others, between two hits. register adds all new probes to the session, or
// none; keep is called first for each old probe, whose calls in progress must end as they began; drop removes a
// probe from the session. If the new probes cannot be registered, the old ones stay.
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

// leave marks the probes that are to be removed, so that the new ones may have their positions.
func (l *List) leave(remove []uint32, leaving bool) {
	for _, pr := range l.all {
		if slices.Contains(remove, pr.Spec.ID) {
			pr.Leaving = leaving
		}
	}
}

// Failures are the errors of probes that were to be registered together.
type Failures map[*Probe]error

// Err returns the errors, each as a ProbeError of its probe, in the order of a list; nil if there are none.
func (f Failures) Err(list []*Probe) (all error) {
	for _, pr := range list {
		if err := f[pr]; err != nil {
			all = errors.Join(all, &ProbeError{ID: pr.Spec.ID, Err: err})
		}
	}
	return all
}
