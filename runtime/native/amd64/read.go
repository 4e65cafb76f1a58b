package amd64

import (
	"cmp"
	"slices"

	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
	"gotap/runtime/ranges"
)

// Reads of the target's memory. Native code reads what the table of ranges has (package ranges), and rings for all other addresses. The table
// may be out of date, so a read may fault. Whoever runs the stub then takes the signal away and has the doorbell answered instead
// (Read.Bell): the read has changed nothing.
//
// A fault that no tracer sees would be the program's. So the control word is tested once more right before each read: between its
// owner's death and the end of the tracing lies the end of a process.

// Read is an instruction of a stub that reads the target's memory and may fault.
type Read struct {
	Test int // offset of the test of the control word before it
	At   int // offset of the instruction
	Bell int // offset of the doorbell that is to be answered instead, as if it had rung

	// Own is set if it reads the thread's own data, which programs do not ask for and the table of ranges need not have.
	Own bool

	test, at, bell label
}

// ReadAt returns the read whose instruction is at an offset, or nil.
func (s *Stub) ReadAt(offset int) *Read {
	i, ok := slices.BinarySearchFunc(s.Reads, offset, func(r Read, offset int) int { return cmp.Compare(r.At, offset) })
	if !ok {
		return nil
	}
	return &s.Reads[i]
}

// flagRF is the resume flag, which the processor sets when an instruction faults.
const flagRF = 1 << 16

// Ring changes the registers of a thread whose read has faulted to what they would be if the doorbell had rung. stub is the address of
// the stub.
func (f *Read) Ring(stub uint64, regs []uint64) {
	regs[fileRIP] = stub + uint64(f.Bell) + 1
	regs[fileEFLAGS] &^= flagRF
}

// resolve replaces labels by offsets.
func (f *Read) resolve(labels []int) {
	f.Test, f.At, f.Bell = labels[f.test], labels[f.at], labels[f.bell]
}

// read replaces the address on top by the value there.
func (p *part) read(in *runtime.Inst) {
	size := native.ReadSize(in.Op)
	w := p.stack[len(p.stack)-1]
	bell := p.readBell(w, size)
	x := p.checked(w, bell, size)
	p.popWord()
	to := p.target()
	p.mayFault(bell, false, func() {
		switch in.Op {
		case opcode.Load64, opcode.LoadPtr:
			p.mov(r(to), at(x, 0))
		default:
			p.extend(to, at(x, 0), 8*size, in.Op >= opcode.LoadS8 && in.Op <= opcode.LoadS32)
		}
	})
	p.result(to)
}

// readBell makes a doorbell for a read of some bytes at an address, before the current operation or before the key that is being
// built.
func (p *part) readBell(w word, size int) label {
	p.reading = &ReadOf{p.locate(w), size}
	defer func() { p.reading = nil }()
	if p.key.begun {
		return p.bellAt(p.key.pc, p.key.executed, p.key.stack)
	}
	return p.bell()
}

// checked makes sure that some bytes at an address may be read, or rings. It returns a register with the address, which is not rax or rcx; those are
// used.
func (p *part) checked(w word, bell label, size int) (x reg) {
	x = p.register(w, rdx)
	p.used(rax)
	p.used(rcx)
	search, found := p.newLabel(), p.newLabel()
	p.hintOf(x)
	p.lea(rcx, p.arena(p.site.Ranges))
	p.mov(r(rax), element(rcx, rax))
	p.aluImm(opAnd, r(rax), ranges.HintMask) // whatever is in the word
	p.leaSumWide(rcx, rcx, rax, ranges.Ranges)
	p.offsetInRange(x)
	p.endsInRange(size, search)
	p.place(found)
	p.cold = append(p.cold, func() {
		p.place(search)
		p.searchRange(x, size, bell)
		p.jmp(found)
	})
	return x
}

// offsetInRange loads rax with the distance of the address in a register from the start of the range at rcx.
func (p *part) offsetInRange(x reg) {
	p.mov(r(rax), r(x))
	p.alu(opSub, r(rax), at(rcx, ranges.StartAt))
}

// endsInRange jumps if some bytes, at least Wide, at the distance in rax are not all in the range at rcx.
func (p *part) endsInRange(size int, outside label) {
	p.alu(opCmp, r(rax), at(rcx, ranges.LimitAt))
	p.jcc(condAE, outside)
	if size > ranges.Wide {
		p.aluImm(opAdd, r(rax), int32(size-ranges.Wide))
		p.alu(opCmp, r(rax), at(rcx, ranges.LimitAt))
		p.jcc(condAE, outside)
	}
}

// hintOf loads rax with the number of the hint for the address in a register.
func (p *part) hintOf(x reg) {
	p.mov(r(rax), r(x))
	p.shift(opShr, r(rax), ranges.HintShift)
	p.aluImm(opAnd, r(rax), ranges.Hints-1)
}

// searchRange finds the range of the address in a register, and notes it as a hint, or rings. rax and rcx are used.
func (p *part) searchRange(x reg, size int, bell label) {
	again, below, found := p.newLabel(), p.newLabel(), p.newLabel()
	first := p.arena(p.site.Ranges + ranges.Ranges)
	p.lea(rcx, first)
	p.movImm(rax, ranges.Max/2*ranges.RangeSize/8) // steps, in words
	p.place(again)
	p.alu(opCmp, r(x), element(rcx, rax))
	p.jccNear(condB, below)
	p.lea(rcx, element(rcx, rax))
	p.place(below)
	p.shift(opShr, r(rax), 1)
	p.aluImm(opCmp, r(rax), 1)
	p.jccNear(condNE, again)
	p.offsetInRange(x)
	if size < ranges.Wide { // a narrow read also fits in the last bytes
		p.alu(opCmp, r(rax), at(rcx, ranges.LimitAt))
		p.jccNear(condB, found)
		p.aluImm(opSub, r(rax), int32(ranges.Wide-size))
	}
	p.endsInRange(size, bell)
	p.place(found)
	p.lea(rax, first)
	p.alu(opSub, r(rcx), r(rax))
	p.hintOf(x)
	p.push(rdx)
	p.lea(rdx, p.arena(p.site.Ranges))
	p.mov(element(rdx, rax), r(rcx))
	p.pop(rdx)
}

// mayFault makes the code of one instruction that reads the thread's own data, or what has been checked.
func (p *part) mayFault(bell label, own bool, instruction func()) {
	f := Read{Own: own, test: p.newLabel(), at: p.newLabel(), bell: bell}
	p.place(f.test)
	p.testBits32(address(p.site.Control), ControlMask)
	p.jcc(condE, p.abandoned)
	p.place(f.at)
	instruction()
	p.reads = append(p.reads, f)
}
