/* frames: every way in which a frame comes about. mark() is where the test looks at the stack. */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUNC __attribute__((noipa))

static volatile long sink;

FUNC void mark(long n) { sink += n; }

FUNC long recurse(long n)
{
	if (n == 0) {
		mark(n);
		return 1;
	}
	return recurse(n - 1) + n;
}

FUNC int compare(const void *a, const void *b)
{
	mark(1);
	return *(const int *)a - *(const int *)b;
}

/* a frame of variable size needs a frame pointer */
FUNC long variable(long n)
{
	char *p = alloca(n * 16);
	memset(p, 1, n * 16);
	mark(p[n]);
	return p[0];
}

/* as many registers saved as there are */
FUNC long pressure(long a, long b, long c, long d, long e, long f)
{
	long g = a * b, h = b * c, i = c * d, j = d * e, k = e * f;
	mark(g);
	mark(h);
	return a + b + c + d + e + f + g + h + i + j + k;
}

FUNC void handler(int sig)
{
	mark(sig);
	variable(sig);
}

/* the stack realigned for a vector needs the frame's address by an expression */
FUNC long realigned(long n)
{
	long v[8] __attribute__((aligned(64)));
	for (int i = 0; i < 8; i++)
		v[i] = n + i;
	mark(v[n & 7]);
	return variable(v[n & 7] & 15);
}

/* assembly that no table describes */
long bare(long n);
__asm__(".text\n.globl bare\n.type bare,@function\nbare: nop\n nop\n ret\n.size bare,.-bare\n");

static jmp_buf back;

FUNC void jumper(void)
{
	mark(9);
	longjmp(back, 1);
}

int main(void)
{
	int v[5] = { 5, 3, 4, 1, 2 };
	static char alt[65536];
	stack_t ss = { .ss_sp = alt, .ss_size = sizeof alt };
	struct sigaction sa = { .sa_handler = handler };

	recurse(6);
	qsort(v, 5, sizeof v[0], compare);
	variable(7);
	pressure(1, 2, 3, 4, 5, 6);
	realigned(3);
	bare(1);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	sigaltstack(&ss, NULL);
	sa.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &sa, NULL);
	raise(SIGUSR2);
	if (!setjmp(back))
		jumper();
	printf("%ld %d\n", sink, v[0]);
	return 0;
}
