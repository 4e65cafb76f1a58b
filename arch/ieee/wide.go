package ieee

import "math/bits"

// wide is a finite number with a significand of 128 bits, enough for an exact product. Its value is hi.lo/2^127 ×
// 2^exp, with the top bit set.
type wide struct {
	neg    bool
	exp    int32
	hi, lo uint64
}

// shiftRightJam shifts right and records in bit 0 whether any bit was lost.
func shiftRightJam(v uint64, n uint) uint64 {
	if n == 0 {
		return v
	}
	out := v >> n
	if out<<n != v || n >= 64 && v != 0 {
		out |= 1
	}
	return out
}

// shiftRight is shiftRightJam for 128 bits.
func (w wide) shiftRight(n uint) wide {
	switch {
	case n == 0:
	case n < 64:
		lost := w.lo<<(64-n) != 0
		w.lo = w.hi<<(64-n) | w.lo>>n
		w.hi >>= n
		w.lo |= bit(lost)
	default:
		w.lo = shiftRightJam(w.hi, n-64) | bit(w.lo != 0)
		w.hi = 0
	}
	return w
}

// bit returns 1 for true.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// normal shifts the leading one to the top. The significand must not be zero.
func (w wide) normal() wide {
	if w.hi == 0 {
		w.hi, w.lo = w.lo, 0
		w.exp -= 64
	}
	n := uint(bits.LeadingZeros64(w.hi))
	w.hi = w.hi<<n | w.lo>>(64-n)
	w.lo <<= n
	w.exp -= int32(n)
	return w
}

// narrow reduces the low half to the sticky bit.
func (w wide) narrow() number {
	return number{class: finite, neg: w.neg, exp: w.exp, frac: w.hi | bit(w.lo != 0)}
}

func (n number) widen() wide { return wide{neg: n.neg, exp: n.exp, hi: n.frac} }

// product returns the exact product of two finite numbers.
func product(a, b number) wide {
	hi, lo := bits.Mul64(a.frac, b.frac)
	return wide{neg: a.neg != b.neg, exp: a.exp + b.exp + 1, hi: hi, lo: lo}.normal()
}

// sum adds exactly, except for a sticky bit. ok is false if the result is zero.
//
// The sticky bit suffices. Bits are lost only if the exponents differ by more than the 22 bits that a product of
// two doubles leaves free at the low end. A subtraction then cancels at most one leading bit, so the sticky bit
// stays far below the bits that rounding uses.
func sum(a, b wide) (r wide, ok bool) {
	if a.exp < b.exp || a.exp == b.exp && (a.hi < b.hi || a.hi == b.hi && a.lo < b.lo) {
		a, b = b, a
	}
	b = b.shiftRight(uint(a.exp - b.exp))
	if a.neg != b.neg {
		var borrow uint64
		a.lo, borrow = bits.Sub64(a.lo, b.lo, 0)
		a.hi, _ = bits.Sub64(a.hi, b.hi, borrow)
		if a.hi|a.lo == 0 {
			return a, false
		}
		return a.normal(), true
	}
	var carry uint64
	a.lo, carry = bits.Add64(a.lo, b.lo, 0)
	a.hi, carry = bits.Add64(a.hi, b.hi, carry)
	if carry != 0 {
		a = a.shiftRight(1)
		a.hi |= 1 << 63
		a.exp++
	}
	return a, true
}
