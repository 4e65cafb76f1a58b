package arm64

import "gotap/runtime/native"

// Indexes of registers in a register file, which has the order of the kernel's struct user_pt_regs.
const (
	fileSP     = 31
	filePC     = 32
	filePState = 33
)

// Features describes this package to native.PlanOf.
var Features = native.Features{Args: 8, Floats: true, FloatArgs: 8, Register: func(operand uint64) bool {
	_, ok := lowHalf(operand >> 16)
	return ok || operand>>16 <= filePC
}}
