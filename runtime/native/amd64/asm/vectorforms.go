package asm

// vectorForms assembles instructions on vector registers, which have the numbers of general ones. They are those of
// SSE2 that leave all bits above the lowest 128 alone.
type vectorForms struct{ encoder }

// The encodings, by the prefix that selects them.

func scalar(op byte) instruction { return instruction{prefix: 0xf2, code: []byte{0x0f, op}} }
func packed(op byte) instruction { return instruction{code: []byte{0x0f, op}} }
func wideScalar(op byte) instruction {
	return instruction{prefix: 0xf2, wide: true, code: []byte{0x0f, op}}
}
func moves(op byte, wide bool) instruction {
	return instruction{prefix: 0x66, wide: wide, code: []byte{0x0f, op}}
}

// FloatOp is an operation on two floats.
type FloatOp byte

// The operations on floats.
const (
	Addsd FloatOp = 0x58
	Mulsd FloatOp = 0x59
	Subsd FloatOp = 0x5c
	Divsd FloatOp = 0x5e
)

// FloatCond is a comparison of two floats by cmpsd.
type FloatCond byte

// The comparisons.
const (
	FloatEqual    FloatCond = 0
	FloatNotEqual FloatCond = 4 // also of what is not a number
)

// Sd computes x op y.
func (a *vectorForms) Sd(op FloatOp, x, y Reg) { a.encode(scalar(byte(op)), x, R(y)) }

// Cmpsd sets all bits of x if it compares with y as the condition says, and else none.
func (a *vectorForms) Cmpsd(c FloatCond, x, y Reg) {
	a.encode(scalar(0xc2), x, R(y))
	a.Bytes(byte(c))
}

// Ucomisd sets the flags as a comparison of unsigned integers would. Of what is not a number E, B and P hold.
func (a *vectorForms) Ucomisd(x, y Reg) { a.encode(moves(0x2e, false), x, R(y)) }

// MovFloat loads a vector register with the 64 bits of a general one or of memory, and clears its upper half.
func (a *vectorForms) MovFloat(x Reg, from Operand) {
	if from.IsReg() {
		a.encode(moves(0x6e, true), x, from)
		return
	}
	a.encode(instruction{prefix: 0xf3, code: []byte{0x0f, 0x7e}}, x, from)
}

// MovFloat32 is movFloat for 32 bits.
func (a *vectorForms) MovFloat32(x Reg, from Operand) { a.encode(moves(0x6e, false), x, from) }

// MovWord loads a general register with the lower half of a vector register.
func (a *vectorForms) MovWord(to, x Reg) { a.encode(moves(0x7e, true), x, R(to)) }

// MovWord32 is movWord for the lowest 32 bits, and clears the upper ones.
func (a *vectorForms) MovWord32(to, x Reg) { a.encode(moves(0x7e, false), x, R(to)) }

// ClearFloat sets a vector register to 0.
func (a *vectorForms) ClearFloat(x Reg) { a.encode(packed(0x57), x, R(x)) }

// Conversions: cvttsd2si gives the smallest integer for what has none.
func (a *vectorForms) Cvtsi2sd(x Reg, from Operand) { a.encode(wideScalar(0x2a), x, from) }
func (a *vectorForms) Cvttsd2si(to, x Reg)          { a.encode(wideScalar(0x2c), to, R(x)) }
func (a *vectorForms) Cvtsd2ss(x Reg)               { a.encode(scalar(0x5a), x, R(x)) }
func (a *vectorForms) Cvtss2sd(x Reg) {
	a.encode(instruction{prefix: 0xf3, code: []byte{0x0f, 0x5a}}, x, R(x))
}

// LoadVector and storeVector copy all 128 bits from memory and to it, at any address.
func (a *vectorForms) LoadVector(x Reg, o Operand)  { a.encode(packed(0x10), x, o) }
func (a *vectorForms) StoreVector(o Operand, x Reg) { a.encode(packed(0x11), x, o) }

// Ldmxcsr and stmxcsr load and store the register that controls rounding and collects exceptions.
func (a *vectorForms) Ldmxcsr(o Operand) { a.encode(packed(0xae), 2, o) }
func (a *vectorForms) Stmxcsr(o Operand) { a.encode(packed(0xae), 3, o) }

// ComplementBit inverts a bit of a word.
func (a *vectorForms) ComplementBit(o Operand, n byte) {
	a.encode(instruction{wide: true, code: []byte{0x0f, 0xba}, imm: 1}, 7, o)
	a.Bytes(n)
}
