package value

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// Wide is how a number of 16 bytes is encoded, of which the machine has two words: the low and the high one. This is
// the one place that knows these encodings.
type Wide uint8

// The encodings.
const (
	WideInt  Wide = iota // two's complement
	WideUint             //
	WideX87              // 80 bits of x86's floating-point unit: 64 of significand, then exponent and sign; the rest is not used
	WideQuad             // binary128 of IEEE 754
	NumWide
)

// Names of the parts of complex numbers, and of the halves of integers of 16 bytes.
const (
	RealPart, ImaginaryPart = "real", "imag"
	LowHalf, HighHalf       = "low", "high"
)

// MaxWideText is the length of the longest text of such a number.
const MaxWideText = 48

// IsFloat reports whether the number is a floating-point number.
func (w Wide) IsFloat() bool { return w == WideX87 || w == WideQuad }

// Word returns the number as a word: an integer, or the bits of the float nearest to it. ok is false if an integer does
// not fit into 64 bits.
func (w Wide) Word(low, high uint64) (word uint64, ok bool) {
	switch w {
	case WideInt:
		return low, high == uint64(int64(low)>>63)
	case WideUint:
		return low, high == 0
	}
	f, special := w.float(low, high)
	if f == nil {
		return math.Float64bits(special), true
	}
	near, _ := f.Float64()
	return math.Float64bits(near), true
}

// Append appends the number as print writes it: an integer in decimal digits, a floating-point number in the fewest
// digits that read back to the same number of its encoding, like NumberText.
func (w Wide) Append(b []byte, low, high uint64) []byte {
	switch {
	case w == WideInt && int64(high) < 0:
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
		return appendUint128(append(b, '-'), low, high)
	case !w.IsFloat():
		return appendUint128(b, low, high)
	}
	f, special := w.float(low, high)
	if f == nil {
		return AppendNumber(b, special)
	}
	// The exponent of 2 decides for all but the numbers near the bounds, which a comparison of floats would round.
	abs := new(big.Float).Abs(f)
	if abs.Cmp(smallestPlain) >= 0 && abs.Cmp(largestPlain) < 0 {
		return f.Append(b, 'f', -1)
	}
	start := len(b)
	return trimExponent(f.Append(b, 'e', -1), start)
}

// smallestPlain and largestPlain are the bounds of numbers that are written without an exponent.
var (
	smallestPlain, _, _ = big.ParseFloat("1e-6", 10, 113, big.ToNearestEven)
	largestPlain        = big.NewFloat(1e21)
)

// appendUint128 appends the digits of an unsigned number.
func appendUint128(b []byte, low, high uint64) []byte {
	const chunk = 1e19 // the largest power of 10 in a word
	if high == 0 {
		return strconv.AppendUint(b, low, 10)
	}
	upper, rest := high/chunk, high%chunk
	middle, last := bits.Div64(rest, low, chunk)
	b = appendUint128(b, middle, upper)
	digits := strconv.AppendUint(nil, last, 10)
	for range 19 - len(digits) {
		b = append(b, '0')
	}
	return append(b, digits...)
}

// float decodes a floating-point number. f is nil for zero, infinity and what is not a number, which special is then.
func (w Wide) float(low, high uint64) (f *big.Float, special float64) {
	const bias, most = 16383, 1<<15 - 1
	exp := int(high & most)
	negative := high>>15&1 != 0
	significand, fraction := new(big.Int).SetUint64(low), 63
	invalid := exp > 0 && low>>63 == 0 // the unit does not make such numbers, and refuses them
	infinite := low<<1 == 0
	if w == WideQuad {
		exp, negative = int(high>>48&most), high>>63 != 0
		upper := high & (1<<48 - 1)
		infinite, invalid = upper|low == 0, false
		if exp > 0 {
			upper |= 1 << 48
		}
		significand.Or(significand, new(big.Int).Lsh(new(big.Int).SetUint64(upper), 64))
		fraction = 112
	}
	sign := 1.0
	if negative {
		sign = -1
	}
	switch {
	case exp == most && infinite && !invalid:
		return nil, math.Inf(int(sign))
	case exp == most || invalid:
		return nil, math.NaN()
	case significand.Sign() == 0:
		return nil, math.Copysign(0, sign)
	}
	// Numbers below the normal ones have fewer bits, and need fewer digits.
	f = new(big.Float).SetPrec(uint(significand.BitLen())).SetInt(significand)
	f.SetMantExp(f, max(exp, 1)-bias-fraction)
	if negative {
		f.Neg(f)
	}
	return f, 0
}
