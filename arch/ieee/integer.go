package ieee

import "math/bits"

// integral splits the value of n × 2^scale, without its sign, into an integer and a fraction in units of 2^-64.
// ok is false if the integer does not fit.
func integral(n number, scale int) (whole, rest uint64, ok bool) {
	shift := int(n.exp) + scale
	switch {
	case n.class == infinite:
		return 0, 0, false
	case n.class != finite:
		return 0, 0, true
	case shift >= 64:
		return 0, 0, false
	case shift < 0:
		return 0, shiftRightJam(n.frac, uint(-shift-1)), true
	}
	return n.frac >> (63 - shift), n.frac << (shift + 1), true
}

// fromInteger returns the number of an integer.
func fromInteger(v uint64, neg bool) number {
	if v == 0 {
		return number{neg: neg}
	}
	shift := bits.LeadingZeros64(v)
	return number{class: finite, neg: neg, exp: int32(63 - shift), frac: v << shift}
}

// RoundToInt rounds a to an integral value of the same format. If exact is set, a change raises IXC (FPRoundInt).
func (e *Env) RoundToInt(f Format, a uint64, r Rounding, exact bool) uint64 {
	n := e.unpack(f, a)
	if n.nan() {
		return e.propagate(f, a, n.class)
	}
	if n.class != finite || n.exp >= 63 {
		return e.pack(f, n)
	}
	whole, rest, _ := integral(n, 0)
	if exact && rest != 0 {
		e.raise(IXC)
	}
	return e.pack(f, fromInteger(roundBits(whole, rest, r, n.neg), n.neg))
}

// RoundToSized rounds a to an integral value that fits a signed integer of size bits (32 or 64). Otherwise the
// operation is invalid and returns the smallest such integer (FPRoundIntN).
func (e *Env) RoundToSized(f Format, a uint64, r Rounding, size int) uint64 {
	n := e.unpack(f, a)
	lowest := number{class: finite, neg: true, exp: int32(size - 1), frac: 1 << 63}
	if n.nan() || n.class == infinite || n.exp >= 64 && n.class == finite {
		e.raise(IOC)
		return e.pack(f, lowest)
	}
	if n.class == zero {
		return e.pack(f, n)
	}
	whole, rest, _ := integral(n, 0)
	whole = roundBits(whole, rest, r, n.neg)
	if whole > 1<<(size-1)-1+bit(n.neg) {
		e.raise(IOC)
		return e.pack(f, lowest)
	}
	if rest != 0 {
		e.raise(IXC)
	}
	return e.pack(f, fromInteger(whole, n.neg))
}

// ToFixed converts to a fixed-point number of width bits (up to 64), fracBits of them below the point. It
// saturates, and cuts the result to width bits. NaNs give 0. Saturation and NaNs are invalid operations
// (FPToFixed).
func (e *Env) ToFixed(f Format, a uint64, fracBits, width int, signed bool, r Rounding) uint64 {
	n := e.unpack(f, a)
	if n.nan() {
		e.raise(IOC)
		return 0
	}
	whole, rest, ok := integral(n, fracBits)
	if ok {
		whole = roundBits(whole, rest, r, n.neg)
	}
	limit := fixedLimit(n.neg, width, signed)
	if !ok || whole > limit {
		e.raise(IOC)
		whole = limit
	} else if rest != 0 {
		e.raise(IXC)
	}
	if n.neg {
		whole = -whole
	}
	return whole & (1<<width - 1)
}

// fixedLimit returns the largest magnitude of a fixed-point number of one sign.
func fixedLimit(neg bool, width int, signed bool) uint64 {
	switch {
	case signed:
		return 1<<(width-1) - 1 + bit(neg)
	case neg:
		return 0
	}
	return 1<<width - 1
}

// FromFixed converts a fixed-point number of width bits, fracBits of them below the point (FixedToFP).
func (e *Env) FromFixed(f Format, v uint64, fracBits, width int, signed bool) uint64 {
	v = v << (64 - width) >> (64 - width)
	neg := signed && v>>(width-1) != 0
	if neg {
		v = -v & (1<<width - 1)
	}
	n := fromInteger(v, neg)
	n.exp -= int32(fracBits)
	return e.pack(f, n)
}

// ToInt32JS converts a double to a 32-bit integer as JavaScript does: towards zero and modulo 2^32. exact reports
// whether the integer equals a; for a negative zero it does not (FPToFixedJS).
func (e *Env) ToInt32JS(a uint64) (v uint32, exact bool) {
	n := e.unpack(Double, a)
	switch n.class {
	case zero:
		return 0, a == 0
	case finite:
	default:
		e.raise(IOC)
		return 0, false
	}
	v, whole, rest := modulo32(n)
	if whole > 1<<31-1+bit(n.neg) {
		e.raise(IOC)
		return v, false
	}
	if rest != 0 {
		e.raise(IXC)
	}
	return v, rest == 0
}

// modulo32 returns the low 32 bits of the integer part of n, signed, the magnitude of the integer part (at most
// 2^64-1) and the fraction.
func modulo32(n number) (v uint32, whole, rest uint64) {
	whole, rest, ok := integral(n, 0)
	if !ok {
		// A double's 53 bits end 52 below its leading one; from 2^84 on all of them are above the low 32.
		low := uint64(0)
		if n.exp < 127 {
			low = n.frac << (n.exp - 63)
		}
		v, whole = uint32(low), ^uint64(0)
	} else {
		v = uint32(whole)
	}
	if n.neg {
		v = -v
	}
	return v, whole, rest
}
