package amd64

import (
	"gotap/runtime"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/native/amd64/quotient"
	"gotap/runtime/opcode"
)

// The operations that one instruction executes, and the conditions of comparisons.
var (
	aluOps = map[opcode.Op]asm.AluOp{opcode.Add: asm.Add, opcode.Sub: asm.Sub, opcode.And: asm.And, opcode.Or: asm.Or, opcode.Xor: asm.Xor}

	shiftOps = map[opcode.Op]asm.ShiftOp{opcode.Shl: asm.Shl, opcode.Shr: asm.Shr, opcode.Sar: asm.Sar, opcode.Rol: asm.Rol, opcode.Ror: asm.Ror}

	comparisons = map[opcode.Op]asm.Cond{opcode.Eq: asm.E, opcode.Ne: asm.NE, opcode.Lt: asm.L, opcode.Le: asm.LE, opcode.Gt: asm.G,
		opcode.Ge: asm.GE, opcode.Ult: asm.B, opcode.Ule: asm.BE}

	// signConds are the conditions of jumps that compare a word with 0.
	signConds = map[opcode.Op]asm.Cond{opcode.Jz: asm.E, opcode.Jnz: asm.NE, opcode.Jlt: asm.L, opcode.Jle: asm.LE, opcode.Jgt: asm.G,
		opcode.Jge: asm.GE}
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
		p.unary(p.Neg)
	case opcode.Not:
		p.unary(p.Not)
	case opcode.Lnot:
		p.compare(p.popWord(), word{})
		p.truth(asm.E)
	case opcode.Bool:
		p.compare(p.popWord(), word{})
		p.truth(asm.NE)
	case opcode.Min:
		p.choose(asm.G)
	case opcode.Max:
		p.choose(asm.L)
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
	default:
		p.Fail(noCodeError(in.Op))
	}
}

// noCodeError reports an operation that a plan takes for native.
type noCodeError opcode.Op

func (e noCodeError) Error() string { return "there is no code for " + opcode.RowOf(opcode.Op(e)).Name }

// within rings unless the top word is below n, unsigned.
func (p *part) within(n uint64) {
	w, beyond := p.stack[len(p.stack)-1], p.bell()
	x := p.register(w, asm.RDX)
	if asm.Fits32(n) {
		p.AluImm(asm.Cmp, asm.R(x), int32(n))
	} else {
		p.MovImm(p.used(asm.RAX), n)
		p.Alu(asm.Cmp, asm.R(x), asm.R(asm.RAX))
	}
	p.Jcc(asm.AE, beyond)
}

// binary computes a op b.
func (p *part) binary(op asm.AluOp) {
	b, a := p.popWord(), p.popWord()
	x := p.target(b)
	p.load(x, a)
	if p.isConst32(b) {
		p.AluImm(op, asm.R(x), int32(b.n))
	} else {
		p.Alu(op, asm.R(x), p.source(b, spare(x)))
	}
	p.result(x)
}

func (p *part) multiply() {
	b, a := p.popWord(), p.popWord()
	x := p.target(b)
	if p.isConst32(b) {
		p.ImulImm(x, p.source(a, spare(x)), int32(b.n))
	} else {
		p.load(x, a)
		p.Imul(x, p.source(b, spare(x)))
	}
	p.result(x)
}

// unary changes the top word with an instruction on one operand.
func (p *part) unary(change func(asm.Operand)) {
	a := p.popWord()
	x := p.target()
	p.load(x, a)
	change(asm.R(x))
	p.result(x)
}

// shiftBy shifts by the top word, modulo 64 as the processor does.
func (p *part) shiftBy(op asm.ShiftOp) {
	b := p.popWord()
	if b.kind == constant {
		p.shiftConst(op, byte(b.n&63))
		return
	}
	a := p.popWord()
	p.load(asm.RCX, b)
	x := p.target()
	p.load(x, a)
	p.ShiftCL(op, asm.R(x))
	p.result(x)
}

// shiftConst shifts the top word by 0 to 63.
func (p *part) shiftConst(op asm.ShiftOp, n byte) {
	if n == 0 {
		return
	}
	p.unary(func(o asm.Operand) { p.Shift(op, o, n) })
}

// compare sets the flags of the comparison of two words.
func (p *part) compare(a, b word) {
	if p.isConst32(b) {
		left := p.source(a, asm.RAX)
		if left.IsReg() && b.n == 0 {
			p.Test(left.Reg)
			return
		}
		p.AluImm(asm.Cmp, left, int32(b.n))
		return
	}
	left, right := p.source(a, asm.RAX), p.source(b, asm.RDX)
	if !left.IsReg() && !right.IsReg() {
		left = asm.R(p.register(a, asm.RAX))
	}
	p.Alu(asm.Cmp, left, right)
}

