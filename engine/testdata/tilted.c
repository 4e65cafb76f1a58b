/* tilted N: calls a function N times that has its stack pointer at half of what the processor aligns it to. For 64-bit ARM. */
#include <stdio.h>
#include <stdlib.h>

long tilt(long n);
__asm__(".globl tilt\n.type tilt, %function\n"
	"tilt: sub sp, sp, #8\n"
	"add x0, x0, #1\n"
	"add sp, sp, #8\n"
	"ret\n"
	".size tilt, . - tilt\n");

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1, bad = 0;
	for (long i = 0; i < n; i++)
		bad += tilt(i) != i + 1;
	printf("tilted bad=%ld\n", bad);
	return bad != 0;
}
