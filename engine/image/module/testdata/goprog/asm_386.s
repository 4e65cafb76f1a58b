#include "textflag.h"

TEXT plain(SB), NOSPLIT, $0-0
	ADDL $0, AX
	RET

TEXT ·asmadd(SB), NOSPLIT, $4-12
	MOVL a+0(FP), AX
	CALL plain(SB)
	ADDL b+4(FP), AX
	MOVL AX, ret+8(FP)
	RET
