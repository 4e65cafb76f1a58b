package amd64

import (
	"slices"

	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
)

// part makes the code of one program or predicate.
//
// The operand stack exists only while code is made: each of its words is a constant, a register of the target, a scratch
// word, or lies in its home. Results are computed in the home of their place on the stack, which is a register if there
// are enough. Where ways join, all words are in their homes.
//
// rax, rcx and rdx belong to single operations, and rbx where pairs are swapped. Their values at the place are read from where they were saved.
type part struct {
	*emitter
	plan  *native.Plan
	index int   // in emitter.needs
	needs usage // what is saved

	outer   int          // below, before the prologue
	homes   []home       // by index on the stack
	temps   []home       // of scratch words
	counter home         // of the steps left
	stackOf reg          // the address of the thread's stack of calls, if it is used
	frame   reg          // the address of the call's frame, once there is one
	thread  home         // the number of the thread, while a variable of its own is searched
	record  reg          // the address of the record in the ring, while it is written
	fields  []home       // of the log
	framed  bool         // there is one
	call    *Call        // nil: no call begins or ends
	slots   int          // homes on the target's stack
	labels  []label      // of operations that begin a block
	states  [][]word     // the stack at the begin of blocks that one way leads to
	logs    [][]word     // the same for the fields of the log
	skipped []bool       // operations that jumps to them have left out
	saved   [numRegs]int // like emitter.savedAt

	done      label // the program has ended
	abort     label // it has aborted
	resume    label // the interpreter has ended it
	abandoned label // nobody answers a doorbell

	pc       int
	live     bool // control arrives from the operation before
	stack    []word
	logged   []word // the fields of the log
	assigned native.TempSet
	length   int     // of the current block
	executed int     // operations of it
	rings    bool    // there are doorbells
	reading  *ReadOf // what the doorbell that is being made is for; nil: no read

	key    keyed
	search searchRegs
}

// home is a place for a word: a register, or a slot on the target's stack.
type home struct {
	reg    reg
	slot   int
	onSlot bool
}

// homeOrder is the order in which registers become homes. rax, rcx and rdx are none.
var homeOrder = [...]reg{r11, r10, r9, r8, rdi, rsi, rbx, rbp, r12, r13, r14, r15}

// stackFirst is the number of stack words that get a register before scratch words do.
const stackFirst = 4

// noProgram is the plan of a call whose beginning is only recorded.
var noProgram = &native.Plan{}

// newPart returns the part at an index of emitter.needs.
func (e *emitter) newPart(index int, plan *native.Plan) *part {
	if plan == nil {
		plan = noProgram
	}
	n := len(plan.Ops)
	p := &part{emitter: e, plan: plan, index: index, needs: e.needs[index], abandoned: e.newLabel(),
		labels: make([]label, n), states: make([][]word, n), logs: make([][]word, n), skipped: make([]bool, n), homes: make([]home, plan.MaxDepth), temps: make([]home, plan.Temps)}
	for pc := range plan.Ops {
		p.labels[pc] = e.newLabel()
	}
	if index%2 == 1 {
		p.call = e.programs[index/2].Call
	}
	p.assignHomes()
	return p
}

// assignHomes gives homes to the counter, to the lowest words of the stack, to scratch words, and to the rest of the
// stack. Registers that the program reads come last, so that they mostly keep their values.
func (p *part) assignHomes() {
	read := readBy(p.plan)
	order := slices.Clone(homeOrder[:])
	if p.swapsPairs() {
		order = slices.DeleteFunc(order, func(x reg) bool { return x == rbx })
	}
	slices.SortStableFunc(order, func(a, b reg) int { return int(read>>a&1) - int(read>>b&1) })
	next := func() home {
		if len(order) == 0 {
			p.slots++
			return home{slot: p.slots - 1, onSlot: true}
		}
		x := order[0]
		order = order[1:]
		return home{reg: x}
	}
	if p.plan.Counted {
		p.counter = next()
	}
	if p.usesCalls() {
		p.stackOf, p.frame = next().reg, next().reg
	}
	if p.plan.Fields > 0 || slices.ContainsFunc(p.plan.Ops, func(op native.Op) bool { return op.Log != nil && len(op.Log.Items) > 0 }) {
		p.record = next().reg
	}
	own := slices.ContainsFunc(p.plan.Ops, func(op native.Op) bool { return op.Own })
	if own || slices.ContainsFunc(p.plan.Ops, func(op native.Op) bool { return op.Key || op.Rings }) {
		p.search = searchRegs{next().reg, next().reg, next().reg, next().reg}
	}
	first := min(stackFirst, len(p.homes))
	for i := range first {
		p.homes[i] = next()
	}
	for i := range p.temps {
		p.temps[i] = next()
	}
	for i := first; i < len(p.homes); i++ {
		p.homes[i] = next()
	}
	if own {
		p.thread = next()
	}
	for range p.plan.Fields {
		p.fields = append(p.fields, home{slot: p.slots, onSlot: true})
		p.slots++
	}
}

