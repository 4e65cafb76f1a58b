#include "textflag.h"

TEXT plain(SB), NOSPLIT, $0-0
	ADDQ $0, AX
	RET

TEXT ·asmadd(SB), NOSPLIT, $8-24
	MOVQ a+0(FP), AX
	CALL plain(SB)
	ADDQ b+8(FP), AX
	MOVQ AX, ret+16(FP)
	RET
