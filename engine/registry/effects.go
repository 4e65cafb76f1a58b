package registry

import (
	"errors"
	"sync"

	"gotap/engine/place"
)

// Restriction is an item of Spec.Not or Spec.From. They can be compared.
type Restriction struct {
	From bool // of Spec.From
	Text string
}

// LeftOut returns the restriction that leaves out a place.
func LeftOut(spec place.Spec) Restriction { return Restriction{Text: spec.String()} }

// Effects records which restrictions of probes have had an effect: those of Spec.Not that have left out a place, and
// those of Spec.From whose module is mapped. Safe for concurrent use; the zero value is ready, and nil records nothing.
type Effects struct {
	mu    sync.Mutex // guards state
	state map[Restriction]*effect
}

// effect is what is known of a restriction.
type effect struct {
	had bool
	why *place.NotFoundError // what it names was not found; nil: it was, or was not looked for
}

// Open reports whether a restriction has had no effect yet.
func (e *Effects) Open(r Restriction) bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.of(r).had
}

// Had records that a restriction has had an effect.
func (e *Effects) Had(r Restriction) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.of(r).had = true
}

// Missed records that a search for what a restriction names has failed. An error with similar names is kept; of modules
// it is the last one, which knows most of them.
func (e *Effects) Missed(r Restriction, err error) {
	var why *place.NotFoundError
	if e == nil || !errors.As(err, &why) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if at := e.of(r); at.why == nil || r.From || len(at.why.Suggestions) == 0 {
		at.why = why
	}
}

// of returns what is known of a restriction. mu is held.
func (e *Effects) of(r Restriction) *effect {
	if e.state == nil {
		e.state = map[Restriction]*effect{}
	}
	if e.state[r] == nil {
		e.state[r] = &effect{}
	}
	return e.state[r]
}

// Idle reports whether a restriction was tried and has had no effect, and returns names that may have been meant.
func (e *Effects) Idle(r Restriction) (hint string, idle bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch at := e.state[r]; {
	case at == nil || at.had:
		return "", false
	case at.why == nil:
		return "", true
	default:
		return at.why.Similar(), true
	}
}
