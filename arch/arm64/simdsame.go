package arm64

import (
	"math/bits"
	"sync"
)

// Integer instructions of three registers of one shape (Arm ARM DDI 0487, C4.1.95, "Advanced SIMD three same" and
// "three same extra"). U selects the unsigned operation, or a different one.

var sameRows = sync.OnceValue(sameTable)

// sameKind is an opcode of the class: sizes are the digits of the sizes that exist, scalar those of the scalar form.
type sameKind struct {
	u             int
	opcode        string
	name          string
	op            laneOp
	sizes, scalar string
}

var sameKinds = []sameKind{
	{0, "00000", "shadd", halving(signed), "012", ""}, {1, "00000", "uhadd", halving(unsigned), "012", ""},
	{0, "00001", "sqadd", satAdd(signed), "0123", "0123"}, {1, "00001", "uqadd", satAdd(unsigned), "0123", "0123"},
	{0, "00010", "srhadd", halving(signed | rounded), "012", ""}, {1, "00010", "urhadd", halving(unsigned | rounded), "012", ""},
	{0, "00100", "shsub", halving(signed | subtracting), "012", ""}, {1, "00100", "uhsub", halving(unsigned | subtracting), "012", ""},
	{0, "00101", "sqsub", satSub(signed), "0123", "0123"}, {1, "00101", "uqsub", satSub(unsigned), "0123", "0123"},
	{0, "00110", "cmgt", cmgt, "0123", "3"}, {1, "00110", "cmhi", cmhi, "0123", "3"},
	{0, "00111", "cmge", cmge, "0123", "3"}, {1, "00111", "cmhs", cmhs, "0123", "3"},
	{0, "01000", "sshl", shiftLane(signed), "0123", "3"}, {1, "01000", "ushl", shiftLane(unsigned), "0123", "3"},
	{0, "01001", "sqshl", shiftLane(signed | saturating), "0123", "0123"}, {1, "01001", "uqshl", shiftLane(unsigned | saturating), "0123", "0123"},
	{0, "01010", "srshl", shiftLane(signed | rounded), "0123", "3"}, {1, "01010", "urshl", shiftLane(unsigned | rounded), "0123", "3"},
	{0, "01011", "sqrshl", shiftLane(signed | rounded | saturating), "0123", "0123"},
	{1, "01011", "uqrshl", shiftLane(unsigned | rounded | saturating), "0123", "0123"},
	{0, "01100", "smax", smax, "012", ""}, {1, "01100", "umax", umax, "012", ""},
	{0, "01101", "smin", smin, "012", ""}, {1, "01101", "umin", umin, "012", ""},
	{0, "01110", "sabd", sabd, "012", ""}, {1, "01110", "uabd", uabd, "012", ""},
	{0, "01111", "saba", accumulate(sabd), "012", ""}, {1, "01111", "uaba", accumulate(uabd), "012", ""},
	{0, "10000", "add", add, "0123", "3"}, {1, "10000", "sub", sub, "0123", "3"},
	{0, "10001", "cmtst", cmtst, "0123", "3"}, {1, "10001", "cmeq", cmeq, "0123", "3"},
	{0, "10010", "mla", mla, "012", ""}, {1, "10010", "mls", mls, "012", ""},
	{0, "10011", "mul", mul, "012", ""}, {1, "10011", "pmul", pmul, "0", ""},
	{0, "10110", "sqdmulh", sqdmulh(plain), "12", "12"}, {1, "10110", "sqrdmulh", sqdmulh(rounded), "12", "12"},
}

