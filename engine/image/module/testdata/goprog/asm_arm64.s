#include "textflag.h"

TEXT plain(SB), NOSPLIT, $0-0
	ADD $0, R0
	RET

TEXT ·asmadd(SB), NOSPLIT, $16-24
	MOVD a+0(FP), R0
	CALL plain(SB)
	MOVD b+8(FP), R1
	ADD R1, R0
	MOVD R0, ret+16(FP)
	RET
