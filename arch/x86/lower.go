package x86

import "gotap/arch"

// lower.go turns instructions into forms. An instruction that it does not handle is not emulated but stepped out of
// line.

// lowering is the state of turning an instruction into a form.
type lowering struct {
	*inst
	form form
}

// lower returns the form of an instruction at addr. Its action is notEmulated if there is no exact emulation.
func (in *inst) lower(addr uint64) form {
	l := lowering{inst: in, form: in.plainForm(addr)}
	if in.enc != legacy || in.lock || in.refusal() != "" || in.narrowBranch() {
		return l.form
	}
	if in.memory() || in.dispLen != 0 {
		l.form.mem = in.address(addr)
		if l.form.mem.selector == CS { // cannot be written, and is rarely read
			return l.form
		}
	}
	switch in.opmap {
	case mapLegacy:
		l.oneByte()
	case map0F:
		l.escape()
	}
	return l.form
}

// plainForm returns a form without an action: the fields that every instruction has.
func (in *inst) plainForm(addr uint64) form {
	f := form{imm: uint64(in.imm), next: addr + uint64(in.length), size: in.operandSize()}
	f.target = f.next + uint64(in.imm)
	if !in.long {
		f.next, f.target = f.next&0xffffffff, f.target&0xffffffff
	}
	return f
}

// narrowBranch reports an indirect branch or return of 64-bit mode with an operand-size prefix. AMD's processors
// truncate the target to 16 bits; Intel's ignore the prefix.
func (in *inst) narrowBranch() bool {
	return in.long && in.opsize && in.rex&rexW == 0 && in.control() != arch.Plain && !in.begins()
}

// byteOr returns 1 for opcodes with a clear low bit, which means byte operands, and size for others.
func (in *inst) byteOr(size uint8) uint8 {
	if in.opcode&1 == 0 {
		return 1
	}
	return size
}

// oneByte handles the one-byte map. A rep prefix has no effect on the instructions emulated here, except on 90
// (pause), which does nothing either way, and on loops.
func (l *lowering) oneByte() {
	switch op := l.opcode; {
	case op < 0x40 && op&7 < 6:
		l.alu(op >> 3)
	case op >= 0x40 && op < 0x50: // 32-bit mode only: inc and dec
		l.form.do, l.form.op, l.form.dst = doUnary, op>>3&1, l.gprOperand(op&7, 4)
	case op >= 0x50 && op < 0x60:
		l.pushPop()
	case op >= 0x70 && op < 0x80:
		l.form.do, l.form.op = doJumpIf, op&15
	case op >= 0x80 && op < 0x84:
		l.aluImmediate()
	case op >= 0x90 && op < 0x98:
		l.exchange()
	case op >= 0xb0 && op < 0xc0:
		l.moveImmediate()
	case op == 0xc0 || op == 0xc1 || op == 0xd0 || op == 0xd1:
		l.shift()
	case op >= 0xe0:
		l.high()
	default:
		l.middle()
	}
}

// alu handles the six forms of add, or, adc, sbb, and, sub, xor and cmp.
func (l *lowering) alu(op uint8) {
	l.form.do, l.form.op, l.form.size = doALU, op, l.byteOr(l.form.size)
	switch l.opcode & 7 {
	case 0, 1:
		l.form.dst, l.form.src = l.rmOperand(l.form.size), l.gprOperand(l.reg(), l.form.size)
	case 2, 3:
		l.form.dst, l.form.src = l.gprOperand(l.reg(), l.form.size), l.rmOperand(l.form.size)
	default:
		l.form.dst, l.form.src = l.gprOperand(0, l.form.size), operand{kind: immediate}
	}
}

// aluImmediate handles group 1.
func (l *lowering) aluImmediate() {
	l.form.do, l.form.op, l.form.size = doALU, l.regField(), l.byteOr(l.form.size)
	l.form.dst, l.form.src = l.rmOperand(l.form.size), operand{kind: immediate}
}

