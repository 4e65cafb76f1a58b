# The first page of the fallback in a 64-bit process: see doc.go. Position-independent; it writes to its own page through /proc/self/mem.
# The assembled form is amd64.bin; a test compares the two.

	.set	INFO_CODE, 8		# siginfo_t.si_code
	.set	UC_RIP, 168		# ucontext_t.uc_mcontext.gregs[REG_RIP]
	.set	UC_FLAGS, 176		# … [REG_EFL]
	.set	UC_SIGMASK, 296
	.set	SI_KERNEL, 0x80		# an int3 instruction
	.set	TRAP_TRACE, 2
	.set	TRAP_HWBKPT, 4
	.set	NOTE, -71		# gotap's own code, from one thread's handler to another's
	.set	PASSED, -72		# gotap's own code, from the tracer: a TRAP_TRACE that the program caused
	.set	SENT, 0x4000		# what the tracer takes off the si_code of a SIGTRAP that was sent and that it passes on
	.set	LOWEST, -0x100		# it does so if the si_code is above this and not above 0
	.set	TKILL, -6
	.set	TRAP, 0x10		# in a mask
	.set	SYNCHRONOUS, 0x400004d8	# the signals that instructions raise
	.set	MASK, 120		# room for a mask of CPUs

	.text
page:
	.ascii	"gotap fallback 1"	# 0x00
chain:	.quad	0			# 0x10 the program's own handler; 0: default action, 1: ignored
count:	.long	0			# 0x18 used entries of the table
watching: .long	0			# 0x1c whether debug registers are armed
masks:	.long	0			# 0x20 used entries of the list of threads

	.org	0xc0
nothing: .fill	32, 1, 0		# struct sigaction: the default action
path:	.asciz	"/proc/self/mem"

	.org	0x100
handler:				# rdi: signal, rsi: siginfo_t, rdx: ucontext_t
	mov	INFO_CODE(%rsi), %eax
	cmp	$SI_KERNEL, %eax
	je	breakpoint
	cmp	$TRAP_TRACE, %eax
	je	trace
	cmp	$NOTE, %eax
	je	settle
	cmp	$PASSED, %eax
	je	passed
	cmp	$TRAP_HWBKPT, %eax
	jne	pass
	cmpl	$0, watching(%rip)
	je	pass
	jmp	settle
trace:	testb	$1, UC_FLAGS+1(%rdx)	# TF: the program single-steps itself
	jz	settle
	jmp	pass
passed:	movl	$TRAP_TRACE, INFO_CODE(%rsi)
	jmp	pass

	# settle restores the signal mask of the thread and sends it the signals that gotap withheld, if it is in the list.
	# It preserves rdi, rsi and rdx.
settle:	cmpl	$0, masks(%rip)
	je	9f
	push	%rdi
	push	%rsi
	push	%rdx
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	mov	%rdx, %rbp
	mov	$186, %eax		# gettid
	syscall
	mov	%eax, %r12d
	lea	list(%rip), %rbx
	mov	masks(%rip), %r13d
1:	cmp	(%rbx), %r12d
	je	2f
	add	$32, %rbx
	dec	%r13d
	jnz	1b
	jmp	8f
2:	testl	$1, 4(%rbx)
	jz	3f
	mov	8(%rbx), %rax
	mov	%rax, UC_SIGMASK(%rbp)
3:	mov	16(%rbx), %r13
	mov	$2, %eax		# open: to remove the thread from the list
	lea	path(%rip), %rdi
	mov	$0x80002, %esi
	xor	%edx, %edx
	syscall
	test	%eax, %eax
	js	4f
	mov	%eax, %edi
	mov	$18, %eax		# pwrite64
	lea	nothing(%rip), %rsi
	mov	$4, %edx
	mov	%rbx, %r10
	syscall
	mov	$3, %eax		# close
	syscall
4:	test	%r13, %r13
	jz	8f
	bsf	%r13, %rbx
	lea	-1(%r13), %rax
	and	%rax, %r13
	mov	$39, %eax		# getpid
	syscall
	mov	%eax, %edi
	mov	%r12d, %esi
	lea	1(%rbx), %edx
	mov	$234, %eax		# tgkill
	syscall
	jmp	4b
8:	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	pop	%rdx
	pop	%rsi
	pop	%rdi
9:	ret

	# unpin gives the thread back the CPUs that it may run on, if gotap has set others and these are still in force. It preserves rdi, rsi and
	# rdx.
