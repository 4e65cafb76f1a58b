package amd64

import (
	"slices"

	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/opcode"
)

// part makes the code of one program or predicate: its operations in their order, and the ways between them. What it is
// made of are the words of the operand stack (type words), the doorbells (type doorbells), and the components below,
// each of which makes the code of one kind of operation.
type part struct {
	doorbells
	frames frames       // of calls
	cells  cells        // of aggregations
	tables tables       // of maps, and of variables that each thread has
	memory memoryCheck  // of memory that programs read
	log    recordWriter // of what programs log
	texts  texts        // that are made when programs run

	needs   usage       // what is saved
	outer   int         // below, before the prologue
	labels  []asm.Label // of operations that begin a block
	states  [][]word    // the stack at the begin of blocks that one way leads to
	logs    [][]word    // the same for the fields of the log
	skipped []bool      // operations that jumps to them have left out
	abort   asm.Label   // the program has aborted
	live    bool        // control arrives from the operation before
}

// homeOrder is the order in which registers become homes. rax, rcx and rdx are none.
var homeOrder = [...]asm.Reg{asm.R11, asm.R10, asm.R9, asm.R8, asm.RDI, asm.RSI, asm.RBX, asm.RBP, asm.R12, asm.R13, asm.R14, asm.R15}

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
	p := &part{needs: e.needs[index], labels: make([]asm.Label, n), states: make([][]word, n), logs: make([][]word, n), skipped: make([]bool, n)}
	p.words = words{emitter: e, index: index, homes: make([]home, plan.MaxDepth), temps: make([]home, plan.Temps)}
	p.plan, p.abandoned = plan, e.NewLabel()
	p.frames.doorbells, p.cells.words, p.memory.words = &p.doorbells, &p.words, &p.words
	p.tables.doorbells, p.tables.cells, p.tables.texts = &p.doorbells, &p.cells, &p.texts
	p.log.doorbells, p.log.frames = &p.doorbells, &p.frames
	p.texts.doorbells, p.texts.check, p.log.texts = &p.doorbells, &p.memory, &p.texts
	p.log.memory = &p.memory
	for pc := range plan.Ops {
		p.labels[pc] = e.NewLabel()
	}
	if index%2 == 1 {
		p.frames.call = e.programs[index/2].Call
	}
	p.assignHomes()
	return p
}

// assignHomes gives homes to the counter, to the lowest words of the stack, to scratch words, and to the rest of the
// stack. Registers that the program reads come last, so that they mostly keep their values.
func (p *part) assignHomes() {
	read := readBy(p.plan)
	order := slices.Clone(homeOrder[:])
	if p.tables.swapsPairs() {
		order = slices.DeleteFunc(order, func(x asm.Reg) bool { return x == asm.RBX })
	}
	slices.SortStableFunc(order, func(a, b asm.Reg) int { return int(read>>a&1) - int(read>>b&1) })
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
	} else if g := p.programs[p.index/2].Gate; p.index%2 == 0 && p.sharesGate(g) || p.index%2 == 1 && p.countsInShares(g) {
		p.stackOf = next().reg
	}
	logs := p.plan.Fields > 0 || slices.ContainsFunc(p.plan.Ops, func(op native.Op) bool { return op.Log != nil && len(op.Log.Items) > 0 })
	if logs {
		p.log.record = next().reg
	}
	if p.plan.Chooses() {
		p.texts.from, p.texts.to, p.texts.left = next().reg, next().reg, next().reg
	}
	own := slices.ContainsFunc(p.plan.Ops, func(op native.Op) bool { return op.Own })
	if own || slices.ContainsFunc(p.plan.Ops, func(op native.Op) bool { return op.Key || op.Rings }) {
		p.cells.search = searchRegs{next().reg, next().reg, next().reg, next().reg}
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
	if usesVectors(p.plan) {
		p.vectors = &home{slot: p.slots, onSlot: true}
		p.slots += vectorSlots
	}
	if n := p.plan.Texts / 8; n > 0 {
		p.memoryOfTexts = &textMemory{home{slot: p.slots, onSlot: true}, home{slot: p.slots + 1, onSlot: true}, p.slots + 2, p.plan.Texts}
		p.slots += 2 + n
	}
	if logs && p.plan.ReadsTime() || p.plan.RepeatsTime() {
		p.time = &home{slot: p.slots, onSlot: true}
		p.slots++
	}
	for range p.plan.Fields {
		p.fields = append(p.fields, home{slot: p.slots, onSlot: true})
		p.slots++
	}
}

// usesCalls reports whether the part uses the thread's stack of calls.
func (p *part) usesCalls() bool {
	return p.frames.call != nil || slices.ContainsFunc(p.plan.Ops, func(op native.Op) bool { return op.Thread })
}

