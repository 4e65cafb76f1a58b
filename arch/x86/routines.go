package x86

import "gotap/arch"

// routines.go finds the routine of an instruction that has no form.

// routineOf returns nil for an instruction that has a form, or that is not executed at all.
func routineOf(in *inst) routine {
	switch {
	case in.enc == vex2 || in.enc == vex3:
		return routineVEX(in)
	case in.enc != legacy:
		return nil
	}
	switch in.opmap {
	case mapLegacy:
		return routineOneByte(in)
	case map0F:
		return routine0F(in)
	case map0F38:
		return routine0F38(in)
	}
	return nil
}

func routineOneByte(in *inst) routine {
	switch op := in.opcode; op {
	case 0x69, 0x6b:
		return multiplyBy
	case 0x86, 0x87:
		return exchange
	case 0x8f:
		return popInto
	case 0x9d:
		return popFlags
	case 0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf:
		return repeated
	case 0xc0, 0xc1, 0xd0, 0xd1, 0xd2, 0xd3:
		return shiftAny
	case 0xc6:
		if in.modrm == 0xf8 { // xabort
			return nothing
		}
	case 0xc8:
		return enter
	case 0xd7:
		return translate
	case 0xf6, 0xf7:
		return [8]routine{4: multiplyA, 5: multiplyA, 6: divide, 7: divideSigned}[in.regField()]
	}
	if !in.long {
		return routineOld(in)
	}
	return nil
}

// routineOld handles the instructions that only 32-bit mode has.
func routineOld(in *inst) routine {
	switch in.opcode {
	case 0x27, 0x2f:
		return decimalAdjust
	case 0x37, 0x3f:
		return asciiAdjust
	case 0x60:
		return pushAll
	case 0x61:
		return popAll
	case 0x62:
		return checkBounds
	case 0x63:
		return adjustPrivilege
	case 0xce:
		return overflowTrap
	case 0xd4:
		return asciiMultiply
	case 0xd5:
		return asciiDivide
	case 0xd6:
		return carryToAL
	}
	return nil
}

func routine0F(in *inst) routine {
	op, reg := in.opcode, in.regField()
	switch {
	case in.rep == 0xf3:
		return routineF3(in)
	case op == 0xae && in.rep == 0 && in.memory() && (reg == 7 || reg == 6 && in.opsize):
		return flushLine
	case op == 0xae && in.rep == 0 && !in.memory() && reg >= 5 && !in.opsize, op >= 0x18 && op < 0x20:
		return nothing // fences, hints
	case op == 0xc3 && in.opsize || in.rep == 0xf2 && op != 0xaf && op>>4 != 0xa && op>>4 != 0xb:
		return nil
	}
	switch op {
	case 0x01:
		return routineTransaction(in)
	case 0xa3, 0xab, 0xb3, 0xbb, 0xba:
		return bitTest
	case 0xa4, 0xa5, 0xac, 0xad:
		return shiftDouble
	case 0xaf:
		return multiply
	case 0xb0, 0xb1:
		return compareExchange
	case 0xbc, 0xbd:
		return scanBits
	case 0xc0, 0xc1:
		return exchangeAdd
	case 0xc3:
		return storeDirect
	case 0xc7:
		if reg == 1 && in.memory() {
			return compareExchangePair
		}
	case 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf:
		if in.operandSize() == 2 {
			return undefinedResult
		}
	}
	return nil
}

// routineTransaction handles xend and xtest outside a transaction. An emulated xbegin never begins one.
func routineTransaction(in *inst) routine {
	switch {
	case in.opsize || in.rep != 0:
	case in.modrm == 0xd5:
		return protectionFault
	case in.modrm == 0xd6:
		return testTransaction
	}
	return nil
}

// routineF3 handles the 0F map with an F3 prefix.
func routineF3(in *inst) routine {
	switch op := in.opcode; {
	case op == 0xb8:
		return countOnes
	case op == 0xbc || op == 0xbd:
		return countZeros
	case op == 0x1e, op == 0x1f: // endbr; rdssp without a shadow stack
		return nothing
	case op == 0xaf:
		return multiply
	case op == 0xa3 || op == 0xab || op == 0xb3 || op == 0xbb || op == 0xba:
		return bitTest
	case op == 0xb0 || op == 0xb1:
		return compareExchange
	case op == 0xc0 || op == 0xc1:
		return exchangeAdd
	case op == 0xa4 || op == 0xa5 || op == 0xac || op == 0xad:
		return shiftDouble
	}
	return nil
}

