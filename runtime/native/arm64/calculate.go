package arm64

import (
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// The operations that one instruction executes, and the conditions of comparisons.
var (
	binaryOps = map[opcode.Op]uint32{opcode.Add: opAdd, opcode.Sub: opSub, opcode.And: opAnd, opcode.Or: opOr, opcode.Xor: opXor,
		opcode.Shl: opShl, opcode.Shr: opShr, opcode.Sar: opSar, opcode.Ror: opRor, opcode.Mul: 0x9b007c00}

	comparisons = map[opcode.Op]cond{opcode.Eq: condEQ, opcode.Ne: condNE, opcode.Lt: condLT, opcode.Le: condLE, opcode.Gt: condGT,
		opcode.Ge: condGE, opcode.Ult: condLO, opcode.Ule: condLS}
)

// calculate makes the code of operations on integers.
func (p *part) calculate(in *runtime.Inst, depth int) {
	if op, ok := binaryOps[in.Op]; ok {
		p.binary(depth, func(d, a, b reg) { p.three(op, d, a, b) })
		return
	}
	if c, ok := comparisons[in.Op]; ok {
		p.binary(depth, func(d, a, b reg) {
			p.cmp(a, b)
			p.cset(d, c)
		})
		return
	}
	switch in.Op {
	case opcode.Rol:
		p.binary(depth, func(d, a, b reg) {
			p.neg(p.uses(x15), b)
			p.three(opRor, d, a, x15)
		})
	case opcode.Min, opcode.Max:
		c := condLE
		if in.Op == opcode.Max {
			c = condGE
		}
		p.binary(depth, func(d, a, b reg) {
			p.cmp(a, b)
			p.csel(d, a, b, c)
		})
	case opcode.Quo, opcode.Rem, opcode.Udivmod, opcode.Sdivmod:
		p.divide(in.Op, depth)
	default:
		p.unary(depth, func(d, a reg) { p.change(in, d, a) })
	}
}

// binary computes a word of the two on top.
func (p *part) binary(depth int, compute func(d, a, b reg)) {
	a, b := p.get(depth-2, x16), p.get(depth-1, x17)
	d := p.target(depth-2, x16)
	compute(d, a, b)
	p.put(depth-2, d)
}

// unary changes the top word.
func (p *part) unary(depth int, compute func(d, a reg)) {
	a := p.get(depth-1, x16)
	d := p.target(depth-1, x16)
	compute(d, a)
	p.put(depth-1, d)
}

// change makes the code of an operation on one word.
func (p *part) change(in *runtime.Inst, d, a reg) {
	switch in.Op {
	case opcode.Neg:
		p.neg(d, a)
	case opcode.Not:
		p.not(d, a)
	case opcode.Lnot:
		p.cmpZero(a)
		p.cset(d, condEQ)
	case opcode.Bool:
		p.cmpZero(a)
		p.cset(d, condNE)
	case opcode.Abs: // the smallest integer stays
		p.cmpZero(a)
		p.csneg(d, a, a, condGE)
	case opcode.Clz:
		p.clz(d, a)
	case opcode.Popcnt:
		p.population(d, a)
	case opcode.Ext, opcode.Zext:
		switch n := in.A; {
		case n == 0:
			p.movImm(d, 0)
		case n < 64:
			p.low(d, a, n, in.Op == opcode.Ext)
		}
	}
}

// population counts the bits that are 1, in groups of 2, 4 and 8: general registers have no instruction for it.
func (p *part) population(d, a reg) {
	mask, half := p.uses(x15), x17
	p.movImm(mask, 0x5555555555555555)
	p.shr(half, a, 1)
	p.three(opAnd, half, half, mask)
	p.sub(d, a, half) // of two bits: twice the upper one, minus it
	for _, s := range []struct {
		shift uint32
		mask  uint64
	}{{2, 0x3333333333333333}, {4, 0x0f0f0f0f0f0f0f0f}} {
		p.movImm(mask, s.mask)
		p.shr(half, d, s.shift)
		p.three(opAnd, half, half, mask)
		p.three(opAnd, d, d, mask)
		p.add(d, d, half)
	}
	p.movImm(mask, 0x0101010101010101)
	p.mul(d, d, mask)
	p.shr(d, d, 56)
}

// divide divides; a division by 0 rings. The quotient of the smallest integer and -1 is that integer, and nothing is
// left of it, as for the interpreter.
func (p *part) divide(op opcode.Op, depth int) {
	a, b := p.get(depth-2, x16), p.get(depth-1, x17)
	if !p.plan.DividesByConstant(p.pc) {
		p.cbz(b, p.bell())
	}
	quotient := p.uses(x15)
	if op == opcode.Udivmod {
		p.udiv(quotient, a, b)
	} else {
		p.sdiv(quotient, a, b)
	}
	if op == opcode.Quo {
		p.set(depth-2, quotient)
		return
	}
	rest := p.uses(x14)
	p.msub(rest, quotient, b, a)
	p.set(depth-2, rest)
	if op != opcode.Rem {
		p.set(depth-1, quotient)
	}
}
