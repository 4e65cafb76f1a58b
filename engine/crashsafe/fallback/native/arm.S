@ The first page of the fallback in a process of 32-bit ARM: see doc.go. It is A32 code, for Thumb programs too, and runs on processors from
@ Armv5 on. It is position-independent and writes to its own page through /proc/self/mem. The assembled form is arm.bin; a test compares the two.

	.set	INFO_CODE, 8		@ siginfo_t.si_code
	.set	INFO_ADDR, 12
	.set	UC_PC, 92		@ ucontext_t
	.set	UC_SIGMASK, 104
	.set	TRAP_BRKPT, 1
	.set	SENT, 0x4000		@ what the tracer takes off the si_code of a SIGTRAP that was sent and that it passes on
	.set	LOWEST, 0x100		@ it does so if the si_code is above minus this and not above 0
	.set	TKILL, 6
	.set	TRAP, 0x10		@ in a mask
	.set	SYNCHRONOUS, 0x400004d8	@ the signals that instructions raise
	.set	NOTE, -71		@ gotap's own code, from one thread's handler to another's
	.set	CHAIN, 0x10		@ offsets in the page
	.set	COUNT, 0x18
	.set	MASKS, 0x20
	.set	LIST, 0x1000
	.set	TABLE, 0x5000

	.syntax	unified
	.arm
	.arch	armv5t
	.text
page:
	.ascii	"gotap fallback 1"	@ 0x00
	.word	0, 0			@ 0x10 the program's own handler; 0: default action, 1: ignored
	.word	0			@ 0x18 used entries of the table
	.word	0			@ 0x1c not used on ARM
	.word	0			@ 0x20 used entries of the list of threads

	.org	0xc0
nothing: .fill	32, 1, 0		@ struct sigaction: the default action
path:	.asciz	"/proc/self/mem"

	@ The kernel restores all registers when a handler returns, so only the arguments for the program's own handler are preserved.
	.org	0x100