// sameTable returns the rows of the kinds, and those whose size field has another meaning.
func sameTable() (out []row) {
	for _, k := range sameKinds {
		x := lanewise(k.op, size)
		tail := " 1 xxxxx " + k.opcode + " 1 xxxxx xxxxx"
		out = append(out, vrow("0x"+bitText(k.u)+" 01110 xx"+tail, k.name, x, notSizes(k.sizes), oneDouble))
		if k.scalar != "" {
			out = append(out, vrow("01"+bitText(k.u)+" 11110 xx"+tail, k.name+" (scalar)", x, notSizes(k.scalar)))
		}
	}
	for _, k := range []struct {
		u            int
		opcode, name string
		op           laneOp
	}{
		{0, "10100", "smaxp", smax}, {1, "10100", "umaxp", umax}, {0, "10101", "sminp", smin}, {1, "10101", "uminp", umin},
	} {
		out = append(out, vrow("0x"+bitText(k.u)+" 01110 xx 1 xxxxx "+k.opcode+" 1 xxxxx xxxxx", k.name, pairwise(k.op, size), size3))
	}
	for i, k := range []struct {
		name string
		op   laneOp
	}{
		{"and", and}, {"bic", bic}, {"orr", orr}, {"orn", orn}, {"eor", eor}, {"bsl", bsl}, {"bit", bitInsert}, {"bif", bitInsertFalse},
	} {
		out = append(out, vrow("0x"+bitText(i>>2)+" 01110 "+bitsText(i, 2)+" 1 xxxxx 00011 1 xxxxx xxxxx", k.name, lanewise(k.op, wholeSize)))
	}
	out = append(out,
		vrow("0x0 01110 xx 1 xxxxx 10111 1 xxxxx xxxxx", "addp", pairwise(add, size), oneDouble),
		vrow("0x1 01110 xx 0 xxxxx 1 0000 1 xxxxx xxxxx", "sqrdmlah", lanewise(sqrdmla(plain), size), size0or3),
		vrow("0x1 01110 xx 0 xxxxx 1 0001 1 xxxxx xxxxx", "sqrdmlsh", lanewise(sqrdmla(subtracting), size), size0or3),
		vrow("011 11110 xx 0 xxxxx 1 0000 1 xxxxx xxxxx", "sqrdmlah (scalar)", lanewise(sqrdmla(plain), size), size0or3),
		vrow("011 11110 xx 0 xxxxx 1 0001 1 xxxxx xxxxx", "sqrdmlsh (scalar)", lanewise(sqrdmla(subtracting), size), size0or3))
	return out
}

// wholeSize returns the lanes of operations on single bits.
func wholeSize(uint32) uint { return 3 }

// notSizes reports the sizes that are not among the digits.
func notSizes(digits string) func(uint32) bool {
	var have [4]bool
	for _, d := range digits {
		have[d-'0'] = true
	}
	return func(w uint32) bool { return !have[size(w)] }
}

// The operations on bits. The last three select between two operands by the bits of the third.
func and(_ *cpu, _ uint, _, x, y uint64) uint64            { return x & y }
func bic(_ *cpu, _ uint, _, x, y uint64) uint64            { return x &^ y }
func orr(_ *cpu, _ uint, _, x, y uint64) uint64            { return x | y }
func orn(_ *cpu, _ uint, _, x, y uint64) uint64            { return x | ^y }
func eor(_ *cpu, _ uint, _, x, y uint64) uint64            { return x ^ y }
func bsl(_ *cpu, _ uint, d, x, y uint64) uint64            { return d&x | y&^d }
func bitInsert(_ *cpu, _ uint, d, x, y uint64) uint64      { return x&y | d&^y }
func bitInsertFalse(_ *cpu, _ uint, d, x, y uint64) uint64 { return d&y | x&^y }

// Arithmetic wraps around, because put drops the bits above the lane.
func add(_ *cpu, _ uint, _, x, y uint64) uint64 { return x + y }
func sub(_ *cpu, _ uint, _, x, y uint64) uint64 { return x - y }
func mul(_ *cpu, _ uint, _, x, y uint64) uint64 { return x * y }
func mla(_ *cpu, _ uint, d, x, y uint64) uint64 { return d + x*y }
func mls(_ *cpu, _ uint, d, x, y uint64) uint64 { return d - x*y }

// accumulate adds an operation's result to the destination.
func accumulate(op laneOp) laneOp {
	return func(c *cpu, s uint, d, x, y uint64) uint64 { return d + op(c, s, 0, x, y) }
}

// all returns a lane of ones or zeros, as comparisons leave it.
func all(b bool) uint64 {
	if b {
		return ^uint64(0)
	}
	return 0
}

// Comparisons of signed lanes, of unsigned ones, and of bits.
func cmgt(_ *cpu, s uint, _, x, y uint64) uint64  { return all(signedLane(x, s) > signedLane(y, s)) }
func cmge(_ *cpu, s uint, _, x, y uint64) uint64  { return all(signedLane(x, s) >= signedLane(y, s)) }
func cmhi(_ *cpu, _ uint, _, x, y uint64) uint64  { return all(x > y) }
func cmhs(_ *cpu, _ uint, _, x, y uint64) uint64  { return all(x >= y) }
func cmeq(_ *cpu, _ uint, _, x, y uint64) uint64  { return all(x == y) }
func cmtst(_ *cpu, _ uint, _, x, y uint64) uint64 { return all(x&y != 0) }

// Signed lanes arrive zero-extended and have to be sign-extended first.
func smax(_ *cpu, s uint, _, x, y uint64) uint64 {
	return uint64(max(signedLane(x, s), signedLane(y, s)))
}
func smin(_ *cpu, s uint, _, x, y uint64) uint64 {
	return uint64(min(signedLane(x, s), signedLane(y, s)))
}
func umax(_ *cpu, _ uint, _, x, y uint64) uint64 { return max(x, y) }
func umin(_ *cpu, _ uint, _, x, y uint64) uint64 { return min(x, y) }

// sabd may be as large as an unsigned lane.
func sabd(_ *cpu, s uint, _, x, y uint64) uint64 {
	a, b := signedLane(x, s), signedLane(y, s)
	return uint64(max(a, b) - min(a, b))
}

func uabd(_ *cpu, _ uint, _, x, y uint64) uint64 { return max(x, y) - min(x, y) }

// halving returns (x ± y) / 2, rounding down or to nearest. Lanes are of 32 bits at most.
func halving(v variant) laneOp {
	return func(_ *cpu, s uint, _, x, y uint64) uint64 {
		a, b := int64(x), int64(y)
		if v.has(signed) {
			a, b = signedLane(x, s), signedLane(y, s)
		}
		if v.has(subtracting) {
			b = -b
		}
		if v.has(rounded) {
			b++
		}
		return uint64((a + b) >> 1)
	}
}

// pmul returns the product of polynomials over {0, 1}.
func pmul(_ *cpu, _ uint, _, x, y uint64) uint64 {
	out := uint64(0)
	for ; y != 0; y &= y - 1 {
		out ^= x << bits.TrailingZeros64(y)
	}
	return out
}

// sqdmulh returns the high half of 2xy, saturated: only the square of the smallest number is too large.
func sqdmulh(v variant) laneOp {
	return func(c *cpu, s uint, _, x, y uint64) uint64 {
		n := 8<<s - 1
		p := signedLane(x, s) * signedLane(y, s)
		if v.has(rounded) {
			p += 1 << (n - 1)
		}
		return c.clamp(p>>n, s)
	}
}

// sqrdmla returns d plus or minus the rounded high half of 2xy, saturated once. In lanes of 32 bits the sum of the
// halves fits in 64.
func sqrdmla(v variant) laneOp {
	return func(c *cpu, s uint, d, x, y uint64) uint64 {
		n := 8<<s - 1
		p := signedLane(x, s) * signedLane(y, s)
		if v.has(subtracting) {
			p = -p
		}
		return c.clamp((signedLane(d, s)<<n+p+1<<(n-1))>>n, s)
	}
}
