// The first page of the fallback in a process of AArch64: see doc.go. Position-independent; it writes to its own page through /proc/self/mem.
// The assembled form is arm64.bin; a test compares the two.

	.set	INFO_CODE, 8		// siginfo_t.si_code
	.set	INFO_ADDR, 16
	.set	UC_SIGMASK, 40		// ucontext_t
	.set	UC_PC, 440
	.set	TRAP_BRKPT, 1
	.set	SENT, 0x4000		// what the tracer takes off the si_code of a SIGTRAP that was sent and that it passes on
	.set	LOWEST, 0x100		// it does so if the si_code is above minus this and not above 0
	.set	TKILL, 6
	.set	TRAP, 0x10		// in a mask
	.set	SYNCHRONOUS, 0x400004d8	// the signals that instructions raise
	.set	NOTE, -71		// gotap's own code, from one thread's handler to another's

	.text
page:
	.ascii	"gotap fallback 1"	// 0x00
chain:	.quad	0			// 0x10 the program's own handler; 0: default action, 1: ignored
count:	.word	0			// 0x18 used entries of the table
watching: .word	0			// 0x1c not used on ARM
masks:	.word	0			// 0x20 used entries of the list of threads

	.org	0xc0
nothing: .fill	32, 1, 0		// struct sigaction: the default action
path:	.asciz	"/proc/self/mem"

	// The kernel restores all registers when a handler returns, so only the arguments for the program's own handler are preserved.
	.org	0x100
