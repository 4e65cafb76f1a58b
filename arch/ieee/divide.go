package ieee

import "math/bits"

// Div returns a / b (FPDiv).
func (e *Env) Div(f Format, a, b uint64) uint64 {
	x, y := e.unpack(f, a), e.unpack(f, b)
	if x.nan() || y.nan() {
		return e.pick(f, a, b, x, y)
	}
	r := number{neg: x.neg != y.neg}
	switch {
	case x.class == y.class && x.class != finite:
		return e.invalid(f) // 0/0, ∞/∞
	case x.class == infinite:
		r.class = infinite
	case y.class == zero:
		r.class = infinite
		e.raise(DZC)
	case x.class == finite && y.class == finite:
		r = quotient(x, y)
	}
	return e.pack(f, r)
}

// quotient divides two finite numbers, to 64 bits and a sticky bit.
func quotient(x, y number) number {
	r := number{class: finite, neg: x.neg != y.neg, exp: x.exp - y.exp}
	hi, lo := x.frac>>1, x.frac<<63
	if x.frac < y.frac {
		hi, lo = x.frac, 0
		r.exp--
	}
	q, rest := bits.Div64(hi, lo, y.frac)
	r.frac = q | bit(rest != 0)
	return r
}

// Sqrt returns the square root of a (FPSqrt).
func (e *Env) Sqrt(f Format, a uint64) uint64 {
	x := e.unpack(f, a)
	switch {
	case x.nan():
		return e.propagate(f, a, x.class)
	case x.class == zero:
		return e.pack(f, x)
	case x.neg:
		return e.invalid(f)
	case x.class == finite:
		x = root(x)
	}
	return e.pack(f, x)
}

// root returns the square root of a positive number. The radicand is scaled to [2^126, 2^128) and an even exponent,
// so that the integer root has its leading one in bit 63.
func root(x number) number {
	w := wide{hi: x.frac}
	if x.exp&1 == 0 {
		w = w.shiftRight(1)
	}
	q, exact := isqrt(w.hi, w.lo)
	return number{class: finite, exp: x.exp >> 1, frac: q | bit(!exact)}
}

// isqrt returns the integer square root of hi.lo, which is at least 2^126. It uses Newton's iteration from above,
// which decreases until it reaches the root.
func isqrt(hi, lo uint64) (q uint64, exact bool) {
	q = ^uint64(0)
	for {
		next := q
		if hi < q { // otherwise the quotient would not fit, and q is the root
			d, _ := bits.Div64(hi, lo, q)
			next = d/2 + q/2 + d&q&1
		}
		if next >= q {
			break
		}
		q = next
	}
	h, l := bits.Mul64(q, q)
	return q, h == hi && l == lo
}
