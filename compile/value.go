package compile

import (
	"math"
	"slices"

	"gotap/runtime/opcode"
	rtvalue "gotap/runtime/value"
)

// valueKind is what the verifier knows about the kind of a stack word.
type valueKind uint8

const (
	anyValue  valueKind = iota // a word on one path, text on another: may be moved and dropped, not used
	wordValue                  // an integer, a float, an address
	textValue                  // a reference to text, made by a command that makes texts
)

// value is what the verifier knows about one word: for a number the interval that it lies in, for text the maximum
// length (hi). If src is not 0, the word equals the current scratch word src-1 plus add. If rel is not 0 as well, the
// word is instead the truth value of "scratch word + add REL a number within [lo, hi]".
//
// Intervals are closed and contain signed integers. A float is a word of any value.
type value struct {
	lo, hi, add int64
	src         uint16
	rel         relation
	kind        valueKind
}

// relation is a comparison of two integers.
type relation uint8

const (
	noRelation relation = iota
	less
	lessEqual
	greater
	greaterEqual
	equal
	notEqual
	belowUnsigned
	notBelowUnsigned
)

// negated returns the relation that holds if r does not.
func (r relation) negated() relation {
	return [...]relation{noRelation, greaterEqual, greater, lessEqual, less, notEqual, equal, notBelowUnsigned, belowUnsigned}[r]
}

// swapped returns the relation with its operands exchanged. The swaps of unsigned relations are not tracked, so there
// is none for them.
func (r relation) swapped() relation {
	return [...]relation{noRelation, greater, greaterEqual, less, lessEqual, equal, notEqual, noRelation, noRelation}[r]
}

// anyWord returns a word about which nothing is known.
func anyWord() value { return value{lo: math.MinInt64, hi: math.MaxInt64, kind: wordValue} }

// constant returns a known word.
func constant(v int64) value { return value{lo: v, hi: v, kind: wordValue} }

// between returns a word within an interval.
func between(lo, hi int64) value { return value{lo: lo, hi: hi, kind: wordValue} }

// text returns a text of at most n bytes.
func text(n int64) value { return value{hi: max(0, min(n, rtvalue.MaxText)), kind: textValue} }

// interval returns the range of a word as a plain number, whatever else is known about it.
func (v value) interval() (lo, hi int64) {
	switch {
	case v.rel != noRelation:
		return 0, 1
	case v.kind == wordValue:
		return v.lo, v.hi
	}
	return math.MinInt64, math.MaxInt64
}

// isConst reports whether the value of the word is known.
func (v value) isConst() bool { lo, hi := v.interval(); return lo == hi }

// plain drops the relation of the word to a scratch word.
func (v value) plain() value {
	if v.rel != noRelation {
		return between(0, 1)
	}
	v.src, v.add = 0, 0
	return v
}

// joined returns what is known if the word is a or b. With widen, bounds that moved are moved further than necessary,
// so that a loop reaches its fixed point in a few rounds.
func joined(a, b value, widen widening) value {
	if a == b {
		return a
	}
	if a.kind != b.kind {
		return value{kind: anyValue}
	}
	if a.src != b.src || a.add != b.add || a.rel != b.rel || a.rel != noRelation {
		a, b = a.plain(), b.plain()
	}
	if b.lo < a.lo {
		a.lo = widen.down(b.lo)
	}
	if b.hi > a.hi {
		a.hi = widen.up(b.hi)
	}
	if a.kind == textValue {
		a.lo, a.hi = 0, min(a.hi, rtvalue.MaxText)
	}
	return a
}

// widening lists the values at which a moving bound may stop. The list is sorted and begins and ends with the smallest
// and the largest integer. If it is nil, a bound may stop anywhere.
type widening []int64

func (w widening) up(v int64) int64 {
	if w == nil {
		return v
	}
	at, _ := slices.BinarySearch(w, v)
	return w[at]
}

func (w widening) down(v int64) int64 {
	if w == nil {
		return v
	}
	at, found := slices.BinarySearch(w, v)
	if found {
		return v
	}
	return w[at-1]
}

// unlimited moves a bound to infinity at once.
var unlimited = widening{math.MinInt64, math.MaxInt64}

// stops returns a widening that stops next to the first constants of a program, because most loops end there. Without
// it, bounds that grow by one in each round would go to infinity, and "i < 10" would be known only as "i is a number".
func stops(code []Command) widening {
	w := append(widening(nil), unlimited...)
	for _, c := range code {
		if v := int64(c.V); c.Op == opcode.PushD && v > -1<<40 && v < 1<<40 {
			w = append(w, v-1, v, v+1)
		}
		if len(w) > 48 {
			break
		}
	}
	slices.Sort(w)
	return slices.Compact(w)
}

func pick(cond bool, yes, no int64) int64 {
	if cond {
		return yes
	}
	return no
}

// sum returns the interval of a+b, or everything if the sum may wrap. The machine's sum wraps. A wrapped interval
// consists of two intervals, and neither bounds a loop.
func sum(a, b value) value {
	alo, ahi := a.interval()
	blo, bhi := b.interval()
	lo, ok1 := addChecked(alo, blo)
	hi, ok2 := addChecked(ahi, bhi)
	if !ok1 || !ok2 {
		return anyWord()
	}
	return between(lo, hi)
}

