package arm64

import (
	"math/bits"

	"gotap/runtime/arena"
	"gotap/runtime/object"
)

// aggregate adds a register, a home or x17, to an aggregation without keys.
func (p *part) aggregate(v reg) {
	l, missing := p.plan.Ops[p.pc].Object, label(0)
	if l.Spread != nil {
		missing = p.bell()
	}
	if !l.Banked {
		p.update(l, cell{offset: l.Cells[0]}, v)
		return
	}
	// A bank is pinned while its two words change, so that the host does not read it in between. It is selected by the
	// same word as counts the pins.
	again, other, done := p.newLabel(), p.newLabel(), p.newLabel()
	p.place(again)
	p.arena(x16, l.Word)
	p.ldaxr(p.uses(x15), x16)
	p.low(p.uses(x14), x15, bankBit+1, false)
	p.shr(x14, x14, bankBit)
	p.cbnz(x14, other)
	p.inBank(l, 0, v, again, missing)
	p.b(done)
	p.place(other)
	p.inBank(l, 1, v, again, missing)
	p.place(done)
}

// bankBit is the number of the bit that selects a bank.
var bankBit = uint32(bits.TrailingZeros64(arena.BankMask))

// inBank pins a bank, whose word has been loaded exclusively from x16 into x15, adds to its cell and unpins it. If the
// word has changed it jumps to again; if stats lack a group of buckets, to missing.
func (p *part) inBank(l *arena.Layout, n int, v reg, again, missing label) {
	p.movImm(x14, arena.BankPin[n])
	p.add(x15, x15, x14)
	p.stlxr(x14, x15, x16)
	p.cbnz32(x14, again)
	c := cell{offset: l.Cells[n]}
	unpin := func() {
		p.arena(x16, l.Word)
		p.movImm(x17, -arena.BankPin[n])
		p.atomicAdd(x16, x17, p.unwanted())
	}
	if l.Spread != nil {
		p.countSpread(l, c, v, func() {
			unpin()
			p.b(missing)
		})
	}
	p.update(l, c, v)
	unpin()
}

// cell is a number of an aggregation, or its buckets: at an offset in the arena, or at an address in a register.
type cell struct {
	offset uint64
	base   reg
	based  bool // base counts
}

// cellWord loads the address of a word of a cell.
func (p *part) cellWord(d reg, c cell, offset uint64) {
	if c.based {
		p.addImm(d, c.base, uint32(offset))
		return
	}
	p.arena(d, c.offset+offset)
}

// incrementWord adds 1 to a word of a cell. x14 to x17 are changed.
func (p *part) incrementWord(c cell, offset uint64) {
	p.cellWord(x16, c, offset)
	p.movImm(x17, 1)
	p.atomicAdd(x16, x17, p.unwanted())
}

// update adds a register to a cell. Of stats the bucket has been counted (countSpread). x6 to x8 and x14 to x17 are
// changed, the register only if it is one of them: it may be x17.
func (p *part) update(l *arena.Layout, c cell, v reg) {
	if p.floats.adds {
		p.floats.update(l, c)
		return
	}
	switch l.Object.Form() {
	case object.KindCount:
		p.incrementWord(c, 0)
	case object.KindSum, object.KindAvg:
		p.cellWord(x16, c, arena.ValueOffset)
		p.atomicAdd(x16, v, p.unwanted())
		p.incrementWord(c, arena.CountOffset)
	case object.KindStats:
		p.extreme(c, arena.LeastOffset, v, condGE)
		p.extreme(c, arena.MostOffset, v, condLE)
		p.addSquare(c, v)
		p.cellWord(x16, c, arena.ValueOffset)
		p.atomicAdd(x16, v, p.unwanted())
		p.incrementWord(c, arena.CountOffset)
	case object.KindMin:
		p.extreme(c, arena.ValueOffset, v, condGE)
		p.incrementWord(c, arena.CountOffset)
	case object.KindMax:
		p.extreme(c, arena.ValueOffset, v, condLE)
		p.incrementWord(c, arena.CountOffset)
	case object.KindHist:
		p.powerBucket(l.Object.Powers(), v)
		p.countBucket(c)
	case object.KindLhist:
		p.stepBucket(&l.Object, v)
		p.countBucket(c)
	}
}

// extreme replaces an extreme in a cell by a register, unless the register compares with it as the condition says.
func (p *part) extreme(c cell, offset uint64, v reg, keep cond) {
	again, kept, done := p.newLabel(), p.newLabel(), p.newLabel()
	p.cellWord(x16, c, offset)
	p.place(again)
	p.ldaxr(p.uses(x15), x16)
	p.cmp(v, x15)
	p.bIf(keep, kept)
	p.stlxr(p.uses(x14), v, x16)
	p.cbnz32(x14, again)
	p.b(done)
	p.place(kept)
	p.clrex()
	p.place(done)
}

// countBucket counts in the bucket of a cell whose index is in x15.
func (p *part) countBucket(c cell) {
	p.cellWord(x16, c, 0)
	p.addShifted(x16, x16, x15, 3)
	p.movImm(x17, 1)
	p.atomicAdd(x16, x17, p.unwanted())
}

// powerBucket computes the index of a hist's bucket in x15: 0 for a negative value, 1+value for one below 1<<bits, and
// otherwise 1 + (shift<<bits) + (value>>shift), where the shift leaves bits+1 significant bits.
func (p *part) powerBucket(o object.Powers, v reg) {
	done, n := p.newLabel(), uint32(o.Bits())
	p.movImm(p.uses(x15), 0)
	p.bNegative(v, done)
	if n == 0 { // 1 more than the number of significant bits
		p.clz(x16, v)
		p.movImm(x15, 65)
		p.sub(x15, x15, x16)
		p.place(done)
		return
	}
	large := p.newLabel()
	p.shr(x16, v, n)
	p.cbnz(x16, large)
	p.addImm(x15, v, 1)
	p.b(done)
	p.place(large)
	p.clz(x16, v)
	p.movImm(x15, uint64(63-n))
	p.sub(x16, x15, x16)
	p.three(opShr, x15, v, x16)
	p.addShifted(x15, x15, x16, n)
	p.addImm(x15, x15, 1)
	p.place(done)
}

// stepBucket computes the index of an lhist's bucket in x15: 0 below its range, the last one above, and otherwise 1
// plus the number of whole steps from the lower end.
func (p *part) stepBucket(o *object.Object, v reg) {
	done := p.newLabel()
	p.movImm(p.uses(x15), 0)
	p.movImm(x16, uint64(o.Lo))
	p.cmp(v, x16)
	p.bIf(condLT, done)
	p.movImm(x15, uint64(o.Linear().Buckets()-1))
	p.movImm(p.uses(x14), uint64(o.Hi))
	p.cmp(v, x14)
	p.bIf(condGE, done)
	p.sub(x15, v, x16)
	p.movImm(x14, uint64(o.Step))
	p.udiv(x15, x15, x14)
	p.addImm(x15, x15, 1)
	p.place(done)
}
