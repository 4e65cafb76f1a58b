package arm64

import (
	"gotap/runtime"
	"gotap/runtime/calls"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
	"gotap/runtime/record"
)

// homes is how many words of a program, the first ones, have their home in a register: x9 and those behind it.
const homes = 5

// part makes the code of a predicate or a program. A word is given by its number: words of the operand stack from the
// bottom, behind the deepest stack the scratch words, and the counter of steps. x14 to x17 have no word.
type part struct {
	*emitter
	plan     *native.Plan
	index    int  // of the program, as given to Emit
	when     bool // it is the predicate
	pc       int
	executed int            // operations of the block
	length   int            // all of them
	assigned native.TempSet // scratch words that have been assigned
	call     *native.Call   // that begins or ends; nil: none
	framed   bool           // frameReg has the address of its frame
	probe    uint32         // its number, which records contain
	tables   tables
	frames   callFrames
	writer   recordWriter
	memory   reader
	texts    texts
	floats   floats
	reading  *native.ReadOf // what the doorbell that is being made is for; nil: no read
	key      keyed
	searched []keyWord     // the key that is searched
	blocks   map[int]label // beginnings of blocks
	done     label         // where it continues when the program has ended
	abort    label         // when it has aborted
	resume   label         // when the interpreter has ended it
}

// part makes the code of a part whose plan and labels are set.
func (e *emitter) part(p *part) {
	e.prepare(p)
	p.body()
}

// prepare makes a part ready for its code.
func (e *emitter) prepare(p *part) {
	p.emitter, p.blocks = e, map[int]label{}
	p.tables.part, p.frames.part, p.writer.part, p.memory.part, p.texts.part, p.floats.part = p, p, p, p, p, p
	e.used.slots = max(e.used.slots, p.texts.slots())
	for pc := range p.plan.Ops {
		if p.plan.Ops[pc].Block {
			p.blocks[pc] = e.newLabel()
		}
	}
}

// body makes the code of the part.
func (p *part) body() {
	if usesVectors(p.plan) {
		p.floats.withVectors(p.operations)
		return
	}
	p.operations()
}

// operations makes the code of all operations that are reached, in their order.
func (p *part) operations() {
	if p.plan.Counted {
		p.movImm(x16, uint64(p.plan.Fuel))
		p.store(p.counter(), x16)
	}
	if p.plan.RepeatsTime() {
		p.store(p.timeWord(), xzr)
	}
	p.texts.begin()
	for p.pc = 0; p.pc < len(p.plan.Ops); p.pc++ {
		op := &p.plan.Ops[p.pc]
		if op.Verdict == native.Unreached {
			continue
		}
		if op.Block {
			p.begin(op)
		}
		if op.Verdict == native.Doorbell {
			p.b(p.bell())
			continue
		}
		p.execute(&p.plan.Insts[p.pc], op.Depth)
		p.executed++
	}
}

// begin begins a block, and counts its steps.
func (p *part) begin(op *native.Op) {
	p.place(p.blocks[p.pc])
	p.assigned, p.length, p.executed = op.Assigned, op.Length, 0
	if !p.plan.Counted || op.Length == 0 {
		return
	}
	left := p.load(p.counter(), x16)
	p.movImm(x17, uint64(op.Length))
	if p.plan.Limited {
		p.cmp(left, x17)
	}
	p.sub(p.uses(left), left, x17)
	p.store(p.counter(), left)
	if p.plan.Limited {
		p.bIf(condLO, p.bell())
	}
}

// fieldWord returns the number of the word that keeps a field of the log.
func (p *part) fieldWord(n int) int {
	if n += p.counter(); p.plan.Counted {
		n++
	}
	return n
}

// timeWord is the word with the time that was read last, behind those of the log. It is there if the interpreter may
// have to read the clock once more.
func (p *part) timeWord() int { return p.fieldWord(p.plan.Fields) }

// keepTime keeps the time, which is in x6.
func (p *part) keepTime() {
	if p.plan.RepeatsTime() {
		p.store(p.timeWord(), x6)
	}
}

