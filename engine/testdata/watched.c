// Writes and reads of cell by instructions at the beginning of functions, where jumps displace them.
#include <stdio.h>
#include <stdlib.h>

long cell[3] __attribute__((aligned(8)));
long first(long n, long *at), second(long n, long *at);
void fill(long *to);

__asm__(".text\n"
        ".type first,@function\n"
        "first:\n"
        "	mov %rdi, cell(%rip)\n"
        "	mov %rdi, %rax\n"
        "	ret\n"
        ".size first,.-first\n"
        ".type second,@function\n"
        "second:\n"
        "	push %rbx\n"
        "	add %rdi, cell(%rip)\n"
        "	mov cell(%rip), %rax\n"
        "	pop %rbx\n"
        "	ret\n"
        ".size second,.-second\n"
        ".type fill,@function\n"
        "fill:\n"
        "	mov $3, %ecx\n"
        "	mov $7, %eax\n"
        "	rep stosq\n"
        "	mov %rdi, %rax\n"
        "	ret\n"
        ".size fill,.-fill\n"
        ".globl first, second, fill\n");

int main(int argc, char **argv) {
	static long around[3];
	long rounds = atol(argv[1]), sum = 0;
	for (long i = 0; i < rounds; i++) {
		sum += first(i, cell) + second(1, cell);
		fill(cell);
		fill(around);
	}
	printf("sum %ld cell %ld\n", sum, *cell);
	return 0;
}
