#include "textflag.h"

TEXT plain(SB), NOSPLIT, $0-0
	ADD $0, R0
	RET

TEXT ·asmadd(SB), NOSPLIT, $4-12
	MOVW a+0(FP), R0
	BL plain(SB)
	MOVW b+4(FP), R1
	ADD R1, R0
	MOVW R0, ret+8(FP)
	RET
