# The first page of the fallback in a 32-bit process: amd64.S in IA-32. The assembled form is ia32.bin.

	.set	INFO_CODE, 8		# siginfo_t.si_code
	.set	UC_EIP, 76		# ucontext_t.uc_mcontext.gregs[REG_EIP]
	.set	UC_FLAGS, 84		# … [REG_EFL]
	.set	SI_KERNEL, 0x80
	.set	TRAP_TRACE, 2
	.set	TRAP_HWBKPT, 4
	.set	NOTE, -71
	.set	PASSED, -72
	.set	UC_SIGMASK, 108
	.set	SENT, 0x4000
	.set	LOWEST, -0x100
	.set	TKILL, -6
	.set	TRAP, 0x10
	.set	SYNCHRONOUS, 0x400004d8
	.set	LIST, 0x1000
	.set	TABLE, 0x5000

	.text
page:
	.ascii	"gotap fallback 1"
chain:	.quad	0
count:	.long	0
watching: .long	0
masks:	.long	0

	.org	0xc0
nothing: .fill	32, 1, 0
path:	.asciz	"/proc/self/mem"

	.org	0x100
handler:				# on the stack: signal, siginfo_t, ucontext_t
	call	1f
1:	pop	%edx
	sub	$(1b-page), %edx	# edx: the page
	mov	8(%esp), %ecx
	mov	INFO_CODE(%ecx), %eax
	mov	12(%esp), %ecx
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
	cmpl	$0, watching-page(%edx)
	je	pass
	jmp	settle
trace:	testb	$1, UC_FLAGS+1(%ecx)
	jz	settle
	jmp	pass
passed:	mov	8(%esp), %eax
	movl	$TRAP_TRACE, INFO_CODE(%eax)
	jmp	pass

	# As in amd64.S. edx is the page, ecx the ucontext_t; both are preserved.
settle:	cmpl	$0, masks-page(%edx)
	je	9f
	push	%ebx
	push	%esi
	push	%edi
	push	%ebp
	push	%ecx			# 4(%esp)
	push	%edx			# (%esp)
	mov	$224, %eax		# gettid
	int	$0x80
	mov	%eax, %edi
	lea	LIST(%edx), %ebp
	mov	masks-page(%edx), %esi
1:	cmp	(%ebp), %edi
	je	2f
	add	$32, %ebp
	dec	%esi
	jnz	1b
	jmp	8f
2:	testl	$1, 4(%ebp)
	jz	3f
	mov	8(%ebp), %eax
	mov	%eax, UC_SIGMASK(%ecx)
	mov	12(%ebp), %eax
	mov	%eax, UC_SIGMASK+4(%ecx)
3:	pushl	16(%ebp)		# the signals, low and high
	pushl	20(%ebp)
	push	%edi			# the thread
	lea	path-page(%edx), %ebx
	mov	$5, %eax		# open
	mov	$0x88002, %ecx
	xor	%edx, %edx
	int	$0x80
	test	%eax, %eax
	js	4f
	mov	%eax, %ebx
	mov	12(%esp), %ecx
	add	$(nothing-page), %ecx
	mov	$181, %eax		# pwrite64
	mov	$4, %edx
	mov	%ebp, %esi
	xor	%edi, %edi
	int	$0x80
	mov	$6, %eax		# close
	int	$0x80
4:	mov	$1, %ebp		# the signal
5:	shrl	4(%esp)			# shifts the two words together
	rcrl	8(%esp)
	jnc	6f
	mov	$20, %eax		# getpid
	int	$0x80
	mov	%eax, %ebx
	mov	(%esp), %ecx
	mov	%ebp, %edx
	mov	$270, %eax		# tgkill
	int	$0x80
6:	inc	%ebp
	cmp	$64, %ebp
	jbe	5b
	add	$12, %esp
8:	pop	%edx
	pop	%ecx
	pop	%ebp
	pop	%edi
	pop	%esi
	pop	%ebx
9:	ret

breakpoint:
	testb	$1, UC_FLAGS+2(%ecx)
	jnz	settle
	push	%ebx
	push	%esi
	push	%edi
	push	%ebp
	mov	UC_EIP(%ecx), %edi
	dec	%edi			# the address of this hit
	lea	TABLE(%edx), %ebp
	mov	count-page(%edx), %eax
2:	test	%eax, %eax
	jz	foreign
	cmp	(%ebp), %edi
	je	found
	add	$16, %ebp
	dec	%eax
	jmp	2b
foreign:
	pop	%ebp
	pop	%edi
	pop	%esi
	pop	%ebx
	jmp	pass

found:	mov	%edi, UC_EIP(%ecx)
	call	settle
restore:				# as in amd64.S; edi: an address, ebp: its entry
	push	%edi			# 16(%esp)
	push	%ebp			# 12(%esp): its entry
	push	%edx			# 8(%esp): the page
	sub	$8, %esp		# a byte that was read, and the number of entries left
	lea	path-page(%edx), %ebx
	mov	$5, %eax		# open
	mov	$0x88002, %ecx		# O_RDWR|O_CLOEXEC|O_LARGEFILE
	xor	%edx, %edx
	int	$0x80
	test	%eax, %eax
	js	protect
	mov	%eax, %ebx
	mov	8(%esp), %ebp
	mov	count-page(%ebp), %eax
	mov	%eax, 4(%esp)		# from the last entry to the first: see Restore
	shl	$4, %eax
	lea	TABLE-16(%ebp,%eax), %ebp
