package span

import "gotap/runtime/native/amd64/asm"

// Pair are two spans: the addresses S and T, and their lengths, that of S in rax. All of them change, and the results
// are in rax.
type Pair struct{ S, T, LenT asm.Reg }

// Equal computes whether the spans have the same bytes, as 1 or 0.
func (p Pair) Equal(a *asm.Assembler) { p.begins(a, asm.NE) }

// Prefix computes whether S begins with T, as 1 or 0.
func (p Pair) Prefix(a *asm.Assembler) { p.begins(a, asm.B) }

// begins computes whether S begins with T, and not if the lengths compare as given.
func (p Pair) begins(a *asm.Assembler, unless asm.Cond) {
	differs, done := a.NewLabel(), a.NewLabel()
	a.Mov(asm.R(asm.RCX), asm.R(p.LenT))
	a.Alu(asm.Cmp, asm.R(asm.RAX), asm.R(p.LenT))
	a.MovImm(asm.RAX, 0)
	a.JccNear(unless, done)
	p.scan(a, differs)
	a.MovImm(asm.RAX, 1)
	a.Place(differs)
	a.Place(done)
}

// Order computes -1, 0 or 1, as bytes.Compare does.
func (p Pair) Order(a *asm.Assembler) {
	differs, decide := a.NewLabel(), a.NewLabel()
	a.Mov(asm.R(asm.RCX), asm.R(asm.RAX))
	a.Alu(asm.Cmp, asm.R(p.LenT), asm.R(asm.RCX))
	a.Cmov(asm.B, asm.RCX, asm.R(p.LenT))
	p.scan(a, differs)
	a.Alu(asm.Cmp, asm.R(asm.RAX), asm.R(p.LenT))
	a.JmpNear(decide)
	a.Place(differs)
	a.Bsf(asm.RCX, asm.R(asm.RDX))
	a.AluImm(asm.And, asm.R(asm.RCX), 0x38) // the byte, in bits
	a.Mov(asm.R(asm.RDX), asm.At(p.S, 0))
	a.ShiftCL(asm.Shr, asm.R(asm.RDX))
	a.Extend(asm.RDX, asm.R(asm.RDX), 8, false)
	a.Mov(asm.R(asm.RAX), asm.At(p.T, 0))
	a.ShiftCL(asm.Shr, asm.R(asm.RAX))
	a.Extend(asm.RAX, asm.R(asm.RAX), 8, false)
	a.Alu(asm.Cmp, asm.R(asm.RDX), asm.R(asm.RAX))
	a.Place(decide)
	a.MovImm(asm.RAX, 1)
	a.MovImm(asm.RDX, ^uint64(0))
	a.Cmov(asm.B, asm.RAX, asm.R(asm.RDX))
	a.MovImm(asm.RDX, 0)
	a.Cmov(asm.E, asm.RAX, asm.R(asm.RDX))
}

// scan compares rcx bytes. It jumps where they differ: then the lowest bit of rdx is in the first byte that does, of
// the words at S and T. rax stays.
func (p Pair) scan(a *asm.Assembler, differs asm.Label) {
	again, tail, same := a.NewLabel(), a.NewLabel(), a.NewLabel()
	a.Place(again)
	a.Test(asm.RCX)
	a.JccNear(asm.E, same)
	a.Mov(asm.R(asm.RDX), asm.At(p.S, 0))
	a.Alu(asm.Xor, asm.R(asm.RDX), asm.At(p.T, 0))
	a.AluImm(asm.Cmp, asm.R(asm.RCX), 8)
	a.JccNear(asm.B, tail)
	a.Test(asm.RDX)
	a.JccNear(asm.NE, differs)
	a.AluImm(asm.Add, asm.R(p.S), 8)
	a.AluImm(asm.Add, asm.R(p.T), 8)
	a.AluImm(asm.Sub, asm.R(asm.RCX), 8)
	a.JmpNear(again)
	a.Place(tail)
	a.Shift(asm.Shl, asm.R(asm.RCX), 3)
	a.Neg(asm.R(asm.RCX)) // 64 minus the bits, modulo 64
	a.ShiftCL(asm.Shl, asm.R(asm.RDX))
	a.ShiftCL(asm.Shr, asm.R(asm.RDX))
	a.Test(asm.RDX)
	a.JccNear(asm.NE, differs)
	a.Place(same)
}
