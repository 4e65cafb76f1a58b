package arm

import "math/bits"

// The four shifts, as instructions number them; the fourth by 0 is RRX.
const (
	lsl = iota
	lsr
	asr
	ror
)

// shiftImm returns v shifted by an immediate of 0 to 31, and the carry out: lsr and asr by 0 stand for 32, ror by 0
// for rrx (DecodeImmShift, Shift_C).
func shiftImm(v, kind, n, carry uint32) (out, carryOut uint32) {
	switch {
	case n != 0 || kind == lsl:
		return shiftBy(v, kind, n, carry)
	case kind == ror:
		return carry<<31 | v>>1, v & 1
	}
	return shiftBy(v, kind, 32, carry)
}

// shiftBy returns v shifted by any amount, and the carry out.
func shiftBy(v, kind, n, carry uint32) (out, carryOut uint32) {
	if n == 0 {
		return v, carry
	}
	switch kind {
	case lsl:
		wide := uint64(v) << n
		return uint32(wide), uint32(wide >> 32 & 1)
	case lsr:
		wide := uint64(v) << 1 >> n
		return uint32(wide >> 1), uint32(wide & 1)
	case asr:
		wide := int64(int32(v)) << 1 >> n
		return uint32(wide >> 1), uint32(wide & 1)
	}
	out = bits.RotateLeft32(v, -int(n&31))
	return out, out >> 31
}

// addCarry returns a+b+carry with the flags of the addition (AddWithCarry).
func addCarry(a, b, carry uint32) (sum, carryOut, overflow uint32) {
	wide := uint64(a) + uint64(b) + uint64(carry)
	sum = uint32(wide)
	return sum, uint32(wide >> 32), (a ^ sum) & (b ^ sum) >> 31
}

// The data-processing operations in the numbering of A32, and one that only Thumb has.
const (
	opAND = iota
	opEOR
	opSUB
	opRSB
	opADD
	opADC
	opSBC
	opRSC
	opTST
	opTEQ
	opCMP
	opCMN
	opORR
	opMOV
	opBIC
	opMVN
	opORN
)

// logical returns the result of a logical operation; ok is false for the others.
func logical(op, a, b uint32) (v uint32, ok bool) {
	switch op {
	case opAND, opTST:
		return a & b, true
	case opEOR, opTEQ:
		return a ^ b, true
	case opORR:
		return a | b, true
	case opMOV:
		return b, true
	case opBIC:
		return a &^ b, true
	case opMVN:
		return ^b, true
	case opORN:
		return a | ^b, true
	}
	return 0, false
}

// arithmetic returns the result and flags of an operation that is not logical.
func arithmetic(op, a, b, carry uint32) (v, carryOut, overflow uint32) {
	switch op {
	case opSUB, opCMP:
		return addCarry(a, ^b, 1)
	case opRSB:
		return addCarry(b, ^a, 1)
	case opADC:
		return addCarry(a, b, carry)
	case opSBC:
		return addCarry(a, ^b, carry)
	case opRSC:
		return addCarry(b, ^a, carry)
	}
	return addCarry(a, b, 0)
}

// data executes a data-processing operation on a and b. carry is the shifter's carry out, the new C flag of logical
// operations. Comparisons have no d.
func (c *core) data(op uint32, flags bool, d, a, b, carry uint32) error {
	v, ok := logical(op, a, b)
	if ok && flags {
		c.setNZC(v, carry)
	}
	if !ok {
		var carryOut, overflow uint32
		v, carryOut, overflow = arithmetic(op, a, b, c.carry())
		if flags {
			c.setFlags(v, carryOut, overflow)
		}
	}
	if op >= opTST && op <= opCMN {
		return nil
	}
	return c.writeALU(d, v)
}
