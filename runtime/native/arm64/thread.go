package arm64

import (
	"gotap/runtime"
	"gotap/runtime/calls"
	"gotap/runtime/clock"
	"gotap/runtime/opcode"
)

// What programs know of their thread, and the time.

// blockReg has the address of the thread's block in calls.Stacks, as long as an operation needs it.
const blockReg = x4

// How many bits the number of a slot has, and positions of what it and the number of a block count, in bytes.
const (
	slotBits       = 10
	slotSizeShift  = 4
	blockSizeShift = 17
)

// The numbers of slots and blocks fit.
var (
	_ = [1]struct{}{}[calls.Slots-1<<slotBits]
	_ = [1]struct{}{}[calls.SlotSize-1<<slotSizeShift]
	_ = [1]struct{}{}[calls.BlockSize-1<<blockSizeShift]
	_ = [1]struct{}{}[calls.MaxThreads-1<<8]
)

// findBlock loads the address of the thread's block, by the address of the thread's own data. If it has none it jumps
// to unknown. x6 to x8 are used.
func (p *part) findBlock(unknown label) {
	found, next := p.newLabel(), p.newLabel()
	for _, x := range []reg{blockReg, x6, x7, x8} {
		p.uses(x)
	}
	p.word(mrsThread | uint32(x6))
	p.movImm(x7, calls.Multiplier)
	p.mul(x7, x6, x7)
	p.field(x7, x7, calls.SlotShift, slotBits)
	p.arena(x8, p.site.Owners)
	p.addShifted(x8, x8, x7, slotSizeShift)
	p.ldar(x7, x8)
	p.cmp(x7, x6)
	p.bIf(condNE, next)
	p.place(found)
	p.ldr(x7, x8, calls.StackAt)
	p.field(x7, x7, 0, 8)
	p.arena(blockReg, p.site.Stacks)
	p.addShifted(blockReg, blockReg, x7, blockSizeShift)
	p.cold = append(p.cold, func() {
		p.place(next)
		for i := 1; i < calls.Probes; i++ {
			p.addImm(x8, x8, calls.SlotSize)
			p.ldar(x7, x8)
			p.cmp(x7, x6)
			p.bIf(condEQ, found)
		}
		p.b(unknown)
	})
}

// needBlock is findBlock where the part may have found it.
func (p *part) needBlock(unknown label) {
	if p.framed {
		p.mov(p.uses(blockReg), callBlock)
		return
	}
	p.findBlock(unknown)
}

// tid loads the number of the thread, which rings if it has no block.
func (p *part) tid(x reg) {
	p.needBlock(p.bellBefore())
	p.ldr(x, blockReg, calls.TidAt)
}

// ownOps are what operations on the thread's own value of a variable do with the cell of its key.
var ownOps = map[opcode.Op]opcode.Op{opcode.PushPT: opcode.MapGet, opcode.PopPT: opcode.MapSet, opcode.AddPT: opcode.MapAdd}

// perThread makes the code of operations on this thread's value of a variable, which is in a table with the number of
// the thread as the key. A value that is not there yet is the initial one; the interpreter inserts it. While another
// key is built, values are only read.
func (p *part) perThread(in *runtime.Inst, depth int) {
	l := p.plan.Ops[p.pc].Object
	unsure, done := p.bellBefore(), p.newLabel()
	absent := unsure
	if in.Op == opcode.PushPT {
		absent = p.newLabel()
		p.cold = append(p.cold, func() {
			p.place(absent)
			p.movImm(x17, uint64(l.Object.Init))
			p.b(done)
		})
	}
	p.needBlock(unsure)
	p.ldr(p.uses(x1), blockReg, calls.TidAt)
	p.searched = []keyWord{{inReg: true, reg: x1}}
	p.tables.use(ownOps[in.Op], l, depth-1, absent, unsure)
	p.place(done)
	if in.Op == opcode.PushPT {
		p.set(depth, x17)
	}
}

// now calculates the time in x6, as package clock describes; x7, x8 and x16 are used. Counters are read in the order of
// the program, so that the times of a thread do not go back.
func (p *part) now() {
	const lines, bankShift = 6, 5
	for _, x := range []reg{x6, x7, x8} {
		p.uses(x)
	}
	p.arena(x7, p.site.Clock)
	p.ldar(x6, x7)
	p.field(x6, x6, 0, lines) // whatever is in the word
	p.arena(x7, p.site.Clock+clock.Banks)
	p.addShifted(x7, x7, x6, bankShift)
	p.word(isb)
	p.word(mrsCounter | uint32(x6))
	p.ldr(x8, x7, clock.CounterAt)
	p.sub(x6, x6, x8)
	p.ldr(x8, x7, clock.RateAt)
	p.umulh(x16, x6, x8)
	p.mul(x6, x6, x8)
	p.extr(x6, x16, x6, 32)
	p.ldr(x8, x7, clock.NanosAt)
	p.add(x6, x6, x8)
}

// The numbers of banks and bytes fit.
var (
	_ = [1]struct{}{}[clock.Lines-1<<6]
	_ = [1]struct{}{}[clock.BankSize-1<<5]
)
