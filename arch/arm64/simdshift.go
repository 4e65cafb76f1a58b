package arm64

import (
	"math/bits"
	"sync"

	"gotap/arch/ieee"
)

// Shifts by an immediate, and conversions with a number of fraction bits (Arm ARM DDI 0487, C4.1.95, "Advanced SIMD
// shift by immediate"). The highest bit set in immh is the size of a lane. Right shifts are encoded as the
// difference to twice the lane's bits, left shifts as the sum with the lane's bits.

var shiftRows = sync.OnceValue(shiftTable)

// shiftTable has the shifts within lanes, then those that narrow, and the rest.
func shiftTable() (out []row) {
	for _, k := range []struct {
		u            int
		opcode, name string
		op           laneOp
		left         bool
		scalar       string // sizes of the scalar form
	}{
		{0, "00000", "sshr", shiftRight(signed), false, "3"}, {1, "00000", "ushr", shiftRight(unsigned), false, "3"},
		{0, "00010", "ssra", shiftRight(signed | accumulating), false, "3"}, {1, "00010", "usra", shiftRight(unsigned | accumulating), false, "3"},
		{0, "00100", "srshr", shiftRight(signed | rounded), false, "3"}, {1, "00100", "urshr", shiftRight(unsigned | rounded), false, "3"},
		{0, "00110", "srsra", shiftRight(signed | rounded | accumulating), false, "3"},
		{1, "00110", "ursra", shiftRight(unsigned | rounded | accumulating), false, "3"},
		{1, "01000", "sri", sri, false, "3"}, {0, "01010", "shl", shl, true, "3"}, {1, "01010", "sli", sli, true, "3"},
		{1, "01100", "sqshlu", satLeft(signed | toUnsigned), true, "0123"},
		{0, "01110", "sqshl (immediate)", satLeft(signed), true, "0123"}, {1, "01110", "uqshl (immediate)", satLeft(unsigned), true, "0123"},
	} {
		x := shiftLanes(k.op, k.left)
		out = append(out,
			shiftRow("0x"+bitText(k.u)+" 011110", k.opcode, k.name, x, func(w uint32) bool { return shiftSize(w) == 3 && !q(w) }),
			shiftRow("01"+bitText(k.u)+" 111110", k.opcode, k.name+" (scalar)", x, notShiftSizes(k.scalar)))
	}
	return append(append(out, narrowShiftTable()...), fixedTable()...)
}

// narrowShiftTable returns the shifts into lanes of half the size.
func narrowShiftTable() (out []row) {
	for _, k := range []struct {
		u            int
		opcode, name string
		op           laneOp
		scalar       bool
	}{
		{0, "10000", "shrn", shiftNarrow(unsigned), false}, {0, "10001", "rshrn", shiftNarrow(unsigned | rounded), false},
		{1, "10000", "sqshrun", satShiftNarrow(signed | toUnsigned), true}, {1, "10001", "sqrshrun", satShiftNarrow(signed | toUnsigned | rounded), true},
		{0, "10010", "sqshrn", satShiftNarrow(signed), true}, {0, "10011", "sqrshrn", satShiftNarrow(signed | rounded), true},
		{1, "10010", "uqshrn", satShiftNarrow(unsigned), true}, {1, "10011", "uqrshrn", satShiftNarrow(unsigned | rounded), true},
	} {
		x := narrowShift(k.op)
		out = append(out, shiftRow("0x"+bitText(k.u)+" 011110", k.opcode, k.name, x, shiftSize3))
		if k.scalar {
			out = append(out, shiftRow("01"+bitText(k.u)+" 111110", k.opcode, k.name+" (scalar)", x, shiftSize3))
		}
	}
	return out
}

// fixedTable returns the conversions, and the shifts into wider lanes.
func fixedTable() (out []row) {
	for i, name := range []string{"s", "u"} {
		signed := i == 0
		bad := func(w uint32) bool { return shiftSize(w) == 0 || shiftSize(w) == 3 && !q(w) && !scalarForm(w) }
		from, to := withFP(convertLanes(laneFromFixed(signed))), withFP(convertLanes(laneToFixed(signed)))
		out = append(out,
			shiftRow("0x"+bitText(i)+" 011110", "10100", name+"shll", shiftLong, shiftSize3),
			shiftRow("0x"+bitText(i)+" 011110", "11100", name+"cvtf (fixed point)", from, bad),
			shiftRow("01"+bitText(i)+" 111110", "11100", name+"cvtf (scalar, fixed point)", from, bad),
			shiftRow("0x"+bitText(i)+" 011110", "11111", "fcvtz"+name+" (fixed point)", to, bad),
			shiftRow("01"+bitText(i)+" 111110", "11111", "fcvtz"+name+" (scalar, fixed point)", to, bad))
	}
	return out
}

