package compile

import (
	"math"

	"gotap/runtime"
)

// Scratch words whose values are followed, not only whether they are assigned; loops count in
// the first ones.
const followedTemps = 32

// state is what the verifier knows between two commands.
//
// The stack is counted from the routine's entry: the word at index 0 is the first one the
// routine itself pushed, the word at -1 the top of its caller's. stack[0] has index base; words
// below are not there on every path.
type state struct {
	stack []value
	base  int
	temps assigned
	words []value // of the first scratch words, those that are followed
	item  int     // format of the item begun, -1 when none is
	field int     // of that format: the next one to be logged
	key   string  // kinds of the parts of the key being built, a byte each
	sbp   int     // index that the base of the stack has, unknownBase when ways differ
}

// unknownBase is the base in a routine that has not set it, whose callers may each have another.
const unknownBase = math.MinInt32

// assigned holds two bits for each scratch word: not assigned on every path, a word, or text.
// Two bits in a machine word each, so that joining 256 of them at every meeting of ways is
// eight operations.
type assigned [runtime.MaxTemps / 32]uint64

// of is the kind of a scratch word, anyValue when it may not have been assigned.
func (a *assigned) of(t uint32) valueKind { return valueKind(a[t/32] >> (t % 32 * 2) & 3) }

// set notes an assignment.
func (a *assigned) set(t uint32, k valueKind) {
	shift := t % 32 * 2
	a[t/32] = a[t/32]&^(3<<shift) | uint64(k)<<shift
}

// join keeps what a and b agree on.
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

// top is the index one above the top word: the depth, counted from the routine's entry.
func (s *state) top() int { return s.base + len(s.stack) }

// at is the word with an index, which must not be below base.
func (s *state) at(index int) *value { return &s.stack[index-s.base] }

// clone copies a state.
func (s *state) clone() *state {
	c := *s
	both := make([]value, len(s.stack)+len(s.words), len(s.stack)+len(s.words)+8)
	c.words = both[:copy(both, s.words):len(s.words)]
	c.stack = both[len(s.words):]
	copy(c.stack, s.stack)
	return &c
}

// forget drops what is known of words in terms of a scratch word that is being assigned; t < 0
// means all scratch words. A word tied to the old value of a scratch word would be taken for
// its new one.
func (s *state) forget(t int) {
	for i, v := range s.stack {
		if v.src != 0 && (t < 0 || int(v.src) == t+1) {
			s.stack[i] = v.plain()
		}
	}
}

// mismatch says why two states cannot meet, or nothing.
// What has a shape cannot be joined: a stack of two depths, an item two fields on or three.
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

// join adds the paths of o, which must not mismatch.
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

// merge joins one value.
func merge(v *value, o value, widen widening) bool {
	n := joined(*v, o, widen)
	if n == *v {
		return false
	}
	*v = n
	return true
}
