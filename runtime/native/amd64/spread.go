package amd64

import (
	"math/bits"

	"gotap/runtime/arena"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/object"
)

// countSpread counts a word in its bucket of a cell of stats (package arena, spread.go), which must not be at rax, rcx
// or rdx. If the cell lacks the group of the bucket, nothing is counted and control goes to the code that missing
// makes: the interpreter adds groups.
func (c *cells) countSpread(l *arena.Layout, cell asm.Operand, v word, missing func()) {
	const turn = object.GroupBuckets // the bits of rax above the number of the bucket in its group count the groups that are left to be searched
	which, x := c.used(c.search.tag), c.used(c.search.left)
	lacks, next, search := c.NewLabel(), c.NewLabel(), c.NewLabel()
	c.bucketOf(v)
	c.Mov(asm.R(which), asm.R(asm.RDX))
	c.AluImm(asm.Or, asm.R(asm.RAX), longestSearch*turn)
	c.Mov(asm.R(c.used(asm.RCX)), cell.Plus(arena.GroupsOffset))
	c.Place(search)
	c.AluImm(asm.Sub, asm.R(asm.RAX), turn)
	c.Jcc(asm.B, lacks)
	c.Dec(asm.R(asm.RCX))
	c.AluImm(asm.Cmp, asm.R(asm.RCX), int32(l.Spread.Groups))
	c.Jcc(asm.AE, lacks)
	c.ImulImm(c.used(asm.RDX), asm.R(asm.RCX), arena.GroupBytes)
	c.Lea(x, c.arena(l.Spread.Offset))
	c.Alu(asm.Add, asm.R(asm.RDX), asm.R(x))
	c.Mov32(x, asm.At(asm.RDX, arena.GroupNumber))
	c.Alu(asm.Cmp, asm.R(x), asm.R(which))
	c.Jcc(asm.NE, next)
	c.AluImm(asm.And, asm.R(asm.RAX), turn-1)
	c.Lea(asm.RDX, asm.At(asm.RDX, arena.GroupCounts))
	c.LockInc(asm.Element(asm.RDX, asm.RAX))
	c.cold = append(c.cold, func() {
		c.Place(next)
		c.Mov32(asm.RCX, asm.At(asm.RDX, 0))
		c.Jmp(search)
		c.Place(lacks)
		missing()
	})
}

// longestSearch is more than the groups that integers have.
const longestSearch = 128

// bucketOf computes the bucket of a word as object.SpreadIndex does: the group in rdx, the bucket in it in rax; rcx is
// used.
func (c *cells) bucketOf(v word) {
	if c.float {
		c.bucketOfFloat()
		return
	}
	if v.kind == constant {
		i := object.SpreadIndex(int64(v.n))
		c.MovImm(c.used(asm.RDX), uint64(i/object.GroupBuckets))
		c.MovImm(c.used(asm.RAX), uint64(i%object.GroupBuckets))
		return
	}
	digits := bits.TrailingZeros(object.GroupBuckets)
	done := c.NewLabel()
	c.load(c.used(asm.RAX), v)
	c.Mov(asm.R(c.used(asm.RDX)), asm.R(asm.RAX))
	c.Shift(asm.Sar, asm.R(asm.RDX), 63)
	c.Alu(asm.Xor, asm.R(asm.RAX), asm.R(asm.RDX))
	c.AluImm(asm.And, asm.R(asm.RDX), object.GroupOfMinus)
	c.AluImm(asm.Cmp, asm.R(asm.RAX), object.GroupBuckets)
	c.JccNear(asm.B, done)
	c.Bsr(c.used(asm.RCX), asm.R(asm.RAX))
	c.AluImm(asm.Sub, asm.R(asm.RCX), int32(digits))
	c.ShiftCL(asm.Shr, asm.R(asm.RAX))
	c.AluImm(asm.And, asm.R(asm.RAX), object.GroupBuckets-1)
	c.LeaSum(asm.RDX, asm.RDX, asm.RCX, 1)
	c.Place(done)
}

// addSquare adds the square of a word to a number of two words.
func (c *cells) addSquare(to asm.Operand, v word) {
	high, done := to.Plus(8), c.NewLabel()
	c.load(c.used(asm.RAX), v)
	c.Mov(asm.R(c.used(asm.RDX)), asm.R(asm.RAX))
	c.Shift(asm.Sar, asm.R(asm.RDX), 63)
	c.Alu(asm.Xor, asm.R(asm.RAX), asm.R(asm.RDX))
	c.Alu(asm.Sub, asm.R(asm.RAX), asm.R(asm.RDX))
	c.MulWide(asm.R(asm.RAX), false)
	c.Mov(asm.R(c.used(asm.RCX)), asm.R(asm.RAX))
	c.LockXadd(to, asm.RCX)
	c.Alu(asm.Add, asm.R(asm.RCX), asm.R(asm.RAX))
	c.AluImm(asm.Adc, asm.R(asm.RDX), 0)
	c.JccNear(asm.E, done)
	c.LockAdd(high, asm.RDX)
	c.Place(done)
}
