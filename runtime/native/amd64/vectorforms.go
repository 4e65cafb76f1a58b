package amd64

// vectorForms assembles instructions on vector registers, which have the numbers of general ones. They are those of SSE2 that leave all bits
// above the lowest 128 alone.
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

// floatOp is an operation on two floats.
type floatOp byte

const (
	opAddsd floatOp = 0x58
	opMulsd floatOp = 0x59
	opSubsd floatOp = 0x5c
	opDivsd floatOp = 0x5e
)

// floatCond is a comparison of two floats by cmpsd.
type floatCond byte

const (
	equal    floatCond = 0
	notEqual floatCond = 4 // also of what is not a number
)

// sd computes x op y.
func (a *vectorForms) sd(op floatOp, x, y reg) { a.encode(scalar(byte(op)), x, r(y)) }

// cmpsd sets all bits of x if it compares with y as the condition says, and else none.
func (a *vectorForms) cmpsd(c floatCond, x, y reg) {
	a.encode(scalar(0xc2), x, r(y))
	a.bytes(byte(c))
}

// ucomisd sets the flags as a comparison of unsigned integers would. Of what is not a number condE, condB and condP hold.
func (a *vectorForms) ucomisd(x, y reg) { a.encode(moves(0x2e, false), x, r(y)) }

// movFloat loads a vector register with the 64 bits of a general one or of memory, and clears its upper half.
func (a *vectorForms) movFloat(x reg, from operand) {
	if from.isReg() {
		a.encode(moves(0x6e, true), x, from)
		return
	}
	a.encode(instruction{prefix: 0xf3, code: []byte{0x0f, 0x7e}}, x, from)
}

// movFloat32 is movFloat for 32 bits.
func (a *vectorForms) movFloat32(x reg, from operand) { a.encode(moves(0x6e, false), x, from) }

// movWord loads a general register with the lower half of a vector register.
func (a *vectorForms) movWord(to, x reg) { a.encode(moves(0x7e, true), x, r(to)) }

// movWord32 is movWord for the lowest 32 bits, and clears the upper ones.
func (a *vectorForms) movWord32(to, x reg) { a.encode(moves(0x7e, false), x, r(to)) }

// clearFloat sets a vector register to 0.
func (a *vectorForms) clearFloat(x reg) { a.encode(packed(0x57), x, r(x)) }

// Conversions: cvttsd2si gives the smallest integer for what has none.
func (a *vectorForms) cvtsi2sd(x reg, from operand) { a.encode(wideScalar(0x2a), x, from) }
func (a *vectorForms) cvttsd2si(to, x reg)          { a.encode(wideScalar(0x2c), to, r(x)) }
func (a *vectorForms) cvtsd2ss(x reg)               { a.encode(scalar(0x5a), x, r(x)) }
func (a *vectorForms) cvtss2sd(x reg) {
	a.encode(instruction{prefix: 0xf3, code: []byte{0x0f, 0x5a}}, x, r(x))
}

// loadVector and storeVector copy all 128 bits from memory and to it, at any address.
func (a *vectorForms) loadVector(x reg, o operand)  { a.encode(packed(0x10), x, o) }
func (a *vectorForms) storeVector(o operand, x reg) { a.encode(packed(0x11), x, o) }

// ldmxcsr and stmxcsr load and store the register that controls rounding and collects exceptions.
func (a *vectorForms) ldmxcsr(o operand) { a.encode(packed(0xae), 2, o) }
func (a *vectorForms) stmxcsr(o operand) { a.encode(packed(0xae), 3, o) }

// complementBit inverts a bit of a word.
func (a *vectorForms) complementBit(o operand, n byte) {
	a.encode(instruction{wide: true, code: []byte{0x0f, 0xba}, imm: 1}, 7, o)
	a.bytes(n)
}