// readBy returns the registers that the native operations of a program read.
func readBy(plan *native.Plan) (set regSet) {
	for pc := range plan.Ops {
		if plan.Ops[pc].Verdict != native.Native {
			continue
		}
		switch in := &plan.Insts[pc]; in.Op {
		case opcode.Arg:
			if n := int(in.A & 0xffff); n < len(args) {
				set.add(args[n])
			}
		case opcode.Retval:
			set.add(asm.RAX)
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
	for x := range asm.NumRegs {
		if p.pushes(x) {
			p.Push(x)
			p.below += 8
			p.saved[x] = p.below
		}
	}
	if p.needs.slots > 0 {
		p.Lea(asm.RSP, asm.At(asm.RSP, int32(-8*p.needs.slots)))
		p.below += 8 * p.needs.slots
	}
	p.saveVectors()
	p.texts.begin()
	if p.plan.Counted {
		p.setHome(p.counter, word{constant, uint64(p.plan.Fuel)})
	}
	if p.plan.RepeatsTime() {
		p.setHome(*p.time, word{constant, 0})
	}
}

// pushes reports whether the prologue saves a register, unless the stub has saved it already.
func (p *part) pushes(x asm.Reg) bool { return p.needs.regs.has(x) && p.savedAt[x] == 0 }

// epilogue undoes the prologue. It may be emitted several times.
func (p *part) epilogue() {
	p.restoreVectors()
	if p.needs.slots > 0 {
		p.Lea(asm.RSP, asm.At(asm.RSP, int32(8*p.needs.slots)))
	}
	for x := range asm.NumRegs {
		if last := asm.NumRegs - 1 - x; p.pushes(last) {
			p.Pop(last)
		}
	}
}

// close ends the part: what follows has the stack pointer from before the prologue. Behind the tail it leaves the way
// that threads take whose doorbell nobody answers.
func (p *part) close() {
	p.below = p.outer
	if !p.rings {
		return
	}
	p.cold = append(p.cold, func() {
		p.Place(p.abandoned)
		p.epilogue()
		p.Jmp(p.end)
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
			p.Jmp(p.bell())
			p.live = false
			continue
		}
		p.marked()
		p.execute(&p.plan.Insts[p.pc])
		p.executed++
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
	p.Place(p.labels[p.pc])
	p.live, p.assigned, p.timeKept = true, op.Assigned, false
	p.length, p.executed = op.Length, 0
	if p.plan.Counted && op.Length > 0 {
		p.AluImm(asm.Sub, p.homeOperand(p.counter), int32(op.Length))
		if p.plan.Limited {
			p.Jcc(asm.B, p.bell())
		}
	}
}

// leadsTo notes that control can jump from here to an operation that begins a block, and returns where to jump. An
// operation that only ends the program is left out, unless its step has to be counted.
func (p *part) leadsTo(pc int) asm.Label {
	if p.onlyEnds(pc) {
		p.skipped[pc] = !p.plan.Ops[pc].Join
		if p.plan.Insts[pc].Op == opcode.Abort {
			return p.abort
		}
		return p.done
	}
	p.fallsTo(pc)
	return p.labels[pc]
}

// onlyEnds reports whether jumps to an operation lead to the end of the program.
func (p *part) onlyEnds(pc int) bool {
	op := p.plan.Insts[pc].Op
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
func (p *part) branch(c asm.Cond, to int) {
	p.settleFor(p.pc+1, to)
	p.Jcc(c, p.leadsTo(to))
	p.fallsTo(p.pc + 1)
}

// decided goes on the only way that leads on from a conditional jump.
func (p *part) decided(in *runtime.Inst, jumps bool) {
	p.popWord()
	if jumps {
		p.goOn(int(in.A))
		return
	}
	p.settleFor(p.pc+1, p.pc+1)
	p.fallsTo(p.pc + 1)
}

// endAt jumps to where the program ends.
func (p *part) endAt(l asm.Label) {
	p.Jmp(l)
	p.live = false
}

// goOn is a jump without a condition.
func (p *part) goOn(to int) {
	p.settleFor(to, to)
	p.Jmp(p.leadsTo(to))
	p.live = false
}

// loop decrements the top word, and jumps while it is not 0.
func (p *part) loop(in *runtime.Inst) {
	top := len(p.stack) - 1
	p.toHome(top)
	p.settleFor(p.pc+1, int(in.A))
	p.Dec(p.written(p.homes[top]))
	p.Jcc(asm.NE, p.leadsTo(int(in.A)))
	p.stack = p.stack[:top]
	p.fallsTo(p.pc + 1)
}
