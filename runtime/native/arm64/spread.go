package arm64

import (
	"math/bits"

	"gotap/runtime/arena"
	"gotap/runtime/object"
)

// longestSearch is more than the groups that integers have.
const longestSearch = 128

// countSpread counts a register in its bucket of a cell of stats (package arena, spread.go). If the cell lacks the
// group of the bucket, nothing is counted and control goes to the code that missing makes: the interpreter adds groups.
// x1, x6 to x8 and x14 to x16 are changed.
func (p *part) countSpread(l *arena.Layout, c cell, v reg, missing func()) {
	lacks, next, search := p.newLabel(), p.newLabel(), p.newLabel()
	for _, x := range []reg{x1, x6, x7, x8, x14, x15} {
		p.uses(x)
	}
	if p.floats.adds {
		p.floats.bucket()
	} else {
		p.bucketOf(v)
	}
	p.cellWord(x16, c, arena.GroupsOffset)
	p.ldr(x8, x16, 0)
	p.movImm(x1, longestSearch)
	p.place(search)
	p.cbz(x1, lacks)
	p.subImm(x1, x1, 1)
	p.subImm(x8, x8, 1)
	p.movImm(x16, l.Spread.Groups)
	p.cmp(x8, x16)
	p.bIf(condHS, lacks)
	p.movImm(x16, arena.GroupBytes)
	p.arena(x14, l.Spread.Offset)
	p.madd(x14, x8, x16, x14)
	p.ldr32(x16, x14, arena.GroupNumber)
	p.cmp(x16, x7)
	p.bIf(condNE, next)
	p.addImm(x14, x14, arena.GroupCounts)
	p.addShifted(x16, x14, x6, 3)
	p.movImm(x7, 1)
	p.atomicAdd(x16, x7, p.unwanted())
	p.cold = append(p.cold, func() {
		p.place(next)
		p.ldr32(x8, x14, 0)
		p.b(search)
		p.place(lacks)
		missing()
	})
}

// bucketOf computes the bucket of a register as object.SpreadIndex does: the group in x7, the bucket in it in x6; x8
// and x16 are used.
func (p *part) bucketOf(v reg) {
	digits, done := uint32(bits.TrailingZeros(object.GroupBuckets)), p.newLabel()
	p.movImm(x16, 63)
	p.three(opSar, x8, v, x16)
	p.three(opXor, x6, v, x8)
	p.movImm(x16, object.GroupOfMinus)
	p.three(opAnd, x7, x8, x16)
	p.shr(x16, x6, digits)
	p.cbz(x16, done)
	p.clz(x8, x6)
	p.movImm(x16, uint64(63-digits))
	p.sub(x8, x16, x8)
	p.three(opShr, x6, x6, x8)
	p.low(x6, x6, digits, false)
	p.add(x7, x7, x8)
	p.addImm(x7, x7, 1)
	p.place(done)
}

// addSquare adds the square of a register to a number of two words. x6 to x8 and x14 to x16 are changed.
func (p *part) addSquare(c cell, v reg) {
	same, done := p.newLabel(), p.newLabel()
	p.movImm(x16, 63)
	p.three(opSar, x6, v, x16)
	p.three(opXor, x7, v, x6)
	p.sub(x7, x7, x6)
	p.umulh(x6, x7, x7)
	p.mul(x7, x7, x7)
	p.cellWord(x16, c, arena.SquaresOffset)
	p.atomicAdd(x16, x7, x8)
	p.add(x8, x8, x7)
	p.cmp(x8, x7)
	p.bIf(condHS, same) // without a carry
	p.addImm(x6, x6, 1)
	p.place(same)
	p.cbz(x6, done)
	p.cellWord(x16, c, arena.SquaresOffset+8)
	p.atomicAdd(x16, x6, p.unwanted())
	p.place(done)
}
