package tree

import (
	"gotap/runtime"
)

// Slots hands out the scratch words of a hit. A word that is free again is used again: the lowest first, so that
// listings stay readable.
type Slots struct {
	taken [runtime.MaxTemps]bool
	Most  int
}

func (s *Slots) Free(x *Slot) {
	if x.Index < len(s.taken) {
		s.taken[x.Index] = false
	}
}

// Take gives a word. When none is left, its index is out of range, which the emitter reports.
func (s *Slots) Take(k Kind) *Slot {
	for i := range s.taken {
		if !s.taken[i] {
			s.taken[i] = true
			s.Most = max(s.Most, i+1)
			return &Slot{Index: i, Kind: k}
		}
	}
	s.Most = len(s.taken) + 1
	return &Slot{Index: len(s.taken), Kind: k}
}

// Fresh gives a word that nothing read so far uses, not even inside an expression that is finished but will be
// computed later. Code that keeps a value while such an expression is computed needs it.
func (s *Slots) Fresh(k Kind) *Slot {
	x := &Slot{Index: s.Most, Kind: k}
	if s.Most < len(s.taken) {
		s.taken[s.Most] = true
	}
	s.Most = min(s.Most, len(s.taken)) + 1
	return x
}

// Slot is a local variable or an intermediate value: a scratch word of the hit.
type Slot struct {
	Index int
	Kind  Kind
	Fixed bool // is assigned once, before every read
	Held  Holding

	quotient *Expr // the integer division that it has a value from
}