// usesCalls reports whether the part uses the thread's stack of calls.
func (p *part) usesCalls() bool {
	return p.call != nil || slices.ContainsFunc(p.plan.Ops, func(op native.Op) bool { return op.Thread })
}

// readBy returns the registers that the native operations of a program read.
func readBy(plan *native.Plan) (set regSet) {
	for pc := range plan.Ops {
		if plan.Ops[pc].Verdict != native.Native {
			continue
		}
		switch in := &plan.Code.Insts[pc]; in.Op {
		case opcode.Arg:
			set.add(args[in.A&0xffff])
		case opcode.Retval:
			set.add(rax)
		case opcode.PushR:
			if x, ok := general(in.V >> 16); ok {
				set.add(x)
			}
		}
	}
	return set
}

// prologue saves the registers that the part uses, and makes room for slots.
func (p *part) prologue() {
	p.outer, p.saved = p.below, p.savedAt
	for x := range numRegs {
		if p.pushes(x) {
			p.push(x)
			p.below += 8
			p.saved[x] = p.below
		}
	}
	if p.needs.slots > 0 {
		p.lea(rsp, at(rsp, int32(-8*p.needs.slots)))
		p.below += 8 * p.needs.slots
	}
	if p.plan.Counted {
		p.setHome(p.counter, word{constant, uint64(p.plan.Fuel)})
	}
}

// pushes reports whether the prologue saves a register, unless the stub has saved it already.
func (p *part) pushes(x reg) bool { return p.needs.regs.has(x) && p.savedAt[x] == 0 }

// epilogue undoes the prologue. It may be emitted several times.
func (p *part) epilogue() {
	if p.needs.slots > 0 {
		p.lea(rsp, at(rsp, int32(8*p.needs.slots)))
	}
	for x := range numRegs {
		if last := numRegs - 1 - x; p.pushes(last) {
			p.pop(last)
		}
	}
}

// close ends the part: what follows has the stack pointer from before the prologue. Behind the tail it leaves the way that
// threads take whose doorbell nobody answers.
func (p *part) close() {
	p.below = p.outer
	if !p.rings {
		return
	}
	p.cold = append(p.cold, func() {
		p.place(p.abandoned)
		p.epilogue()
		p.jmp(p.end)
	})
}

// body makes the code of all operations that are reached, in their order.
func (p *part) body() {
	for p.pc = 0; p.pc < len(p.plan.Ops); p.pc++ {
		op := &p.plan.Ops[p.pc]
		if op.Verdict == native.Unreached || p.skipped[p.pc] {
			continue
		}
		if op.Block {
			p.begin(op)
		}
		if op.Verdict == native.Doorbell {
			p.jmp(p.bell())
			p.live = false
			continue
		}
		p.marked()
		p.execute(&p.plan.Code.Insts[p.pc])
		p.executed++
	}
}

// marked calls mark for the current operation.
func (p *part) marked() {
	if p.mark != nil {
		p.mark(p.asm, &p.plan.Code.Insts[p.pc])
	}
}

// begin begins a block, and counts its steps.
func (p *part) begin(op *native.Op) {
	if op.Join {
		if p.live {
			p.settle()
		}
		p.stack, p.logged = p.stack[:0], p.logged[:0]
		for i := range op.Depth {
			p.stack = append(p.stack, word{atHome, uint64(i)})
		}
		for i := range op.Log.Fields {
			p.logged = append(p.logged, word{inField, uint64(i)})
		}
	} else {
		p.stack, p.logged = append(p.stack[:0], p.states[p.pc]...), append(p.logged[:0], p.logs[p.pc]...)
	}
	p.place(p.labels[p.pc])
	p.live, p.assigned = true, op.Assigned
	p.length, p.executed = op.Length, 0
	if p.plan.Counted && op.Length > 0 {
		p.aluImm(opSub, p.homeOperand(p.counter), int32(op.Length))
		if p.plan.Limited {
			p.jcc(condB, p.bell())
		}
	}
}

// bell makes a doorbell before the current operation and returns its label.
func (p *part) bell() label { return p.bellAt(p.pc, p.executed, p.stack) }