unpin:	cmpl	$0, pinned(%rip)
	je	9b
	push	%rdi
	push	%rsi
	push	%rdx
	sub	$MASK, %rsp
	mov	$204, %eax		# sched_getaffinity
	xor	%edi, %edi
	mov	pinned(%rip), %esi
	mov	%rsp, %rdx
	syscall
	test	%eax, %eax
	jle	2f
	mov	%eax, %ecx
	mov	%rsp, %rsi
	lea	given(%rip), %rdi
	repe cmpsb
	jne	2f
	mov	$203, %eax		# sched_setaffinity
	xor	%edi, %edi
	mov	pinned(%rip), %esi
	lea	former(%rip), %rdx
	syscall
2:	mov	$2, %eax		# open: to remove the record
	lea	path(%rip), %rdi
	mov	$0x80002, %esi
	xor	%edx, %edx
	syscall
	test	%eax, %eax
	js	3f
	mov	%eax, %edi
	mov	$18, %eax		# pwrite64
	lea	nothing(%rip), %rsi
	mov	$4, %edx
	lea	pinned(%rip), %r10
	syscall
	mov	$3, %eax		# close
	syscall
3:	add	$MASK, %rsp
	pop	%rdx
	pop	%rsi
	pop	%rdi
	ret

breakpoint:
	testb	$1, UC_FLAGS+2(%rdx)	# RF: the tracer had already handled this hit
	jnz	settle
	mov	UC_RIP(%rdx), %r8
	dec	%r8
	lea	table(%rip), %rax
	mov	count(%rip), %ecx
1:	test	%ecx, %ecx
	jz	pass
	cmp	(%rax), %r8
	je	found
	add	$16, %rax
	dec	%ecx
	jmp	1b

found:	mov	%r8, UC_RIP(%rdx)
	push	%rax
	push	%r8
	call	settle
	call	unpin
	pop	%r8
	pop	%rax
restore:				# restores all instructions; r8: an address, rax: its entry
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	sub	$16, %rsp
	mov	%r8, %r12		# the address of this hit
	mov	%rax, %r13		# its entry
	mov	$2, %eax		# open
	lea	path(%rip), %rdi
	mov	$0x80002, %esi		# O_RDWR|O_CLOEXEC
	xor	%edx, %edx
	syscall
	test	%eax, %eax
	js	protect
	mov	%eax, %ebx
	mov	count(%rip), %r14d	# from the last entry to the first: see Restore
	mov	%r14d, %ecx
	shl	$4, %rcx
	lea	table-16(%rip), %rbp
	add	%rcx, %rbp
2:	mov	(%rbp), %r10
	mov	$17, %eax		# pread64: unmapped memory is an error here, not a fault
	mov	%ebx, %edi
	mov	%rsp, %rsi
	mov	$1, %edx
	syscall
	cmp	$1, %rax
	jne	3f
	cmpb	$0xcc, (%rsp)
	jne	3f
	cmpb	$0, 14(%rbp)		# the bytes behind the breakpoint may have changed as well: restore them first
	je	1f
	mov	(%rbp), %r10
	inc	%r10
	lea	9(%rbp), %rsi
	mov	$18, %eax		# pwrite64
	mov	%ebx, %edi
	mov	$1, %edx
	cmpb	$2, 14(%rbp)		# of a short jump one byte, else four, of which the last is elsewhere
	je	5f
	mov	$3, %edx
5:	syscall
	cmpb	$2, 14(%rbp)
	je	1f
	mov	(%rbp), %r10
	add	$4, %r10
	lea	13(%rbp), %rsi
	mov	$18, %eax		# pwrite64
	mov	%ebx, %edi
	mov	$1, %edx
	syscall
1:	mov	(%rbp), %r10
	lea	8(%rbp), %rsi
	mov	$18, %eax		# pwrite64
	mov	%ebx, %edi
	mov	$1, %edx
	syscall
3:	sub	$16, %rbp
	dec	%r14d
	jnz	2b
	mov	$3, %eax		# close
	mov	%ebx, %edi
	syscall
	mov	$39, %eax		# getpid
	syscall
	mov	%eax, %ebx
	lea	list(%rip), %rbp	# notify the threads in the list: they will hit no breakpoint any more
	mov	masks(%rip), %r14d
