package arm64

import (
	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
)

// Floats are words on the operand stack like all others. Operations on them load vectorA and vectorB, and put the
// result into a general register. A part that has such operations saves these two, and the registers that control
// rounding (FPCR) and collect exceptions (FPSR), and computes with the state that the interpreter has: to the nearest,
// without exceptions, denormal numbers as they are. All four have their values again at the end of the part, and where
// a doorbell rings. After a read that faults they do not: the interpreter reads none of them in such a program
// (native.Plan).
//
// An instruction that writes a vector register clears the bits behind the first 128 of it. Where the processor has
// scalable vectors, these are saved, too.
//
// What a sum, a difference, a product or a quotient that is not a number has in its bits depends on the processor, and
// on the order in which the compiler of Go has its operands. Native code rings for all of them.
const (
	vectorA = reg(30)
	vectorB = reg(31)
)

// Where the vector registers of a part are saved, in bytes from the first one on, which are a multiple of 16 above the
// stack pointer: the registers themselves, FPCR and FPSR.
const (
	vectorBytes   = 16
	scalableBytes = 256 // the most that the architecture has
	controlBytes  = 16
)

// vectorSize is the size of what is saved of one vector register.
func (e *emitter) vectorSize() int {
	if e.site.Scalable {
		return scalableBytes
	}
	return vectorBytes
}

// lowHalf returns the vector register of which a word of the floating-point state, by its number as a register, is the
// lower half, if native code does not write it.
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

// floats makes the code of operations on floats.
type floats struct {
	*part
	saved bool // the vector registers are saved
	adds  bool // what is added to an aggregation is the float in vectorB
}

// withVectors makes the code of a part that uses vector registers: body between what saves and what restores them.
func (p *floats) withVectors(body func()) {
	p.used.vectors = true
	done, abort, resume, abandoned := p.done, p.abort, p.resume, p.abandoned
	ways := []struct {
		inner *label
		outer label
	}{{&p.done, done}, {&p.abort, abort}, {&p.resume, resume}, {&p.abandoned, abandoned}}
	for _, w := range ways {
		*w.inner = p.newLabel()
	}
	p.saveVectors()
	p.saved = true
	body()
	p.saved = false
	for _, w := range ways {
		p.place(*w.inner)
		p.restoreVectors()
		p.b(w.outer)
		*w.inner = w.outer
	}
}

// saveVectors saves the vector registers that the part uses, and loads FPCR. x16 and x17 are used; the flags stay.
func (e *emitter) saveVectors() {
	at, nearest := e.frame.vectorsAt(), e.newLabel()
	e.eachVector(at, true)
	at += 2 * e.vectorSize()
	e.word(mrsFPCR | uint32(x16))
	e.word(mrsFPSR | uint32(x17))
	e.str(x16, sp, at)
	e.str(x17, sp, at+8)
	e.cbz(x16, nearest)
	e.word(msrFPCR | uint32(xzr))
	e.place(nearest)
}

// restoreVectors undoes saveVectors. It may be emitted, and executed, several times. x16 is used; the flags stay.
func (e *emitter) restoreVectors() {
	at, nearest := e.frame.vectorsAt(), e.newLabel()
	control := at + 2*e.vectorSize()
	e.ldr(x16, sp, control)
	e.cbz(x16, nearest)
	e.word(msrFPCR | uint32(x16))
	e.place(nearest)
	e.ldr(x16, sp, control+8)
	e.word(msrFPSR | uint32(x16))
	e.eachVector(at, false)
}

// eachVector stores, or loads, the two vector registers.
func (e *emitter) eachVector(at int, store bool) {
	if !e.site.Scalable {
		e.quad(vectorA, sp, at, store)
		e.quad(vectorB, sp, at+vectorBytes, store)
		return
	}
	e.addImm(x16, sp, uint32(at))
	e.scalable(vectorA, x16, 0, store)
	e.scalable(vectorB, x16, 1, store)
}

// getFloat loads a vector register with the word at a position of the stack.
func (p *floats) getFloat(x reg, position int) { p.toFloat(x, p.get(position, x16)) }

// setFloat puts what is in a vector register at a position.
func (p *floats) setFloat(position int, x reg) {
	to := p.target(position, x16)
	p.fromFloat(to, x)
	p.put(position, to)
}

var floatOps = map[opcode.Op]uint32{opcode.Fadd: opFadd, opcode.Fsub: opFsub, opcode.Fmul: opFmul, opcode.Fdiv: opFdiv}

// calculate makes the code of operations on floats.
func (p *floats) calculate(op opcode.Op, depth int) {
	if f, ok := floatOps[op]; ok {
		p.binaryFloat(f, depth)
		return
	}
	top := depth - 1
	switch op {
	case opcode.Fneg:
		p.unary(depth, func(d, a reg) { p.flipSign(d, a) })
	case opcode.Feq:
		p.compareFloats(depth, condEQ)
	case opcode.Fne:
		p.compareFloats(depth, condNE)
	case opcode.Flt:
		p.compareFloats(depth, condMI)
	case opcode.Fle:
		p.compareFloats(depth, condLS)
	case opcode.Fbool:
		p.getFloat(vectorA, top)
		p.fcmpZero(vectorA)
		p.cset(p.uses(x15), condNE)
		p.csel(x15, x15, xzr, condVC) // what is not a number differs from 0 and is false
		p.set(top, x15)
	case opcode.Itof:
		p.convert(top, func(x reg) { p.floatOf(vectorA, x) })
	case opcode.Utof:
		p.convert(top, func(x reg) { p.floatOfUnsigned(vectorA, x) })
	case opcode.Ftoi:
		p.getFloat(vectorA, top)
		p.truncate(p.uses(x15), vectorA)
		p.set(top, x15)
	case opcode.F32:
		p.convert(top, func(x reg) { p.widen(vectorA, x) })
	case opcode.ToF32:
		p.getFloat(vectorA, top)
		p.narrow(p.uses(x15), vectorA)
		p.set(top, x15)
	}
}

// convert replaces the word at a position by what is in vectorA behind the code that compute makes of it.
func (p *floats) convert(position int, compute func(x reg)) {
	compute(p.get(position, x16))
	p.setFloat(position, vectorA)
}

// binaryFloat computes a word of the two on top, and rings if it is not a number.
func (p *floats) binaryFloat(op uint32, depth int) {
	odd := p.bellBefore()
	p.getFloat(vectorA, depth-2)
	p.getFloat(vectorB, depth-1)
	p.three(op, vectorA, vectorA, vectorB)
	p.fcmp(vectorA, vectorA)
	p.bIf(condVS, odd)
	p.setFloat(depth-2, vectorA)
}

// compareFloats replaces the two words on top by whether a condition holds of them that does not hold, or for NE holds,
// if one is not a number.
func (p *floats) compareFloats(depth int, c cond) {
	p.getFloat(vectorA, depth-2)
	p.getFloat(vectorB, depth-1)
	p.fcmp(vectorA, vectorB)
	x := p.target(depth-2, x16)
	p.cset(x, c)
	p.put(depth-2, x)
}
