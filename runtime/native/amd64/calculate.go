package amd64

import (
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// The operations that one instruction executes, and the conditions of comparisons.
var (
	aluOps = map[opcode.Op]aluOp{opcode.Add: opAdd, opcode.Sub: opSub, opcode.And: opAnd, opcode.Or: opOr, opcode.Xor: opXor}

	shiftOps = map[opcode.Op]shiftOp{opcode.Shl: opShl, opcode.Shr: opShr, opcode.Sar: opSar, opcode.Rol: opRol, opcode.Ror: opRor}

	comparisons = map[opcode.Op]cond{opcode.Eq: condE, opcode.Ne: condNE, opcode.Lt: condL, opcode.Le: condLE, opcode.Gt: condG,
		opcode.Ge: condGE, opcode.Ult: condB, opcode.Ule: condBE}

	// signConds are the conditions of jumps that compare a word with 0.
	signConds = map[opcode.Op]cond{opcode.Jz: condE, opcode.Jnz: condNE, opcode.Jlt: condL, opcode.Jle: condLE, opcode.Jgt: condG,
		opcode.Jge: condGE}
)

// calculate makes the code of operations on integers.
func (p *part) calculate(in *runtime.Inst) {
	if op, ok := aluOps[in.Op]; ok {
		p.binary(op)
		return
	}
	if op, ok := shiftOps[in.Op]; ok {
		p.shiftBy(op)
		return
	}
	if c, ok := comparisons[in.Op]; ok {
		b, a := p.popWord(), p.popWord()
		p.compare(a, b)
		p.truth(c)
		return
	}
	switch in.Op {
	case opcode.Mul:
		p.multiply()
	case opcode.Quo, opcode.Rem, opcode.Udivmod, opcode.Sdivmod:
		p.divide(in.Op)
	case opcode.Within:
		p.within(in.V)
	case opcode.Neg:
		p.unary(p.neg)
	case opcode.Not:
		p.unary(p.not)
	case opcode.Lnot:
		p.compare(p.popWord(), word{})
		p.truth(condE)
	case opcode.Bool:
		p.compare(p.popWord(), word{})
		p.truth(condNE)
	case opcode.Min:
		p.choose(condG)
	case opcode.Max:
		p.choose(condL)
	case opcode.Abs:
		p.absolute()
	case opcode.Clz:
		p.leadingZeros()
	case opcode.Popcnt:
		p.population()
	case opcode.Ext, opcode.Zext:
		if in.A < 64 {
			p.lowBits(int(in.A), in.Op == opcode.Ext)
		}
	}
}

// within rings unless the top word is below n, unsigned.
func (p *part) within(n uint64) {
	w, beyond := p.stack[len(p.stack)-1], p.bell()
	x := p.register(w, rdx)
	if fits32(n) {
		p.aluImm(opCmp, r(x), int32(n))
	} else {
		p.movImm(p.used(rax), n)
		p.alu(opCmp, r(x), r(rax))
	}
	p.jcc(condAE, beyond)
}

// binary computes a op b.
func (p *part) binary(op aluOp) {
	b, a := p.popWord(), p.popWord()
	x := p.target(b)
	p.load(x, a)
	if p.isConst32(b) {
		p.aluImm(op, r(x), int32(b.n))
	} else {
		p.alu(op, r(x), p.source(b, spare(x)))
	}
	p.result(x)
}

func (p *part) multiply() {
	b, a := p.popWord(), p.popWord()
	x := p.target(b)
	if p.isConst32(b) {
		p.imulImm(x, p.source(a, spare(x)), int32(b.n))
	} else {
		p.load(x, a)
		p.imul(x, p.source(b, spare(x)))
	}
	p.result(x)
}

// unary changes the top word with an instruction on one operand.
func (p *part) unary(change func(operand)) {
	a := p.popWord()
	x := p.target()
	p.load(x, a)
	change(r(x))
	p.result(x)
}

// shiftBy shifts by the top word, modulo 64 as the processor does.
func (p *part) shiftBy(op shiftOp) {
	b := p.popWord()
	if b.kind == constant {
		p.shiftConst(op, byte(b.n&63))
		return
	}
	a := p.popWord()
	p.load(rcx, b)
	x := p.target()
	p.load(x, a)
	p.shiftCL(op, r(x))
	p.result(x)
}

// shiftConst shifts the top word by 0 to 63.
func (p *part) shiftConst(op shiftOp, n byte) {
	if n == 0 {
		return
	}
	p.unary(func(o operand) { p.shift(op, o, n) })
}

// compare sets the flags of the comparison of two words.
func (p *part) compare(a, b word) {
	if p.isConst32(b) {
		left := p.source(a, rax)
		if left.isReg() && b.n == 0 {
			p.test(left.reg)
			return
		}
		p.aluImm(opCmp, left, int32(b.n))
		return
	}
	left, right := p.source(a, rax), p.source(b, rdx)
	if !left.isReg() && !right.isReg() {
		left = r(p.register(a, rax))
	}
	p.alu(opCmp, left, right)
}

// truth pushes a condition as 0 or 1, or jumps if that is what the operations that follow do with it.
func (p *part) truth(c cond) {
	for next := p.next(); next != nil; next = p.next() {
		jump, ok := signConds[next.Op]
		switch {
		case next.Op == opcode.Lnot:
			c = c.not()
		case next.Op == opcode.Bool:
		case ok && (jump == condE || jump == condNE):
			if jump == condE {
				c = c.not()
			}
			p.skip()
			p.branch(c, int(next.A))
			return
		default:
			p.pushTruth(c)
			return
		}
		p.skip()
	}
	p.pushTruth(c)
}

// pushTruth pushes a condition as 0 or 1.
func (p *part) pushTruth(c cond) {
	x := p.target()
	p.set(c, x)
	p.result(x)
}

// jumpOnSign jumps if the top word, compared with 0, fulfils a condition.
func (p *part) jumpOnSign(c cond, to int) {
	p.compare(p.popWord(), word{})
	p.branch(c, to)
}

// choose computes the smaller or larger of two words: it takes b if a compares with it as the condition says.
func (p *part) choose(c cond) {
	b, a := p.popWord(), p.popWord()
	x := p.target(b)
	p.load(x, a)
	from := p.source(b, spare(x))
	p.alu(opCmp, r(x), from)
	p.cmov(c, x, from)
	p.result(x)
}

// absolute computes the absolute value: the negated word, unless that is negative. The smallest integer stays.
func (p *part) absolute() {
	p.load(rax, p.popWord())
	p.mov(r(p.used(rdx)), r(rax))
	p.neg(r(rax))
	p.cmov(condS, rax, r(rdx))
	p.result(rax)
}

// leadingZeros computes 63 minus the highest bit; 64 for 0.
func (p *part) leadingZeros() {
	done := p.newLabel()
	p.load(rdx, p.popWord())
	p.movImm(p.used(rax), 64)
	p.test(rdx)
	p.jccNear(condE, done)
	p.bsr(rax, r(rdx))
	p.aluImm(opXor, r(rax), 63)
	p.place(done)
	p.result(rax)
}

// population counts the bits that are 1, in groups of 2, 4 and 8: not every processor has popcnt.
func (p *part) population() {
	a := p.popWord()
	p.load(rax, a)
	step := func(shift byte, mask uint64, first bool) {
		p.mov(r(p.used(rdx)), r(rax))
		p.shift(opShr, r(rdx), shift)
		p.movImm(p.used(rcx), mask)
		p.alu(opAnd, r(rdx), r(rcx))
		if first {
			p.alu(opSub, r(rax), r(rdx)) // of two bits: twice the upper one, minus it
			return
		}
		p.alu(opAnd, r(rax), r(rcx))
		p.alu(opAdd, r(rax), r(rdx))
	}
	step(1, 0x5555555555555555, true)
	step(2, 0x3333333333333333, false)
	step(4, 0x0f0f0f0f0f0f0f0f, false)
	p.movImm(rcx, 0x0101010101010101)
	p.imul(rax, r(rcx))
	p.shift(opShr, r(rax), 56)
	p.result(rax)
}

// lowBits keeps the low bits of the top word, fewer than 64, and extends them with their sign or with zeros.
func (p *part) lowBits(n int, signed bool) {
	a := p.popWord()
	if n == 0 {
		p.pushConst(0)
		return
	}
	x := p.target()
	p.load(x, a)
	p.keepLow(x, n, signed)
	p.result(x)
}

// keepLow keeps 1 to 63 low bits of a register.
func (p *part) keepLow(x reg, n int, signed bool) {
	if n == 8 || n == 16 || n == 32 {
		p.extend(x, r(x), n, signed)
		return
	}
	down := opShr
	if signed {
		down = opSar
	}
	p.shift(opShl, r(x), byte(64-n))
	p.shift(down, r(x), byte(64-n))
}

// divide divides, and rings if the divisor is 0. The processor faults when the smallest integer is divided by -1, so
// a division by -1 is a negation.
func (p *part) divide(op opcode.Op) {
	b, a := p.stack[len(p.stack)-1], p.stack[len(p.stack)-2]
	by := r(rcx)
	if b.kind == constant {
		p.load(rcx, b)
	} else if by = p.operandOf(b); by.is(rax) || by.is(rcx) || by.is(rdx) {
		p.load(rcx, b)
		by = r(rcx)
	}
	switch {
	case b.kind != constant:
		p.compareZero(by)
		p.jcc(condE, p.bell())
	case b.n == 0:
		p.jmp(p.bell())
	}
	p.popWord()
	p.popWord()
	p.load(rax, a)
	p.used(rdx)
	if op == opcode.Udivmod {
		p.clear(rdx)
		p.div(by)
	} else {
		p.signedDivide(by, b)
	}
	if op != opcode.Quo {
		p.result(rdx)
	}
	if op != opcode.Rem {
		p.result(rax)
	}
}

// signedDivide divides rax: the quotient is in rax, the remainder in rdx.
func (p *part) signedDivide(by operand, b word) {
	if b.kind == constant && b.n != ^uint64(0) {
		p.cqo()
		p.idiv(by)
		return
	}
	negate, done := p.newLabel(), p.newLabel()
	p.aluImm(opCmp, by, -1)
	p.jccNear(condE, negate)
	p.cqo()
	p.idiv(by)
	p.jmpNear(done)
	p.place(negate)
	p.neg(r(rax))
	p.clear(rdx)
	p.place(done)
}

// compareZero compares an operand with 0.
func (p *part) compareZero(o operand) {
	if o.isReg() {
		p.test(o.reg)
		return
	}
	p.aluImm(opCmp, o, 0)
}
