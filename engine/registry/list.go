package registry

import (
	"errors"
	"fmt"
	"slices"
)

// ErrNoProbe is the error for a number that no probe has.
var ErrNoProbe = errors.New("no such probe")

// List is the list of the probes of a session. The zero value is empty.
type List struct {
	all  []*Probe // in the order of declaration
	byID map[uint32]*Probe
}

// Add appends a probe to the list.
func (l *List) Add(pr *Probe) error {
	if l.byID[pr.Spec.ID] != nil {
		return fmt.Errorf("cannot add probe %s: number %d is taken", pr.Spec.Name, pr.Spec.ID)
	}
	if l.byID == nil {
		l.byID = map[uint32]*Probe{}
	}
	if n := len(l.all); n > 0 {
		pr.Order = l.all[n-1].Order + 1
	}
	l.all = append(l.all, pr)
	l.byID[pr.Spec.ID] = pr
	return nil
}

// Drop removes a probe from the list, and marks it as removed.
func (l *List) Drop(pr *Probe) {
	pr.Removed, pr.Enabled = true, false
	l.all = slices.DeleteFunc(slices.Clone(l.all), func(o *Probe) bool { return o == pr })
	delete(l.byID, pr.Spec.ID)
}

// All returns the probes in the order of declaration. The slice must not be changed; it stays the same when the
// list changes.
func (l *List) All() []*Probe { return l.all }

// Find returns the probe with a number.
func (l *List) Find(id uint32) (*Probe, error) {
	if pr := l.byID[id]; pr != nil {
		return pr, nil
	}
	return nil, fmt.Errorf("cannot find probe %d: %w", id, ErrNoProbe)
}
