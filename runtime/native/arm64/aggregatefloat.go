package arm64

import (
	"math/bits"

	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
)

// Floats in aggregations: package arena keeps them apart from integers (float.go there), in words with the sign
// inverted, so that 0 is the word of nothing. The float that is added is in vectorB all the time.

// aggregate adds the float on top to an aggregation, under the key if there is one.
func (p *floats) aggregate(depth int) {
	top := depth - 1
	switch p.plan.Ops[p.pc].Object.Object.Form() {
	case object.KindCount:
	case object.KindHist, object.KindLhist:
		p.getFloat(vectorB, top)
		p.floor(x17, vectorB)
		p.set(top, x17)
	default:
		p.getFloat(vectorB, top)
		p.toFloat(vectorA, xzr)
		p.three(opFadd, vectorB, vectorB, vectorA) // negative zero becomes zero: it would be nothing
		p.adds = true
		defer func() { p.adds = false }()
	}
	if p.key.begun {
		p.tables.useKey(opcode.Agg, depth)
	} else {
		p.part.aggregate(p.get(top, x17))
	}
}

// update adds to a cell. Of stats the bucket has been counted. x8 and x14 to x17 are changed.
func (p *floats) update(l *arena.Layout, c cell) {
	switch l.Object.Form() {
	case object.KindSum, object.KindAvg:
		p.addFloat(c, arena.FloatOffset)
	case object.KindMin:
		p.extremeFloat(c, arena.FloatOffset, vectorB, vectorA)
	case object.KindMax:
		p.extremeFloat(c, arena.FloatOffset, vectorA, vectorB)
	case object.KindStats:
		p.extremeFloat(c, arena.FloatsOffset+8, vectorB, vectorA)
		p.extremeFloat(c, arena.FloatsOffset+16, vectorA, vectorB)
		p.fromFloat(p.uses(x8), vectorB)
		p.three(opFmul, vectorB, vectorB, vectorB)
		p.addFloat(c, arena.FloatsOffset+24)
		p.toFloat(vectorB, x8)
		p.addFloat(c, arena.FloatsOffset)
	}
	p.incrementWord(c, arena.CountOffset)
}

// addFloat adds vectorB to a sum, unless that is not a number.
func (p *floats) addFloat(c cell, offset uint64) {
	again, stays, done := p.newLabel(), p.newLabel(), p.newLabel()
	p.cellWord(x16, c, offset)
	p.place(again)
	p.ldaxr(p.uses(x15), x16)
	p.flipSign(x15, x15)
	p.toFloat(vectorA, x15)
	p.fcmp(vectorA, vectorA)
	p.bIf(condVS, stays)
	p.three(opFadd, vectorA, vectorA, vectorB)
	p.fromFloat(x15, vectorA)
	p.flipSign(x15, x15)
	p.stlxr(p.uses(x14), x15, x16)
	p.cbnz32(x14, again)
	p.b(done)
	p.place(stays)
	p.clrex()
	p.place(done)
}

// extremeFloat replaces an extreme by vectorB, unless it stays: if, with the extreme in vectorA, above is not below the
// other one. What is not a number replaces nothing.
func (p *floats) extremeFloat(c cell, offset uint64, above, below reg) {
	again, store, stays, done := p.newLabel(), p.newLabel(), p.newLabel(), p.newLabel()
	p.fcmp(vectorB, vectorB)
	p.bIf(condVS, done)
	p.fromFloat(x17, vectorB)
	p.flipSign(x17, x17)
	p.cellWord(x16, c, offset)
	p.place(again)
	p.ldaxr(p.uses(x15), x16)
	p.cbz(x15, store) // nothing has been added
	p.flipSign(x15, x15)
	p.toFloat(vectorA, x15)
	p.fcmp(above, below)
	p.bIf(condGE, stays)
	p.place(store)
	p.stlxr(p.uses(x14), x17, x16)
	p.cbnz32(x14, again)
	p.b(done)
	p.place(stays)
	p.clrex()
	p.place(done)
}

// bucket computes the bucket of vectorB as object.SpreadFloatIndex does: the group in x7, the bucket in it in x6;
// x16 is used.
func (p *floats) bucket() {
	number := p.newLabel()
	p.fromFloat(x6, vectorB)
	p.shr(x6, x6, object.SpreadFloatShift)
	p.fcmp(vectorB, vectorB)
	p.bIf(condVC, number)
	p.movImm(x6, object.SpreadNoNumber)
	p.place(number)
	p.movImm(x16, object.GroupOfFloats)
	p.shr(x7, x6, object.SpreadBits)
	p.three(opOr, x7, x7, x16)
	p.low(x6, x6, uint32(bits.TrailingZeros(object.GroupBuckets)), false)
}
