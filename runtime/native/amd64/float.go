package amd64

import (
	"math"

	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
)

// Floats are words on the operand stack like all others. Operations on them load vectorA and vectorB, and put the result into a general
// register. A part that has such operations saves these two, and the register that controls rounding and collects exceptions (MXCSR), and
// computes with the state that the interpreter has: to the nearest, without exceptions, denormal numbers as they are. All three have
// their values again at the end of the part, and where a doorbell rings. After a read that faults they do not: the interpreter reads
// none of them in such a program (native.Plan).
//
// Legacy instructions are used, because those with a VEX prefix clear the upper bits of the registers.
const (
	vectorA = reg(14)
	vectorB = reg(15)
)

// Words of the stack where vector registers are saved: vectorA, vectorB, MXCSR and the value that is loaded into it.
const (
	savedA      = 0
	savedB      = 16
	savedMXCSR  = 32
	ownMXCSR    = 36
	vectorSlots = 5
)

const defaultMXCSR = 0x1f80

const signBit = 63

// lowHalf returns the vector register of which a word of the floating-point state, by its number as a register, is the lower half, if
// native code does not write it.
func lowHalf(index uint64) (x reg, ok bool) {
	n := index - runtime.FloatWords
	return reg(n / 2), index >= runtime.FloatWords && n%2 == 0 && n/2 < uint64(vectorA)
}

// usesVectors reports whether the native code of a plan writes vector registers.
func usesVectors(plan *native.Plan) bool {
	for pc := range plan.Ops {
		switch op := plan.Insts[pc].Op; {
		case plan.Ops[pc].Verdict != native.Native:
		case op == opcode.LoadF32 || op == opcode.AggFloat || native.IsFloat(op) && op != opcode.Fneg:
			return true
		}
	}
	return false
}

// vectorAt returns a place among those where vector registers are saved.
func (s *words) vectorAt(offset int32) operand { return at(rsp, int32(8*s.vectors.slot)+offset) }

// saveVectors saves the vector registers that the part uses, and loads MXCSR. The flags stay.
func (s *words) saveVectors() {
	if s.vectors == nil {
		return
	}
	s.written(home{slot: s.vectors.slot + vectorSlots - 1, onSlot: true})
	s.storeVector(s.vectorAt(savedA), vectorA)
	s.storeVector(s.vectorAt(savedB), vectorB)
	s.stmxcsr(s.vectorAt(savedMXCSR))
	s.storeImm32(s.vectorAt(ownMXCSR), defaultMXCSR)
	s.ldmxcsr(s.vectorAt(ownMXCSR))
}

// restoreVectors undoes saveVectors. It may be emitted, and executed, several times. The flags stay.
func (s *words) restoreVectors() {
	if s.vectors == nil {
		return
	}
	s.ldmxcsr(s.vectorAt(savedMXCSR))
	s.loadVector(vectorB, s.vectorAt(savedB))
	s.loadVector(vectorA, s.vectorAt(savedA))
}

// loadFloat loads a vector register with a word; a general register is used for constants.
func (s *words) loadFloat(x reg, w word, spare reg) {
	if w.kind == constant && w.n == 0 {
		s.clearFloat(x)
		return
	}
	s.movFloat(x, s.source(w, spare))
}

// resultFloat pushes what is in a vector register.
func (s *words) resultFloat(x reg) {
	to := s.target()
	s.movWord(to, x)
	s.result(to)
}

// widen replaces the 32 bits of a float in a general register by those of the same float with 64 bits.
func (s *words) widen(x reg) {
	s.movFloat32(vectorA, r(x))
	s.cvtss2sd(vectorA)
	s.movWord(x, vectorA)
}

var floatOps = map[opcode.Op]floatOp{opcode.Fadd: opAddsd, opcode.Fsub: opSubsd, opcode.Fmul: opMulsd, opcode.Fdiv: opDivsd}

// calculateFloat makes the code of operations on floats.
func (p *part) calculateFloat(op opcode.Op) {
	if f, ok := floatOps[op]; ok {
		p.binaryFloat(f)
		return
	}
	switch op {
	case opcode.Fneg:
		p.unary(func(o operand) { p.complementBit(o, signBit) })
	case opcode.Feq:
		p.compareEqual(equal)
	case opcode.Fne:
		p.compareEqual(notEqual)
	case opcode.Flt:
		p.compareLess(condA)
	case opcode.Fle:
		p.compareLess(condAE)
	case opcode.Fbool:
		p.loadFloat(vectorA, p.popWord(), p.used(rax))
		p.clearFloat(vectorB)
		p.ucomisd(vectorA, vectorB)
		p.truth(condNE)
	case opcode.Itof:
		w := p.source(p.popWord(), rax)
		p.clearFloat(vectorA) // so that the conversion does not wait for the register
		p.cvtsi2sd(vectorA, w)
		p.resultFloat(vectorA)
	case opcode.Utof:
		p.unsignedToFloat()
	case opcode.Ftoi:
		w := p.popWord()
		x := p.target()
		p.loadFloat(vectorB, w, p.used(rax))
		p.truncate(x)
		p.result(x)
	case opcode.F32:
		w := p.popWord()
		x := p.target()
		p.load(x, w)
		p.widen(x)
		p.result(x)
	case opcode.ToF32:
		p.loadFloat(vectorA, p.popWord(), p.used(rax))
		p.cvtsd2ss(vectorA)
		x := p.target()
		p.movWord32(x, vectorA)
		p.result(x)
	}
}