// inRegister reports whether a word has its home in a register.
func inRegister(word int) bool { return word < homes }

func (p *part) slot(word int) int { return 8 * (word - homes) }

// load returns a register with a word: its home, or the given one. store stores a word.
func (p *part) load(word int, spare reg) reg {
	if inRegister(word) {
		return x9 + reg(word)
	}
	p.ldr(p.uses(spare), sp, p.slot(word))
	return spare
}

func (p *part) store(word int, x reg) {
	if !inRegister(word) {
		p.str(x, sp, p.slot(word))
	} else if home := x9 + reg(word); home != x {
		p.mov(p.uses(home), x)
	}
}

// wordAt returns the word at a position of the stack: that of the same number, unless a key is being built.
func (p *part) wordAt(position int) int {
	if p.key.begun {
		return p.key.at[position]
	}
	return position
}

// get returns a register with the word at a position of the stack.
func (p *part) get(position int, spare reg) reg { return p.load(p.wordAt(position), spare) }

// target returns the register in which a word is computed for a position; put stores it. set does both for a word that
// is in a register.
func (p *part) target(position int, spare reg) reg {
	p.fresh(position)
	if word := p.wordAt(position); inRegister(word) {
		return p.uses(x9 + reg(word))
	}
	return p.uses(spare)
}

func (p *part) put(position int, x reg) { p.store(p.wordAt(position), x) }

func (p *part) set(position int, x reg) {
	p.fresh(position)
	p.put(position, x)
}

// move copies a word from one position to another.
func (p *part) move(to, from int) { p.set(to, p.get(from, x16)) }

// constant puts a constant at a position.
func (p *part) constant(position int, v uint64) {
	x := p.target(position, x16)
	p.movImm(x, v)
	p.put(position, x)
}

// temp returns the number of a scratch word, and counter that of the steps that are left.
func (p *part) temp(n uint32) int { return p.plan.MaxDepth + int(n) }
func (p *part) counter() int      { return p.plan.MaxDepth + p.plan.Temps }

// signConds are the conditions of jumps that compare a word with 0.
var signConds = map[opcode.Op]cond{opcode.Jz: condEQ, opcode.Jnz: condNE, opcode.Jlt: condLT, opcode.Jle: condLE, opcode.Jgt: condGT, opcode.Jge: condGE}

// execute makes the code of one operation, with a number of words on the stack. The plan has checked its operands.
func (p *part) execute(in *runtime.Inst, depth int) {
	top := depth - 1
	if jumps, ok := p.plan.Decided(p.pc); ok {
		if jumps {
			p.b(p.blocks[int(in.A)])
		}
		return
	}
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
		if len(p.plan.Ops[p.pc].Log.Items) > 0 && !p.when { // nobody sees what a predicate logs
			p.writer.commit(in)
		}
		p.b(p.done)
	case opcode.Abort:
		p.b(p.abort)
	case opcode.PushR, opcode.Arg, opcode.ArgF, opcode.Retval, opcode.Field:
		p.context(in, depth)
	case opcode.PushGV, opcode.PopGV, opcode.AddGV, opcode.IncGV, opcode.DecGV, opcode.FetchAddGV:
		p.variable(in.Op, depth)
	case opcode.PushThis, opcode.PopThis, opcode.PushThisS, opcode.PopThisS:
		p.frames.storage(in, depth)
	case opcode.PushPT, opcode.PopPT, opcode.AddPT:
		p.perThread(in, depth)
	case opcode.LogInt, opcode.LogFloat, opcode.LogText:
		p.logField(in.Op, depth)
	case opcode.Item:
		p.writer.fits(record.ItemHeader)
	case opcode.EndItem: // the plan knows where items begin and end
	case opcode.Within:
		p.below(p.get(top, x16), in.V)
	case opcode.PushLV, opcode.PopLV, opcode.AddLV:
		p.array(in.Op, depth)
	case opcode.PushS, opcode.Text:
		text, _ := p.plan.Text(p.pc)
		p.constant(depth, uint64(text.Ref))
	case opcode.Scmp, opcode.Seq, opcode.Sprefix, opcode.Slen, opcode.Hash, opcode.Sdec, opcode.Sudec, opcode.Shex, opcode.Scat, opcode.Str, opcode.Bytes:
		p.texts.calculate(in.Op, depth)
	case opcode.KeyInt, opcode.KeyText:
		p.tables.addToKey(in.Op, depth)
	case opcode.Agg, opcode.MapGet, opcode.MapGetS, opcode.MapHas, opcode.MapSet, opcode.MapAdd, opcode.MapDel:
		if p.key.begun {
			p.tables.useKey(in.Op, depth)
		} else {
			p.aggregate(p.get(top, x17))
		}
	case opcode.AggFloat:
		p.floats.aggregate(depth)
	case opcode.Readable:
		p.memory.probe(depth)
	default:
		if isLoad(in) {
			p.memory.load(in.Op, depth)
			return
		}
		if native.IsFloat(in.Op) {
			p.floats.calculate(in.Op, depth)
			return
		}
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
		p.set(depth, p.load(p.temp(in.A), x16))
	case opcode.PopTV:
		p.store(p.temp(in.A), p.get(top, x16))
		p.assigned.Add(in.A)
	default:
		return false
	}
	return true
}

