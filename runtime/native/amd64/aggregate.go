package amd64

import (
	"math/bits"

	"gotap/runtime/arena"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/object"
)

// aggregate adds the top word to an aggregation without keys.
func (p *part) aggregate() {
	l := p.plan.Ops[p.pc].Object
	missing := asm.Label(0)
	if l.Spread != nil {
		missing = p.bell()
	}
	v := p.popWord()
	if !l.Banked {
		p.cells.update(l, p.arena(l.Cells[0]), v)
		return
	}
	// A bank is pinned while its two words change, so that the host does not read it in between. It is selected by the
	// same word as counts the pins.
	again, other, done := p.NewLabel(), p.NewLabel(), p.NewLabel()
	bank := p.arena(l.Word)
	p.Place(again)
	p.Mov(asm.R(p.used(asm.RAX)), bank)
	p.TestAL(byte(arena.BankMask))
	p.Jcc(asm.NE, other)
	p.cells.inBank(l, 0, v, again, missing)
	p.Jmp(done)
	p.Place(other)
	p.cells.inBank(l, 1, v, again, missing)
	p.Place(done)
}

// cells makes the code that changes a cell: a number of an aggregation, or its buckets.
type cells struct {
	*words
	search searchRegs // of what is searched: the slot of a key, or the group of a bucket
	float  bool       // what is added is the float in vectorB
}

// inBank pins a bank, whose word is in rax, adds to its cell and unpins it. If the word has changed it jumps to again;
// if stats lack a group of buckets, to missing.
func (c *cells) inBank(l *arena.Layout, n int, v word, again, missing asm.Label) {
	bank, pin := c.arena(l.Word), arena.BankPin[n]
	c.MovImm(c.used(asm.RCX), pin)
	c.Alu(asm.Add, asm.R(asm.RCX), asm.R(asm.RAX))
	c.LockCmpxchg(bank, asm.RCX)
	c.Jcc(asm.NE, again)
	unpin := func() { c.atomicAdd(bank, word{constant, -pin}) }
	if l.Spread != nil {
		c.countSpread(l, c.arena(l.Cells[n]), v, func() {
			unpin()
			c.Jmp(missing)
		})
	}
	c.update(l, c.arena(l.Cells[n]), v)
	unpin()
}

// update adds a word to a cell, which must not be at rax, rcx or rdx. Of stats the bucket has been counted
// (countSpread).
func (c *cells) update(l *arena.Layout, cell asm.Operand, v word) {
	if c.float {
		c.updateFloat(l, cell)
		return
	}
	switch l.Object.Form() {
	case object.KindCount:
		c.count(c.countableCell(l, cell), c.inc)
	case object.KindSum, object.KindAvg:
		add := c.adder(v)
		c.count(c.countableCell(l, cell), func(to asm.Operand, alone bool) {
			add(to.Plus(arena.ValueOffset), alone)
			c.inc(to.Plus(arena.CountOffset), alone)
		})
	case object.KindStats:
		c.extreme(cell.Plus(arena.LeastOffset), v, asm.LE)
		c.extreme(cell.Plus(arena.MostOffset), v, asm.GE)
		c.addSquare(cell.Plus(arena.SquaresOffset), v)
		c.atomicAdd(cell.Plus(arena.ValueOffset), v)
		c.LockInc(cell.Plus(arena.CountOffset))
	case object.KindMin:
		c.extreme(cell.Plus(arena.ValueOffset), v, asm.LE)
		c.LockInc(cell.Plus(arena.CountOffset))
	case object.KindMax:
		c.extreme(cell.Plus(arena.ValueOffset), v, asm.GE)
		c.LockInc(cell.Plus(arena.CountOffset))
	case object.KindHist:
		c.countPower(l.Object.Powers(), v)
		c.count(c.countableCell(l, cell), c.countBucket)
	case object.KindLhist:
		c.countStep(&l.Object, v)
		c.count(c.countableCell(l, cell), c.countBucket)
	}
}

// extreme replaces an extreme, unless that compares with the word as the condition says.
func (c *cells) extreme(to asm.Operand, v word, keep asm.Cond) {
	again, done := c.NewLabel(), c.NewLabel()
	x := c.register(v, asm.RDX)
	c.Mov(asm.R(c.used(asm.RAX)), to)
	c.Place(again)
	c.Alu(asm.Cmp, asm.R(asm.RAX), asm.R(x))
	c.JccNear(keep, done)
	c.LockCmpxchg(to, x) // loads rax if another thread was first
	c.JccNear(asm.NE, again)
	c.Place(done)
}

