/* guarded N: calls functions that are built for branch protection through pointers, N times each, in guarded code where there is such. For 64-bit ARM. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#define CHECKS (1 << 17) /* of AT_HWCAP2 */
#define PROT_GUARDED 0x10
#define PAGE 65536
#define GUARDED __attribute__((noipa, section(".text.guarded")))

GUARDED __attribute__((aligned(PAGE))) long leaf(long n) { return n * 2 + 1; } /* begins with bti c */
GUARDED long inner(long n) { return n + 1; }
GUARDED long outer(long n) { return inner(n) * 3; } /* begins with paciasp */
GUARDED __attribute__((aligned(PAGE))) void end(void) {}

static sigjmp_buf back;

static void refused(int sig) { siglongjmp(back, sig); }

/* whether the processor refuses a branch into the middle of a function */
static int checks(void)
{
	long (*volatile middle)(long) = (long (*)(long))((char *)leaf + 4);
	signal(SIGILL, refused);
	if (sigsetjmp(back, 1))
		return 1;
	return middle(1) != 3;
}

int main(int argc, char **argv)
{
	long (*volatile f)(long) = leaf, (*volatile g)(long) = outer;
	long n = argc > 1 ? atol(argv[1]) : 1, bad = 0;
	if (getauxval(AT_HWCAP2) & CHECKS)
		bad += mprotect(leaf, (char *)end - (char *)leaf, PROT_READ | PROT_EXEC | PROT_GUARDED) != 0;
	for (long i = 0; i < n; i++)
		bad += (f(i) != i * 2 + 1) + (g(i) != (i + 1) * 3);
	printf("guarded bad=%ld checks=%d\n", bad, checks());
	return bad != 0;
}
