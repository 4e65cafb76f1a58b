/* pieces N: functions of which the compiler has moved a part elsewhere: one that is entered without a frame and returns by itself,
 * and one that is entered with a frame. It prints how often each was called, and the sums of their results. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((cold, noipa)) void complain(long n)
{
	static volatile long sum;
	sum += n;
}

__attribute__((noipa)) long checked(long n)
{
	if (n % 3 == 0) {
		complain(n);
		return -n;
	}
	return n * 2;
}

/* Profile-guided compilers make the like of this. */
long split(long n);
__asm__(".text\n"
	".globl split\n"
	".type split, @function\n"
	"split: .cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov %rdi, %rbx\n"
	"	test $3, %dil\n"
	"	je split.cold\n"
	"	lea 1(%rbx), %rax\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size split, . - split\n"
	".section .text.unlikely, \"ax\", @progbits\n"
	".type split.cold, @function\n"
	"split.cold: .cfi_startproc\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call complain\n"
	"	mov %rbx, %rax\n"
	"	neg %rax\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size split.cold, . - split.cold\n"
	".text\n");

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 10, sums[2] = { 0, 0 };
	for (long i = 0; i < calls; i++) {
		sums[0] += checked(i);
		sums[1] += split(i);
	}
	printf("%ld checked %ld split %ld\n", calls, sums[0], sums[1]);
	return 0;
}
