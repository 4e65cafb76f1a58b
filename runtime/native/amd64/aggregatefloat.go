package amd64

import (
	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
)

// Floats in aggregations: package arena keeps them apart from integers (float.go there), in words with the sign inverted, so that 0 is the
// word of nothing. The float that is added is in vectorB all the time.

// aggregateFloat adds the float on top to an aggregation, under the key if there is one.
func (p *part) aggregateFloat() {
	switch p.plan.Ops[p.pc].Object.Object.Form() {
	case object.KindCount:
	case object.KindHist, object.KindLhist:
		w := p.popWord()
		x := p.target()
		p.loadFloat(vectorB, w, p.used(rax))
		p.floor(x)
		p.result(x)
	default:
		p.loadFloat(vectorB, p.stack[len(p.stack)-1], p.used(rax))
		p.clearFloat(vectorA)
		p.sd(opAddsd, vectorB, vectorA) // negative zero becomes zero: it would be nothing
		p.cells.float = true
		defer func() { p.cells.float = false }()
	}
	if p.key.begun {
		p.tables.useKey(opcode.Agg)
	} else {
		p.aggregate()
	}
}

// updateFloat adds to a cell. Of stats the bucket has been counted.
func (c *cells) updateFloat(l *arena.Layout, cell operand) {
	switch l.Object.Form() {
	case object.KindSum, object.KindAvg:
		c.addFloat(c.wordOf(cell, arena.FloatOffset))
	case object.KindMin:
		c.extremeFloat(c.wordOf(cell, arena.FloatOffset), vectorB, vectorA)
	case object.KindMax:
		c.extremeFloat(c.wordOf(cell, arena.FloatOffset), vectorA, vectorB)
	case object.KindStats:
		c.extremeFloat(c.wordOf(cell, arena.FloatsOffset+8), vectorB, vectorA)
		c.extremeFloat(c.wordOf(cell, arena.FloatsOffset+16), vectorA, vectorB)
		c.movWord(c.used(rdx), vectorB)
		c.sd(opMulsd, vectorB, vectorB)
		c.addFloat(c.wordOf(cell, arena.FloatsOffset+24))
		c.movFloat(vectorB, r(rdx))
		c.addFloat(c.wordOf(cell, arena.FloatsOffset))
	}
	c.lockInc(c.wordOf(cell, arena.CountOffset))
}

// sumOf loads a vector register with the float of a word of a cell, which is in rax; rcx is used.
func (c *cells) sumOf(x reg) {
	c.mov(r(c.used(rcx)), r(rax))
	c.complementBit(r(rcx), signBit)
	c.movFloat(x, r(rcx))
}

// addFloat adds vectorB to a sum, unless that is not a number.
func (c *cells) addFloat(to operand) {
	again, done := c.newLabel(), c.newLabel()
	c.mov(r(c.used(rax)), to)
	c.place(again)
	c.sumOf(vectorA)
	c.ucomisd(vectorA, vectorA)
	c.jccNear(condP, done)
	c.sd(opAddsd, vectorA, vectorB)
	c.movWord(rcx, vectorA)
	c.complementBit(r(rcx), signBit)
	c.alu(opCmp, r(rcx), r(rax))
	c.jccNear(condE, done)
	c.lockCmpxchg(to, rcx) // loads rax if another thread was first
	c.jccNear(condNE, again)
	c.place(done)
}

// extremeFloat replaces an extreme by vectorB, unless it stays: if, with the extreme in vectorA, above is not below the other one. What is
// not a number replaces nothing.
func (c *cells) extremeFloat(to operand, above, below reg) {
	again, store, done := c.newLabel(), c.newLabel(), c.newLabel()
	c.ucomisd(vectorB, vectorB)
	c.jccNear(condP, done)
	c.movWord(c.used(rdx), vectorB)
	c.complementBit(r(rdx), signBit)
	c.mov(r(c.used(rax)), to)
	c.place(again)
	c.test(rax)
	c.jccNear(condE, store) // nothing has been added
	c.sumOf(vectorA)
	c.ucomisd(above, below)
	c.jccNear(condAE, done)
	c.place(store)
	c.lockCmpxchg(to, rdx)
	c.jccNear(condNE, again)
	c.place(done)
}

// bucketOfFloat computes the bucket of vectorB as object.SpreadFloatIndex does: the group in rdx, the bucket in it in rax.
func (c *cells) bucketOfFloat() {
	number := c.newLabel()
	c.movWord(c.used(rax), vectorB)
	c.shift(opShr, r(rax), object.SpreadFloatShift)
	c.ucomisd(vectorB, vectorB)
	c.jccNear(condNP, number)
	c.movImm(rax, object.SpreadNoNumber)
	c.place(number)
	c.mov(r(c.used(rdx)), r(rax))
	c.shift(opShr, r(rdx), object.SpreadBits)
	c.aluImm(opOr, r(rdx), object.GroupOfFloats)
	c.aluImm(opAnd, r(rax), object.GroupBuckets-1)
}
