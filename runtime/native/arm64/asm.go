package arm64

import (
	"encoding/binary"
	"errors"
)

// reg is a general register, by its number in instructions.
type reg uint32

// The registers that have a role here. Number 31 is the stack pointer or the register of zeros, as the instruction has
// it.
const (
	x0  reg = 0
	x1  reg = 1
	x2  reg = 2
	x3  reg = 3
	x4  reg = 4
	x5  reg = 5
	x6  reg = 6
	x7  reg = 7
	x8  reg = 8
	x9  reg = 9
	x14 reg = 14
	x15 reg = 15
	x16 reg = 16
	x17 reg = 17
	x20 reg = 20
	x21 reg = 21
	x22 reg = 22
	x23 reg = 23
	x24 reg = 24
	x25 reg = 25
	x26 reg = 26
	x27 reg = 27
	x28 reg = 28
	sp  reg = 31
	xzr reg = 31
)

// cond is a condition, by its number in instructions.
type cond uint32

// The conditions.
const (
	condEQ cond = 0
	condNE cond = 1
	condHS cond = 2 // unsigned, greater or equal
	condLO cond = 3 // unsigned, less
	condMI cond = 4 // of floats: less
	condVS cond = 6 // of floats: one is not a number
	condVC cond = 7
	condHI cond = 8
	condLS cond = 9
	condGE cond = 10 // signed
	condLT cond = 11
	condGT cond = 12
	condLE cond = 13
)

// not returns the opposite condition.
func (c cond) not() cond { return c ^ 1 }

// label is a place in the code, which may not be known yet.
type label int

// fixup is an instruction whose operand is the distance to a label: bits of it, from a bit on, in instructions.
type fixup struct {
	at   int
	to   label
	bits int
	from int
}

// asm makes code. Names and operands are those of the Arm Architecture Reference Manual (DDI 0487, C6), with the result
// first.
type asm struct {
	addr   uint64 // of the code
	code   []byte
	labels []int // offsets; -1: not known
	fixups []fixup
	err    error // the first
	flags  bool  // an instruction writes the condition flags
}

// ErrReach means that code, arena or target are too far apart.
var ErrReach = errors.New("an address is out of reach")

// word appends an instruction.
func (a *asm) word(w uint32) { a.code = binary.LittleEndian.AppendUint32(a.code, w) }

func (a *asm) here() uint64 { return a.addr + uint64(len(a.code)) }

func (a *asm) newLabel() label {
	a.labels = append(a.labels, -1)
	return label(len(a.labels) - 1)
}

func (a *asm) place(l label) { a.labels[l] = len(a.code) }

// to appends a branch to a label.
func (a *asm) to(w uint32, l label, bits, from int) {
	a.fixups = append(a.fixups, fixup{len(a.code), l, bits, from})
	a.word(w)
}

// finish fills in the distances.
func (a *asm) finish() ([]byte, error) {
	for _, f := range a.fixups {
		far := int64(a.labels[f.to]-f.at) / 4
		if far != far<<(64-f.bits)>>(64-f.bits) {
			a.err = errors.Join(a.err, ErrReach)
		}
		w := binary.LittleEndian.Uint32(a.code[f.at:]) | uint32(far)&(1<<f.bits-1)<<f.from
		binary.LittleEndian.PutUint32(a.code[f.at:], w)
	}
	return a.code, a.err
}

// Branches.

func (a *asm) b(l label)           { a.to(0x14000000, l, 26, 0) }
func (a *asm) bIf(c cond, l label) { a.to(0x54000000|uint32(c), l, 19, 5) }
func (a *asm) cbz(x reg, l label)  { a.to(0xb4000000|uint32(x), l, 19, 5) }
func (a *asm) cbnz(x reg, l label) { a.to(0xb5000000|uint32(x), l, 19, 5) }

// cbnz32 looks at the low half.
func (a *asm) cbnz32(x reg, l label) { a.to(0x35000000|uint32(x), l, 19, 5) }

// bNegative jumps if the highest bit is set (tbnz).
func (a *asm) bNegative(x reg, l label) { a.to(0xb7f80000|uint32(x), l, 14, 5) }

// Instructions on three registers: d = n op m.

