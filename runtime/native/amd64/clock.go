package amd64

import "gotap/runtime/clock"

// now calculates the time in rax, as package clock describes; rcx and rdx are used.
func (s *words) now() {
	s.used(rax)
	s.used(rcx)
	s.used(rdx)
	s.mov(r(rax), s.arena(s.site.Clock))
	s.aluImm(opAnd, r(rax), clock.Lines-1) // whatever is in the word
	s.imulImm(rax, r(rax), clock.BankSize)
	s.lea(rcx, s.arena(s.site.Clock+clock.Banks))
	s.alu(opAdd, r(rcx), r(rax))
	s.rdtsc()
	s.shift(opShl, r(rdx), 32)
	s.alu(opOr, r(rax), r(rdx))
	s.alu(opSub, r(rax), at(rcx, clock.CounterAt))
	s.mul(at(rcx, clock.RateAt))
	s.shrd(rax, rdx, 32)
	s.alu(opAdd, r(rax), at(rcx, clock.NanosAt))
}