handler:				@ r0: signal, r1: siginfo_t, r2: ucontext_t
	ldr	r3, [r1, #INFO_CODE]
	cmp	r3, #TRAP_BRKPT
	beq	breakpoint
	cmn	r3, #-NOTE
	bne	pass

	@ settle restores the signal mask of the thread and sends it the signals that gotap withheld, if it is in the list.
	@ It preserves r0, r1 and r2.
settle:	adrl	r8, page
	ldr	r4, [r8, #MASKS]
	cmp	r4, #0
	bxeq	lr
	push	{r0-r2, lr}
	mov	r5, r2
	mov	r7, #224		@ gettid
	svc	#0
	mov	r6, r0
	add	r8, r8, #LIST
1:	ldr	r3, [r8]
	cmp	r3, r6
	beq	2f
	add	r8, r8, #32
	subs	r4, r4, #1
	bne	1b
	b	8f
2:	ldr	r3, [r8, #4]
	tst	r3, #1
	beq	3f
	ldr	r3, [r8, #8]
	str	r3, [r5, #UC_SIGMASK]
	ldr	r3, [r8, #12]
	str	r3, [r5, #UC_SIGMASK+4]
3:	ldr	r9, [r8, #16]
	ldr	r10, [r8, #20]
	bl	open			@ to remove the thread from the list
	cmp	r0, #0
	blt	7f
	mov	r11, r0
	adrl	r1, nothing
	mov	r2, #4
	mov	r4, r8
	mov	r5, #0
	mov	r7, #181		@ pwrite64
	svc	#0
	mov	r0, r11
	mov	r7, #6			@ close
	svc	#0
7:	mov	r11, #0
4:	orrs	r3, r9, r10
	beq	8f
	add	r11, r11, #1
	movs	r10, r10, lsr #1
	movs	r9, r9, rrx
	bcc	4b
	mov	r7, #20			@ getpid
	svc	#0
	mov	r1, r6
	mov	r2, r11
	ldr	r7, tgkill
	svc	#0
	b	4b
8:	pop	{r0-r2, lr}
9:	bx	lr

tgkill:	.word	268
queue:	.word	363			@ rt_tgsigqueueinfo
flush:	.word	0xf0002			@ cacheflush
access:	.word	0x80002			@ O_RDWR|O_CLOEXEC

open:	adrl	r0, path
	ldr	r1, access
	mov	r2, #0
	mov	r7, #5			@ open
	svc	#0
	bx	lr

breakpoint:
	ldr	r9, [r1, #INFO_ADDR]
	adrl	r10, page
	ldr	r3, [r10, #COUNT]
	add	r10, r10, #TABLE
1:	cmp	r3, #0
	beq	pass
	ldr	r4, [r10]
	cmp	r4, r9
	beq	found
	add	r10, r10, #16
	sub	r3, r3, #1
	b	1b

found:	ldr	r3, [r2, #UC_PC]
	cmp	r3, r9
	bne	settle			@ the tracer had already handled this hit
	push	{r3, r9, r10, lr}	@ the first slot is overwritten: room for four bytes
	bl	settle
restore:				@ restores all instructions; r9: an address, r10: its entry, both on the stack
	bl	open
	cmp	r0, #0
	blt	protect
	mov	r11, r0
	adrl	r6, page
	ldr	r8, [r6, #COUNT]	@ from the last entry to the first: see Restore
	add	r6, r6, #TABLE
	add	r6, r6, r8, lsl #4
2:	sub	r6, r6, #16
	mov	r3, #0
	str	r3, [sp]
	mov	r1, sp
	mov	r7, #180		@ pread64: unmapped memory is an error here, not a fault
	bl	transfer
	cmp	r0, r2
	bne	3f
	ldr	r3, [sp]
	ldr	r4, [r6, #12]
	cmp	r3, r4
	bne	3f
	add	r1, r6, #8
	mov	r7, #181		@ pwrite64
	bl	transfer
3:	subs	r8, r8, #1
	bne	2b
	mov	r0, r11
	mov	r7, #6			@ close
	svc	#0
	mov	r7, #20			@ getpid
	svc	#0
	mov	r11, r0
	adrl	r6, page		@ notify the threads in the list: they will hit no breakpoint any more
	ldr	r8, [r6, #MASKS]
	add	r6, r6, #LIST
4:	subs	r8, r8, #1
	bmi	6f
	ldr	r1, [r6], #32
	cmp	r1, #0
	beq	4b
	mov	r0, r11
	mov	r2, #5
	adrl	r3, note
	ldr	r7, queue
	svc	#0
	b	4b
6:	ldmib	sp, {r9, r10}
	ldrh	r3, [r9]
	ldrh	r4, [r10, #12]
	cmp	r3, r4
	ldrheq	r3, [r9, #2]
	ldrheq	r4, [r10, #14]
	tsteq	r4, r4
	beq	protect			@ a breakpoint of two bytes
	cmp	r3, r4
	bne	back
protect:				@ /proc/self/mem did not work: change the protection of the page
	ldmib	sp, {r9, r10}
	mov	r2, #7			@ PROT_READ|PROT_WRITE|PROT_EXEC: other threads may execute the page
	bl	change
	cmp	r0, #0
	bne	back
	ldrh	r3, [r10, #8]
	strh	r3, [r9]
	ldrh	r3, [r10, #14]
	cmp	r3, #0
	ldrhne	r3, [r10, #10]
	strhne	r3, [r9, #2]
	mov	r0, r9
	add	r1, r9, #4
	mov	r2, #0
	ldr	r7, flush
	svc	#0
	mov	r2, #5			@ PROT_READ|PROT_EXEC
	bl	change
back:	pop	{r3, r9, r10, lr}
	bx	lr

	@ transfer makes the system call in r7, pread64 or pwrite64, for the breakpoint of the entry at r6. It sets r2 to the breakpoint's size.
transfer:
	mov	r0, r11
	ldr	r2, [r6, #12]
	movs	r2, r2, lsr #16
	moveq	r2, #2
	movne	r2, #4
	ldr	r4, [r6]
	mov	r5, #0
	svc	#0
	bx	lr

change:	mov	r0, r9, lsr #12
	mov	r0, r0, lsl #12
	mov	r1, #4096
	mov	r7, #125		@ mprotect
	svc	#0
	bx	lr

pass:	ldr	r3, [r1, #INFO_CODE]	@ not gotap's signal
	cmp	r3, #0
	bgt	own
	cmn	r3, #LOWEST
	bgt	sent
	adds	r3, r3, #SENT
	bgt	own
	cmn	r3, #LOWEST
	ble	own
	str	r3, [r1, #INFO_CODE]
own:	adrl	r3, page		@ do what the program has set
	ldr	r3, [r3, #CHAIN]
	cmp	r3, #1
	beq	ignored
	blo	default
	bx	r3
ignored:
	ldr	r3, [r1, #INFO_CODE]	@ a signal that an instruction caused cannot be ignored
	cmp	r3, #0
	bxle	lr
default:
	mov	r0, #5
	adrl	r1, nothing
	mov	r2, #0
	mov	r3, #8
	mov	r7, #174		@ rt_sigaction
	svc	#0
	mov	r7, #20			@ getpid
	svc	#0
	mov	r4, r0
	mov	r7, #224		@ gettid
	svc	#0
	mov	r1, r0
	mov	r0, r4
	mov	r2, #5
	ldr	r7, 1f
	svc	#0
	bx	lr
1:	.word	268			@ tgkill

	@ A SIGTRAP that was sent, without a tracer. If the thread blocks all other signals that instructions raise, gotap has left SIGTRAP open:
	@ the signal becomes pending and blocked. Before, all instructions are restored: no breakpoint must be hit with SIGTRAP blocked.
sent:	push	{r3, lr}
	bl	settle
	pop	{r3, lr}
	ldr	r3, [r2, #UC_SIGMASK]
	ldr	r4, synchronous
	and	r5, r3, r4
	eor	r4, r4, #TRAP
	cmp	r5, r4
	bne	own
	orr	r3, r3, #TRAP
	str	r3, [r2, #UC_SIGMASK]
	push	{r1, lr}
	mov	r0, #0			@ SIG_BLOCK
	adrl	r1, traps
	mov	r2, #0
	mov	r3, #8
	mov	r7, #175		@ rt_sigprocmask: the program's own action may let SIGTRAP interrupt its handler
	svc	#0
	adrl	r10, page
	ldr	r3, [r10, #COUNT]
	cmp	r3, #0
	beq	1f
	add	r10, r10, #TABLE
	ldr	r9, [r10]
	bl	all
1:	mov	r7, #20			@ getpid
	svc	#0
	mov	r4, r0
	pop	{r5, lr}
	mov	r1, #5
	mov	r2, r5
	ldr	r3, [r5, #INFO_CODE]
	cmn	r3, #TKILL
	beq	2f
	mov	r7, #178		@ rt_sigqueueinfo: to the process
	svc	#0
	bx	lr
2:	mov	r7, #224		@ gettid
	svc	#0
	mov	r1, r0
	mov	r0, r4
	mov	r2, #5
	mov	r3, r5
	ldr	r7, queue
	svc	#0
	bx	lr
all:	push	{r3, r9, r10, lr}	@ what restore pops
	b	restore
synchronous: .word SYNCHRONOUS

	.org	0x700
note:	.word	5, 0, NOTE		@ a siginfo_t
traps:	.word	TRAP, 0			@ a mask
	.org	0x7f0
restorer:
	mov	r7, #173		@ rt_sigreturn
	svc	#0
	.org	0x800