func (a *asm) three(op uint32, d, n, m reg) { a.word(op | uint32(m)<<16 | uint32(n)<<5 | uint32(d)) }

func (a *asm) add(d, n, m reg)   { a.three(opAdd, d, n, m) }
func (a *asm) sub(d, n, m reg)   { a.three(opSub, d, n, m) }
func (a *asm) neg(d, m reg)      { a.three(opSub, d, xzr, m) }
func (a *asm) not(d, m reg)      { a.three(0xaa200000, d, xzr, m) }
func (a *asm) mov(d, m reg)      { a.three(opOr, d, xzr, m) }
func (a *asm) umulh(d, n, m reg) { a.three(0x9bc07c00, d, n, m) }
func (a *asm) mul(d, n, m reg)   { a.three(0x9b007c00, d, n, m) }
func (a *asm) udiv(d, n, m reg)  { a.three(0x9ac00800, d, n, m) }
func (a *asm) sdiv(d, n, m reg)  { a.three(0x9ac00c00, d, n, m) }

// addShifted computes n + m<<by.
func (a *asm) addShifted(d, n, m reg, by uint32) { a.three(opAdd|by<<10, d, n, m) }

// madd computes to + n*m, msub from - n*m.
func (a *asm) madd(d, n, m, to reg)   { a.three(0x9b000000|uint32(to)<<10, d, n, m) }
func (a *asm) msub(d, n, m, from reg) { a.three(0x9b008000|uint32(from)<<10, d, n, m) }

func (a *asm) cmp(n, m reg) {
	a.flags = true
	a.three(0xeb000000, xzr, n, m)
}

// cmpZero compares a register with 0, cmpImm with 0 to 4095.
func (a *asm) cmpZero(n reg) { a.cmpImm(n, 0) }

func (a *asm) cmpImm(n reg, imm uint32) {
	a.flags = true
	a.word(0xf100001f | imm<<10 | uint32(n)<<5)
}

// The operations of three registers.
const (
	opAdd = 0x8b000000
	opSub = 0xcb000000
	opAnd = 0x8a000000
	opOr  = 0xaa000000
	opXor = 0xca000000
	opShl = 0x9ac02000
	opShr = 0x9ac02400
	opSar = 0x9ac02800
	opRor = 0x9ac02c00
	opBic = 0x8a200000 // and, with the second one inverted
)

// csel is n if the condition holds, else m; csneg is n, else -m; cset is 1, else 0.
func (a *asm) csel(d, n, m reg, c cond)  { a.three(0x9a800000|uint32(c)<<12, d, n, m) }
func (a *asm) csneg(d, n, m reg, c cond) { a.three(0xda800400|uint32(c)<<12, d, n, m) }
func (a *asm) cset(d reg, c cond)        { a.three(0x9a800400|uint32(c.not())<<12, d, xzr, xzr) }

// addImm and subImm add and subtract 0 to 4095. Both registers may be the stack pointer.
func (a *asm) addImm(d, n reg, imm uint32) { a.word(0x91000000 | imm<<10 | uint32(n)<<5 | uint32(d)) }
func (a *asm) subImm(d, n reg, imm uint32) { a.word(0xd1000000 | imm<<10 | uint32(n)<<5 | uint32(d)) }

// Instructions on the bits of a register.

// two makes an instruction on two registers.
func (a *asm) two(op uint32, d, n reg) { a.word(op | uint32(n)<<5 | uint32(d)) }

// lowestBit loads the number of the lowest bit that is 1, or 64 if there is none.
func (a *asm) lowestBit(d, n reg) {
	a.two(0xdac00000, d, n) // the bits the other way round
	a.clz(d, d)
}

func (a *asm) clz(d, n reg) { a.word(0xdac01000 | uint32(n)<<5 | uint32(d)) }

// shr shifts right by 0 to 63, shl left by 1 to 63.
func (a *asm) shr(d, n reg, by uint32) { a.bits(0xd3400000, d, n, by, 63) }
func (a *asm) shl(d, n reg, by uint32) { a.bits(0xd3400000, d, n, 64-by, 63-by) }

// low keeps 1 to 64 low bits, with zeros or with copies of the highest of them in front.
func (a *asm) low(d, n reg, width uint32, signed bool) {
	if op := uint32(0xd3400000); signed {
		a.bits(0x93400000, d, n, 0, width-1)
	} else {
		a.bits(op, d, n, 0, width-1)
	}
}

