package amd64

import "gotap/runtime/native"

// reg is a general register, by its number in instructions.
type reg uint8

// The general registers.
const (
	rax reg = iota
	rcx
	rdx
	rbx
	rsp
	rbp
	rsi
	rdi
	r8
	r9
	r10
	r11
	r12
	r13
	r14
	r15
	numRegs
)

// Indexes of registers in a register file, which has the order of the kernel's struct user_regs_struct.
const (
	fileRIP    = 16
	fileEFLAGS = 18
	fileRSP    = 19
)

// fileIndex is where the register file has the general registers.
var fileIndex = [numRegs]uint8{rax: 10, rcx: 11, rdx: 12, rbx: 5, rsp: fileRSP, rbp: 4, rsi: 13, rdi: 14,
	r8: 9, r9: 8, r10: 7, r11: 6, r12: 3, r13: 2, r14: 1, r15: 0}

// general returns the general register at an index of the register file.
func general(index uint64) (reg, bool) {
	for r := range numRegs {
		if uint64(fileIndex[r]) == index {
			return r, true
		}
	}
	return 0, false
}

// args are the registers of the first integer arguments (System V).
var args = [...]reg{rdi, rsi, rdx, rcx, r8, r9}

// Features describes this package to native.PlanOf.
var Features = native.Features{Args: len(args), Floats: true, FloatArgs: 8, Register: func(operand uint64) bool {
	_, ok := general(operand >> 16)
	_, vector := lowHalf(operand >> 16)
	return ok || vector || operand>>16 == fileRIP
}}

// regSet is a set of general registers.
type regSet uint16

func (s regSet) has(r reg) bool { return s>>r&1 != 0 }
func (s *regSet) add(r reg)     { *s |= 1 << r }
