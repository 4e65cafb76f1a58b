#include "textflag.h"

// long work(long n) { return 2 * n + 1; }
// It is assembly so that a script finds the argument by every convention: on the stack as Go's assembly has it, and in DI as C has
// it; the result is on the stack and in AX.
TEXT work(SB), NOSPLIT|NOFRAME, $0
	LEAQ 1(DI)(DI*1), AX
	MOVQ AX, 16(SP)
	RET

// long check(long n) { long got = work(n); return n <= 10000 ? got : -1; }
// It calls as work is called, and fails as functions of C do.
TEXT check(SB), NOSPLIT, $16-16
	MOVQ DI, 0(SP)
	CALL work(SB)
	CMPQ DI, $10000
	JLE  done
	MOVQ $-1, AX
done:
	MOVQ AX, ret+8(FP)
	RET

// func callCheck(n int64) int64
TEXT ·callCheck(SB), NOSPLIT, $16-16
	MOVQ n+0(FP), DI
	MOVQ DI, 0(SP)
	CALL check(SB)
	MOVQ 8(SP), AX
	MOVQ AX, ret+8(FP)
	RET

// func callWork(n int64) int64
TEXT ·callWork(SB), NOSPLIT, $16-16
	MOVQ n+0(FP), DI
	MOVQ DI, 0(SP)
	CALL work(SB)
	MOVQ 8(SP), AX
	MOVQ AX, ret+8(FP)
	RET
