// Runs native code with given registers. This code is copied to a page of its own, and reaches everything at fixed addresses.
// SAVE has, in bytes from its start: 0 the registers afterwards (x0 to x30, sp, nzcv), 512 those before (x0 to x30, nzcv, sp), 1024 the stack
// pointer of the C code, 0x1000 z0 to z31, and 0x2000 behind them fpcr and fpsr, before, 0x4000 the same afterwards.
	.arch armv8.2-a+sve
	.global enter, jump, leave, leave_end
enter:
	stp x29, x30, [sp, #-96]!
	stp x19, x20, [sp, #16]
	stp x21, x22, [sp, #32]
	stp x23, x24, [sp, #48]
	stp x25, x26, [sp, #64]
	stp x27, x28, [sp, #80]
	stp d8, d9, [sp, #-64]!
	stp d10, d11, [sp, #16]
	stp d12, d13, [sp, #32]
	stp d14, d15, [sp, #48]
	mov x0, #0x30000000
	mov x1, sp
	str x1, [x0, #1024]
	ldr x1, [x0, #512+256]
	mov sp, x1
	ldr x1, [x0, #512+248]
	msr nzcv, x1
	add x1, x0, #0x1000
	ldr z0, [x1, #0, mul vl]
	ldr z1, [x1, #1, mul vl]
	ldr z2, [x1, #2, mul vl]
	ldr z3, [x1, #3, mul vl]
	ldr z4, [x1, #4, mul vl]
	ldr z5, [x1, #5, mul vl]
	ldr z6, [x1, #6, mul vl]
	ldr z7, [x1, #7, mul vl]
	ldr z8, [x1, #8, mul vl]
	ldr z9, [x1, #9, mul vl]
	ldr z10, [x1, #10, mul vl]
	ldr z11, [x1, #11, mul vl]
	ldr z12, [x1, #12, mul vl]
	ldr z13, [x1, #13, mul vl]
	ldr z14, [x1, #14, mul vl]
	ldr z15, [x1, #15, mul vl]
	ldr z16, [x1, #16, mul vl]
	ldr z17, [x1, #17, mul vl]
	ldr z18, [x1, #18, mul vl]
	ldr z19, [x1, #19, mul vl]
	ldr z20, [x1, #20, mul vl]
	ldr z21, [x1, #21, mul vl]
	ldr z22, [x1, #22, mul vl]
	ldr z23, [x1, #23, mul vl]
	ldr z24, [x1, #24, mul vl]
	ldr z25, [x1, #25, mul vl]
	ldr z26, [x1, #26, mul vl]
	ldr z27, [x1, #27, mul vl]
	ldr z28, [x1, #28, mul vl]
	ldr z29, [x1, #29, mul vl]
	ldr z30, [x1, #30, mul vl]
	ldr z31, [x1, #31, mul vl]
	add x1, x1, #0x2000
	ldp x2, x3, [x1]
	msr fpcr, x2
	msr fpsr, x3
	add x0, x0, #512
	ldp x2, x3, [x0, #16]
	ldp x4, x5, [x0, #32]
	ldp x6, x7, [x0, #48]
	ldp x8, x9, [x0, #64]
	ldp x10, x11, [x0, #80]
	ldp x12, x13, [x0, #96]
	ldp x14, x15, [x0, #112]
	ldp x16, x17, [x0, #128]
	ldp x18, x19, [x0, #144]
	ldp x20, x21, [x0, #160]
	ldp x22, x23, [x0, #176]
	ldp x24, x25, [x0, #192]
	ldp x26, x27, [x0, #208]
	ldp x28, x29, [x0, #224]
	ldr x30, [x0, #240]
	ldp x0, x1, [x0]
jump:
	b .
leave:
	stp x0, x1, [sp, #-16]!
	mov x0, #0x30000000
	stp x2, x3, [x0, #16]
	stp x4, x5, [x0, #32]
	stp x6, x7, [x0, #48]
	stp x8, x9, [x0, #64]
	stp x10, x11, [x0, #80]
	stp x12, x13, [x0, #96]
	stp x14, x15, [x0, #112]
	stp x16, x17, [x0, #128]
	stp x18, x19, [x0, #144]
	stp x20, x21, [x0, #160]
	stp x22, x23, [x0, #176]
	stp x24, x25, [x0, #192]
	stp x26, x27, [x0, #208]
	stp x28, x29, [x0, #224]
	str x30, [x0, #240]
	ldp x2, x3, [sp], #16
	stp x2, x3, [x0]
	mov x1, sp
	str x1, [x0, #248]
	mrs x1, nzcv
	str x1, [x0, #256]
	add x1, x0, #0x4000
	str z0, [x1, #0, mul vl]
	str z1, [x1, #1, mul vl]
	str z2, [x1, #2, mul vl]
	str z3, [x1, #3, mul vl]
	str z4, [x1, #4, mul vl]
	str z5, [x1, #5, mul vl]
	str z6, [x1, #6, mul vl]
	str z7, [x1, #7, mul vl]
	str z8, [x1, #8, mul vl]
	str z9, [x1, #9, mul vl]
	str z10, [x1, #10, mul vl]
	str z11, [x1, #11, mul vl]
	str z12, [x1, #12, mul vl]
	str z13, [x1, #13, mul vl]
	str z14, [x1, #14, mul vl]
	str z15, [x1, #15, mul vl]
	str z16, [x1, #16, mul vl]
	str z17, [x1, #17, mul vl]
	str z18, [x1, #18, mul vl]
	str z19, [x1, #19, mul vl]
	str z20, [x1, #20, mul vl]
	str z21, [x1, #21, mul vl]
	str z22, [x1, #22, mul vl]
	str z23, [x1, #23, mul vl]
	str z24, [x1, #24, mul vl]
	str z25, [x1, #25, mul vl]
	str z26, [x1, #26, mul vl]
	str z27, [x1, #27, mul vl]
	str z28, [x1, #28, mul vl]
	str z29, [x1, #29, mul vl]
	str z30, [x1, #30, mul vl]
	str z31, [x1, #31, mul vl]
	add x1, x1, #0x2000
	mrs x2, fpcr
	mrs x3, fpsr
	stp x2, x3, [x1]
	msr fpcr, xzr
	ldr x1, [x0, #1024]
	mov sp, x1
	ldp d10, d11, [sp, #16]
	ldp d12, d13, [sp, #32]
	ldp d14, d15, [sp, #48]
	ldp d8, d9, [sp], #64
	ldp x19, x20, [sp, #16]
	ldp x21, x22, [sp, #32]
	ldp x23, x24, [sp, #48]
	ldp x25, x26, [sp, #64]
	ldp x27, x28, [sp, #80]
	ldp x29, x30, [sp], #96
	ret
leave_end:
