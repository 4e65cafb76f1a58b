package amd64

import (
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
)

// Indexes of registers in a register file, which has the order of the kernel's struct user_regs_struct.
const (
	fileRIP    = 16
	fileEFLAGS = 18
	fileRSP    = 19
)

// fileIndex is where the register file has the general registers.
var fileIndex = [asm.NumRegs]uint8{asm.RAX: 10, asm.RCX: 11, asm.RDX: 12, asm.RBX: 5, asm.RSP: fileRSP, asm.RBP: 4, asm.RSI: 13, asm.RDI: 14,
	asm.R8: 9, asm.R9: 8, asm.R10: 7, asm.R11: 6, asm.R12: 3, asm.R13: 2, asm.R14: 1, asm.R15: 0}

// general returns the general register at an index of the register file.
func general(index uint64) (asm.Reg, bool) {
	for r := range asm.NumRegs {
		if uint64(fileIndex[r]) == index {
			return r, true
		}
	}
	return 0, false
}

// args are the registers of the first integer arguments (System V).
var args = [...]asm.Reg{asm.RDI, asm.RSI, asm.RDX, asm.RCX, asm.R8, asm.R9}

// stackArgs is how many arguments behind those are read from the stack. At the entry of a function they are in the
// frame of its caller.
const stackArgs = 16

// Features describes this package to native.PlanOf.
var Features = native.Features{Args: len(args), StackArgs: stackArgs, Floats: true, FloatArgs: 8, Register: func(operand uint64) bool {
	_, ok := general(operand >> 16)
	_, vector := lowHalf(operand >> 16)
	return ok || vector || operand>>16 == fileRIP
}}

// regSet is a set of general registers.
type regSet uint16

func (s regSet) has(r asm.Reg) bool { return s>>r&1 != 0 }
func (s *regSet) add(r asm.Reg)     { *s |= 1 << r }