func (l *lowering) pushPop() {
	l.form.size = l.stackSize()
	l.form.src = operand{inRegister, gpr[l.low()]}
	l.form.do = doPush
	if l.opcode >= 0x58 {
		l.form.do, l.form.dst = doPop, l.form.src
	}
}

// exchange handles xchg with rax. 90 is nop; with REX.B in 64-bit mode it is xchg with r8.
func (l *lowering) exchange() {
	if l.opcode == 0x90 && l.rex&rexB == 0 {
		l.form.do = doNop
		return
	}
	l.form.do = doExchange
	l.form.dst, l.form.src = l.gprOperand(0, l.form.size), l.gprOperand(l.low(), l.form.size)
}

func (l *lowering) moveImmediate() {
	if l.opcode < 0xb8 {
		l.form.size = 1
	}
	l.form.do, l.form.dst, l.form.src = doMove, l.gprOperand(l.low(), l.form.size), operand{kind: immediate}
}

// shift handles shl, shr and sar by an immediate. Rotates are not emulated because they keep most flags, and shifts
// by cl because their flags depend on the count.
func (l *lowering) shift() {
	l.form.size = l.byteOr(l.form.size)
	mask := uint64(31) // also for operands of 8 and 16 bits, whose longer shifts are not emulated
	if l.form.size == 8 {
		mask = 63
	}
	if l.form.imm &= mask; l.opcode >= 0xd0 {
		l.form.imm = 1
	}
	if r := l.regField(); r >= 4 && uint(l.form.imm) < 8*uint(l.form.size) {
		l.form.do, l.form.op, l.form.dst = doShift, r, l.rmOperand(l.form.size)
	}
}

// middle handles the rest below E0.
func (l *lowering) middle() {
	switch l.opcode {
	case 0x63:
		l.movsxd()
	case 0x68, 0x6a:
		l.form.do, l.form.size, l.form.src = doPush, l.stackSize(), operand{kind: immediate}
	case 0x84, 0x85:
		l.form.do, l.form.op, l.form.size = doALU, aluTEST, l.byteOr(l.form.size)
		l.form.dst, l.form.src = l.rmOperand(l.form.size), l.gprOperand(l.reg(), l.form.size)
	case 0x86, 0x87:
		l.exchangeRM()
	case 0x88, 0x89:
		l.form.do, l.form.size = doMove, l.byteOr(l.form.size)
		l.form.dst, l.form.src = l.rmOperand(l.form.size), l.gprOperand(l.reg(), l.form.size)
	case 0x8a, 0x8b:
		l.form.do, l.form.size = doMove, l.byteOr(l.form.size)
		l.form.dst, l.form.src = l.gprOperand(l.reg(), l.form.size), l.rmOperand(l.form.size)
	case 0x8d:
		l.form.do, l.form.dst = doLea, l.gprOperand(l.reg(), l.form.size)
		l.form.mem.segment = none
	case 0x8f:
		l.popRM()
	default:
		l.middleRest()
	}
}

func (l *lowering) middleRest() {
	switch l.opcode {
	case 0x98:
		l.form.do = doWiden
	case 0x99:
		l.form.do = doSignFill
	case 0x9c:
		l.form.do, l.form.size = doPushF, l.stackSize()
	case 0x9d:
		l.form.do, l.form.size = doPopF, l.stackSize()
	case 0x9e:
		l.form.do = doSAHF
	case 0x9f:
		l.form.do = doLAHF
	case 0xa0, 0xa1, 0xa2, 0xa3:
		l.absolute()
	case 0xa8, 0xa9:
		l.form.do, l.form.op, l.form.size = doALU, aluTEST, l.byteOr(l.form.size)
		l.form.dst, l.form.src = l.gprOperand(0, l.form.size), operand{kind: immediate}
	case 0xc2, 0xc3:
		l.form.do, l.form.size = doReturn, l.stackSize()
		l.form.imm &= 0xffff
		if l.immLen == 0 {
			l.form.imm = 0
		}
	case 0xc6, 0xc7:
		if l.regField() == 0 {
			l.form.do, l.form.size = doMove, l.byteOr(l.form.size)
			l.form.dst, l.form.src = l.rmOperand(l.form.size), operand{kind: immediate}
		}
		if l.begins() {
			l.form.do = doBegin
		}
	case 0xc9:
		l.form.do, l.form.size = doLeave, l.stackSize()
	}
}