// negative returns the interval of -a.
func negative(a value) value {
	lo, hi := a.interval()
	if lo == math.MinInt64 {
		return anyWord()
	}
	return between(-hi, -lo)
}

// addChecked returns a+b; ok is false if the sum wraps. For b above 0 the sum must be larger than a, for b below 0
// smaller.
func addChecked(a, b int64) (s int64, ok bool) {
	s = a + b
	return s, (s > a) == (b > 0) || b == 0
}

// moved returns v plus a constant, still tied to its scratch word. That makes "i + 1 < n" a test of i, and "i = i + 1"
// a step of i.
func moved(v value, by int64) value {
	s := sum(v, constant(by))
	if v.src == 0 || v.rel != noRelation {
		return s
	}
	if add, ok := addChecked(v.add, by); ok {
		s.src, s.add = v.src, add
	}
	return s
}

// compared returns the truth value of "a rel b", tied to a scratch word on one of the sides. The other side is replaced
// by its interval; if both sides are tied, that is the right one.
func compared(a value, rel relation, b value) value {
	if a.src == 0 || a.rel != noRelation {
		a, b, rel = b, a, rel.swapped()
	}
	if a.src == 0 || a.rel != noRelation || rel == noRelation {
		return between(0, 1)
	}
	lo, hi := b.interval()
	return value{lo: lo, hi: hi, add: a.add, src: a.src, rel: rel, kind: wordValue}
}

// relations maps comparison commands to their relations.
var relations = map[opcode.Op]relation{
	opcode.Lt: less, opcode.Le: lessEqual, opcode.Gt: greater, opcode.Ge: greaterEqual,
	opcode.Eq: equal, opcode.Ne: notEqual, opcode.Ult: belowUnsigned,
}

// resultOf returns what is known about the number that a command pushes, whatever its operands are.
func resultOf(row *opcode.Row) value {
	if lo, hi, ok := row.Result.Bounds(); ok {
		return between(lo, hi)
	}
	return anyWord()
}

// onOne returns what is known about the result of a command on one word.
func onOne(row *opcode.Row, n uint32, a value) value {
	switch row.Op() {
	case opcode.Neg:
		return negative(a)
	case opcode.Lnot:
		if a.rel != noRelation {
			a.rel = a.rel.negated()
			return a
		}
		if a.src != 0 {
			return compared(a, equal, constant(0))
		}
	case opcode.Bool:
		if a.rel != noRelation {
			return a
		}
	case opcode.Zext:
		return low(int(n))
	case opcode.Ext:
		return between(-1<<(n-1), 1<<(n-1)-1)
	}
	return resultOf(row)
}

// low returns an unsigned number of n bits.
func low(n int) value {
	if n >= 63 {
		return anyWord()
	}
	return between(0, 1<<n-1)
}

// onTwo returns what is known about the result of a command on two words.
func onTwo(row *opcode.Row, a, b value) value {
	op := row.Op()
	if rel := relations[op]; rel != noRelation {
		return compared(a, rel, b)
	}
	alo, ahi := a.interval()
	blo, bhi := b.interval()
	switch op {
	case opcode.Add:
		if b.isConst() {
			return moved(a, blo)
		}
		if a.isConst() {
			return moved(b, alo)
		}
		return sum(a, b)
	case opcode.Sub:
		if b.isConst() && blo != math.MinInt64 {
			return moved(a, -blo)
		}
		if blo == math.MinInt64 {
			return anyWord()
		}
		return sum(a, negative(b))
	case opcode.Mul:
		return product(alo, ahi, blo, bhi)
	case opcode.And:
		return masked(alo, ahi, blo, bhi)
	case opcode.Min:
		return between(min(alo, blo), min(ahi, bhi))
	case opcode.Max:
		return between(max(alo, blo), max(ahi, bhi))
	case opcode.Shr:
		if blo == bhi && blo > 0 && blo < 64 {
			return low(64 - int(blo))
		}
	case opcode.Rem:
		if blo == bhi && blo > 0 {
			return between(pick(alo < 0, 1-blo, 0), blo-1)
		}
	case opcode.Quo:
		if blo == bhi && blo > 0 {
			return between(alo/blo, ahi/blo)
		}
	}
	return resultOf(row)
}

// product returns the interval of a product if its operands are too small to wrap. The extremes of a product of
// intervals are among the products of their ends.
func product(alo, ahi, blo, bhi int64) value {
	const small = 1 << 31
	if alo < -small || ahi > small || blo < -small || bhi > small {
		return anyWord()
	}
	w, x, y, z := alo*blo, alo*bhi, ahi*blo, ahi*bhi
	return between(min(w, x, y, z), max(w, x, y, z))
}

// masked returns the interval of a bitwise and, which is at most any side that is not negative. This bounds "n & 15",
// the usual way to make a number from outside safe to count with.
func masked(alo, ahi, blo, bhi int64) value {
	switch {
	case alo >= 0 && blo >= 0:
		return between(0, min(ahi, bhi))
	case alo >= 0:
		return between(0, ahi)
	case blo >= 0:
		return between(0, bhi)
	}
	return anyWord()
}