func routine0F38(in *inst) routine {
	switch op := in.opcode; {
	case op>>1 == 0xf0>>1 && in.rep == 0xf2:
		return checksum
	case op>>1 == 0xf0>>1 && in.rep == 0 && in.memory():
		return moveSwapped
	case op == 0xf6 && in.rep == 0xf3, op == 0xf6 && in.rep == 0 && in.opsize:
		return addWithFlag
	}
	return nil
}

// routineVEX handles the instructions on general registers that have a VEX prefix: BMI1 and BMI2. They have no
// 256-bit form.
func routineVEX(in *inst) routine {
	if in.vexLong() {
		return nil
	}
	switch in.opmap {
	case map0F3A:
		if in.opcode == 0xf0 && in.rep == 0xf2 && in.vvvv == 0 {
			return rotateTo
		}
		return nil
	case map0F38:
		return routineBMI(in)
	}
	return nil
}

func routineBMI(in *inst) routine {
	switch op := in.opcode; {
	case op == 0xf2 && in.rep == 0:
		return andNot
	case op == 0xf3 && in.rep == 0 && in.regField() >= 1 && in.regField() <= 3:
		return lowestBit
	case op == 0xf5 && in.rep == 0:
		return zeroHigh
	case op == 0xf5 && in.rep >= 0xf2:
		return spreadBits
	case op == 0xf6 && in.rep == 0xf2:
		return multiplyTo
	case op == 0xf7 && in.rep == 0:
		return extractBits
	case op == 0xf7:
		return shiftTo
	}
	return nil
}

// vexLong reports the L bit of a VEX prefix, which means 256 bits.
func (in *inst) vexLong() bool { return in.code[in.opOff-1]&4 != 0 }

// whyNot returns the reason why an instruction is not executed.
func whyNot(in *inst) arch.Refusal {
	switch {
	case in.enc != legacy, in.opmap >= map0F38, in.opmap == mapLegacy && (in.opcode>>3 == 0xd8>>3 || in.opcode == 0x9b):
		return errVectorState
	case in.opmap == mapLegacy:
		return whyNotOneByte(in)
	}
	switch op := in.opcode; {
	case op == 0x05 || op == 0x34:
		return errSystemCall
	case op == 0x0b || op == 0xb9 || op == 0xff:
		return errUndefined
	case op == 0x31 || op == 0xa2 || op == 0xc7 || op == 0x01:
		return errMachine
	case op == 0xa0 || op == 0xa1 || op == 0xa8 || op == 0xa9 || op == 0xb2 || op == 0xb4 || op == 0xb5 || op == 0x02 || op == 0x03:
		return errSegmentState
	case op == 0x00 || op == 0x06 || op == 0x07 || op == 0x08 || op == 0x09 || op>>4 == 2 && op < 0x28 || op == 0x30 || op >= 0x32 && op < 0x38:
		return errPrivileged
	}
	return errVectorState
}

func whyNotOneByte(in *inst) arch.Refusal {
	switch op := in.opcode; op {
	case 0xcd:
		if in.imm == -0x80 {
			return errSystemCall
		}
		return errInterrupt
	case 0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x8c, 0x8e, 0x9a, 0xc4, 0xc5, 0xca, 0xcb, 0xcf, 0xea, 0xff:
		return errSegmentState
	case 0xf4, 0xfa, 0xfb, 0x6c, 0x6d, 0x6e, 0x6f, 0xe4, 0xe5, 0xe6, 0xe7, 0xec, 0xed, 0xee, 0xef:
		return errPrivileged
	}
	return errNoEmulation
}

const (
	errVectorState  = arch.Refusal("an instruction of x87, MMX, SSE or AVX: a state has no such registers")
	errSegmentState = arch.Refusal("segment registers are not part of a state")
	errSystemCall   = arch.Refusal("the kernel executes system calls")
	errInterrupt    = arch.Refusal("the kernel handles software interrupts")
	errUndefined    = arch.Refusal("the processor raises an exception: undefined instruction")
	errMachine      = arch.Refusal("the result depends on the processor")
	errPrivileged   = arch.Refusal("privileged instruction")
)

// nothing executes hints and fences.
func nothing(*execution) error { return nil }

func undefinedResult(*execution) error { return errResult }

func protectionFault(*execution) error { return errProtected }

// testTransaction emulates xtest outside a transaction: it sets ZF.
func testTransaction(x *execution) error {
	setStatus(x.regs, flagZF)
	return nil
}

// flushLine reads a byte of the cache line: a flush has no other visible effect.
func flushLine(x *execution) error {
	x.form.size = 1
	_, err := x.read(x.rm())
	return err
}
