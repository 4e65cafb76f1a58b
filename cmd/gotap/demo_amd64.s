#include "textflag.h"

// long work(long n) { return 2 * n + 1; }
// By the C calling convention of x86-64: argument in DI, result in AX. It is assembly so that a script finds the argument
// where it is in every C program; a Go function has it elsewhere.
TEXT work(SB), NOSPLIT|NOFRAME, $0
	LEAQ 1(DI)(DI*1), AX
	RET

// func demoWork(n int64) int64
TEXT ·demoWork(SB), NOSPLIT, $0-16
	MOVQ n+0(FP), DI
	CALL work(SB)
	MOVQ AX, ret+8(FP)
	RET
