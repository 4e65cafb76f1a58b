package span

import "gotap/runtime/native/amd64/asm"

// Number is a number in a register, and the address at which its digits are to be written; Next is used. Value changes.
// The number of characters is then in rax.
type Number struct{ Value, At, Next asm.Reg }

// end is where the last character is written before all are moved to the front. At most 20 are written, so the longest
// number begins behind the byte for the sign. There must be room for as many bytes.
const end = 24

// Signed writes a signed number in decimal digits.
func (n Number) Signed(a *asm.Assembler) {
	positive, done := a.NewLabel(), a.NewLabel()
	a.MovImm(asm.RAX, 0)
	a.Test(n.Value)
	a.JccNear(asm.NS, positive)
	a.Neg(asm.R(n.Value))
	a.MovImm(asm.RAX, '-')
	a.Place(positive)
	a.Store8(asm.At(n.At, 0), asm.RAX)
	n.decimal(a)
	a.Extend(asm.RAX, asm.At(n.At, 0), 8, false)
	a.Test(asm.RAX)
	a.JccNear(asm.E, done)
	n.prepend(a, asm.RAX)
	a.Place(done)
	n.toFront(a)
}

// Unsigned writes a number in decimal digits.
func (n Number) Unsigned(a *asm.Assembler) {
	n.decimal(a)
	n.toFront(a)
}

// Hex writes a number in hexadecimal digits, after 0x.
func (n Number) Hex(a *asm.Assembler) {
	again := a.NewLabel()
	a.Lea(n.Next, asm.At(n.At, end))
	a.Place(again)
	a.Mov(asm.R(asm.RAX), asm.R(n.Value))
	a.AluImm(asm.And, asm.R(asm.RAX), 0xf)
	a.Lea(asm.RCX, asm.At(asm.RAX, '0'))
	a.Lea(asm.RDX, asm.At(asm.RAX, 'a'-10))
	a.AluImm(asm.Cmp, asm.R(asm.RAX), 10)
	a.Cmov(asm.AE, asm.RCX, asm.R(asm.RDX))
	n.prepend(a, asm.RCX)
	a.Shift(asm.Shr, asm.R(n.Value), 4)
	a.JccNear(asm.NE, again)
	a.MovImm(asm.RAX, 'x')
	n.prepend(a, asm.RAX)
	a.MovImm(asm.RAX, '0')
	n.prepend(a, asm.RAX)
	n.toFront(a)
}

// decimal writes the digits of a number without a sign, the last one first. Division by 10 is a multiplication by
// 2^67/10, rounded up, which is exact for all numbers.
func (n Number) decimal(a *asm.Assembler) {
	again := a.NewLabel()
	a.Lea(n.Next, asm.At(n.At, end))
	a.Place(again)
	a.MovImm(asm.RAX, 0xcccccccccccccccd)
	a.MulWide(asm.R(n.Value), false)
	a.Shift(asm.Shr, asm.R(asm.RDX), 3)
	a.Mov(asm.R(asm.RAX), asm.R(n.Value))
	a.ImulImm(asm.RCX, asm.R(asm.RDX), 10)
	a.Alu(asm.Sub, asm.R(asm.RAX), asm.R(asm.RCX))
	a.AluImm(asm.Add, asm.R(asm.RAX), '0')
	n.prepend(a, asm.RAX)
	a.Mov(asm.R(n.Value), asm.R(asm.RDX))
	a.Test(asm.RDX)
	a.JccNear(asm.NE, again)
}

// prepend writes the low byte of a register in front of what has been written.
func (n Number) prepend(a *asm.Assembler, x asm.Reg) {
	a.AluImm(asm.Sub, asm.R(n.Next), 1)
	a.Store8(asm.At(n.Next, 0), x)
}

// toFront moves what has been written to where it is to begin, and counts it.
func (n Number) toFront(a *asm.Assembler) {
	for i := int32(0); i < end; i += 8 {
		a.Mov(asm.R(asm.RDX), asm.At(n.Next, i))
		a.Mov(asm.At(n.At, i), asm.R(asm.RDX))
	}
	a.Lea(asm.RAX, asm.At(n.At, end))
	a.Alu(asm.Sub, asm.R(asm.RAX), asm.R(n.Next))
}
