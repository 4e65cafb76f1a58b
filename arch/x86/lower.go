package x86

import "gotap/arch"

// lower.go turns instructions into forms. What is not found here is not emulated, and run out of line.

// lower lowers an instruction at addr. The result's action is notEmulated when there is no exact emulation.
func (in *inst) lower(addr uint64) form {
	f := form{imm: uint64(in.imm), next: addr + uint64(in.length), size: in.operandSize()}
	f.target = f.next + uint64(in.imm)
	if !in.long {
		f.next, f.target = f.next&0xffffffff, f.target&0xffffffff
	}
	if in.enc != legacy || in.lock || in.refusal() != "" || in.narrowBranch() {
		return f
	}
	if in.memory() || in.dispLen != 0 {
		f.mem = in.address(addr)
		if f.mem.selector == CS { // not to be written, and rarely read
			return f
		}
	}
	switch in.opmap {
	case mapLegacy:
		in.lowerOneByte(&f)
	case map0F:
		in.lower0F(&f)
	}
	return f
}

// narrowBranch reports an indirect branch or return of 64-bit mode with an operand-size prefix: AMD's processors take
// 16 bits, Intel's ignore the prefix.
func (in *inst) narrowBranch() bool {
	return in.long && in.opsize && in.rex&rexW == 0 && in.control() != arch.Plain && !in.begins()
}

// byteOr is 1 for the opcodes whose low bit, being clear, means byte operands.
func (in *inst) byteOr(size uint8) uint8 {
	if in.opcode&1 == 0 {
		return 1
	}
	return size
}

// lowerOneByte is for the one-byte map. A rep prefix has no meaning on what is emulated of it, but on 90 (pause),
// which does nothing either way, and on loops.
func (in *inst) lowerOneByte(f *form) {
	switch op := in.opcode; {
	case op < 0x40 && op&7 < 6:
		in.lowerALU(f, op>>3)
	case op >= 0x40 && op < 0x50: // 32-bit mode only: inc and dec
		f.do, f.op, f.dst = doUnary, op>>3&1, in.gprOperand(op&7, 4)
	case op >= 0x50 && op < 0x60:
		in.lowerPushPop(f)
	case op >= 0x70 && op < 0x80:
		f.do, f.op = doJumpIf, op&15
	case op >= 0x80 && op < 0x84:
		in.lowerALUImm(f)
	case op >= 0x90 && op < 0x98:
		in.lowerExchange(f)
	case op >= 0xb0 && op < 0xc0:
		in.lowerMoveImm(f)
	case op == 0xc0 || op == 0xc1 || op == 0xd0 || op == 0xd1:
		in.lowerShift(f)
	case op >= 0xe0:
		in.lowerHigh(f)
	default:
		in.lowerMiddle(f)
	}
}

// lowerALU is the six forms of each of add, or, adc, sbb, and, sub, xor, cmp.
func (in *inst) lowerALU(f *form, op uint8) {
	f.do, f.op, f.size = doALU, op, in.byteOr(f.size)
	switch in.opcode & 7 {
	case 0, 1:
		f.dst, f.src = in.rmOperand(f.size), in.gprOperand(in.reg(), f.size)
	case 2, 3:
		f.dst, f.src = in.gprOperand(in.reg(), f.size), in.rmOperand(f.size)
	default:
		f.dst, f.src = in.gprOperand(0, f.size), operand{kind: immediate}
	}
}

// lowerALUImm is group 1.
func (in *inst) lowerALUImm(f *form) {
	f.do, f.op, f.size = doALU, in.regField(), in.byteOr(f.size)
	f.dst, f.src = in.rmOperand(f.size), operand{kind: immediate}
}

func (in *inst) lowerPushPop(f *form) {
	f.size = in.stackSize()
	f.src = operand{inRegister, gpr[in.low()]}
	f.do = doPush
	if in.opcode >= 0x58 {
		f.do, f.dst = doPop, f.src
	}
}

// lowerExchange is xchg with rax; 90 is nop, and in 64-bit mode with REX.B xchg with r8.
func (in *inst) lowerExchange(f *form) {
	if in.opcode == 0x90 && in.rex&rexB == 0 {
		f.do = doNop
		return
	}
	f.do = doExchange
	f.dst, f.src = in.gprOperand(0, f.size), in.gprOperand(in.low(), f.size)
}

func (in *inst) lowerMoveImm(f *form) {
	if in.opcode < 0xb8 {
		f.size = 1
	}
	f.do, f.dst, f.src = doMove, in.gprOperand(in.low(), f.size), operand{kind: immediate}
}

// lowerShift is shl, shr and sar by an immediate. Rotates leave the flags that a shift sets alone, and are left out
// with the shifts by cl, whose flags depend on the count.
func (in *inst) lowerShift(f *form) {
	f.size = in.byteOr(f.size)
	mask := uint64(31) // also for operands of 8 and 16 bits, whose longer shifts are left out
	if f.size == 8 {
		mask = 63
	}
	if f.imm &= mask; in.opcode >= 0xd0 {
		f.imm = 1
	}
	if r := in.regField(); r >= 4 && uint(f.imm) < 8*uint(f.size) {
		f.do, f.op, f.dst = doShift, r, in.rmOperand(f.size)
	}
}

