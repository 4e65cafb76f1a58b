package amd64

import (
	"math/bits"

	"gotap/runtime/arena"
	"gotap/runtime/object"
)

// countSpread counts a word in its bucket of a cell of stats (package arena, spread.go), which must not be at rax, rcx or rdx. If the cell
// lacks the group of the bucket, nothing is counted and control goes to the code that missing makes: the interpreter adds groups.
func (p *part) countSpread(l *arena.Layout, cell operand, v word, missing func()) {
	const turn = object.GroupBuckets // the bits of rax above the number of the bucket in its group count the groups that are left to be searched
	which, x := p.used(p.search.tag), p.used(p.search.left)
	lacks, next, search := p.newLabel(), p.newLabel(), p.newLabel()
	p.bucketOf(v)
	p.mov(r(which), r(rdx))
	p.aluImm(opOr, r(rax), longestSearch*turn)
	p.mov(r(p.used(rcx)), p.wordOf(cell, arena.GroupsOffset))
	p.place(search)
	p.aluImm(opSub, r(rax), turn)
	p.jcc(condB, lacks)
	p.dec(r(rcx))
	p.aluImm(opCmp, r(rcx), int32(l.Spread.Groups))
	p.jcc(condAE, lacks)
	p.imulImm(p.used(rdx), r(rcx), arena.GroupBytes)
	p.lea(x, p.arena(l.Spread.Offset))
	p.alu(opAdd, r(rdx), r(x))
	p.mov32(x, at(rdx, arena.GroupNumber))
	p.alu(opCmp, r(x), r(which))
	p.jcc(condNE, next)
	p.aluImm(opAnd, r(rax), turn-1)
	p.lea(rdx, at(rdx, arena.GroupCounts))
	p.lockInc(element(rdx, rax))
	p.cold = append(p.cold, func() {
		p.place(next)
		p.mov32(rcx, at(rdx, 0))
		p.jmp(search)
		p.place(lacks)
		missing()
	})
}

// longestSearch is more than the groups that integers have.
const longestSearch = 128

// bucketOf computes the bucket of a word as object.SpreadIndex does: the group in rdx, the bucket in it in rax; rcx is used.
func (p *part) bucketOf(v word) {
	if v.kind == constant {
		i := object.SpreadIndex(int64(v.n))
		p.movImm(p.used(rdx), uint64(i/object.GroupBuckets))
		p.movImm(p.used(rax), uint64(i%object.GroupBuckets))
		return
	}
	digits := bits.TrailingZeros(object.GroupBuckets)
	done := p.newLabel()
	p.load(p.used(rax), v)
	p.mov(r(p.used(rdx)), r(rax))
	p.shift(opSar, r(rdx), 63)
	p.alu(opXor, r(rax), r(rdx))
	p.aluImm(opAnd, r(rdx), object.GroupOfMinus)
	p.aluImm(opCmp, r(rax), object.GroupBuckets)
	p.jccNear(condB, done)
	p.bsr(p.used(rcx), r(rax))
	p.aluImm(opSub, r(rcx), int32(digits))
	p.shiftCL(opShr, r(rax))
	p.aluImm(opAnd, r(rax), object.GroupBuckets-1)
	p.leaSum(rdx, rdx, rcx, 1)
	p.place(done)
}

// addSquare adds the square of a word to a number of two words.
func (p *part) addSquare(to operand, v word) {
	high, done := p.wordOf(to, 8), p.newLabel()
	p.load(p.used(rax), v)
	p.mov(r(p.used(rdx)), r(rax))
	p.shift(opSar, r(rdx), 63)
	p.alu(opXor, r(rax), r(rdx))
	p.alu(opSub, r(rax), r(rdx))
	p.mul(r(rax))
	p.mov(r(p.used(rcx)), r(rax))
	p.lockXadd(to, rcx)
	p.alu(opAdd, r(rcx), r(rax))
	p.aluImm(opAdc, r(rdx), 0)
	p.jccNear(condE, done)
	p.lockAdd(high, rdx)
	p.place(done)
}
