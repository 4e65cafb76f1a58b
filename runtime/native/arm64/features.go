package arm64

import "gotap/runtime/native"

// Indexes of registers in a register file, which has the order of the kernel's struct user_pt_regs.
const (
	fileSP     = 31
	filePC     = 32
	filePState = 33
)

// registerArgs is the number of arguments that are passed in registers: x0 and those behind it.
const registerArgs = 8

// linkReg has the return address of a function.
const linkReg = reg(30)

// Features describes this package to native.PlanOf.
var Features = native.Features{Args: registerArgs, StackArgs: 2, Link: true, Floats: true, FloatArgs: 8, Register: func(operand uint64) bool {
	_, ok := lowHalf(operand >> 16)
	return ok || operand>>16 <= filePC
}}
