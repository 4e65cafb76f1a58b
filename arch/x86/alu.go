package x86

import "math/bits"

// The ALU operations in the order of the opcodes, and test, which has opcodes of its own.
const (
	aluADD = iota
	aluOR
	aluADC
	aluSBB
	aluAND
	aluSUB
	aluXOR
	aluCMP
	aluTEST
)

// The operations of doUnary in the order of the group fields.
const (
	unaryINC = iota
	unaryDEC
	unaryNOT
	unaryNEG
)

// sizeMask has the bits of an operand of size bytes set.
func sizeMask(size uint8) uint64 { return ^uint64(0) >> (64 - 8*uint(size)) }

// signExtend takes the low size bytes of v as a signed number.
func signExtend(v uint64, size uint8) uint64 {
	shift := 64 - 8*uint(size)
	return uint64(int64(v<<shift) >> shift)
}

// resultFlags returns SF, ZF and PF of a result.
func resultFlags(r uint64, size uint8) uint64 {
	r &= sizeMask(size)
	f := r >> (8*uint(size) - 1) << 7 // SF
	if r == 0 {
		f |= flagZF
	}
	if bits.OnesCount8(uint8(r))&1 == 0 {
		f |= flagPF
	}
	return f
}

// addFlags returns the status flags of r = a + b + carry.
func addFlags(a, b, r uint64, size uint8) uint64 {
	carries := a&b | (a|b)&^r // the carry out of every bit
	return resultFlags(r, size) | carryFlags(carries, a^r, b^r, size) | (a^b^r)&flagAF
}

// subFlags returns the status flags of r = a - b - borrow.
func subFlags(a, b, r uint64, size uint8) uint64 {
	borrows := ^a&b | (^a|b)&r // the borrow out of every bit
	return resultFlags(r, size) | carryFlags(borrows, a^b, a^r, size) | (a^b^r)&flagAF
}

// carryFlags returns CF, the top bit of carries, and OF, set if the top bits of x and y are.
func carryFlags(carries, x, y uint64, size uint8) uint64 {
	top := 8*uint(size) - 1
	return carries>>top&1 | (x&y)>>top&1<<11
}

// alu computes one operation. flags holds only the status flags. The logical operations clear AF, which the
// architecture leaves undefined, as processors of both vendors do.
func alu(op uint8, a, b uint64, size uint8, carry uint64) (r, flags uint64) {
	switch op {
	case aluADD, aluADC:
		if op == aluADD {
			carry = 0
		}
		r = a + b + carry
		return r, addFlags(a, b, r, size)
	case aluSUB, aluCMP, aluSBB:
		if op != aluSBB {
			carry = 0
		}
		r = a - b - carry
		return r, subFlags(a, b, r, size)
	case aluOR:
		r = a | b
	case aluXOR:
		r = a ^ b
	default: // aluAND, aluTEST
		r = a & b
	}
	return r, resultFlags(r, size)
}

// unary computes one operation on a value. inc and dec keep CF; not keeps all flags.
func unary(op uint8, a uint64, size uint8, flags uint64) (r, newFlags uint64) {
	switch op {
	case unaryINC:
		r = a + 1
		return r, addFlags(a, 1, r, size)&^flagCF | flags&flagCF
	case unaryDEC:
		r = a - 1
		return r, subFlags(a, 1, r, size)&^flagCF | flags&flagCF
	case unaryNOT:
		return ^a, flags & flagsStatus
	}
	r = -a
	return r, subFlags(0, a, r, size)
}

// The shifts of lowering.shift by group field. Field 6 is another shl.
const (
	shiftSHL = 4
	shiftSHR = 5
	shiftSAL = 6
	shiftSAR = 7
)

// shift shifts by 1 to size*8-1 bits. The architecture defines OF only for shifts by one bit and leaves AF
// undefined. As AMD's processors do, shift sets OF by the same rule on the last step, and sets AF.
func shift(op uint8, a uint64, n uint, size uint8) (r, flags uint64) {
	top := 8*uint(size) - 1
	a &= sizeMask(size)
	switch op {
	case shiftSHR:
		r = a >> n
		return r, resultFlags(r, size) | flagAF | a>>(n-1)&1 | (r<<1^r)>>top&1<<11
	case shiftSAR:
		r = uint64(int64(signExtend(a, size)) >> n)
		return r, resultFlags(r, size) | flagAF | uint64(int64(signExtend(a, size))>>(n-1))&1
	}
	r = a << n
	carry := a >> (top + 1 - n) & 1
	return r, resultFlags(r, size) | flagAF | carry | (r>>top&1^carry)<<11
}

// holds reports whether a condition code, the low nibble of jcc, setcc and cmovcc, is met.
func holds(cond uint8, flags uint64) bool {
	var met bool
	switch cond >> 1 {
	case 0:
		met = flags&flagOF != 0
	case 1:
		met = flags&flagCF != 0
	case 2:
		met = flags&flagZF != 0
	case 3:
		met = flags&(flagCF|flagZF) != 0
	case 4:
		met = flags&flagSF != 0
	case 5:
		met = flags&flagPF != 0
	case 6:
		met = less(flags)
	case 7:
		met = less(flags) || flags&flagZF != 0
	}
	return met != (cond&1 != 0)
}

// less reports SF != OF.
func less(flags uint64) bool { return flags&flagSF != 0 != (flags&flagOF != 0) }
