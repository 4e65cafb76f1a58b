package arm64

// vectorAsm makes code with instructions on vector registers, too, of which only the lowest 64 bits are operands, as a
// float, unless they say otherwise. Registers are given by their numbers.
type vectorAsm struct{ orderedAsm }

// Operations on two floats, for three.
const (
	opFadd = 0x1e602800
	opFsub = 0x1e603800
	opFmul = 0x1e600800
	opFdiv = 0x1e601800
)

// The registers that control calculations with floats, and collect their exceptions.
const (
	mrsFPCR = 0xd53b4400
	msrFPCR = 0xd51b4400
	mrsFPSR = 0xd53b4420
	msrFPSR = 0xd51b4420
)

// toFloat and fromFloat copy 64 bits of a general register to a vector register, and back.
func (a *vectorAsm) toFloat(d, n reg)   { a.two(0x9e670000, d, n) }
func (a *vectorAsm) fromFloat(d, n reg) { a.two(0x9e660000, d, n) }

// floatOf and floatOfUnsigned convert an integer in a general register.
func (a *vectorAsm) floatOf(d, n reg)         { a.two(0x9e620000, d, n) }
func (a *vectorAsm) floatOfUnsigned(d, n reg) { a.two(0x9e630000, d, n) }

// truncate converts to an integer in a general register, towards 0, and floor to the largest one that is not above:
// the nearest one that there is, and 0 for what is not a number.
func (a *vectorAsm) truncate(d, n reg) { a.two(0x9e780000, d, n) }
func (a *vectorAsm) floor(d, n reg)    { a.two(0x9e700000, d, n) }

// widen converts a float of 32 bits in a general register.
func (a *vectorAsm) widen(d, n reg) {
	a.two(0x1e270000, d, n)
	a.two(0x1e22c000, d, d)
}

// narrow converts to a float of 32 bits in a general register. The vector register is changed.
func (a *vectorAsm) narrow(d, n reg) {
	a.two(0x1e624000, n, n)
	a.two(0x1e260000, d, n)
}

// flipSign inverts the sign of a float in a general register.
func (a *vectorAsm) flipSign(d, n reg) { a.two(0xd2410000, d, n) }

func (a *vectorAsm) fcmp(n, m reg) {
	a.flags = true
	a.word(0x1e602000 | uint32(m)<<16 | uint32(n)<<5)
}

func (a *vectorAsm) fcmpZero(n reg) {
	a.flags = true
	a.word(0x1e602008 | uint32(n)<<5)
}

// quad stores or loads 128 bits of a vector register; the offset is a multiple of 16.
func (a *vectorAsm) quad(t, n reg, off int, store bool) {
	op := uint32(0x3dc00000)
	if store {
		op = 0x3d800000
	}
	a.word(op | uint32(off/16)<<10 | uint32(n)<<5 | uint32(t))
}

// scalable stores or loads all bits of a vector register (FEAT_SVE), some times, 0 to 7, its size behind an address.
func (a *vectorAsm) scalable(t, n reg, times uint32, store bool) {
	op := uint32(0x85804000)
	if store {
		op = 0xe5804000
	}
	a.word(op | times<<10 | uint32(n)<<5 | uint32(t))
}
