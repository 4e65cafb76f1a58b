package amd64

import "gotap/runtime/clock"

// now calculates the time in rax, as package clock describes; rcx and rdx are used.
func (p *part) now() {
	p.used(rax)
	p.used(rcx)
	p.used(rdx)
	p.mov(r(rax), p.arena(p.site.Clock))
	p.aluImm(opAnd, r(rax), clock.Lines-1) // whatever is in the word
	p.imulImm(rax, r(rax), clock.BankSize)
	p.lea(rcx, p.arena(p.site.Clock+clock.Banks))
	p.alu(opAdd, r(rcx), r(rax))
	p.rdtsc()
	p.shift(opShl, r(rdx), 32)
	p.alu(opOr, r(rax), r(rdx))
	p.alu(opSub, r(rax), at(rcx, clock.CounterAt))
	p.mul(at(rcx, clock.RateAt))
	p.shrd(rax, rdx, 32)
	p.alu(opAdd, r(rax), at(rcx, clock.NanosAt))
}
