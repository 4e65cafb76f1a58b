/* transaction N: N times, a transaction, and what is done where none succeeds; the program itself needs no processor that has them. */
#include <stdio.h>
#include <stdlib.h>

static volatile long succeeded, failed;

/* the status of a transaction that failed; -1 when it succeeded */
extern long tx(void);
#ifdef __x86_64__
#define ALL "mov $-1, %rax\n"
#else
#define ALL "mov $-1, %eax\n"
#endif
__asm__(".text\n.globl tx\n.type tx,@function\ntx: " ALL "xbegin fails\n xend\n ret\n nop\nfails: nop\n ret\n.size tx,.-tx\n");

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 10;
	for (long i = 0; i < n; i++)
		if (tx() == -1)
			succeeded++;
		else
			failed++;
	printf("transaction bad=%d\n", succeeded + failed != n);
	return 0;
}