4:	dec	%r14d
	js	6f
	mov	(%rbp), %esi
	add	$32, %rbp
	test	%esi, %esi
	jz	4b
	mov	%ebx, %edi
	mov	$5, %edx
	lea	note(%rip), %r10
	mov	$297, %eax		# rt_tgsigqueueinfo
	syscall
	jmp	4b
6:	cmpb	$0xcc, (%r12)
	jne	back
protect:				# /proc/self/mem did not work: change the protection of the page
	mov	$7, %edx		# PROT_READ|PROT_WRITE|PROT_EXEC: other threads may execute the page
	call	change
	test	%eax, %eax
	jnz	back
	cmpb	$0, 14(%r13)
	je	1f
	mov	9(%r13), %al
	mov	%al, 1(%r12)
	cmpb	$2, 14(%r13)
	je	1f
	mov	10(%r13), %ax
	mov	%ax, 2(%r12)
	mov	13(%r13), %al
	mov	%al, 4(%r12)
1:	mov	8(%r13), %al
	mov	%al, (%r12)
	mov	$5, %edx		# PROT_READ|PROT_EXEC
	call	change
back:	add	$16, %rsp
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret

change:	mov	$10, %eax		# mprotect
	mov	%r12, %rdi
	and	$-4096, %rdi
	mov	$4096, %esi
	syscall
	ret

pass:	mov	INFO_CODE(%rsi), %eax	# not gotap's signal
	test	%eax, %eax
	jg	own
	cmp	$LOWEST, %eax
	jg	sent
	add	$SENT, %eax
	jg	own
	cmp	$LOWEST, %eax
	jle	own
	mov	%eax, INFO_CODE(%rsi)
own:	mov	chain(%rip), %rax	# do what the program has set
	cmp	$1, %rax
	je	ignored
	jb	default
	jmp	*%rax
ignored:
	cmpl	$0, INFO_CODE(%rsi)	# a signal that an instruction caused cannot be ignored
	jle	9b
default:
	mov	$13, %eax		# rt_sigaction
	mov	$5, %edi
	lea	nothing(%rip), %rsi
	xor	%edx, %edx
	mov	$8, %r10d
	syscall
	mov	$39, %eax		# getpid
	syscall
	mov	%eax, %edi
	mov	$186, %eax		# gettid
	syscall
	mov	%eax, %esi
	mov	$234, %eax		# tgkill
	mov	$5, %edx
	syscall
	ret

	# A SIGTRAP that was sent, without a tracer. If the thread blocks all other signals that instructions raise, gotap has left SIGTRAP open:
	# the signal becomes pending and blocked. Before, all instructions are restored: no breakpoint must be hit with SIGTRAP blocked.
sent:	call	settle
	mov	UC_SIGMASK(%rdx), %eax
	and	$SYNCHRONOUS, %eax
	cmp	$(SYNCHRONOUS-TRAP), %eax
	jne	own
	orl	$TRAP, UC_SIGMASK(%rdx)
	push	%rsi
	mov	$14, %eax		# rt_sigprocmask: the program's own action may let SIGTRAP interrupt its handler
	xor	%edi, %edi
	lea	traps(%rip), %rsi
	xor	%edx, %edx
	mov	$8, %r10d
	syscall
	cmpl	$0, count(%rip)
	je	1f
	lea	table(%rip), %rax
	mov	(%rax), %r8
	call	restore
1:	mov	$39, %eax		# getpid
	syscall
	pop	%rdx
	mov	%eax, %edi
	mov	$5, %esi
	mov	$129, %eax		# rt_sigqueueinfo: to the process
	cmpl	$TKILL, INFO_CODE(%rdx)
	jne	2f
	mov	%rdx, %r10
	mov	$186, %eax		# gettid
	syscall
	mov	%eax, %esi
	mov	$5, %edx
	mov	$297, %eax		# rt_tgsigqueueinfo
2:	syscall
	ret

	.org	0x600
pinned:	.long	0, 0			# the size of the masks in use; 0: the CPUs are the program's own
former:	.fill	MASK, 1, 0		# the mask to set again
given:	.fill	MASK, 1, 0		# the mask that gotap has set

	.org	0x700
note:	.long	5, 0, NOTE		# a siginfo_t
traps:	.quad	TRAP			# a mask
	.org	0x7f0
restorer:
	mov	$15, %eax		# rt_sigreturn
	syscall
	.org	0x800
	.set	list, page+0x1000
	.set	table, page+0x5000
