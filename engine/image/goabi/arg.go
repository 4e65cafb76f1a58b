package goabi

import "gotap/compile"

// integers are the registers of integer and pointer arguments on x86-64, and integers64 those on AArch64, in their
// order (src/cmd/compile/abi-internal.md of the Go distribution).
var (
	integers   = []string{"rax", "rbx", "rcx", "rdi", "rsi", "r8", "r9", "r10", "r11"}
	integers64 = []string{"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15"}
)

// Arg returns the access to word n of the arguments of an unknown Go function for x86-64, at its entry or behind its
// stack check: a register, if every argument before is an integer, a pointer, or consists of them. Functions in
// assembly have their arguments on the stack (ABI0). ok is false when there is no such register.
func Arg(n int, assembly bool) (a compile.Access, ok bool) { return arg(integers, n, assembly) }

// ArgARM64 is Arg for AArch64. Arguments on the stack start a word above the stack pointer there, too: the callee
// stores its return address in the word below.
func ArgARM64(n int, assembly bool) (a compile.Access, ok bool) { return arg(integers64, n, assembly) }

// ArgStack32 is Arg for 32-bit ARM and IA-32, where all arguments are on the stack (ABI0), from a word above the stack
// pointer.
func ArgStack32(n int, _ bool) (a compile.Access, ok bool) { return onStack(n, 4), n >= 0 }

func arg(integers []string, n int, assembly bool) (a compile.Access, ok bool) {
	if n < 0 {
		return a, false
	}
	if assembly {
		return onStack(n, 8), true
	}
	if n >= len(integers) {
		return a, false
	}
	return compile.Access{Base: compile.BaseReg, Reg: integers[n], Type: compile.TypeInt}, true
}

// onStack returns word n of the arguments on the stack.
func onStack(n, word int) compile.Access {
	return compile.Access{Base: compile.BaseFrame, Value: int64(word * n), Type: compile.TypeInt,
		Steps: []compile.AccessStep{{Op: compile.OpLoad, Size: word, Signed: true}}}
}
