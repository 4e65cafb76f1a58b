// Runs native code with given registers. This code is copied to a page of its own, and reaches everything at fixed addresses.
// SAVE has, in bytes from its start: 0 the registers afterwards (x0 to x30, sp, nzcv), 512 those before (x0 to x30, nzcv, sp), 1024 the stack
// pointer of the C code.
	.global enter, jump, leave, leave_end
enter:
	stp x29, x30, [sp, #-96]!
	stp x19, x20, [sp, #16]
	stp x21, x22, [sp, #32]
	stp x23, x24, [sp, #48]
	stp x25, x26, [sp, #64]
	stp x27, x28, [sp, #80]
	mov x0, #0x30000000
	mov x1, sp
	str x1, [x0, #1024]
	ldr x1, [x0, #512+256]
	mov sp, x1
	ldr x1, [x0, #512+248]
	msr nzcv, x1
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
	ldr x1, [x0, #1024]
	mov sp, x1
	ldp x19, x20, [sp, #16]
	ldp x21, x22, [sp, #32]
	ldp x23, x24, [sp, #48]
	ldp x25, x26, [sp, #64]
	ldp x27, x28, [sp, #80]
	ldp x29, x30, [sp], #96
	ret
leave_end:
