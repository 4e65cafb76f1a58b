package arm64

import (
	"math/bits"
	"sync"
)

// Instructions whose operands and results differ in size (Arm ARM DDI 0487, C4.1.95, "Advanced SIMD three different").

var longRows = sync.OnceValue(longTable)

// longTable has the signed operation with U clear and the unsigned one with U set. Saturating operations are signed
// only.
func longTable() (out []row) {
	for _, k := range []struct {
		opcode           int
		signed, unsigned string
		x                exec
	}{
		{0, "saddl", "uaddl", long(add)}, {1, "saddw", "uaddw", wideLanes(add)}, {2, "ssubl", "usubl", long(sub)},
		{3, "ssubw", "usubw", wideLanes(sub)}, {4, "addhn", "raddhn", highHalf(add)}, {5, "sabal", "uabal", long(accumulate(longDifference))},
		{6, "subhn", "rsubhn", highHalf(sub)}, {7, "sabdl", "uabdl", long(longDifference)}, {8, "smlal", "umlal", long(mla)},
		{10, "smlsl", "umlsl", long(mls)}, {12, "smull", "umull", long(mul)},
	} {
		tail := " 01110 xx 1 xxxxx " + bitsText(k.opcode, 4) + " 00 xxxxx xxxxx"
		out = append(out, vrow("0x0"+tail, k.signed, k.x, size3), vrow("0x1"+tail, k.unsigned, k.x, size3))
	}
	for _, k := range []sameKind{
		{0, "1001", "sqdmlal", sqdmlal, "", ""}, {0, "1011", "sqdmlsl", sqdmlsl, "", ""}, {0, "1101", "sqdmull", sqdmull, "", ""},
	} {
		tail := " xx 1 xxxxx " + k.opcode + " 00 xxxxx xxxxx"
		out = append(out, vrow("0x0 01110"+tail, k.name, long(k.op), size0or3), vrow("010 11110"+tail, k.name+" (scalar)", long(k.op), size0or3))
	}
	return append(out,
		vrow("0x0 01110 00 1 xxxxx 1110 00 xxxxx xxxxx", "pmull", long(polynomial)),
		vrow("0x0 01110 11 1 xxxxx 1110 00 xxxxx xxxxx", "pmull (64 bits)", pmull64))
}

// longLanes returns the number of wide lanes that a widening instruction makes.
func longLanes(w uint32, s uint) uint {
	if scalarForm(w) {
		return 1
	}
	return 8 >> s
}

// half returns the part of a register that a widening instruction uses: lane 0 in the scalar form.
func (c *vectorUnit) half(n, w uint32) vec {
	if scalarForm(w) {
		return c.v.V[n]
	}
	return c.upper(n, w)
}

// long makes the executor that computes wide lanes from narrow ones. op gets operands extended as U says, and the
// size of the result.
func long(op laneOp) exec {
	return func(c *cpu, w uint32) error {
		s, x, y := size(w), c.half(rn(w), w), c.half(rm(w), w)
		d := &c.v.V[rd(w)]
		var out vec
		for i := range longLanes(w, s) {
			put(&out, s+1, i, op(c, s+1, get(d, s+1, i), number(w, get(&x, s, i), s), number(w, get(&y, s, i), s)))
		}
		c.v.V[rd(w)] = out
		return nil
	}
}

// wideLanes makes the executor that computes wide lanes from the wide lanes of Rn and the narrow ones of Rm.
func wideLanes(op laneOp) exec {
	return func(c *cpu, w uint32) error {
		s, y := size(w), c.upper(rm(w), w)
		x := &c.v.V[rn(w)]
		var out vec
		for i := range uint(8) >> s {
			put(&out, s+1, i, op(c, s+1, 0, get(x, s+1, i), number(w, get(&y, s, i), s)))
		}
		c.v.V[rd(w)] = out
		return nil
	}
}

// highHalf makes the executor that keeps the upper half of each result, rounded if U is set.
func highHalf(op laneOp) exec {
	return func(c *cpu, w uint32) error {
		s, x, y := size(w), &c.v.V[rn(w)], &c.v.V[rm(w)]
		round := uint64(0)
		if u(w) {
			round = 1 << (8<<s - 1)
		}
		var out vec
		for i := range uint(8) >> s {
			v := op(c, s+1, 0, get(x, s+1, i), get(y, s+1, i)) + round
			put(&out, s, i, v>>(8<<s))
		}
		c.narrowTo(w, out[0])
		return nil
	}
}

// longDifference returns |x-y| of extended operands, signed or not: they have a bit to spare.
func longDifference(_ *cpu, _ uint, _, x, y uint64) uint64 {
	if v := int64(x - y); v < 0 {
		return uint64(-v)
	}
	return x - y
}

// sqdmull returns 2xy of signed operands, saturated to the wide lane. s is the size of the result.
func sqdmull(c *cpu, s uint, _, x, y uint64) uint64 {
	p := int64(x) * int64(y)
	return c.saturate(big{p >> 63, uint64(p)}.add(big{p >> 63, uint64(p)}), s, true)
}

// sqdmlal saturates the product, and then the sum.
func sqdmlal(c *cpu, s uint, d, x, y uint64) uint64 {
	return c.saturate(widen(d, s, true).add(widen(sqdmull(c, s, 0, x, y), s, true)), s, true)
}

func sqdmlsl(c *cpu, s uint, d, x, y uint64) uint64 {
	return c.saturate(widen(d, s, true).sub(widen(sqdmull(c, s, 0, x, y), s, true)), s, true)
}

// polynomial returns the product of two bytes, which arrive sign-extended.
func polynomial(c *cpu, s uint, _, x, y uint64) uint64 { return pmul(c, s, 0, x&0xff, y&0xff) }

// pmull64 computes the product of two polynomials of 64 bits.
func pmull64(c *cpu, w uint32) error {
	x, y := c.upper(rn(w), w)[0], c.upper(rm(w), w)[0]
	var out vec
	for ; y != 0; y &= y - 1 {
		n := bits.TrailingZeros64(y)
		out[0] ^= x << n
		out[1] ^= x >> (64 - n)
	}
	c.v.V[rd(w)] = out
	return nil
}