// countBucket counts in the bucket of a cell whose index is in rax; rcx is used.
func (c *cells) countBucket(cell asm.Operand, alone bool) {
	c.Lea(c.used(asm.RCX), cell)
	c.inc(asm.Element(asm.RCX, asm.RAX), alone)
}

// countPower computes the index of a hist's bucket in rax: 0 for a negative value, 1+value for one below 1<<bits, and
// otherwise 1 + (shift<<bits) + (value>>shift), where the shift leaves bits+1 significant bits.
func (c *cells) countPower(o object.Powers, v word) {
	x, done, n := c.register(v, asm.RDX), c.NewLabel(), o.Bits()
	c.Clear(c.used(asm.RAX))
	c.Test(x)
	c.JccNear(asm.S, done)
	if n == 0 {
		// The highest bit of 2*value+1 is one more than that of value, and 0 for 0.
		c.LeaSum(asm.RAX, x, x, 1)
		c.Bsr(asm.RAX, asm.R(asm.RAX))
		c.Inc(asm.R(asm.RAX))
		c.Place(done)
		return
	}
	large := c.NewLabel()
	c.AluImm(asm.Cmp, asm.R(x), 1<<n)
	c.JccNear(asm.AE, large)
	c.Lea(asm.RAX, asm.At(x, 1))
	c.JmpNear(done)
	c.Place(large)
	c.Bsr(c.used(asm.RCX), asm.R(x))
	c.AluImm(asm.Sub, asm.R(asm.RCX), int32(n))
	c.Mov(asm.R(asm.RAX), asm.R(x))
	c.ShiftCL(asm.Shr, asm.R(asm.RAX))
	c.Shift(asm.Shl, asm.R(asm.RCX), byte(n))
	c.LeaSum(asm.RAX, asm.RAX, asm.RCX, 1)
	c.Place(done)
}

// countStep computes the index of an lhist's bucket in rax: 0 below its range, the last one above, and otherwise 1 plus
// the number of whole steps from the lower end.
func (c *cells) countStep(o *object.Object, v word) {
	x, done := c.register(v, asm.RCX), c.NewLabel()
	c.Clear(c.used(asm.RAX))
	c.compareWith(x, uint64(o.Lo))
	c.JccNear(asm.L, done)
	c.MovImm(asm.RAX, uint64(o.Linear().Buckets()-1))
	c.compareWith(x, uint64(o.Hi))
	c.JccNear(asm.GE, done)
	c.Mov(asm.R(asm.RAX), asm.R(x))
	if asm.Fits32(uint64(o.Lo)) {
		c.AluImm(asm.Sub, asm.R(asm.RAX), int32(o.Lo))
	} else {
		c.MovImm(c.used(asm.RDX), uint64(o.Lo))
		c.Alu(asm.Sub, asm.R(asm.RAX), asm.R(asm.RDX))
	}
	c.divideBy(uint64(o.Step), uint64(o.Hi)-uint64(o.Lo))
	c.Inc(asm.R(asm.RAX))
	c.Place(done)
}

// divideBy divides rax, which is below a limit, by a constant; rcx and rdx are used.
func (c *cells) divideBy(n, limit uint64) {
	switch {
	case n == 1:
	case n&(n-1) == 0:
		c.Shift(asm.Shr, asm.R(asm.RAX), byte(bits.TrailingZeros64(n)))
	case limit <= 1<<32 && n < 1<<32:
		c.Clear(c.used(asm.RDX))
		c.MovImm(c.used(asm.RCX), n)
		c.Div32(asm.R(asm.RCX))
	default:
		c.Clear(c.used(asm.RDX))
		c.MovImm(c.used(asm.RCX), n)
		c.Div(asm.R(asm.RCX))
	}
}

// compareWith compares a register with a constant; rdx is used.
func (c *cells) compareWith(x asm.Reg, v uint64) {
	if asm.Fits32(v) {
		c.AluImm(asm.Cmp, asm.R(x), int32(v))
		return
	}
	c.MovImm(c.used(asm.RDX), v)
	c.Alu(asm.Cmp, asm.R(x), asm.R(asm.RDX))
}