// movsxd handles 63, which is arpl in 32-bit mode.
func (l *lowering) movsxd() {
	if !l.long {
		return
	}
	l.form.do, l.form.op, l.form.from = doExtend, 1, min(4, l.form.size)
	l.form.dst, l.form.src = l.gprOperand(l.reg(), l.form.size), l.rmOperand(l.form.from)
}

// exchangeRM does not handle memory operands: such an exchange is locked, and an emulation would not be atomic.
func (l *lowering) exchangeRM() {
	if l.memory() {
		return
	}
	l.form.do, l.form.size = doExchange, l.byteOr(l.form.size)
	l.form.dst, l.form.src = l.rmOperand(l.form.size), l.gprOperand(l.reg(), l.form.size)
}

// popRM does not handle memory operands: their address is computed with the stack pointer after the pop, and both
// accesses may fault.
func (l *lowering) popRM() {
	if !l.memory() {
		l.form.do, l.form.size, l.form.dst = doPop, l.stackSize(), l.rmOperand(8)
	}
}

// absolute handles mov between rax and an absolute address.
func (l *lowering) absolute() {
	l.form.do, l.form.size = doMove, l.byteOr(l.form.size)
	l.form.dst, l.form.src = l.gprOperand(0, l.form.size), operand{kind: inMemory}
	if l.opcode >= 0xa2 {
		l.form.dst, l.form.src = l.form.src, l.form.dst
	}
}

// high handles E0 and up.
func (l *lowering) high() {
	switch op := l.opcode; op {
	case 0xe0, 0xe1, 0xe2, 0xe3:
		if l.rep == 0 { // with F2, some processors take loope for loopne
			l.form.do, l.form.op, l.form.size = doLoop, op&3, l.addressSize()
		}
	case 0xe8:
		l.form.do, l.form.size = doCall, l.stackSize()
	case 0xe9, 0xeb:
		l.form.do = doJump
	case 0xf5, 0xf8, 0xf9, 0xfc, 0xfd:
		l.form.do, l.form.op = doFlag, op
	case 0xf6, 0xf7:
		l.group3()
	case 0xfe, 0xff:
		l.group5()
	}
}

// group3 is test, not and neg; mul, div and the like are not emulated.
func (l *lowering) group3() {
	l.form.size = l.byteOr(l.form.size)
	switch l.regField() {
	case 0, 1:
		l.form.do, l.form.op, l.form.src = doALU, aluTEST, operand{kind: immediate}
	case 2:
		l.form.do, l.form.op = doUnary, unaryNOT
	case 3:
		l.form.do, l.form.op = doUnary, unaryNEG
	}
	l.form.dst = l.rmOperand(l.form.size)
}

// group5 is groups 4 and 5: inc, dec, and the near indirect branches and push of group 5.
func (l *lowering) group5() {
	switch l.regField() {
	case 0, 1:
		l.form.size = l.byteOr(l.form.size)
		l.form.do, l.form.op, l.form.dst = doUnary, l.regField(), l.rmOperand(l.form.size)
		return
	case 2:
		l.form.do = doCallTo
	case 4:
		l.form.do = doJumpTo
	case 6:
		l.form.do = doPush
	}
	l.form.size = l.stackSize()
	l.form.src = l.rmOperand(l.form.size)
}
