package arm64

import (
	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
)

// homes is how many words of a program, the first ones, have their home in a register: x9 and those behind it.
const homes = 5

// part makes the code of a predicate or a program. A word is given by its number: words of the operand stack from the bottom, and behind the
// deepest stack the scratch words. x14 to x17 have no word.
type part struct {
	*emitter
	plan   *native.Plan
	pc     int
	blocks map[int]label // beginnings of blocks
	done   label
	abort  label
}

// part makes the code of a plan. It continues at one of the labels.
func (e *emitter) part(plan *native.Plan, done, abort label) {
	p := &part{emitter: e, plan: plan, blocks: map[int]label{}, done: done, abort: abort}
	e.used.slots = max(e.used.slots, plan.MaxDepth+plan.Temps-homes)
	for pc := range plan.Ops {
		if plan.Ops[pc].Block {
			p.blocks[pc] = e.newLabel()
		}
	}
	for p.pc = range plan.Ops {
		op := &plan.Ops[p.pc]
		if op.Verdict == native.Unreached {
			continue
		}
		if op.Block {
			e.place(p.blocks[p.pc])
		}
		p.execute(&plan.Insts[p.pc], op.Depth)
	}
}

// inRegister reports whether a word has its home in a register.
func inRegister(word int) bool { return word < homes }

func (p *part) slot(word int) int { return 8 * (word - homes) }

// get returns a register with a word: its home, or the given one.
func (p *part) get(word int, spare reg) reg {
	if inRegister(word) {
		return x9 + reg(word)
	}
	p.ldr(p.uses(spare), sp, p.slot(word))
	return spare
}

// target returns the register in which a word is computed; put stores it.
func (p *part) target(word int, spare reg) reg {
	if inRegister(word) {
		return p.uses(x9 + reg(word))
	}
	return p.uses(spare)
}

func (p *part) put(word int, x reg) {
	if !inRegister(word) {
		p.str(x, sp, p.slot(word))
	} else if home := x9 + reg(word); home != x {
		p.mov(p.uses(home), x)
	}
}

// move copies a word.
func (p *part) move(to, from int) { p.put(to, p.get(from, x16)) }

// constant stores a constant.
func (p *part) constant(word int, v uint64) {
	x := p.target(word, x16)
	p.movImm(x, v)
	p.put(word, x)
}

// temp returns the number of a scratch word.
func (p *part) temp(n uint32) int { return p.plan.MaxDepth + int(n) }

// signConds are the conditions of jumps that compare a word with 0.
var signConds = map[opcode.Op]cond{opcode.Jz: condEQ, opcode.Jnz: condNE, opcode.Jlt: condLT, opcode.Jle: condLE, opcode.Jgt: condGT, opcode.Jge: condGE}

// execute makes the code of one operation, with a number of words on the stack. Fits and the plan have checked its operands.
func (p *part) execute(in *runtime.Inst, depth int) {
	top := depth - 1
	if c, ok := signConds[in.Op]; ok {
		p.jump(c, p.get(top, x16), p.blocks[int(in.A)])
		return
	}
	switch in.Op {
	case opcode.Nop:
	case opcode.Jmp:
		p.b(p.blocks[int(in.A)])
	case opcode.Loop:
		x := p.get(top, x16)
		p.subImm(p.uses(x), x, 1)
		p.put(top, x)
		p.cbnz(x, p.blocks[int(in.A)])
	case opcode.Exit:
		p.b(p.done)
	case opcode.Abort:
		p.b(p.abort)
	case opcode.PushR, opcode.Arg, opcode.Retval, opcode.Field:
		x := p.target(depth, x16)
		p.context(x, in)
		p.put(depth, x)
	case opcode.PushGV, opcode.PopGV, opcode.AddGV, opcode.IncGV, opcode.DecGV, opcode.FetchAddGV:
		p.variable(in.Op, depth)
	case opcode.Agg:
		p.aggregate(p.get(top, x17))
	default:
		if !p.moves(in, depth) {
			p.calculate(in, depth)
		}
	}
}

// jump jumps if a register, compared with 0, fulfils a condition.
func (p *part) jump(c cond, x reg, to label) {
	switch c {
	case condEQ:
		p.cbz(x, to)
	case condNE:
		p.cbnz(x, to)
	default:
		p.cmpZero(x)
		p.bIf(c, to)
	}
}

// moves makes the code of operations that move words; false if the operation is another one.
func (p *part) moves(in *runtime.Inst, depth int) bool {
	top := depth - 1
	switch in.Op {
	case opcode.PushD:
		p.constant(depth, in.V)
	case opcode.Dup:
		p.move(depth, top)
	case opcode.DupN:
		for i := range int(in.A) {
			p.move(depth+i, top)
		}
	case opcode.Xchg:
		a, b := p.get(top-1, x16), p.get(top, x17)
		p.mov(p.uses(x15), a)
		p.put(top-1, b)
		p.put(top, x15)
	case opcode.Over:
		p.move(depth, top-1)
	case opcode.Drop:
	case opcode.Pick:
		p.move(depth, top-int(in.A))
	case opcode.Poke:
		p.move(top-int(in.A), top)
	case opcode.Depth:
		p.constant(depth, uint64(depth))
	case opcode.PushTV:
		p.move(depth, p.temp(in.A))
	case opcode.PopTV:
		p.move(p.temp(in.A), top)
	default:
		return false
	}
	return true
}

// context loads what is in registers, or the same at every hit of the place.
func (p *part) context(x reg, in *runtime.Inst) {
	switch in.Op {
	case opcode.PushR:
		p.register(x, in.V)
	case opcode.Arg:
		p.original(x, x0+reg(in.A&0xffff))
	case opcode.Retval:
		p.original(x, x0)
	case opcode.Field:
		switch runtime.Field(in.A) {
		case runtime.FieldPid:
			p.movImm(x, uint64(p.site.Pid))
		case runtime.FieldPC:
			p.movImm(x, p.site.Place)
		default: // the stack pointer
			p.original(x, sp)
		}
	}
}

// register loads a register or a part of it. The operand is packed as Code has it: index<<16 | shift<<8 | width.
func (p *part) register(x reg, operand uint64) {
	width, shift, index := uint32(operand&0xff), uint32(operand>>8&0xff), operand>>16
	if index == filePC {
		p.movImm(x, p.site.Place)
	} else {
		p.original(x, reg(index))
	}
	switch {
	case shift >= 64:
		p.movImm(x, 0)
	case shift > 0:
		p.shr(x, x, shift)
	}
	if width > 0 && width < 64 {
		p.low(x, x, width, false)
	}
}

// variable makes the code of operations on a shared variable.
func (p *part) variable(op opcode.Op, depth int) {
	top := depth - 1
	p.arena(x16, p.plan.Ops[p.pc].Object.Word)
	switch op {
	case opcode.PushGV:
		x := p.target(depth, x17)
		p.ldar(x, x16)
		p.put(depth, x)
	case opcode.PopGV:
		p.stlr(p.get(top, x17), x16)
	case opcode.AddGV:
		p.atomicAdd(x16, p.get(top, x17), p.unwanted())
	case opcode.IncGV:
		p.movImm(x17, 1)
		p.atomicAdd(x16, x17, p.unwanted())
	case opcode.DecGV:
		p.movImm(x17, ^uint64(0))
		p.atomicAdd(x16, x17, p.unwanted())
	case opcode.FetchAddGV:
		v := p.get(top, x17)
		p.atomicAdd(x16, v, p.uses(x15))
		p.put(top, x15)
	}
}