// field extracts some bits from a bit on.
func (a *asm) field(d, n reg, from, width uint32) { a.bits(0xd3400000, d, n, from, from+width-1) }

func (a *asm) bits(op uint32, d, n reg, r, s uint32) {
	a.word(op | r<<16 | s<<10 | uint32(n)<<5 | uint32(d))
}

// movImm loads a constant: the 16 bits that are not 0, or not all 1 if those are fewer.
func (a *asm) movImm(d reg, v uint64) {
	const movz, movk, movn = 0xd2800000, 0xf2800000, 0x92800000
	zeros, ones := 0, 0
	for i := range 4 {
		switch v >> (16 * i) & 0xffff {
		case 0:
			zeros++
		case 0xffff:
			ones++
		}
	}
	op, plain, flip := uint32(movz), uint64(0), uint64(0)
	if ones > zeros {
		op, plain, flip = movn, 0xffff, 0xffff
	}
	part := func(i int) uint64 { return v >> (16 * i) & 0xffff }
	for i := range 4 {
		if part(i) == plain {
			continue
		}
		a.word(op | uint32(i)<<21 | uint32(part(i)^flip)<<5 | uint32(d))
		op, flip = movk, 0
	}
	if op == movz || op == movn { // all parts are plain
		a.word(op | uint32(d))
	}
}

// adr loads the address of a label, which is a multiple of 4.
func (a *asm) adr(d reg, l label) { a.to(0x10000000|uint32(d), l, 19, 5) }

// bytes appends data, padded to a multiple of 4.
func (a *asm) bytes(p []byte) {
	a.code = append(a.code, p...)
	a.code = append(a.code, make([]byte, -len(a.code)&3)...)
}

// adrp loads the start of the page with an address.
func (a *asm) adrp(d reg, addr uint64) {
	const reach = 1 << 20
	far := int64(addr>>12) - int64(a.here()>>12)
	if far < -reach || far >= reach {
		a.err = errors.Join(a.err, ErrReach)
	}
	a.word(0x90000000 | uint32(far&3)<<29 | uint32(far>>2)&(1<<19-1)<<5 | uint32(d))
}

// Memory. Offsets of ldr and str are multiples of 8, up to 32760.

func (a *asm) ldr(t, n reg, off int) {
	a.word(0xf9400000 | uint32(off/8)<<10 | uint32(n)<<5 | uint32(t))
}
func (a *asm) str(t, n reg, off int) {
	a.word(0xf9000000 | uint32(off/8)<<10 | uint32(n)<<5 | uint32(t))
}

// ldr32 loads a word of 32 bits; its offset is a multiple of 4.
func (a *asm) ldr32(t, n reg, off uint32) { a.word(0xb9400000 | off/4<<10 | uint32(n)<<5 | uint32(t)) }

// str32 stores the low half; its offset is a multiple of 4.
func (a *asm) str32(t, n reg, off uint32) { a.word(0xb9000000 | off/4<<10 | uint32(n)<<5 | uint32(t)) }

// ldrb loads a byte, and strb stores the lowest one; the offset is 0 to 4095.
func (a *asm) ldrb(t, n reg, off uint32) { a.word(0x39400000 | off<<10 | uint32(n)<<5 | uint32(t)) }
func (a *asm) strb(t, n reg, off uint32) { a.word(0x39000000 | off<<10 | uint32(n)<<5 | uint32(t)) }

// pushPair and popPair move the stack pointer by 16.
func (a *asm) pushPair(t, u reg) { a.word(0xa9bf03e0 | uint32(u)<<10 | uint32(t)) }
func (a *asm) popPair(t, u reg)  { a.word(0xa8c103e0 | uint32(u)<<10 | uint32(t)) }

// extr takes 64 bits of n and m behind it, from a bit on.
func (a *asm) extr(d, n, m reg, from uint32) { a.three(0x93c00000|from<<10, d, n, m) }

// The condition flags.
func (a *asm) mrsFlags(t reg) { a.word(0xd53b4200 | uint32(t)) }
func (a *asm) msrFlags(t reg) { a.word(0xd51b4200 | uint32(t)) }
