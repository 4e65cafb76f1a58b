package amd64

import (
	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/opcode"
	"gotap/runtime/ranges"
)

// Reads of the target's memory. Native code reads what the table of ranges has (package ranges), and rings for all
// other addresses. The table may be out of date, so a read may fault. Whoever runs the stub then takes the signal away
// and has the doorbell answered instead (native.Read): the read has changed nothing.
//
// A fault that no tracer sees would be the program's. So the control word is tested once more right before each read:
// between its owner's death and the end of the tracing lies the end of a process.

// read is an instruction that may fault, whose labels have no offsets yet.
type read struct {
	native.Read
	test, at, bell asm.Label
}

// flagRF is the resume flag, which the processor sets when an instruction faults.
const flagRF = 1 << 16

// Ring changes the registers of a thread whose read has faulted to what they would be if the doorbell had rung. stub is
// the address of the stub.
func Ring(f *native.Read, stub uint64, regs []uint64) {
	regs[fileRIP] = stub + uint64(f.Bell)
	if !f.Passes {
		regs[fileRIP]++
	}
	regs[fileEFLAGS] &^= flagRF
}

// resolve replaces labels by their offsets in the code.
func (f *read) resolve(a *asm.Assembler) native.Read {
	if !f.Passes {
		f.bell = trapOf(f.bell)
	}
	f.Test, f.At, f.Bell = a.Offset(f.test), a.Offset(f.at), a.Offset(f.bell)
	return f.Read
}

// read replaces the address on top by the value there.
func (p *part) read(in *runtime.Inst) {
	size := native.ReadSize(in.Op)
	w := p.stack[len(p.stack)-1]
	bell := p.readBell(w, size)
	x := p.memory.checked(w, bell, size)
	p.popWord()
	to := p.target()
	p.mayFault(bell, false, func() {
		switch in.Op {
		case opcode.Load64, opcode.LoadPtr:
			p.Mov(asm.R(to), asm.At(x, 0))
		case opcode.LoadF32:
			p.Mov32(to, asm.At(x, 0))
		default:
			p.Extend(to, asm.At(x, 0), 8*size, in.Op >= opcode.LoadS8 && in.Op <= opcode.LoadS32)
		}
	})
	if in.Op == opcode.LoadF32 {
		p.widen(to)
	}
	p.result(to)
}

// probe replaces an address and a number of bytes by 1 if they can be read, and rings if they may not be readable.
func (p *part) probe() {
	n, _ := p.plan.Probed(p.pc)
	w := p.stack[len(p.stack)-2]
	bell := p.readBell(w, n)
	x := p.memory.checked(w, bell, n)
	for _, off := range []int{0, n - 1}[:min(n, 2)] {
		p.mayFault(bell, false, func() { p.Extend(asm.RAX, asm.At(x, int32(off)), 8, false) })
	}
	p.popWord()
	p.popWord()
	p.pushConst(1)
}

// stackWord pushes a word of the stack at the entry of a function: 0 is the return address, and arguments that are in
// no register lie above it.
//
// They are in the frame of the caller, which is mapped, so the table of ranges is not asked. A function that has fewer
// arguments than the program reads may have been called from the highest frame of a stack; what is above that is other
// data of the thread, or the read faults and rings.
func (f *frames) stackWord(n int) {
	bell, to := f.bellBefore(), f.target()
	f.mayFault(bell, true, func() { f.Mov(asm.R(to), asm.At(asm.RSP, int32(f.below+8*n))) })
	f.result(to)
}

// readBell makes a doorbell for a read of some bytes at an address, before the current operation or before the key that
// is being built.
func (b *doorbells) readBell(w word, size int) asm.Label {
	b.reading = &native.ReadOf{Addr: b.locate(w), Size: size}
	defer func() { b.reading = nil }()
	return b.bellBefore()
}

// memoryCheck makes the code that finds out whether memory may be read.
type memoryCheck struct{ *words }

// checked makes sure that some bytes at an address may be read, or rings. It returns a register with the address, which
// is not rax or rcx; those are used.
func (g *memoryCheck) checked(w word, bell asm.Label, size int) (x asm.Reg) {
	x = g.register(w, asm.RDX)
	g.check(g.site.Ranges, x, bell, size)
	return x
}

// check makes sure that some bytes at the address in a register, which is not rax or rcx, are in a table of ranges, or
// rings.
func (g *memoryCheck) check(table uint64, x asm.Reg, bell asm.Label, size int) {
	g.used(asm.RAX)
	g.used(asm.RCX)
	search, found := g.NewLabel(), g.NewLabel()
	g.hintOf(x)
	g.Lea(asm.RCX, g.arena(table))
	g.Mov(asm.R(asm.RAX), asm.Element(asm.RCX, asm.RAX))
	g.AluImm(asm.And, asm.R(asm.RAX), ranges.HintMask) // whatever is in the word
	g.LeaSumWide(asm.RCX, asm.RCX, asm.RAX, ranges.Ranges)
	g.offsetInRange(x)
	g.endsInRange(size, search)
	g.Place(found)
	g.cold = append(g.cold, func() {
		g.Place(search)
		g.searchRange(table, x, size, bell)
		g.Jmp(found)
	})
}

