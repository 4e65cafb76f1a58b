package amd64

import (
	"gotap/runtime"
	"gotap/runtime/calls"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/opcode"
	"gotap/runtime/record"
)

// execute makes the code of one native operation. The plan has checked its operands.
func (p *part) execute(in *runtime.Inst) {
	if jumps, ok := p.plan.Decided(p.pc); ok {
		p.decided(in, jumps)
		return
	}
	switch in.Op {
	case opcode.Nop:
	case opcode.Jmp:
		p.goOn(int(in.A))
	case opcode.Loop:
		p.loop(in)
	case opcode.Exit:
		if len(p.plan.Ops[p.pc].Log.Items) > 0 && p.index%2 == 1 { // nobody sees what a predicate logs
			p.commit(in)
		}
		p.endAt(p.done)
	case opcode.Abort:
		p.endAt(p.abort)
	case opcode.PushR, opcode.Arg, opcode.ArgF, opcode.Retval, opcode.Field:
		p.context(in)
	case opcode.PushGV, opcode.PopGV, opcode.AddGV, opcode.IncGV, opcode.DecGV, opcode.FetchAddGV:
		p.variable(in.Op)
	case opcode.PushLV, opcode.PopLV, opcode.AddLV:
		p.array(in.Op)
	case opcode.LogInt, opcode.LogFloat:
		p.log.fits(8)
		p.field()
	case opcode.LogText:
		p.log.textField()
	case opcode.Item: // the plan knows where items begin and end
		p.log.fits(record.ItemHeader)
	case opcode.EndItem:
	case opcode.PushThis, opcode.PopThis:
		p.frames.storage(in)
	case opcode.PushPT, opcode.PopPT, opcode.AddPT:
		p.perThread(in)
	case opcode.Load8, opcode.Load16, opcode.Load32, opcode.Load64, opcode.LoadPtr, opcode.LoadS8, opcode.LoadS16, opcode.LoadS32, opcode.LoadF32:
		p.read(in)
	case opcode.Readable:
		p.probe()
	case opcode.Str:
		if _, compares := p.plan.Comparison(p.pc); compares {
			p.compareText()
		} else {
			p.texts.copyText()
		}
	case opcode.Bytes:
		p.texts.copyBytes()
	case opcode.Hash:
		p.texts.hash()
	case opcode.Sdec, opcode.Sudec, opcode.Shex:
		p.texts.digits(in.Op)
	case opcode.Scat:
		p.texts.join()
	case opcode.PushThisS:
		p.texts.pushThis(asm.At(p.frame, int32(calls.ThisAt+in.A)))
	case opcode.PopThisS:
		p.texts.popThis(asm.At(p.frame, int32(calls.ThisAt+in.A)))
	case opcode.PushS, opcode.Text:
		text, _ := p.plan.Text(p.pc)
		p.pushConst(uint64(text.Ref))
	case opcode.Scmp, opcode.Seq, opcode.Sprefix, opcode.Slen:
		p.lookAtTexts(in.Op)
	case opcode.KeyInt:
		p.tables.addToKey()
	case opcode.KeyText:
		p.tables.addTextToKey()
	case opcode.AggFloat:
		p.aggregateFloat()
	case opcode.Agg, opcode.MapGet, opcode.MapGetS, opcode.MapHas, opcode.MapSet, opcode.MapAdd, opcode.MapDel:
		if p.key.begun {
			p.tables.useKey(in.Op)
		} else {
			p.aggregate()
		}
	default:
		if c, ok := signConds[in.Op]; ok {
			p.jumpOnSign(c, int(in.A))
		} else if native.IsFloat(in.Op) {
			p.calculateFloat(in.Op)
		} else if !p.moves(in) {
			p.calculate(in)
		}
	}
}

// moves makes the code of operations that move words; false if the operation is another one.
func (p *part) moves(in *runtime.Inst) bool {
	top := len(p.stack) - 1
	switch in.Op {
	case opcode.PushD:
		p.pushConst(in.V)
	case opcode.Dup:
		p.copyOf(top)
	case opcode.DupN:
		for range in.A {
			p.copyOf(top)
		}
	case opcode.Xchg:
		p.exchange()
	case opcode.Over:
		p.copyOf(top - 1)
	case opcode.Drop:
		p.stack = p.stack[:len(p.stack)-int(in.A)]
	case opcode.Pick:
		p.copyOf(top - int(in.A))
	case opcode.Poke:
		p.poke(top - int(in.A))
	case opcode.Depth:
		p.pushConst(uint64(len(p.stack)))
	case opcode.PushTV:
		p.pushWord(word{temporary, uint64(in.A)})
	case opcode.PopTV:
		p.assign(in.A)
	default:
		return false
	}
	return true
}

