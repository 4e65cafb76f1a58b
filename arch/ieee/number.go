package ieee

import "math/bits"

// class is what kind of value a number is.
type class uint8

const (
	zero class = iota
	finite
	infinite
	quietNaN
	signallingNaN
)

// number is an unpacked value. A finite one is frac/2^63 × 2^exp with bit 63 of frac set. In results of arithmetic,
// bit 0 also records whether any bit below was lost.
type number struct {
	class class
	neg   bool
	exp   int32
	frac  uint64
}

func (n number) nan() bool { return n.class >= quietNaN }

// unpack splits a raw value and flushes input denormals (FPUnpack).
func (e *Env) unpack(f Format, a uint64) number {
	return e.unpackAs(f, a, e.flushes(f), false)
}

// unpackAs is unpack with given flushing of denormals and alternative half precision.
func (e *Env) unpackAs(f Format, a uint64, flush, alt bool) number {
	s := f.shape()
	a &= s.mask()
	n := number{neg: a&s.sign() != 0}
	frac := a & s.fracOf()
	exp := int32((a &^ s.sign()) >> s.frac)
	switch {
	case exp == 0 && frac == 0:
	case exp == 0 && flush:
		if f != Half {
			e.raise(IDC)
		}
	case exp == 0:
		shift := bits.LeadingZeros64(frac)
		n.class, n.frac = finite, frac<<shift
		n.exp = 1 - s.bias - int32(shift) + 63 - int32(s.frac)
	case exp == s.maxExp() && !alt:
		n.class = specialClass(s, frac)
	default:
		n.class, n.exp = finite, exp-s.bias
		n.frac = (frac | 1<<s.frac) << (63 - s.frac)
	}
	return n
}

// specialClass returns the class of the numbers with the top exponent.
func specialClass(s *shape, frac uint64) class {
	switch {
	case frac == 0:
		return infinite
	case frac&s.quiet() != 0:
		return quietNaN
	}
	return signallingNaN
}

// pack rounds a number other than a NaN to a format, with the modes of e (FPRound).
func (e *Env) pack(f Format, n number) uint64 {
	return e.packAs(f, n, e.Round, e.flushes(f), false)
}

// packAs is pack with given rounding, flushing and alternative half precision.
func (e *Env) packAs(f Format, n number, r Rounding, flush, alt bool) uint64 {
	s := f.shape()
	switch n.class {
	case zero:
		return s.signed(n.neg, 0)
	case infinite:
		return s.signed(n.neg, s.inf())
	}
	biased := n.exp + s.bias
	frac := n.frac
	tiny := biased <= 0
	if tiny {
		if flush {
			e.raise(UFC)
			return s.signed(n.neg, 0)
		}
		frac = shiftRightJam(frac, uint(1-biased))
		biased = 1
	}
	// A normal significand includes its leading one, which adds 1 to the exponent field. So does a denormal that
	// rounds up to a normal number.
	drop := 63 - s.frac
	kept, rest := frac>>drop, frac<<(64-drop)
	if tiny && rest != 0 {
		e.raise(UFC)
	}
	v := uint64(biased-1)<<s.frac + roundBits(kept, rest, r, n.neg)
	limit := s.inf()
	if alt {
		limit += 1 << s.frac
	}
	if v >= limit {
		return e.overflow(s, n.neg, r, alt)
	}
	if rest != 0 {
		e.raise(IXC)
	}
	return s.signed(n.neg, v)
}

// overflow returns the result of a value too large for the format. The alternative half precision saturates and
// raises an invalid operation.
func (e *Env) overflow(s *shape, neg bool, r Rounding, alt bool) uint64 {
	if alt {
		e.raise(IOC)
		return s.signed(neg, s.sign()-1)
	}
	e.raise(OFC | IXC)
	if toInfinity(r, neg) {
		return s.signed(neg, s.inf())
	}
	return s.signed(neg, s.largest())
}

// toInfinity reports whether a rounding rule rounds an overflow to infinity.
func toInfinity(r Rounding, neg bool) bool {
	switch r {
	case Up:
		return !neg
	case Down:
		return neg
	case Zero, Odd:
		return false
	}
	return true
}

// roundBits rounds kept by the fraction rest below it, in units of 2^-64.
func roundBits(kept, rest uint64, r Rounding, neg bool) uint64 {
	const half = 1 << 63
	switch r {
	case NearestEven:
		if rest > half || rest == half && kept&1 != 0 {
			kept++
		}
	case NearestAway:
		if rest >= half {
			kept++
		}
	case Up, Down:
		if rest != 0 && neg == (r == Down) {
			kept++
		}
	case Odd, OddInf:
		if rest != 0 {
			kept |= 1
		}
	}
	return kept
}
