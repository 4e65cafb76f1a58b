package span

import "gotap/runtime/native/amd64/asm"

// Copy copies a number of bytes. All three registers change, and rdx is used; rax and rcx stay.
func Copy(a *asm.Assembler, from, to, n asm.Reg) {
	again, done := a.NewLabel(), a.NewLabel()
	a.AluImm(asm.Add, asm.R(n), 7)
	a.Shift(asm.Shr, asm.R(n), 3)
	a.JccNear(asm.E, done)
	a.Place(again)
	a.Mov(asm.R(asm.RDX), asm.At(from, 0))
	a.Mov(asm.At(to, 0), asm.R(asm.RDX))
	a.AluImm(asm.Add, asm.R(from), 8)
	a.AluImm(asm.Add, asm.R(to), 8)
	a.AluImm(asm.Sub, asm.R(n), 1)
	a.JccNear(asm.NE, again)
	a.Place(done)
}