// offsetInRange loads rax with the distance of the address in a register from the start of the range at rcx.
func (g *memoryCheck) offsetInRange(x asm.Reg) {
	g.Mov(asm.R(asm.RAX), asm.R(x))
	g.Alu(asm.Sub, asm.R(asm.RAX), asm.At(asm.RCX, ranges.StartAt))
}

// endsInRange jumps if some bytes, at least Wide, at the distance in rax are not all in the range at rcx.
func (g *memoryCheck) endsInRange(size int, outside asm.Label) {
	g.Alu(asm.Cmp, asm.R(asm.RAX), asm.At(asm.RCX, ranges.LimitAt))
	g.Jcc(asm.AE, outside)
	if size > ranges.Wide {
		g.AluImm(asm.Add, asm.R(asm.RAX), int32(size-ranges.Wide))
		g.Alu(asm.Cmp, asm.R(asm.RAX), asm.At(asm.RCX, ranges.LimitAt))
		g.Jcc(asm.AE, outside)
	}
}

// hintOf loads rax with the number of the hint for the address in a register.
func (g *memoryCheck) hintOf(x asm.Reg) {
	g.Mov(asm.R(asm.RAX), asm.R(x))
	g.Shift(asm.Shr, asm.R(asm.RAX), ranges.HintShift)
	g.AluImm(asm.And, asm.R(asm.RAX), ranges.Hints-1)
}

// searchRange finds the range of the address in a register, and notes it as a hint, or rings. rax and rcx are used.
func (g *memoryCheck) searchRange(table uint64, x asm.Reg, size int, bell asm.Label) {
	again, below, found := g.NewLabel(), g.NewLabel(), g.NewLabel()
	first := g.arena(table + ranges.Ranges)
	g.Lea(asm.RCX, first)
	g.MovImm(asm.RAX, ranges.Max/2*ranges.RangeSize/8) // steps, in words
	g.Place(again)
	g.Alu(asm.Cmp, asm.R(x), asm.Element(asm.RCX, asm.RAX))
	g.JccNear(asm.B, below)
	g.Lea(asm.RCX, asm.Element(asm.RCX, asm.RAX))
	g.Place(below)
	g.Shift(asm.Shr, asm.R(asm.RAX), 1)
	g.AluImm(asm.Cmp, asm.R(asm.RAX), 1)
	g.JccNear(asm.NE, again)
	g.offsetInRange(x)
	if size < ranges.Wide { // a narrow read also fits in the last bytes
		g.Alu(asm.Cmp, asm.R(asm.RAX), asm.At(asm.RCX, ranges.LimitAt))
		g.JccNear(asm.B, found)
		g.AluImm(asm.Sub, asm.R(asm.RAX), int32(ranges.Wide-size))
	}
	g.endsInRange(size, bell)
	g.Place(found)
	g.Lea(asm.RAX, first)
	g.Alu(asm.Sub, asm.R(asm.RCX), asm.R(asm.RAX))
	g.hintOf(x)
	g.Push(asm.RDX)
	g.Lea(asm.RDX, g.arena(table))
	g.Mov(asm.Element(asm.RDX, asm.RAX), asm.R(asm.RCX))
	g.Pop(asm.RDX)
}

// mayFault makes the code of one instruction that reads what is the thread's own (native.Read), or what has been
// checked.
func (b *doorbells) mayFault(bell asm.Label, own bool, instruction func()) {
	b.guarded(read{Read: native.Read{Own: own}, bell: bell}, b.abandoned, instruction)
}

// mayFail is mayFault for what is the thread's own, without a doorbell: if it faults, or no tracer would see that, the
// thread goes on at a label.
func (b *doorbells) mayFail(to asm.Label, instruction func()) {
	b.guarded(read{Read: native.Read{Own: true, Passes: true}, bell: to}, to, instruction)
}

// guarded makes the code of an instruction that may fault, behind a test of the control word.
func (b *doorbells) guarded(f read, untraced asm.Label, instruction func()) {
	f.test, f.at = b.NewLabel(), b.NewLabel()
	b.Place(f.test)
	b.TestBits32(asm.Address(b.site.Control), native.ControlMask)
	b.Jcc(asm.E, untraced)
	b.Place(f.at)
	instruction()
	b.reads = append(b.reads, f)
}
