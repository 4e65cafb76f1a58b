package amd64

import (
	"gotap/runtime/clock"
	"gotap/runtime/native/amd64/asm"
)

// keepTime keeps the time, which is in rax, for the record of a program that logs: reading the clock may take longer
// than all else that the record takes. It is kept until the end of the block; for the interpreter, if that may have to
// read it once more, until the end of the program.
func (s *words) keepTime() {
	if s.time != nil {
		s.Mov(s.written(*s.time), asm.R(asm.RAX))
		s.timeKept = true
	}
}

// keptTime loads rax with the time that was kept, or with the present one; rcx and rdx are used.
func (s *words) keptTime() {
	if s.timeKept {
		s.Mov(asm.R(s.used(asm.RAX)), s.homeOperand(*s.time))
		return
	}
	s.now()
}

// now calculates the time in rax, as package clock describes; rcx and rdx are used.
func (s *words) now() {
	s.used(asm.RAX)
	s.used(asm.RCX)
	s.used(asm.RDX)
	s.Mov(asm.R(asm.RAX), s.arena(s.site.Clock))
	s.AluImm(asm.And, asm.R(asm.RAX), clock.Lines-1) // whatever is in the word
	s.ImulImm(asm.RAX, asm.R(asm.RAX), clock.BankSize)
	s.Lea(asm.RCX, s.arena(s.site.Clock+clock.Banks))
	s.Alu(asm.Add, asm.R(asm.RCX), asm.R(asm.RAX))
	s.Rdtsc()
	s.Shift(asm.Shl, asm.R(asm.RDX), 32)
	s.Alu(asm.Or, asm.R(asm.RAX), asm.R(asm.RDX))
	s.Alu(asm.Sub, asm.R(asm.RAX), asm.At(asm.RCX, clock.CounterAt))
	s.MulWide(asm.At(asm.RCX, clock.RateAt), false)
	s.Shrd(asm.RAX, asm.RDX, 32)
	s.Alu(asm.Add, asm.R(asm.RAX), asm.At(asm.RCX, clock.NanosAt))
}