// isNumber reports whether a word is known to be a number.
func isNumber(w word) bool { return w.kind == constant && !math.IsNaN(math.Float64frombits(w.n)) }

// binaryFloat computes a op b. If neither is a number, the result is the operand that the processor takes for the first. Which one that is
// in the interpreter, of a sum or a product, is up to the compiler of Go. So native code rings then.
func (p *part) binaryFloat(op floatOp) {
	b, a := p.stack[len(p.stack)-1], p.stack[len(p.stack)-2]
	commutes := (op == opAddsd || op == opMulsd) && !isNumber(a) && !isNumber(b)
	var both label
	if commutes {
		both = p.bellBefore()
	}
	p.popWord()
	p.popWord()
	p.used(rax)
	p.loadFloat(vectorA, a, rax)
	p.loadFloat(vectorB, b, rax)
	first := r(rax)
	if a.kind != constant {
		first = p.operandOf(a)
	}
	p.sd(op, vectorA, vectorB)
	if commutes {
		odd, back := p.newLabel(), p.newLabel()
		p.ucomisd(vectorA, vectorA)
		p.jcc(condP, odd)
		p.place(back)
		p.cold = append(p.cold, func() {
			again := p.newLabel()
			p.place(odd)
			if a.kind == constant {
				p.movImm(rax, a.n)
			}
			p.movFloat(vectorA, first)
			p.ucomisd(vectorA, vectorA)
			p.jccNear(condNP, again)
			p.ucomisd(vectorB, vectorB)
			p.jcc(condP, both)
			p.place(again)
			p.sd(op, vectorA, vectorB)
			p.jmp(back)
		})
	}
	p.resultFloat(vectorA)
}

// compareEqual pushes whether two words are equal, or are not.
func (p *part) compareEqual(c floatCond) {
	b, a := p.popWord(), p.popWord()
	p.used(rax)
	p.loadFloat(vectorA, a, rax)
	p.loadFloat(vectorB, b, rax)
	p.cmpsd(c, vectorA, vectorB)
	p.movWord(rax, vectorA)
	p.test(rax)
	p.truth(condNE)
}

// compareLess pushes whether the second word from the top is below the top: whether the top is above it, a condition that does not hold of
// what is not a number.
func (p *part) compareLess(c cond) {
	b, a := p.popWord(), p.popWord()
	p.used(rax)
	p.loadFloat(vectorA, b, rax)
	p.loadFloat(vectorB, a, rax)
	p.ucomisd(vectorA, vectorB)
	p.truth(c)
}

// unsignedToFloat converts an integer. One above the largest signed one is halved before, and what is lost then still decides how it is
// rounded.
func (p *part) unsignedToFloat() {
	large, done := p.newLabel(), p.newLabel()
	p.load(rax, p.popWord())
	p.used(rdx)
	p.clearFloat(vectorA)
	p.test(rax)
	p.jcc(condS, large)
	p.cvtsi2sd(vectorA, r(rax))
	p.place(done)
	p.cold = append(p.cold, func() {
		p.place(large)
		p.mov(r(rdx), r(rax))
		p.shift(opShr, r(rdx), 1)
		p.aluImm(opAnd, r(rax), 1)
		p.alu(opOr, r(rdx), r(rax))
		p.cvtsi2sd(vectorA, r(rdx))
		p.sd(opAddsd, vectorA, vectorA)
		p.jmp(done)
	})
	p.resultFloat(vectorA)
}

// truncate converts vectorB to an integer, as value.FloatToInt does.
func (s *words) truncate(x reg) {
	odd, done := s.newLabel(), s.newLabel()
	s.cvttsd2si(x, vectorB)
	s.aluImm(opCmp, r(x), 1)
	s.jcc(condO, odd) // only the smallest integer minus 1 overflows
	s.place(done)
	s.cold = append(s.cold, func() {
		number, positive := s.newLabel(), s.newLabel()
		s.place(odd)
		s.ucomisd(vectorB, vectorB)
		s.jccNear(condNP, number)
		s.movImm(x, 0)
		s.jmp(done)
		s.place(number)
		s.movWord(x, vectorB)
		s.test(x)
		s.jccNear(condNS, positive)
		s.movImm(x, 1<<63)
		s.jmp(done)
		s.place(positive)
		s.movImm(x, math.MaxInt64)
		s.jmp(done)
	})
}

// floor converts vectorB to the largest integer that is not above it. vectorA is used.
func (s *words) floor(x reg) {
	done := s.newLabel()
	s.truncate(x)
	s.clearFloat(vectorA)
	s.cvtsi2sd(vectorA, r(x))
	s.ucomisd(vectorA, vectorB)
	s.jccNear(condBE, done) // also if vectorB is not a number
	s.aluImm(opCmp, r(x), 1)
	s.jccNear(condO, done)
	s.dec(r(x))
	s.place(done)
}
