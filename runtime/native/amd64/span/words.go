package span

import (
	"gotap/runtime"
	"gotap/runtime/native/amd64/asm"
)

// EachWord makes a loop over the words of n bytes: each is an operand, in memory, or the last ones padded in rdx. from
// and n change, and in the end rcx and rdx.
func EachWord(a *asm.Assembler, from, n asm.Reg, do func(asm.Operand)) {
	again, tail, done := a.NewLabel(), a.NewLabel(), a.NewLabel()
	a.Place(again)
	a.AluImm(asm.Cmp, asm.R(n), 8)
	a.Jcc(asm.B, tail)
	do(asm.At(from, 0))
	a.AluImm(asm.Add, asm.R(from), 8)
	a.AluImm(asm.Sub, asm.R(n), 8)
	a.Jmp(again)
	a.Place(tail)
	a.Test(n)
	a.Jcc(asm.E, done)
	a.Mov(asm.R(asm.RCX), asm.R(n))
	a.Shift(asm.Shl, asm.R(asm.RCX), 3)
	a.Neg(asm.R(asm.RCX)) // 64 minus the bits, modulo 64
	a.Mov(asm.R(asm.RDX), asm.At(from, 0))
	a.ShiftCL(asm.Shl, asm.R(asm.RDX))
	a.ShiftCL(asm.Shr, asm.R(asm.RDX))
	do(asm.R(asm.RDX))
	a.Place(done)
}

// Hash computes what opcode.Hash does of n bytes, in rax. from and n change, and rcx and rdx are used.
func Hash(a *asm.Assembler, from, n asm.Reg) {
	again, done := a.NewLabel(), a.NewLabel()
	a.MovImm(asm.RAX, runtime.HashStart)
	a.MovImm(asm.RCX, runtime.HashPrime)
	a.Test(n)
	a.JccNear(asm.E, done)
	a.Place(again)
	a.Extend(asm.RDX, asm.At(from, 0), 8, false)
	a.Alu(asm.Xor, asm.R(asm.RAX), asm.R(asm.RDX))
	a.Imul(asm.RAX, asm.R(asm.RCX))
	a.AluImm(asm.Add, asm.R(from), 1)
	a.AluImm(asm.Sub, asm.R(n), 1)
	a.JccNear(asm.NE, again)
	a.Place(done)
}