// context pushes what is in registers, or the same at every hit of the place.
func (p *part) context(in *runtime.Inst) {
	switch in.Op {
	case opcode.PushR:
		p.pushRegister(in.V)
	case opcode.Arg:
		if n := int(in.A & 0xffff); n < len(args) {
			p.pushOriginal(args[n])
		} else {
			p.frames.stackWord(1 + n - len(args))
		}
	case opcode.ArgF:
		p.resultFloat(asm.Reg(in.A & 0xffff))
	case opcode.Retval:
		p.pushOriginal(asm.RAX)
	case opcode.Field:
		switch runtime.Field(in.A) {
		case runtime.FieldPid:
			p.pushConst(uint64(p.site.Pid))
		case runtime.FieldPC:
			p.pushConst(p.site.Place)
		case runtime.FieldSP, runtime.FieldFrame:
			x := p.target()
			p.stackPointer(x)
			p.result(x)
		case runtime.FieldTid:
			p.frames.tid()
		case runtime.FieldErrno:
			p.frames.errno(p.plan.Place.Errno)
		case runtime.FieldCaller:
			p.frames.stackWord(0)
		case runtime.FieldTime:
			p.now()
			p.keepTime()
			p.result(asm.RAX)
		case runtime.FieldElapsed:
			p.now()
			p.keepTime()
			p.Alu(asm.Sub, asm.R(asm.RAX), asm.At(p.frame, calls.TimeAt))
			p.result(asm.RAX)
		}
	}
}

// stackPointer loads the stack pointer at the place into a register.
func (s *words) stackPointer(x asm.Reg) { s.Lea(x, asm.At(asm.RSP, int32(s.below))) }

// pushRegister pushes a register or a part of it. The operand is packed as Code has it: index<<16 | shift<<8 | width.
func (p *part) pushRegister(operand uint64) {
	width, shift := operand&0xff, operand>>8&0xff
	if width == 0 {
		width = 64
	}
	from, ok := general(operand >> 16)
	vector, isVector := lowHalf(operand >> 16)
	switch {
	case !ok && !isVector: // the program counter
		p.pushConst(p.site.Place >> shift & (1<<width - 1))
	case shift >= 64:
		p.pushConst(0)
	case isVector:
		x := p.target()
		p.MovWord(x, vector)
		p.cutOf(x, shift, width)
	case shift == 0 && width >= 64 && from != asm.RSP:
		p.pushOriginal(from)
	case from == asm.RSP:
		x := p.target()
		p.stackPointer(x)
		p.cutOf(x, shift, width)
	default:
		p.partOf(word{original, uint64(from)}, shift, width)
	}
}

// partOf pushes some bits of a word, from shift on.
func (p *part) partOf(w word, shift, width uint64) {
	x := p.target()
	p.load(x, w)
	p.cutOf(x, shift, width)
}

// cutOf pushes some bits of what is in the register of the result.
func (p *part) cutOf(x asm.Reg, shift, width uint64) {
	if shift > 0 {
		p.Shift(asm.Shr, asm.R(x), byte(shift))
	}
	if width < 64 {
		p.keepLow(x, int(width), false)
	}
	p.result(x)
}

// variable makes the code of operations on a shared variable.
func (p *part) variable(op opcode.Op) {
	v := p.arena(p.plan.Ops[p.pc].Object.Word)
	switch op {
	case opcode.PushGV:
		x := p.target()
		p.Mov(asm.R(x), v)
		p.result(x)
	case opcode.PopGV:
		p.store(v, p.popWord())
	case opcode.AddGV:
		p.atomicAdd(v, p.popWord())
	case opcode.IncGV:
		p.LockInc(v)
	case opcode.DecGV:
		p.LockDec(v)
	case opcode.FetchAddGV:
		w := p.popWord()
		x := p.target()
		p.load(x, w)
		p.LockXadd(v, x)
		p.result(x)
	}
}

// store stores a word in memory.
func (s *words) store(to asm.Operand, w word) {
	if s.isConst32(w) {
		s.StoreImm(to, int32(w.n))
		return
	}
	s.Mov(to, asm.R(s.register(w, asm.RAX)))
}

// atomicAdd adds a word to memory.
func (s *words) atomicAdd(to asm.Operand, w word) {
	if s.isConst32(w) {
		s.LockAddImm(to, int32(w.n))
		return
	}
	s.LockAdd(to, s.register(w, asm.RAX))
}

// array makes the code of operations on an element of an array. The index is on top.
func (p *part) array(op opcode.Op) {
	e := p.element()
	p.popWord()
	switch op {
	case opcode.PushLV:
		x := p.target()
		p.Mov(asm.R(x), e)
		p.result(x)
	case opcode.PopLV:
		p.store(e, p.popWord())
	case opcode.AddLV:
		p.atomicAdd(e, p.popWord())
	}
}

// element returns the element that the top word selects; it uses rcx and rdx. An index out of range rings.
func (p *part) element() asm.Operand {
	l, i := p.plan.Ops[p.pc].Object, p.stack[len(p.stack)-1]
	size := uint64(l.Object.Size)
	if i.kind == constant {
		if i.n >= size {
			p.Jmp(p.bell())
			return p.arena(0)
		}
		return p.arena(l.Cells[0] + 8*i.n)
	}
	x := p.register(i, asm.RDX)
	p.AluImm(asm.Cmp, asm.R(x), int32(size))
	p.Jcc(asm.AE, p.bell())
	p.Lea(p.used(asm.RCX), p.arena(l.Cells[0]))
	return asm.Element(asm.RCX, x)
}
