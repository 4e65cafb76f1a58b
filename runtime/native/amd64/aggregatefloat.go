package amd64

import (
	"gotap/runtime/arena"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
)

// Floats in aggregations: package arena keeps them apart from integers (float.go there), in words with the sign
// inverted, so that 0 is the word of nothing. The float that is added is in vectorB all the time.

// aggregateFloat adds the float on top to an aggregation, under the key if there is one.
func (p *part) aggregateFloat() {
	switch p.plan.Ops[p.pc].Object.Object.Form() {
	case object.KindCount:
	case object.KindHist, object.KindLhist:
		w := p.popWord()
		x := p.target()
		p.loadFloat(vectorB, w, p.used(asm.RAX))
		p.floor(x)
		p.result(x)
	default:
		p.loadFloat(vectorB, p.stack[len(p.stack)-1], p.used(asm.RAX))
		p.ClearFloat(vectorA)
		p.Sd(asm.Addsd, vectorB, vectorA) // negative zero becomes zero: it would be nothing
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
func (c *cells) updateFloat(l *arena.Layout, cell asm.Operand) {
	switch l.Object.Form() {
	case object.KindSum, object.KindAvg:
		c.addFloat(cell.Plus(arena.FloatOffset))
	case object.KindMin:
		c.extremeFloat(cell.Plus(arena.FloatOffset), vectorB, vectorA)
	case object.KindMax:
		c.extremeFloat(cell.Plus(arena.FloatOffset), vectorA, vectorB)
	case object.KindStats:
		c.extremeFloat(cell.Plus(arena.FloatsOffset+8), vectorB, vectorA)
		c.extremeFloat(cell.Plus(arena.FloatsOffset+16), vectorA, vectorB)
		c.MovWord(c.used(asm.RDX), vectorB)
		c.Sd(asm.Mulsd, vectorB, vectorB)
		c.addFloat(cell.Plus(arena.FloatsOffset + 24))
		c.MovFloat(vectorB, asm.R(asm.RDX))
		c.addFloat(cell.Plus(arena.FloatsOffset))
	}
	c.LockInc(cell.Plus(arena.CountOffset))
}

// sumOf loads a vector register with the float of a word of a cell, which is in rax; rcx is used.
func (c *cells) sumOf(x asm.Reg) {
	c.Mov(asm.R(c.used(asm.RCX)), asm.R(asm.RAX))
	c.ComplementBit(asm.R(asm.RCX), signBit)
	c.MovFloat(x, asm.R(asm.RCX))
}

// addFloat adds vectorB to a sum, unless that is not a number.
func (c *cells) addFloat(to asm.Operand) {
	again, done := c.NewLabel(), c.NewLabel()
	c.Mov(asm.R(c.used(asm.RAX)), to)
	c.Place(again)
	c.sumOf(vectorA)
	c.Ucomisd(vectorA, vectorA)
	c.JccNear(asm.P, done)
	c.Sd(asm.Addsd, vectorA, vectorB)
	c.MovWord(asm.RCX, vectorA)
	c.ComplementBit(asm.R(asm.RCX), signBit)
	c.Alu(asm.Cmp, asm.R(asm.RCX), asm.R(asm.RAX))
	c.JccNear(asm.E, done)
	c.LockCmpxchg(to, asm.RCX) // loads rax if another thread was first
	c.JccNear(asm.NE, again)
	c.Place(done)
}

// extremeFloat replaces an extreme by vectorB, unless it stays: if, with the extreme in vectorA, above is not below the
// other one. What is not a number replaces nothing.
func (c *cells) extremeFloat(to asm.Operand, above, below asm.Reg) {
	again, store, done := c.NewLabel(), c.NewLabel(), c.NewLabel()
	c.Ucomisd(vectorB, vectorB)
	c.JccNear(asm.P, done)
	c.MovWord(c.used(asm.RDX), vectorB)
	c.ComplementBit(asm.R(asm.RDX), signBit)
	c.Mov(asm.R(c.used(asm.RAX)), to)
	c.Place(again)
	c.Test(asm.RAX)
	c.JccNear(asm.E, store) // nothing has been added
	c.sumOf(vectorA)
	c.Ucomisd(above, below)
	c.JccNear(asm.AE, done)
	c.Place(store)
	c.LockCmpxchg(to, asm.RDX)
	c.JccNear(asm.NE, again)
	c.Place(done)
}

// bucketOfFloat computes the bucket of vectorB as object.SpreadFloatIndex does: the group in rdx, the bucket in it in
// rax.
func (c *cells) bucketOfFloat() {
	number := c.NewLabel()
	c.MovWord(c.used(asm.RAX), vectorB)
	c.Shift(asm.Shr, asm.R(asm.RAX), object.SpreadFloatShift)
	c.Ucomisd(vectorB, vectorB)
	c.JccNear(asm.NP, number)
	c.MovImm(asm.RAX, object.SpreadNoNumber)
	c.Place(number)
	c.Mov(asm.R(c.used(asm.RDX)), asm.R(asm.RAX))
	c.Shift(asm.Shr, asm.R(asm.RDX), object.SpreadBits)
	c.AluImm(asm.Or, asm.R(asm.RDX), object.GroupOfFloats)
	c.AluImm(asm.And, asm.R(asm.RAX), object.GroupBuckets-1)
}
