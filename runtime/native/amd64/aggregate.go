package amd64

import (
	"math/bits"

	"gotap/runtime/arena"
	"gotap/runtime/object"
)

// aggregate adds the top word to an aggregation without keys.
func (p *part) aggregate() {
	l := p.plan.Ops[p.pc].Object
	missing := label(0)
	if l.Spread != nil {
		missing = p.bell()
	}
	v := p.popWord()
	if !l.Banked {
		p.update(l, p.arena(l.Cells[0]), v)
		return
	}
	// A bank is pinned while its two words change, so that the host does not read it in between. It is selected by the same
	// word as counts the pins.
	again, other, done := p.newLabel(), p.newLabel(), p.newLabel()
	bank := p.arena(l.Word)
	p.place(again)
	p.mov(r(p.used(rax)), bank)
	p.testAL(byte(arena.BankMask))
	p.jcc(condNE, other)
	p.inBank(l, 0, v, again, missing)
	p.jmp(done)
	p.place(other)
	p.inBank(l, 1, v, again, missing)
	p.place(done)
}

// inBank pins a bank, whose word is in rax, adds to its cell and unpins it. If the word has changed it jumps to again; if stats lack a group
// of buckets, to missing.
func (p *part) inBank(l *arena.Layout, n int, v word, again, missing label) {
	bank, pin := p.arena(l.Word), arena.BankPin[n]
	p.movImm(p.used(rcx), pin)
	p.alu(opAdd, r(rcx), r(rax))
	p.lockCmpxchg(bank, rcx)
	p.jcc(condNE, again)
	unpin := func() { p.atomicAdd(bank, word{constant, -pin}) }
	if l.Spread != nil {
		p.countSpread(l, p.arena(l.Cells[n]), v, func() {
			unpin()
			p.jmp(missing)
		})
	}
	p.update(l, p.arena(l.Cells[n]), v)
	unpin()
}

// update adds a word to a cell, which must not be at rax, rcx or rdx. Of stats the bucket has been counted (countSpread).
func (p *part) update(l *arena.Layout, cell operand, v word) {
	switch l.Object.Form() {
	case object.KindCount:
		p.lockInc(cell)
	case object.KindSum, object.KindAvg:
		p.atomicAdd(p.wordOf(cell, arena.ValueOffset), v)
		p.lockInc(p.wordOf(cell, arena.CountOffset))
	case object.KindStats:
		p.extreme(p.wordOf(cell, arena.LeastOffset), v, condLE)
		p.extreme(p.wordOf(cell, arena.MostOffset), v, condGE)
		p.addSquare(p.wordOf(cell, arena.SquaresOffset), v)
		p.atomicAdd(p.wordOf(cell, arena.ValueOffset), v)
		p.lockInc(p.wordOf(cell, arena.CountOffset))
	case object.KindMin:
		p.extreme(p.wordOf(cell, arena.ValueOffset), v, condLE)
		p.lockInc(p.wordOf(cell, arena.CountOffset))
	case object.KindMax:
		p.extreme(p.wordOf(cell, arena.ValueOffset), v, condGE)
		p.lockInc(p.wordOf(cell, arena.CountOffset))
	case object.KindHist:
		p.countPower(l.Object.Powers(), v)
		p.countBucket(cell)
	case object.KindLhist:
		p.countStep(&l.Object, v)
		p.countBucket(cell)
	}
}

// wordOf returns a word of a cell.
func (p *part) wordOf(cell operand, offset int) operand {
	if cell.kind == absolute {
		cell.addr += uint64(offset)
	} else {
		cell.disp += int32(offset)
	}
	return cell
}

// extreme replaces an extreme, unless that compares with the word as the condition says.
func (p *part) extreme(to operand, v word, keep cond) {
	again, done := p.newLabel(), p.newLabel()
	x := p.register(v, rdx)
	p.mov(r(p.used(rax)), to)
	p.place(again)
	p.alu(opCmp, r(rax), r(x))
	p.jccNear(keep, done)
	p.lockCmpxchg(to, x) // loads rax if another thread was first
	p.jccNear(condNE, again)
	p.place(done)
}

// countBucket counts in the bucket of a cell whose index is in rax; rcx is used.
func (p *part) countBucket(cell operand) {
	p.lea(p.used(rcx), cell)
	p.lockInc(element(rcx, rax))
}

// countPower computes the index of a hist's bucket in rax: 0 for a negative value, 1+value for one below 1<<bits, and
// otherwise 1 + (shift<<bits) + (value>>shift), where the shift leaves bits+1 significant bits.
func (p *part) countPower(o object.Powers, v word) {
	x, done, n := p.register(v, rdx), p.newLabel(), o.Bits()
	p.clear(p.used(rax))
	p.test(x)
	p.jccNear(condS, done)
	if n == 0 {
		// The highest bit of 2*value+1 is one more than that of value, and 0 for 0.
		p.leaSum(rax, x, x, 1)
		p.bsr(rax, r(rax))
		p.inc(r(rax))
		p.place(done)
		return
	}
	large := p.newLabel()
	p.aluImm(opCmp, r(x), 1<<n)
	p.jccNear(condAE, large)
	p.lea(rax, at(x, 1))
	p.jmpNear(done)
	p.place(large)
	p.bsr(p.used(rcx), r(x))
	p.aluImm(opSub, r(rcx), int32(n))
	p.mov(r(rax), r(x))
	p.shiftCL(opShr, r(rax))
	p.shift(opShl, r(rcx), byte(n))
	p.leaSum(rax, rax, rcx, 1)
	p.place(done)
}

// countStep computes the index of an lhist's bucket in rax: 0 below its range, the last one above, and otherwise 1 plus
// the number of whole steps from the lower end.
func (p *part) countStep(o *object.Object, v word) {
	x, done := p.register(v, rcx), p.newLabel()
	p.clear(p.used(rax))
	p.compareWith(x, uint64(o.Lo))
	p.jccNear(condL, done)
	p.movImm(rax, uint64(o.Linear().Buckets()-1))
	p.compareWith(x, uint64(o.Hi))
	p.jccNear(condGE, done)
	p.mov(r(rax), r(x))
	if fits32(uint64(o.Lo)) {
		p.aluImm(opSub, r(rax), int32(o.Lo))
	} else {
		p.movImm(p.used(rdx), uint64(o.Lo))
		p.alu(opSub, r(rax), r(rdx))
	}
	p.divideBy(uint64(o.Step), uint64(o.Hi)-uint64(o.Lo))
	p.inc(r(rax))
	p.place(done)
}

// divideBy divides rax, which is below a limit, by a constant; rcx and rdx are used.
func (p *part) divideBy(n, limit uint64) {
	switch {
	case n == 1:
	case n&(n-1) == 0:
		p.shift(opShr, r(rax), byte(bits.TrailingZeros64(n)))
	case limit <= 1<<32 && n < 1<<32:
		p.clear(p.used(rdx))
		p.movImm(p.used(rcx), n)
		p.div32(r(rcx))
	default:
		p.clear(p.used(rdx))
		p.movImm(p.used(rcx), n)
		p.div(r(rcx))
	}
}

// compareWith compares a register with a constant; rdx is used.
func (p *part) compareWith(x reg, v uint64) {
	if fits32(v) {
		p.aluImm(opCmp, r(x), int32(v))
		return
	}
	p.movImm(p.used(rdx), v)
	p.alu(opCmp, r(x), r(rdx))
}
