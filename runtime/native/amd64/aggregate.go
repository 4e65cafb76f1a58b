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
		p.cells.update(l, p.arena(l.Cells[0]), v)
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
	p.cells.inBank(l, 0, v, again, missing)
	p.jmp(done)
	p.place(other)
	p.cells.inBank(l, 1, v, again, missing)
	p.place(done)
}

// cells makes the code that changes a cell: a number of an aggregation, or its buckets.
type cells struct {
	*words
	search searchRegs // of what is searched: the slot of a key, or the group of a bucket
	float  bool       // what is added is the float in vectorB
}

// inBank pins a bank, whose word is in rax, adds to its cell and unpins it. If the word has changed it jumps to again; if stats lack a group
// of buckets, to missing.
func (c *cells) inBank(l *arena.Layout, n int, v word, again, missing label) {
	bank, pin := c.arena(l.Word), arena.BankPin[n]
	c.movImm(c.used(rcx), pin)
	c.alu(opAdd, r(rcx), r(rax))
	c.lockCmpxchg(bank, rcx)
	c.jcc(condNE, again)
	unpin := func() { c.atomicAdd(bank, word{constant, -pin}) }
	if l.Spread != nil {
		c.countSpread(l, c.arena(l.Cells[n]), v, func() {
			unpin()
			c.jmp(missing)
		})
	}
	c.update(l, c.arena(l.Cells[n]), v)
	unpin()
}

// update adds a word to a cell, which must not be at rax, rcx or rdx. Of stats the bucket has been counted (countSpread).
func (c *cells) update(l *arena.Layout, cell operand, v word) {
	if c.float {
		c.updateFloat(l, cell)
		return
	}
	switch l.Object.Form() {
	case object.KindCount:
		c.lockInc(cell)
	case object.KindSum, object.KindAvg:
		c.atomicAdd(c.wordOf(cell, arena.ValueOffset), v)
		c.lockInc(c.wordOf(cell, arena.CountOffset))
	case object.KindStats:
		c.extreme(c.wordOf(cell, arena.LeastOffset), v, condLE)
		c.extreme(c.wordOf(cell, arena.MostOffset), v, condGE)
		c.addSquare(c.wordOf(cell, arena.SquaresOffset), v)
		c.atomicAdd(c.wordOf(cell, arena.ValueOffset), v)
		c.lockInc(c.wordOf(cell, arena.CountOffset))
	case object.KindMin:
		c.extreme(c.wordOf(cell, arena.ValueOffset), v, condLE)
		c.lockInc(c.wordOf(cell, arena.CountOffset))
	case object.KindMax:
		c.extreme(c.wordOf(cell, arena.ValueOffset), v, condGE)
		c.lockInc(c.wordOf(cell, arena.CountOffset))
	case object.KindHist:
		c.countPower(l.Object.Powers(), v)
		c.countBucket(cell)
	case object.KindLhist:
		c.countStep(&l.Object, v)
		c.countBucket(cell)
	}
}

// wordOf returns a word of a cell.
func (c *cells) wordOf(cell operand, offset int) operand {
	if cell.kind == absolute {
		cell.addr += uint64(offset)
	} else {
		cell.disp += int32(offset)
	}
	return cell
}

// extreme replaces an extreme, unless that compares with the word as the condition says.
func (c *cells) extreme(to operand, v word, keep cond) {
	again, done := c.newLabel(), c.newLabel()
	x := c.register(v, rdx)
	c.mov(r(c.used(rax)), to)
	c.place(again)
	c.alu(opCmp, r(rax), r(x))
	c.jccNear(keep, done)
	c.lockCmpxchg(to, x) // loads rax if another thread was first
	c.jccNear(condNE, again)
	c.place(done)
}

// countBucket counts in the bucket of a cell whose index is in rax; rcx is used.
func (c *cells) countBucket(cell operand) {
	c.lea(c.used(rcx), cell)
	c.lockInc(element(rcx, rax))
}

// countPower computes the index of a hist's bucket in rax: 0 for a negative value, 1+value for one below 1<<bits, and
// otherwise 1 + (shift<<bits) + (value>>shift), where the shift leaves bits+1 significant bits.
func (c *cells) countPower(o object.Powers, v word) {
	x, done, n := c.register(v, rdx), c.newLabel(), o.Bits()
	c.clear(c.used(rax))
	c.test(x)
	c.jccNear(condS, done)
	if n == 0 {
		// The highest bit of 2*value+1 is one more than that of value, and 0 for 0.
		c.leaSum(rax, x, x, 1)
		c.bsr(rax, r(rax))
		c.inc(r(rax))
		c.place(done)
		return
	}
	large := c.newLabel()
	c.aluImm(opCmp, r(x), 1<<n)
	c.jccNear(condAE, large)
	c.lea(rax, at(x, 1))
	c.jmpNear(done)
	c.place(large)
	c.bsr(c.used(rcx), r(x))
	c.aluImm(opSub, r(rcx), int32(n))
	c.mov(r(rax), r(x))
	c.shiftCL(opShr, r(rax))
	c.shift(opShl, r(rcx), byte(n))
	c.leaSum(rax, rax, rcx, 1)
	c.place(done)
}

// countStep computes the index of an lhist's bucket in rax: 0 below its range, the last one above, and otherwise 1 plus
// the number of whole steps from the lower end.
func (c *cells) countStep(o *object.Object, v word) {
	x, done := c.register(v, rcx), c.newLabel()
	c.clear(c.used(rax))
	c.compareWith(x, uint64(o.Lo))
	c.jccNear(condL, done)
	c.movImm(rax, uint64(o.Linear().Buckets()-1))
	c.compareWith(x, uint64(o.Hi))
	c.jccNear(condGE, done)
	c.mov(r(rax), r(x))
	if fits32(uint64(o.Lo)) {
		c.aluImm(opSub, r(rax), int32(o.Lo))
	} else {
		c.movImm(c.used(rdx), uint64(o.Lo))
		c.alu(opSub, r(rax), r(rdx))
	}
	c.divideBy(uint64(o.Step), uint64(o.Hi)-uint64(o.Lo))
	c.inc(r(rax))
	c.place(done)
}

// divideBy divides rax, which is below a limit, by a constant; rcx and rdx are used.
func (c *cells) divideBy(n, limit uint64) {
	switch {
	case n == 1:
	case n&(n-1) == 0:
		c.shift(opShr, r(rax), byte(bits.TrailingZeros64(n)))
	case limit <= 1<<32 && n < 1<<32:
		c.clear(c.used(rdx))
		c.movImm(c.used(rcx), n)
		c.div32(r(rcx))
	default:
		c.clear(c.used(rdx))
		c.movImm(c.used(rcx), n)
		c.div(r(rcx))
	}
}

// compareWith compares a register with a constant; rdx is used.
func (c *cells) compareWith(x reg, v uint64) {
	if fits32(v) {
		c.aluImm(opCmp, r(x), int32(v))
		return
	}
	c.movImm(c.used(rdx), v)
	c.alu(opCmp, r(x), r(rdx))
}
