package amd64

import (
	"math/bits"

	"gotap/runtime/arena"
	"gotap/runtime/object"
)

// countSpread counts a word in its bucket of a cell of stats (package arena, spread.go), which must not be at rax, rcx or rdx. If the cell
// lacks the group of the bucket, nothing is counted and control goes to the code that missing makes: the interpreter adds groups.
func (c *cells) countSpread(l *arena.Layout, cell operand, v word, missing func()) {
	const turn = object.GroupBuckets // the bits of rax above the number of the bucket in its group count the groups that are left to be searched
	which, x := c.used(c.search.tag), c.used(c.search.left)
	lacks, next, search := c.newLabel(), c.newLabel(), c.newLabel()
	c.bucketOf(v)
	c.mov(r(which), r(rdx))
	c.aluImm(opOr, r(rax), longestSearch*turn)
	c.mov(r(c.used(rcx)), c.wordOf(cell, arena.GroupsOffset))
	c.place(search)
	c.aluImm(opSub, r(rax), turn)
	c.jcc(condB, lacks)
	c.dec(r(rcx))
	c.aluImm(opCmp, r(rcx), int32(l.Spread.Groups))
	c.jcc(condAE, lacks)
	c.imulImm(c.used(rdx), r(rcx), arena.GroupBytes)
	c.lea(x, c.arena(l.Spread.Offset))
	c.alu(opAdd, r(rdx), r(x))
	c.mov32(x, at(rdx, arena.GroupNumber))
	c.alu(opCmp, r(x), r(which))
	c.jcc(condNE, next)
	c.aluImm(opAnd, r(rax), turn-1)
	c.lea(rdx, at(rdx, arena.GroupCounts))
	c.lockInc(element(rdx, rax))
	c.cold = append(c.cold, func() {
		c.place(next)
		c.mov32(rcx, at(rdx, 0))
		c.jmp(search)
		c.place(lacks)
		missing()
	})
}

// longestSearch is more than the groups that integers have.
const longestSearch = 128

// bucketOf computes the bucket of a word as object.SpreadIndex does: the group in rdx, the bucket in it in rax; rcx is used.
func (c *cells) bucketOf(v word) {
	if c.float {
		c.bucketOfFloat()
		return
	}
	if v.kind == constant {
		i := object.SpreadIndex(int64(v.n))
		c.movImm(c.used(rdx), uint64(i/object.GroupBuckets))
		c.movImm(c.used(rax), uint64(i%object.GroupBuckets))
		return
	}
	digits := bits.TrailingZeros(object.GroupBuckets)
	done := c.newLabel()
	c.load(c.used(rax), v)
	c.mov(r(c.used(rdx)), r(rax))
	c.shift(opSar, r(rdx), 63)
	c.alu(opXor, r(rax), r(rdx))
	c.aluImm(opAnd, r(rdx), object.GroupOfMinus)
	c.aluImm(opCmp, r(rax), object.GroupBuckets)
	c.jccNear(condB, done)
	c.bsr(c.used(rcx), r(rax))
	c.aluImm(opSub, r(rcx), int32(digits))
	c.shiftCL(opShr, r(rax))
	c.aluImm(opAnd, r(rax), object.GroupBuckets-1)
	c.leaSum(rdx, rdx, rcx, 1)
	c.place(done)
}

// addSquare adds the square of a word to a number of two words.
func (c *cells) addSquare(to operand, v word) {
	high, done := c.wordOf(to, 8), c.newLabel()
	c.load(c.used(rax), v)
	c.mov(r(c.used(rdx)), r(rax))
	c.shift(opSar, r(rdx), 63)
	c.alu(opXor, r(rax), r(rdx))
	c.alu(opSub, r(rax), r(rdx))
	c.mul(r(rax))
	c.mov(r(c.used(rcx)), r(rax))
	c.lockXadd(to, rcx)
	c.alu(opAdd, r(rcx), r(rax))
	c.aluImm(opAdc, r(rdx), 0)
	c.jccNear(condE, done)
	c.lockAdd(high, rdx)
	c.place(done)
}