// truth pushes a condition as 0 or 1, or jumps if that is what the operations that follow do with it.
func (p *part) truth(c asm.Cond) {
	for next := p.next(); next != nil; next = p.next() {
		jump, ok := signConds[next.Op]
		switch {
		case next.Op == opcode.Lnot:
			c = c.Not()
		case next.Op == opcode.Bool:
		case ok && (jump == asm.E || jump == asm.NE):
			if jump == asm.E {
				c = c.Not()
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
func (p *part) pushTruth(c asm.Cond) {
	x := p.target()
	p.Set(c, x)
	p.result(x)
}

// jumpOnSign jumps if the top word, compared with 0, fulfils a condition.
func (p *part) jumpOnSign(c asm.Cond, to int) {
	p.compare(p.popWord(), word{})
	p.branch(c, to)
}

// choose computes the smaller or larger of two words: it takes b if a compares with it as the condition says.
func (p *part) choose(c asm.Cond) {
	b, a := p.popWord(), p.popWord()
	x := p.target(b)
	p.load(x, a)
	from := p.source(b, spare(x))
	p.Alu(asm.Cmp, asm.R(x), from)
	p.Cmov(c, x, from)
	p.result(x)
}

// absolute computes the absolute value: the negated word, unless that is negative. The smallest integer stays.
func (p *part) absolute() {
	p.load(asm.RAX, p.popWord())
	p.Mov(asm.R(p.used(asm.RDX)), asm.R(asm.RAX))
	p.Neg(asm.R(asm.RAX))
	p.Cmov(asm.S, asm.RAX, asm.R(asm.RDX))
	p.result(asm.RAX)
}

// leadingZeros computes 63 minus the highest bit; 64 for 0.
func (p *part) leadingZeros() {
	done := p.NewLabel()
	p.load(asm.RDX, p.popWord())
	p.MovImm(p.used(asm.RAX), 64)
	p.Test(asm.RDX)
	p.JccNear(asm.E, done)
	p.Bsr(asm.RAX, asm.R(asm.RDX))
	p.AluImm(asm.Xor, asm.R(asm.RAX), 63)
	p.Place(done)
	p.result(asm.RAX)
}

// population counts the bits that are 1, in groups of 2, 4 and 8: not every processor has popcnt.
func (p *part) population() {
	a := p.popWord()
	p.load(asm.RAX, a)
	step := func(shift byte, mask uint64, first bool) {
		p.Mov(asm.R(p.used(asm.RDX)), asm.R(asm.RAX))
		p.Shift(asm.Shr, asm.R(asm.RDX), shift)
		p.MovImm(p.used(asm.RCX), mask)
		p.Alu(asm.And, asm.R(asm.RDX), asm.R(asm.RCX))
		if first {
			p.Alu(asm.Sub, asm.R(asm.RAX), asm.R(asm.RDX)) // of two bits: twice the upper one, minus it
			return
		}
		p.Alu(asm.And, asm.R(asm.RAX), asm.R(asm.RCX))
		p.Alu(asm.Add, asm.R(asm.RAX), asm.R(asm.RDX))
	}
	step(1, 0x5555555555555555, true)
	step(2, 0x3333333333333333, false)
	step(4, 0x0f0f0f0f0f0f0f0f, false)
	p.MovImm(asm.RCX, 0x0101010101010101)
	p.Imul(asm.RAX, asm.R(asm.RCX))
	p.Shift(asm.Shr, asm.R(asm.RAX), 56)
	p.result(asm.RAX)
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
func (p *part) keepLow(x asm.Reg, n int, signed bool) {
	if n == 8 || n == 16 || n == 32 {
		p.Extend(x, asm.R(x), n, signed)
		return
	}
	down := asm.Shr
	if signed {
		down = asm.Sar
	}
	p.Shift(asm.Shl, asm.R(x), byte(64-n))
	p.Shift(down, asm.R(x), byte(64-n))
}

// divide divides, and rings if the divisor is 0. The processor faults when the smallest integer is divided by -1, so
// a division by -1 is a negation.
func (p *part) divide(op opcode.Op) {
	b, a := p.stack[len(p.stack)-1], p.stack[len(p.stack)-2]
	if b.kind == constant && op != opcode.Udivmod && quotient.Multiplies(int64(b.n)) {
		p.divideByConstant(op)
		return
	}
	by := asm.R(asm.RCX)
	if b.kind == constant {
		p.load(asm.RCX, b)
	} else if by = p.operandOf(b); by.Is(asm.RAX) || by.Is(asm.RCX) || by.Is(asm.RDX) {
		p.load(asm.RCX, b)
		by = asm.R(asm.RCX)
	}
	switch {
	case b.kind != constant:
		p.compareZero(by)
		p.Jcc(asm.E, p.bell())
	case b.n == 0:
		p.Jmp(p.bell())
	}
	p.popWord()
	p.popWord()
	p.load(asm.RAX, a)
	p.used(asm.RDX)
	if op == opcode.Udivmod {
		p.Clear(asm.RDX)
		p.Div(by)
	} else {
		p.signedDivide(by, b)
	}
	if op != opcode.Quo {
		p.result(asm.RDX)
	}
	if op != opcode.Rem {
		p.result(asm.RAX)
	}
}

// divideByConstant divides by the top word, by multiplication.
func (p *part) divideByConstant(op opcode.Op) {
	b := p.popWord()
	p.load(asm.RCX, p.popWord())
	p.used(asm.RAX)
	p.used(asm.RDX)
	quotient.Divide(p.Assembler, int64(b.n))
	if op != opcode.Quo {
		p.result(asm.RCX)
	}
	if op != opcode.Rem {
		p.result(asm.RDX)
	}
}

// signedDivide divides rax: the quotient is in rax, the remainder in rdx.
func (p *part) signedDivide(by asm.Operand, b word) {
	if b.kind == constant && b.n != ^uint64(0) {
		p.Cqo()
		p.Idiv(by)
		return
	}
	negate, done := p.NewLabel(), p.NewLabel()
	p.AluImm(asm.Cmp, by, -1)
	p.JccNear(asm.E, negate)
	p.Cqo()
	p.Idiv(by)
	p.JmpNear(done)
	p.Place(negate)
	p.Neg(asm.R(asm.RAX))
	p.Clear(asm.RDX)
	p.Place(done)
}

// compareZero compares an operand with 0.
func (s *words) compareZero(o asm.Operand) {
	if o.IsReg() {
		s.Test(o.Reg)
		return
	}
	s.AluImm(asm.Cmp, o, 0)
}
