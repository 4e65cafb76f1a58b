#include "textflag.h"

// The registers are those of all processors of the machine alike, and of its one clock: a process that is traced would read the same.

// func readCTR() uint64
TEXT ·readCTR(SB), NOSPLIT, $0-8
	MRS CTR_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func readDCZID() uint64
TEXT ·readDCZID(SB), NOSPLIT, $0-8
	MRS DCZID_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func readCNTVCT() uint64
TEXT ·readCNTVCT(SB), NOSPLIT, $0-8
	MRS CNTVCT_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func readCNTFRQ() uint64
TEXT ·readCNTFRQ(SB), NOSPLIT, $0-8
	MRS CNTFRQ_EL0, R0
	MOVD R0, ret+0(FP)
	RET