3:	mov	(%ebp), %esi
	xor	%edi, %edi
	mov	$180, %eax		# pread64
	mov	%esp, %ecx
	mov	$1, %edx
	int	$0x80
	cmp	$1, %eax
	jne	4f
	cmpb	$0xcc, (%esp)
	jne	4f
	mov	$181, %eax		# pwrite64
	lea	8(%ebp), %ecx
	int	$0x80
4:	sub	$16, %ebp
	decl	4(%esp)
	jnz	3b
	mov	$6, %eax		# close
	int	$0x80
	mov	$20, %eax		# getpid
	int	$0x80
	mov	%eax, %ebx
	mov	8(%esp), %ebp
	mov	masks-page(%ebp), %esi
	add	$LIST, %ebp
5:	dec	%esi
	js	6f
	mov	(%ebp), %ecx
	add	$32, %ebp
	test	%ecx, %ecx
	jz	5b
	mov	$5, %edx
	push	%esi
	mov	12(%esp), %esi
	add	$(note-page), %esi
	mov	$335, %eax		# rt_tgsigqueueinfo
	int	$0x80
	pop	%esi
	jmp	5b
6:	mov	16(%esp), %edi
	cmpb	$0xcc, (%edi)
	jne	back
protect:
	mov	$7, %edx
	call	change
	test	%eax, %eax
	jnz	back
	mov	16(%esp), %edi
	mov	12(%esp), %ebp
	mov	8(%ebp), %al
	mov	%al, (%edi)
	mov	$5, %edx
	call	change
back:	add	$20, %esp
	pop	%ebp
	pop	%edi
	pop	%esi
	pop	%ebx
	ret

change:	mov	20(%esp), %ebx		# one word further than in the caller
	and	$-4096, %ebx
	mov	$4096, %ecx
	mov	$125, %eax		# mprotect
	int	$0x80
	ret

pass:	mov	8(%esp), %ecx
	mov	INFO_CODE(%ecx), %eax
	test	%eax, %eax
	jg	own
	cmp	$LOWEST, %eax
	jg	sent
	add	$SENT, %eax
	jg	own
	cmp	$LOWEST, %eax
	jle	own
	mov	%eax, INFO_CODE(%ecx)
own:	mov	chain-page(%edx), %eax
	cmp	$1, %eax
	je	ignored
	jb	default
	jmp	*%eax
ignored:
	mov	8(%esp), %ecx
	cmpl	$0, INFO_CODE(%ecx)
	jle	9b
default:
	push	%ebx
	push	%esi
	lea	nothing-page(%edx), %ecx
	mov	$174, %eax		# rt_sigaction
	mov	$5, %ebx
	xor	%edx, %edx
	mov	$8, %esi
	int	$0x80
	mov	$20, %eax		# getpid
	int	$0x80
	mov	%eax, %ebx
	mov	$224, %eax		# gettid
	int	$0x80
	mov	%eax, %ecx
	mov	$270, %eax		# tgkill
	mov	$5, %edx
	int	$0x80
	pop	%esi
	pop	%ebx
	ret

	# As in amd64.S.
sent:	mov	12(%esp), %ecx
	call	settle
	mov	UC_SIGMASK(%ecx), %eax
	and	$SYNCHRONOUS, %eax
	cmp	$(SYNCHRONOUS-TRAP), %eax
	jne	own
	orl	$TRAP, UC_SIGMASK(%ecx)
	mov	8(%esp), %ecx		# the siginfo_t
	push	%ebx
	push	%esi
	push	%edi
	push	%ebp
	push	%ecx			# 4(%esp)
	push	%edx			# (%esp): the page
	mov	$175, %eax		# rt_sigprocmask
	xor	%ebx, %ebx
	lea	traps-page(%edx), %ecx
	xor	%edx, %edx
	mov	$8, %esi
	int	$0x80
	mov	(%esp), %edx
	cmpl	$0, count-page(%edx)
	je	1f
	lea	TABLE(%edx), %ebp
	mov	(%ebp), %edi
	call	all
1:	mov	$20, %eax		# getpid
	int	$0x80
	mov	%eax, %ebx
	mov	4(%esp), %edx
	mov	$5, %ecx
	mov	$178, %eax		# rt_sigqueueinfo
	cmpl	$TKILL, INFO_CODE(%edx)
	jne	2f
	mov	%edx, %esi
	mov	$224, %eax		# gettid
	int	$0x80
	mov	%eax, %ecx
	mov	$5, %edx
	mov	$335, %eax		# rt_tgsigqueueinfo
2:	int	$0x80
	add	$8, %esp
	pop	%ebp
	pop	%edi
	pop	%esi
	pop	%ebx
	ret
all:	push	%ebx			# what restore pops
	push	%esi
	push	%edi
	push	%ebp
	jmp	restore

	.org	0x700
note:	.long	5, 0, NOTE
traps:	.long	TRAP, 0
	.org	0x7f0
restorer:
	mov	$173, %eax		# rt_sigreturn
	int	$0x80
	.org	0x800