// context pushes what is in registers, or the same at every hit of the place, and what is known of the thread and the
// time.
func (p *part) context(in *runtime.Inst, depth int) {
	if in.Op == opcode.Field {
		switch runtime.Field(in.A) {
		case runtime.FieldTid:
			p.tid(x6)
			p.set(depth, x6)
			return
		case runtime.FieldTime:
			p.now()
			p.keepTime()
			p.set(depth, x6)
			return
		case runtime.FieldElapsed:
			p.now()
			p.keepTime()
			p.ldr(x7, frameReg, calls.TimeAt)
			p.sub(x6, x6, x7)
			p.set(depth, x6)
			return
		}
	}
	if n := int(in.A & 0xffff); in.Op == opcode.Arg && n >= registerArgs {
		p.memory.stackArg(n-registerArgs, depth)
		return
	}
	x := p.target(depth, x16)
	switch in.Op {
	case opcode.PushR:
		p.register(x, in.V)
	case opcode.Arg:
		p.original(x, x0+reg(in.A&0xffff))
	case opcode.ArgF:
		p.fromFloat(x, reg(in.A&0xffff))
	case opcode.Retval:
		p.original(x, x0)
	case opcode.Field:
		switch runtime.Field(in.A) {
		case runtime.FieldPid:
			p.movImm(x, uint64(p.site.Pid))
		case runtime.FieldPC:
			p.movImm(x, p.site.Place)
		case runtime.FieldCaller:
			p.original(x, linkReg)
		default: // the stack pointer
			p.original(x, sp)
		}
	}
	p.put(depth, x)
}

// register loads a register or a part of it. The operand is packed as Code has it: index<<16 | shift<<8 | width.
func (p *part) register(x reg, operand uint64) {
	width, shift, index := uint32(operand&0xff), uint32(operand>>8&0xff), operand>>16
	if half, ok := lowHalf(index); ok {
		p.fromFloat(x, half)
	} else if index == filePC {
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

// below rings if a register is not below a limit. x17 is changed.
func (p *part) below(x reg, limit uint64) {
	p.movImm(x17, limit)
	p.cmp(x, x17)
	p.bIf(condHS, p.bell())
}

// array makes the code of operations on an element of an array. The index is on top.
func (p *part) array(op opcode.Op, depth int) {
	l, top := p.plan.Ops[p.pc].Object, depth-1
	i := p.get(top, x16)
	p.below(i, uint64(l.Object.Size))
	p.arena(x17, l.Cells[0])
	p.addShifted(x17, x17, i, 3)
	switch op {
	case opcode.PushLV:
		x := p.target(top, x16)
		p.ldar(x, x17)
		p.put(top, x)
	case opcode.PopLV:
		p.stlr(p.get(top-1, x16), x17)
	case opcode.AddLV:
		p.atomicAdd(x17, p.get(top-1, x16), p.unwanted())
	}
}
