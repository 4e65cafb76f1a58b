package amd64

import (
	"math"

	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/opcode"
)

// Floats are words on the operand stack like all others. Operations on them load vectorA and vectorB, and put the
// result into a general register. A part that has such operations saves these two, and the register that controls
// rounding and collects exceptions (MXCSR), and computes with the state that the interpreter has: to the nearest,
// without exceptions, denormal numbers as they are. All three have their values again at the end of the part, and where
// a doorbell rings. After a read that faults they do not: the interpreter reads none of them in such a program
// (native.Plan).
//
// Legacy instructions are used, because those with a VEX prefix clear the upper bits of the registers.
const (
	vectorA = asm.Reg(14)
	vectorB = asm.Reg(15)
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

// lowHalf returns the vector register of which a word of the floating-point state, by its number as a register, is the
// lower half, if native code does not write it.
func lowHalf(index uint64) (x asm.Reg, ok bool) {
	n := index - runtime.FloatWords
	return asm.Reg(n / 2), index >= runtime.FloatWords && n%2 == 0 && n/2 < uint64(vectorA)
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
func (s *words) vectorAt(offset int32) asm.Operand {
	return asm.At(asm.RSP, int32(8*s.vectors.slot)+offset)
}

// saveVectors saves the vector registers that the part uses, and loads MXCSR. The flags stay.
func (s *words) saveVectors() {
	if s.vectors == nil {
		return
	}
	s.written(home{slot: s.vectors.slot + vectorSlots - 1, onSlot: true})
	s.StoreVector(s.vectorAt(savedA), vectorA)
	s.StoreVector(s.vectorAt(savedB), vectorB)
	s.Stmxcsr(s.vectorAt(savedMXCSR))
	s.StoreImm32(s.vectorAt(ownMXCSR), defaultMXCSR)
	s.Ldmxcsr(s.vectorAt(ownMXCSR))
}

// restoreVectors undoes saveVectors. It may be emitted, and executed, several times. The flags stay.
func (s *words) restoreVectors() {
	if s.vectors == nil {
		return
	}
	s.Ldmxcsr(s.vectorAt(savedMXCSR))
	s.LoadVector(vectorB, s.vectorAt(savedB))
	s.LoadVector(vectorA, s.vectorAt(savedA))
}

// loadFloat loads a vector register with a word; a general register is used for constants.
func (s *words) loadFloat(x asm.Reg, w word, spare asm.Reg) {
	if w.kind == constant && w.n == 0 {
		s.ClearFloat(x)
		return
	}
	s.MovFloat(x, s.source(w, spare))
}

// resultFloat pushes what is in a vector register.
func (s *words) resultFloat(x asm.Reg) {
	to := s.target()
	s.MovWord(to, x)
	s.result(to)
}

// widen replaces the 32 bits of a float in a general register by those of the same float with 64 bits.
func (s *words) widen(x asm.Reg) {
	s.MovFloat32(vectorA, asm.R(x))
	s.Cvtss2sd(vectorA)
	s.MovWord(x, vectorA)
}

var floatOps = map[opcode.Op]asm.FloatOp{opcode.Fadd: asm.Addsd, opcode.Fsub: asm.Subsd, opcode.Fmul: asm.Mulsd, opcode.Fdiv: asm.Divsd}

// calculateFloat makes the code of operations on floats.
func (p *part) calculateFloat(op opcode.Op) {
	if f, ok := floatOps[op]; ok {
		p.binaryFloat(f)
		return
	}
	switch op {
	case opcode.Fneg:
		p.unary(func(o asm.Operand) { p.ComplementBit(o, signBit) })
	case opcode.Feq:
		p.compareEqual(asm.FloatEqual)
	case opcode.Fne:
		p.compareEqual(asm.FloatNotEqual)
	case opcode.Flt:
		p.compareLess(asm.A)
	case opcode.Fle:
		p.compareLess(asm.AE)
	case opcode.Fbool:
		p.loadFloat(vectorA, p.popWord(), p.used(asm.RAX))
		p.ClearFloat(vectorB)
		p.Ucomisd(vectorA, vectorB)
		p.truth(asm.NE)
	case opcode.Itof:
		w := p.source(p.popWord(), asm.RAX)
		p.ClearFloat(vectorA) // so that the conversion does not wait for the register
		p.Cvtsi2sd(vectorA, w)
		p.resultFloat(vectorA)
	case opcode.Utof:
		p.unsignedToFloat()
	case opcode.Ftoi:
		w := p.popWord()
		x := p.target()
		p.loadFloat(vectorB, w, p.used(asm.RAX))
		p.truncate(x)
		p.result(x)
	case opcode.F32:
		w := p.popWord()
		x := p.target()
		p.load(x, w)
		p.widen(x)
		p.result(x)
	case opcode.ToF32:
		p.loadFloat(vectorA, p.popWord(), p.used(asm.RAX))
		p.Cvtsd2ss(vectorA)
		x := p.target()
		p.MovWord32(x, vectorA)
		p.result(x)
	default:
		p.Fail(noCodeError(op))
	}
}

// isNumber reports whether a word is known to be a number.
func isNumber(w word) bool { return w.kind == constant && !math.IsNaN(math.Float64frombits(w.n)) }

// binaryFloat computes a op b. If neither is a number, the result is the operand that the processor takes for the
// first. Which one that is in the interpreter, of a sum or a product, is up to the compiler of Go. So native code rings
// then.
func (p *part) binaryFloat(op asm.FloatOp) {
	b, a := p.stack[len(p.stack)-1], p.stack[len(p.stack)-2]
	commutes := (op == asm.Addsd || op == asm.Mulsd) && !isNumber(a) && !isNumber(b)
	var both asm.Label
	if commutes {
		both = p.bellBefore()
	}
	p.popWord()
	p.popWord()
	p.used(asm.RAX)
	p.loadFloat(vectorA, a, asm.RAX)
	p.loadFloat(vectorB, b, asm.RAX)
	first := asm.R(asm.RAX)
	if a.kind != constant {
		first = p.operandOf(a)
	}
	p.Sd(op, vectorA, vectorB)
	if commutes {
		odd, back := p.NewLabel(), p.NewLabel()
		p.Ucomisd(vectorA, vectorA)
		p.Jcc(asm.P, odd)
		p.Place(back)
		p.cold = append(p.cold, func() {
			again := p.NewLabel()
			p.Place(odd)
			if a.kind == constant {
				p.MovImm(asm.RAX, a.n)
			}
			p.MovFloat(vectorA, first)
			p.Ucomisd(vectorA, vectorA)
			p.JccNear(asm.NP, again)
			p.Ucomisd(vectorB, vectorB)
			p.Jcc(asm.P, both)
			p.Place(again)
			p.Sd(op, vectorA, vectorB)
			p.Jmp(back)
		})
	}
	p.resultFloat(vectorA)
}

// compareEqual pushes whether two words are equal, or are not.
func (p *part) compareEqual(c asm.FloatCond) {
	b, a := p.popWord(), p.popWord()
	p.used(asm.RAX)
	p.loadFloat(vectorA, a, asm.RAX)
	p.loadFloat(vectorB, b, asm.RAX)
	p.Cmpsd(c, vectorA, vectorB)
	p.MovWord(asm.RAX, vectorA)
	p.Test(asm.RAX)
	p.truth(asm.NE)
}

// compareLess pushes whether the second word from the top is below the top: whether the top is above it, a condition
// that does not hold of what is not a number.
func (p *part) compareLess(c asm.Cond) {
	b, a := p.popWord(), p.popWord()
	p.used(asm.RAX)
	p.loadFloat(vectorA, b, asm.RAX)
	p.loadFloat(vectorB, a, asm.RAX)
	p.Ucomisd(vectorA, vectorB)
	p.truth(c)
}

// unsignedToFloat converts an integer. One above the largest signed one is halved before, and what is lost then still
// decides how it is rounded.
func (p *part) unsignedToFloat() {
	large, done := p.NewLabel(), p.NewLabel()
	p.load(asm.RAX, p.popWord())
	p.used(asm.RDX)
	p.ClearFloat(vectorA)
	p.Test(asm.RAX)
	p.Jcc(asm.S, large)
	p.Cvtsi2sd(vectorA, asm.R(asm.RAX))
	p.Place(done)
	p.cold = append(p.cold, func() {
		p.Place(large)
		p.Mov(asm.R(asm.RDX), asm.R(asm.RAX))
		p.Shift(asm.Shr, asm.R(asm.RDX), 1)
		p.AluImm(asm.And, asm.R(asm.RAX), 1)
		p.Alu(asm.Or, asm.R(asm.RDX), asm.R(asm.RAX))
		p.Cvtsi2sd(vectorA, asm.R(asm.RDX))
		p.Sd(asm.Addsd, vectorA, vectorA)
		p.Jmp(done)
	})
	p.resultFloat(vectorA)
}

// truncate converts vectorB to an integer, as value.FloatToInt does.
func (s *words) truncate(x asm.Reg) {
	odd, done := s.NewLabel(), s.NewLabel()
	s.Cvttsd2si(x, vectorB)
	s.AluImm(asm.Cmp, asm.R(x), 1)
	s.Jcc(asm.O, odd) // only the smallest integer minus 1 overflows
	s.Place(done)
	s.cold = append(s.cold, func() {
		number, positive := s.NewLabel(), s.NewLabel()
		s.Place(odd)
		s.Ucomisd(vectorB, vectorB)
		s.JccNear(asm.NP, number)
		s.MovImm(x, 0)
		s.Jmp(done)
		s.Place(number)
		s.MovWord(x, vectorB)
		s.Test(x)
		s.JccNear(asm.NS, positive)
		s.MovImm(x, 1<<63)
		s.Jmp(done)
		s.Place(positive)
		s.MovImm(x, math.MaxInt64)
		s.Jmp(done)
	})
}

// floor converts vectorB to the largest integer that is not above it. vectorA is used.
func (s *words) floor(x asm.Reg) {
	done := s.NewLabel()
	s.truncate(x)
	s.ClearFloat(vectorA)
	s.Cvtsi2sd(vectorA, asm.R(x))
	s.Ucomisd(vectorA, vectorB)
	s.JccNear(asm.BE, done) // also if vectorB is not a number
	s.AluImm(asm.Cmp, asm.R(x), 1)
	s.JccNear(asm.O, done)
	s.Dec(asm.R(x))
	s.Place(done)
}
