package compile

import (
	"math"
	"slices"

	"gotap/runtime"
	"gotap/runtime/opcode"
)

// valueKind is what the verifier knows a word of the stack to be.
type valueKind uint8

const (
	anyValue  valueKind = iota // a word on one path, text on another: may be moved and dropped, not used
	wordValue                  // an integer, a float, an address
	textValue                  // a reference to text, made by a command that makes texts
)

// value is what the verifier knows of one word: for a number the interval it lies in, for text
// its greatest length (hi). When src is not 0 the word equals scratch word src-1, as it is now,
// plus add; when rel is not 0 as well, the word is instead the truth of "scratch word + add REL
// a number within [lo, hi]".
//
// Intervals are of signed integers and closed. A float is a word of any value.
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

// negated is the relation that holds when r does not.
func (r relation) negated() relation {
	return [...]relation{noRelation, greaterEqual, greater, lessEqual, less, notEqual, equal, notBelowUnsigned, belowUnsigned}[r]
}

// swapped is the relation seen from the other side. Unsigned ones have none here: their swaps
// are not tracked.
func (r relation) swapped() relation {
	return [...]relation{noRelation, greater, greaterEqual, less, lessEqual, equal, notEqual, noRelation, noRelation}[r]
}

// anyWord is a word of which nothing is known.
func anyWord() value { return value{lo: math.MinInt64, hi: math.MaxInt64, kind: wordValue} }

// constant is a known word.
func constant(v int64) value { return value{lo: v, hi: v, kind: wordValue} }

// between is a word within an interval.
func between(lo, hi int64) value { return value{lo: lo, hi: hi, kind: wordValue} }

// text is a text of at most n bytes.
func text(n int64) value { return value{hi: max(0, min(n, runtime.MaxText)), kind: textValue} }

// interval is where a word lies as a plain number, whatever else is known of it.
func (v value) interval() (lo, hi int64) {
	switch {
	case v.rel != noRelation:
		return 0, 1
	case v.kind == wordValue:
		return v.lo, v.hi
	}
	return math.MinInt64, math.MaxInt64
}

// isConst reports whether the word is known.
func (v value) isConst() bool { lo, hi := v.interval(); return lo == hi }

// plain forgets how the word relates to a scratch word.
func (v value) plain() value {
	if v.rel != noRelation {
		return between(0, 1)
	}
	v.src, v.add = 0, 0
	return v
}

// joined is what is known when the word is a or b. With widen, bounds that moved go further
// than they need to, so that a loop reaches its fixed point in a few rounds.
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
		a.lo, a.hi = 0, min(a.hi, runtime.MaxText)
	}
	return a
}

// widening is where bounds may stop that move. Nil means anywhere; they never stop between two
// of its numbers, which are sorted and begin and end with the smallest and largest integer.
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

// unlimited lets a bound that moves go to infinity at once.
var unlimited = widening{math.MinInt64, math.MaxInt64}

// stops is a widening that stops beside the first constants of a program: most loops end there.
// Without it bounds that creep up by one in each round would go to infinity, and "i < 10" would
// be known only as "i is a number".
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

// sum is the interval of a+b, everything when it may wrap.
// The machine's sum wraps; an interval that wraps is two, and neither bounds a loop.
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

// negative is the interval of -a.
func negative(a value) value {
	lo, hi := a.interval()
	if lo == math.MinInt64 {
		return anyWord()
	}
	return between(-hi, -lo)
}

// addChecked adds; ok is false when the sum wraps.
// For b above 0 the sum must be larger than a, for b below 0 smaller.
func addChecked(a, b int64) (s int64, ok bool) {
	s = a + b
	return s, (s > a) == (b > 0) || b == 0
}

// moved is v plus a constant, still tied to the scratch word it came from.
// Staying tied is what makes "i + 1 < n" a test of i, and "i = i + 1" a step of it.
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

// compared is the truth of "a rel b", tied to the scratch word on either side of it.
// The side that is not tied becomes the interval it lies in; when both are tied the right one does.
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

// relations maps comparison commands to what they compare.
var relations = map[opcode.Op]relation{
	opcode.Lt: less, opcode.Le: lessEqual, opcode.Gt: greater, opcode.Ge: greaterEqual,
	opcode.Eq: equal, opcode.Ne: notEqual, opcode.Ult: belowUnsigned,
}

// resultOf is what is known of a number that a command leaves, whatever its operands are.
func resultOf(row *opcode.Row) value {
	if lo, hi, ok := row.Result.Bounds(); ok {
		return between(lo, hi)
	}
	return anyWord()
}

// onOne is what is known of the result of a command on one word.
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

// low is an unsigned number of n bits.
func low(n int) value {
	if n >= 63 {
		return anyWord()
	}
	return between(0, 1<<n-1)
}

// onTwo is what is known of the result of a command on two words.
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

// product is the interval of a product of numbers small enough not to wrap.
// The extremes of a product of intervals are among the products of their ends.
func product(alo, ahi, blo, bhi int64) value {
	const small = 1 << 31
	if alo < -small || ahi > small || blo < -small || bhi > small {
		return anyWord()
	}
	w, x, y, z := alo*blo, alo*bhi, ahi*blo, ahi*bhi
	return between(min(w, x, y, z), max(w, x, y, z))
}

// masked is the interval of a bitwise and: no more than either side that is not negative.
// This is what bounds "n & 15", the usual way to make a number from outside safe to count with.
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