handler:				// x0: signal, x1: siginfo_t, x2: ucontext_t
	ldr	w3, [x1, #INFO_CODE]
	cmp	w3, #TRAP_BRKPT
	b.eq	breakpoint
	cmn	w3, #-NOTE
	b.ne	pass

	// settle restores the signal mask of the thread and sends it the signals that gotap withheld, if it is in the list.
	// It preserves x0, x1 and x2.
settle:	ldr	w22, masks
	cbz	w22, 9f
	stp	x30, x0, [sp, #-32]!
	stp	x1, x2, [sp, #16]
	mov	x19, x2
	mov	x8, #178		// gettid
	svc	#0
	mov	w20, w0
	adr	x21, list
1:	ldr	w3, [x21]
	cmp	w3, w20
	b.eq	2f
	add	x21, x21, #32
	subs	w22, w22, #1
	b.ne	1b
	b	8f
2:	ldr	w3, [x21, #4]
	tbz	w3, #0, 3f
	ldr	x3, [x21, #8]
	str	x3, [x19, #UC_SIGMASK]
3:	ldr	x22, [x21, #16]
	bl	open			// to remove the thread from the list
	tbnz	w0, #31, 4f
	mov	w23, w0
	adr	x1, nothing
	mov	x2, #4
	mov	x3, x21
	mov	x8, #68			// pwrite64
	svc	#0
	mov	w0, w23
	mov	x8, #57			// close
	svc	#0
4:	cbz	x22, 8f
	rbit	x24, x22
	clz	x24, x24
	sub	x3, x22, #1
	and	x22, x22, x3
	mov	x8, #172		// getpid
	svc	#0
	mov	w1, w20
	add	w2, w24, #1
	mov	x8, #131		// tgkill
	svc	#0
	b	4b
8:	ldp	x1, x2, [sp, #16]
	ldp	x30, x0, [sp], #32
9:	ret

open:	mov	x0, #-100		// AT_FDCWD
	adr	x1, path
	mov	x2, #2			// O_RDWR
	movk	x2, #8, lsl #16		// O_CLOEXEC
	mov	x3, #0
	mov	x8, #56			// openat
	svc	#0
	ret

breakpoint:
	ldr	x25, [x1, #INFO_ADDR]
	adr	x26, table
	ldr	w3, count
1:	cbz	w3, pass
	ldr	x4, [x26]
	cmp	x4, x25
	b.eq	found
	add	x26, x26, #16
	sub	w3, w3, #1
	b	1b

found:	ldr	x3, [x2, #UC_PC]
	cmp	x3, x25
	b.ne	settle			// the tracer had already handled this hit
	stp	x30, xzr, [sp, #-16]!
	bl	settle
restore:				// restores all instructions; x25: an address, x26: its entry
	bl	open
	tbnz	w0, #31, protect
	mov	w19, w0
	adr	x20, table
	ldr	w21, count		// from the last entry to the first: see Restore
	add	x20, x20, w21, uxtw #4
2:	sub	x20, x20, #16
	mov	w0, w19
	add	x1, sp, #8
	mov	x2, #4
	ldr	x3, [x20]
	mov	x8, #67			// pread64: unmapped memory is an error here, not a fault
	svc	#0
	cmp	x0, #4
	b.ne	3f
	ldr	w3, [sp, #8]
	ldr	w4, [x20, #12]
	cmp	w3, w4
	b.ne	3f
	mov	w0, w19
	add	x1, x20, #8
	mov	x2, #4
	ldr	x3, [x20]
	mov	x8, #68			// pwrite64
	svc	#0
3:	subs	w21, w21, #1
	b.ne	2b
	mov	w0, w19
	mov	x8, #57			// close
	svc	#0
	mov	x8, #172		// getpid
	svc	#0
	mov	w19, w0
	adr	x20, list		// notify the threads in the list: they will hit no breakpoint any more
	ldr	w21, masks
4:	subs	w21, w21, #1
	b.mi	6f
	ldr	w1, [x20], #32
	cbz	w1, 4b
	mov	w0, w19
	mov	x2, #5
	adr	x3, note
	mov	x8, #240		// rt_tgsigqueueinfo
	svc	#0
	b	4b
6:	ldr	w3, [x25]
	ldr	w4, [x26, #12]
	cmp	w3, w4
	b.ne	back
protect:				// /proc/self/mem did not work: change the protection of the page
	mov	x2, #7			// PROT_READ|PROT_WRITE|PROT_EXEC: other threads may execute the page
	bl	change
	cbnz	x0, back
	ldr	w3, [x26, #8]
	str	w3, [x25]
	dc	cvau, x25		// the sequence of Arm ARM DDI 0487, B2.4.4
	dsb	ish
	ic	ivau, x25
	dsb	ish
	isb
	mov	x2, #5			// PROT_READ|PROT_EXEC
	bl	change
back:	ldp	x30, xzr, [sp], #16
	ret

change:	and	x0, x25, #-4096
	mov	x1, #4096
	mov	x8, #226		// mprotect
	svc	#0
	ret

pass:	ldr	w3, [x1, #INFO_CODE]	// not gotap's signal
	cmp	w3, #0
	b.gt	own
	cmn	w3, #LOWEST
	b.gt	sent
	adds	w3, w3, #(SENT>>12), lsl #12
	b.gt	own
	cmn	w3, #LOWEST
	b.le	own
	str	w3, [x1, #INFO_CODE]
own:	ldr	x3, chain		// do what the program has set
	cmp	x3, #1
	b.eq	ignored
	b.lo	default
	br	x3
ignored:
	ldr	w3, [x1, #INFO_CODE]	// a signal that an instruction caused cannot be ignored
	cmp	w3, #0
	b.le	9b
default:
	mov	x0, #5
	adr	x1, nothing
	mov	x2, #0
	mov	x3, #8
	mov	x8, #134		// rt_sigaction
	svc	#0
	mov	x8, #172		// getpid
	svc	#0
	mov	w19, w0
	mov	x8, #178		// gettid
	svc	#0
	mov	w1, w0
	mov	w0, w19
	mov	x2, #5
	mov	x8, #131		// tgkill
	svc	#0
	ret

	// A SIGTRAP that was sent, without a tracer. If the thread blocks all other signals that instructions raise, gotap has left SIGTRAP open:
	// the signal becomes pending and blocked. Before, all instructions are restored: no breakpoint must be hit with SIGTRAP blocked.
sent:	stp	x30, xzr, [sp, #-16]!
	bl	settle
	ldp	x30, xzr, [sp], #16
	ldr	w3, [x2, #UC_SIGMASK]
	ldr	w4, synchronous
	and	w3, w3, w4
	eor	w4, w4, #TRAP
	cmp	w3, w4
	b.ne	own
	ldr	w3, [x2, #UC_SIGMASK]
	orr	w3, w3, #TRAP
	str	w3, [x2, #UC_SIGMASK]
	stp	x30, x1, [sp, #-16]!
	mov	x0, #0			// SIG_BLOCK
	adr	x1, traps
	mov	x2, #0
	mov	x3, #8
	mov	x8, #135		// rt_sigprocmask: the program's own action may let SIGTRAP interrupt its handler
	svc	#0
	ldr	w3, count
	cbz	w3, 1f
	adr	x26, table
	ldr	x25, [x26]
	bl	all
1:	mov	x8, #172		// getpid
	svc	#0
	mov	w19, w0
	ldp	x30, x20, [sp], #16
	mov	x1, #5
	mov	x2, x20
	ldr	w3, [x20, #INFO_CODE]
	cmn	w3, #TKILL
	b.eq	2f
	mov	x8, #138		// rt_sigqueueinfo: to the process
	svc	#0
	ret
2:	mov	x8, #178		// gettid
	svc	#0
	mov	w1, w0
	mov	w0, w19
	mov	x2, #5
	mov	x3, x20
	mov	x8, #240		// rt_tgsigqueueinfo
	svc	#0
	ret
all:	stp	x30, xzr, [sp, #-16]!	// what restore loads
	b	restore
synchronous: .word SYNCHRONOUS

	.org	0x700
note:	.word	5, 0, NOTE		// a siginfo_t
	.org	0x710
traps:	.quad	TRAP			// a mask
	.org	0x7f0
restorer:
	mov	x8, #139		// rt_sigreturn
	svc	#0
	.org	0x800
	.set	list, page+0x1000
	.set	table, page+0x5000