// bellAt makes a doorbell before an earlier operation of the block, at which the given number of its operations had been
// executed and the stack was as given.
func (p *part) bellAt(pc, executed int, stack []word) label {
	d := p.newBell()
	d.PC, d.steps = uint32(pc), uint64(p.plan.Ops[pc].Steps)
	for _, w := range stack {
		d.Stack = append(d.Stack, p.locate(w))
	}
	for i := range p.temps {
		w := Word{}
		if p.assigned.Has(uint32(i)) {
			w = p.locate(word{temporary, uint64(i)})
		}
		d.Temps = append(d.Temps, w)
	}
	d.program, d.log = p.plan.Code.ID, p.plan.Ops[pc].Log
	for _, w := range p.logged[:d.log.Fields] {
		d.fields = append(d.fields, p.locate(w))
	}
	if p.plan.Counted {
		left := p.locateOperand(p.homeOperand(p.counter))
		d.steps, d.left = uint64(p.plan.Fuel-p.length+executed), &left
	}
	p.hang(&d)
	return d.at
}

// newBell returns a doorbell of the part, without the words of the program.
func (p *part) newBell() Doorbell {
	d := Doorbell{Program: p.index / 2, When: p.index%2 == 0, Below: p.below, Flags: -1, Reads: p.reading, at: p.newLabel(), resume: p.resume, pass: p.done}
	if p.flagsAt > 0 {
		d.Flags = p.below - p.flagsAt
	}
	for x := range numRegs {
		if p.saved[x] > 0 {
			d.Saved = append(d.Saved, Saved{int(fileIndex[x]), p.below - p.saved[x]})
		}
	}
	if p.framed {
		d.Call, d.frame = InCall, p.locateOperand(r(p.frame))
	}
	return d
}

// hang makes the code of a doorbell, behind the tail.
func (p *part) hang(d *Doorbell) {
	p.rings = true
	p.cold = append(p.cold, func() {
		p.place(d.at)
		p.int3()
		p.jmp(p.abandoned)
		p.bells = append(p.bells, *d)
	})
}

// locate describes where a word lies.
func (p *part) locate(w word) Word {
	if w.kind == constant {
		return Word{Constant, w.n}
	}
	return p.locateOperand(p.operandOf(w))
}

func (p *part) locateOperand(o operand) Word {
	if o.isReg() {
		return Word{Register, uint64(fileIndex[o.reg])}
	}
	return Word{Memory, uint64(o.disp)}
}

// leadsTo notes that control can jump from here to an operation that begins a block, and returns where to jump. An
// operation that only ends the program is left out, unless its step has to be counted.
func (p *part) leadsTo(pc int) label {
	if p.onlyEnds(pc) {
		p.skipped[pc] = !p.plan.Ops[pc].Join
		if p.plan.Code.Insts[pc].Op == opcode.Abort {
			return p.abort
		}
		return p.done
	}
	p.fallsTo(pc)
	return p.labels[pc]
}

// onlyEnds reports whether jumps to an operation lead to the end of the program.
func (p *part) onlyEnds(pc int) bool {
	op := p.plan.Code.Insts[pc].Op
	if log := p.plan.Ops[pc].Log; op == opcode.Exit && log != nil && len(log.Items) > 0 {
		return false
	}
	return p.plan.Ops[pc].Verdict == native.Native && !p.plan.Counted && (op == opcode.Exit || op == opcode.Abort)
}

// fallsTo notes that control can go on to an operation that begins a block.
func (p *part) fallsTo(pc int) {
	if !p.plan.Ops[pc].Join {
		p.states[pc], p.logs[pc] = slices.Clone(p.stack), slices.Clone(p.logged)
	}
}

// settleFor settles the stack if control goes on to a join, or jumps to one.
func (p *part) settleFor(next, jump int) {
	if p.plan.Ops[next].Join || p.plan.Ops[jump].Join && !p.onlyEnds(jump) {
		p.settle()
	}
}

// branch jumps to an operation on a condition, and otherwise goes on with the next one.
func (p *part) branch(c cond, to int) {
	p.settleFor(p.pc+1, to)
	p.jcc(c, p.leadsTo(to))
	p.fallsTo(p.pc + 1)
}

// endAt jumps to where the program ends.
func (p *part) endAt(l label) {
	p.jmp(l)
	p.live = false
}

// goOn is a jump without a condition.
func (p *part) goOn(to int) {
	p.settleFor(to, to)
	p.jmp(p.leadsTo(to))
	p.live = false
}

// loop decrements the top word, and jumps while it is not 0.
func (p *part) loop(in *runtime.Inst) {
	top := len(p.stack) - 1
	p.toHome(top)
	p.settleFor(p.pc+1, int(in.A))
	p.dec(p.written(p.homes[top]))
	p.jcc(condNE, p.leadsTo(int(in.A)))
	p.stack = p.stack[:top]
	p.fallsTo(p.pc + 1)
}
