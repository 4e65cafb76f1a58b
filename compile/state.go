package compile

import (
	"math"

	"gotap/runtime"
)

// followedTemps is the number of scratch words whose values are tracked, and not only whether they are assigned. Loops
// count in the first scratch words.
const followedTemps = 32

// state is what the verifier knows between two commands.
//
// The stack is counted from the routine's entry: index 0 is the first word that the routine itself pushed, index -1 the
// top word of its caller. stack[0] has index base. Words below base are not present on every path.
type state struct {
	stack []value
	base  int
	temps assigned
	words []value // values of the first scratch words, which are tracked
	item  int     // format of the open item, -1 if there is none
	field int     // index of the next field to be logged in that format
	key   string  // kinds of the parts of the key being built, one byte each
	sbp   int     // index of the base of the stack, unknownBase if paths differ
}

// unknownBase is the base in a routine that has not set it, because each caller may have another one.
const unknownBase = math.MinInt32

// assigned holds two bits for each scratch word: not assigned on every path, a word, or text. The bits are packed into
// machine words, so that a join of 256 of them takes eight operations.
type assigned [runtime.MaxTemps / 32]uint64

// of returns the kind of a scratch word, or anyValue if it may not have been assigned.
func (a *assigned) of(t uint32) valueKind { return valueKind(a[t/32] >> (t % 32 * 2) & 3) }

// set records an assignment.
func (a *assigned) set(t uint32, k valueKind) {
	shift := t % 32 * 2
	a[t/32] = a[t/32]&^(3<<shift) | uint64(k)<<shift
}

// join keeps what holds in both a and b.
func (a *assigned) join(b *assigned) (changed bool) {
	for i := range a {
		differ := a[i] ^ b[i]
		differ = (differ | differ>>1) & 0x5555555555555555
		if kept := a[i] &^ (differ * 3); kept != a[i] {
			a[i], changed = kept, true
		}
	}
	return changed
}

// top returns the index one above the top word, which is the depth relative to the routine's entry.
func (s *state) top() int { return s.base + len(s.stack) }

// at returns the word at an index, which must not be below base.
func (s *state) at(index int) *value { return &s.stack[index-s.base] }

// clone returns a copy of a state.
func (s *state) clone() *state {
	c := *s
	both := make([]value, len(s.stack)+len(s.words), len(s.stack)+len(s.words)+8)
	c.words = both[:copy(both, s.words):len(s.words)]
	c.stack = both[len(s.words):]
	copy(c.stack, s.stack)
	return &c
}

// forget drops what is known about words in terms of a scratch word that is being assigned; t < 0 means all scratch
// words. Otherwise a word tied to the old value of the scratch word would be mistaken for the new value.
func (s *state) forget(t int) {
	for i, v := range s.stack {
		if v.src != 0 && (t < 0 || int(v.src) == t+1) {
			s.stack[i] = v.plain()
		}
	}
}

// mismatch returns why two states cannot be joined, or "". States that differ in structure cannot be joined: stacks of
// different depths, or items with different numbers of fields.
func (s *state) mismatch(o *state) string {
	switch {
	case s.top() != o.top():
		return "the stack is not equally deep on all ways to here"
	case s.item != o.item || s.field != o.field:
		return "a log item is not equally far on all ways to here"
	case s.key != o.key:
		return "the key is not the same on all ways to here"
	}
	return ""
}

// join joins o into s. o must not mismatch.
func (s *state) join(o *state, widen widening) (changed bool) {
	if o.base > s.base {
		s.stack, s.base, changed = s.stack[min(o.base-s.base, len(s.stack)):], o.base, true
	}
	for i := range s.stack {
		changed = merge(&s.stack[i], *o.at(s.base + i), widen) || changed
	}
	changed = s.temps.join(&o.temps) || changed
	if s.sbp != o.sbp && s.sbp != unknownBase {
		s.sbp, changed = unknownBase, true
	}
	for i := range s.words {
		changed = merge(&s.words[i], o.words[i], widen) || changed
	}
	return changed
}

// merge joins one value into v.
func merge(v *value, o value, widen widening) bool {
	n := joined(*v, o, widen)
	if n == *v {
		return false
	}
	*v = n
	return true
}