// lowerMiddle is what is left below E0.
func (in *inst) lowerMiddle(f *form) {
	switch in.opcode {
	case 0x63:
		in.lowerMovsxd(f)
	case 0x68, 0x6a:
		f.do, f.size, f.src = doPush, in.stackSize(), operand{kind: immediate}
	case 0x84, 0x85:
		f.do, f.op, f.size = doALU, aluTEST, in.byteOr(f.size)
		f.dst, f.src = in.rmOperand(f.size), in.gprOperand(in.reg(), f.size)
	case 0x86, 0x87:
		in.lowerExchangeRM(f)
	case 0x88, 0x89:
		f.do, f.size = doMove, in.byteOr(f.size)
		f.dst, f.src = in.rmOperand(f.size), in.gprOperand(in.reg(), f.size)
	case 0x8a, 0x8b:
		f.do, f.size = doMove, in.byteOr(f.size)
		f.dst, f.src = in.gprOperand(in.reg(), f.size), in.rmOperand(f.size)
	case 0x8d:
		f.do, f.dst = doLea, in.gprOperand(in.reg(), f.size)
		f.mem.segment = none
	case 0x8f:
		in.lowerPopRM(f)
	default:
		in.lowerMiddleRest(f)
	}
}

func (in *inst) lowerMiddleRest(f *form) {
	switch in.opcode {
	case 0x98:
		f.do = doWiden
	case 0x99:
		f.do = doSignFill
	case 0x9c:
		f.do, f.size = doPushF, in.stackSize()
	case 0x9d:
		f.do, f.size = doPopF, in.stackSize()
	case 0x9e:
		f.do = doSAHF
	case 0x9f:
		f.do = doLAHF
	case 0xa0, 0xa1, 0xa2, 0xa3:
		in.lowerAbsolute(f)
	case 0xa8, 0xa9:
		f.do, f.op, f.size = doALU, aluTEST, in.byteOr(f.size)
		f.dst, f.src = in.gprOperand(0, f.size), operand{kind: immediate}
	case 0xc2, 0xc3:
		f.do, f.size = doReturn, in.stackSize()
		f.imm &= 0xffff
		if in.immLen == 0 {
			f.imm = 0
		}
	case 0xc6, 0xc7:
		if in.regField() == 0 {
			f.do, f.size = doMove, in.byteOr(f.size)
			f.dst, f.src = in.rmOperand(f.size), operand{kind: immediate}
		}
		if in.begins() {
			f.do = doBegin
		}
	case 0xc9:
		f.do, f.size = doLeave, in.stackSize()
	}
}

// lowerMovsxd: in 32-bit mode 63 is arpl.
func (in *inst) lowerMovsxd(f *form) {
	if !in.long {
		return
	}
	f.do, f.op, f.from = doExtend, 1, min(4, f.size)
	f.dst, f.src = in.gprOperand(in.reg(), f.size), in.rmOperand(f.from)
}

// lowerExchangeRM leaves the memory form alone: it is locked, and an emulation would not be.
func (in *inst) lowerExchangeRM(f *form) {
	if in.memory() {
		return
	}
	f.do, f.size = doExchange, in.byteOr(f.size)
	f.dst, f.src = in.rmOperand(f.size), in.gprOperand(in.reg(), f.size)
}

// lowerPopRM leaves pops into memory alone: their address is made with the stack pointer after the pop, and both
// accesses may fault.
func (in *inst) lowerPopRM(f *form) {
	if !in.memory() {
		f.do, f.size, f.dst = doPop, in.stackSize(), in.rmOperand(8)
	}
}

// lowerAbsolute is mov between rax and an absolute address.
func (in *inst) lowerAbsolute(f *form) {
	f.do, f.size = doMove, in.byteOr(f.size)
	f.dst, f.src = in.gprOperand(0, f.size), operand{kind: inMemory}
	if in.opcode >= 0xa2 {
		f.dst, f.src = f.src, f.dst
	}
}

// lowerHigh is E0 and up.
func (in *inst) lowerHigh(f *form) {
	switch op := in.opcode; op {
	case 0xe0, 0xe1, 0xe2, 0xe3:
		if in.rep == 0 { // with F2, some processors take loope for loopne
			f.do, f.op, f.size = doLoop, op&3, in.addressSize()
		}
	case 0xe8:
		f.do, f.size = doCall, in.stackSize()
	case 0xe9, 0xeb:
		f.do = doJump
	case 0xf5, 0xf8, 0xf9, 0xfc, 0xfd:
		f.do, f.op = doFlag, op
	case 0xf6, 0xf7:
		in.lowerGroup3(f)
	case 0xfe, 0xff:
		in.lowerGroup5(f)
	}
}

// lowerGroup3 is test, not and neg; mul, div and the like are not emulated.
func (in *inst) lowerGroup3(f *form) {
	f.size = in.byteOr(f.size)
	switch in.regField() {
	case 0, 1:
		f.do, f.op, f.src = doALU, aluTEST, operand{kind: immediate}
	case 2:
		f.do, f.op = doUnary, unaryNOT
	case 3:
		f.do, f.op = doUnary, unaryNEG
	}
	f.dst = in.rmOperand(f.size)
}

// lowerGroup5 is groups 4 and 5: inc, dec, and the near indirect branches and push of group 5.
func (in *inst) lowerGroup5(f *form) {
	switch in.regField() {
	case 0, 1:
		f.size = in.byteOr(f.size)
		f.do, f.op, f.dst = doUnary, in.regField(), in.rmOperand(f.size)
		return
	case 2:
		f.do = doCallTo
	case 4:
		f.do = doJumpTo
	case 6:
		f.do = doPush
	}
	f.size = in.stackSize()
	f.src = in.rmOperand(f.size)
}