// shiftSize returns log2 of the bytes of a lane, of the narrow one if sizes differ.
func shiftSize(w uint32) uint { return uint(bits.Len32(w>>19&15)) - 1 }

// shiftRow returns a row of the class.
func shiftRow(head, opcode, name string, x exec, undefined func(uint32) bool) row {
	return vrow(head+" xxxx xxx "+opcode+" 1 xxxxx xxxxx", name, x, noImmh, undefined)
}

// noImmh reports encodings of another class: modified immediates, or undefined ones.
func noImmh(w uint32) bool     { return w>>19&15 == 0 }
func shiftSize3(w uint32) bool { return shiftSize(w) == 3 }

// notShiftSizes returns notSizes by immh.
func notShiftSizes(digits string) func(uint32) bool {
	not := notSizes(digits)
	return func(w uint32) bool { return not(uint32(shiftSize(w)) << 22) }
}

// immhb returns immh:immb.
func immhb(w uint32) uint64 { return uint64(field(w, 16, 7)) }

// rightCount returns a count of 1 to the number of bits of a lane, leftCount one of 0 to one less.
func rightCount(w uint32, s uint) uint64 { return 16<<s - immhb(w) }
func leftCount(w uint32, s uint) uint64  { return immhb(w) - 8<<s }

// shiftLanes is lanewise with the count as y.
func shiftLanes(op laneOp, left bool) exec {
	return func(c *cpu, w uint32) error {
		s := shiftSize(w)
		n := rightCount(w, s)
		if left {
			n = leftCount(w, s)
		}
		x, d := &c.v.V[rn(w)], &c.v.V[rd(w)]
		var out vec
		for i := range lanes(w, s) {
			put(&out, s, i, op(c, s, get(d, s, i), get(x, s, i), n))
		}
		c.v.V[rd(w)] = out
		return nil
	}
}

// shiftRight may round, and may add to the destination.
func shiftRight(v variant) laneOp {
	return func(_ *cpu, s uint, d, x, n uint64) uint64 {
		out := shiftDown(x, s, uint(n), v)
		if v.has(accumulating) {
			out += d
		}
		return out
	}
}

func shl(_ *cpu, _ uint, _, x, n uint64) uint64 { return x << n }

// sli and sri keep the bits of d that the shift does not reach.
func sli(_ *cpu, _ uint, d, x, n uint64) uint64 { return x<<n | d&(1<<n-1) }
func sri(_ *cpu, s uint, d, x, n uint64) uint64 { return x>>n | d&^(ones(s)>>n) }

// satLeft saturates; a signed operand may have an unsigned result.
func satLeft(v variant) laneOp {
	return func(c *cpu, s uint, _, x, n uint64) uint64 { return c.shiftUp(x, s, uint(n), v) }
}

// narrowShift makes lanes of half the size. op gets the wide lane and the count.
func narrowShift(op laneOp) exec {
	return func(c *cpu, w uint32) error {
		s := shiftSize(w)
		x, n := &c.v.V[rn(w)], rightCount(w, s)
		var out vec
		for i := range longLanes(w, s) {
			put(&out, s, i, op(c, s, 0, get(x, s+1, i), n))
		}
		c.narrowTo(w, out[0])
		return nil
	}
}

// shiftNarrow truncates the shifted lane.
func shiftNarrow(v variant) laneOp {
	return func(_ *cpu, s uint, _, x, n uint64) uint64 { return shiftDown(x, s+1, uint(n), v) }
}

// satShiftNarrow saturates the shifted lane.
func satShiftNarrow(v variant) laneOp {
	return func(c *cpu, s uint, _, x, n uint64) uint64 {
		out, hi := shiftDown(x, s+1, uint(n), v), int64(0)
		if v.has(signed) {
			hi = int64(out) >> 63
		}
		return c.saturate(big{hi, out}, s, v.signedResult())
	}
}

// shiftLong shifts left into lanes of twice the size.
func shiftLong(c *cpu, w uint32) error {
	s := shiftSize(w)
	x, n := c.upper(rn(w), w), leftCount(w, s)
	var out vec
	for i := range uint(8) >> s {
		put(&out, s+1, i, number(w, get(&x, s, i), s)<<n)
	}
	c.v.V[rd(w)] = out
	return nil
}

// convertLanes is shiftLanes with the number of fraction bits as the count.
func convertLanes(op laneOp) exec { return shiftLanes(op, false) }

// laneFromFixed and laneToFixed have n bits below the point.
func laneFromFixed(signed bool) laneOp {
	return func(c *cpu, s uint, _, x, n uint64) uint64 { return c.fp.FromFixed(format(s), x, int(n), 8<<s, signed) }
}

func laneToFixed(signed bool) laneOp {
	return func(c *cpu, s uint, _, x, n uint64) uint64 {
		return c.fp.ToFixed(format(s), x, int(n), 8<<s, signed, ieee.Zero)
	}
}
