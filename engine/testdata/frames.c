/* frames MODE N: calls that do not nest as those of one thread on one stack do. It checks its results, and prints how often each
 * function was entered, and how often it returned. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

#define FUNC __attribute__((noipa))
#define KEEP __asm__ volatile("" ::: "memory")

static _Atomic long entered[5], returned[5];
static volatile long bad;

FUNC long leaf(long n) { entered[0]++; KEEP; returned[0]++; return n + 1; }

/* deep recursion, from whose bottom longjmp leads back to some of its frames */
static jmp_buf marks[64];
FUNC long down(long depth, long back)
{
	entered[1]++;
	if (depth == 0) {
		if (back >= 0)
			longjmp(marks[back], 1);
		returned[1]++;
		return 0;
	}
	if (setjmp(marks[depth]) == 0)
		depth += down(depth - 1, back) - depth + 1;
	else
		depth = leaf(depth) - 1;
	returned[1]++;
	return depth;
}

/* a function that continues in another one, which longjmp leaves */
static jmp_buf aside;
FUNC long gone(long n) { longjmp(aside, n); }
FUNC long hop(long n)
{
	entered[4]++;
	if (n % 3 == 0)
		return gone(n + 1);
	returned[4]++;
	return n;
}

/* coroutines that switch in the middle of calls */
static ucontext_t own, others[3];
static long turns;
FUNC long turn(long n, int i)
{
	entered[2]++;
	long r = leaf(n);
	swapcontext(&others[i], &own);
	r += leaf(n);
	returned[2]++;
	return r;
}
static void routine(int i)
{
	for (;;)
		bad += turn(turns, i) < 2;
}

/* a handler on a stack of its own, that interrupts the same functions */
static volatile long ticks;
FUNC void handler(int sig)
{
	entered[3]++;
	bad += leaf(sig) != sig + 1;
	down(3, -1);
	ticks++;
	returned[3]++;
}

static void *lived(void *n)
{
	for (long i = 0; i < (long)n; i++)
		bad += leaf(i) != i + 1;
	down(5, -1);
	return NULL;
}

static sigjmp_buf out;
static volatile int jumps;
static void escape(int sig)
{
	ticks++;
	if (jumps)
		siglongjmp(out, sig);
}

static void every(int which, long us)
{
	struct itimerval t = { { us / 1000000, us % 1000000 }, { us / 1000000, us % 1000000 } };
	setitimer(which, &t, NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argv[1];
	long n = atol(argv[2]);
	char local[64 << 10];
	(void)argc;
	if (!strcmp(mode, "jumps")) {
		for (volatile long i = 0; i < n; i++)
			down(20, 3 + i % 17);
		down(20, -1);
	} else if (!strcmp(mode, "hops")) {
		for (volatile long i = 0; i < n; i++)
			if (setjmp(aside) == 0)
				bad += hop(i) != i;
	} else if (!strcmp(mode, "routines")) {
		static char stacks[3][1 << 20]; /* neighbours are told apart */
		for (int i = 0; i < 3; i++) {
			getcontext(&others[i]);
			others[i].uc_stack.ss_sp = stacks[i];
			others[i].uc_stack.ss_size = sizeof stacks[0];
			makecontext(&others[i], (void (*)(void))routine, 1, i);
		}
		for (turns = 1; turns <= n; turns++)
			for (int i = 0; i < 3; i++) {
				leaf(i);
				swapcontext(&own, &others[(i * 7 + turns) % 3]);
			}
	} else if (!strcmp(mode, "handler")) {
		stack_t alt = { .ss_sp = local, .ss_size = sizeof local };
		struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART };
		sigaltstack(&alt, NULL);
		sigaction(SIGPROF, &sa, NULL);
		every(ITIMER_PROF, 100);
		for (long i = 0; ticks < n; i++) {
			bad += leaf(i) != i + 1;
			down(4, -1);
		}
		every(ITIMER_PROF, 0);
	} else if (!strcmp(mode, "escape")) {
		signal(SIGPROF, escape);
		every(ITIMER_PROF, 100);
		while (ticks < n)
			if (sigsetjmp(out, 1) == 0) {
				jumps = 1;
				for (long i = 0; ticks < n; i++)
					bad += leaf(i) != i + 1;
			} else
				jumps = 0;
		jumps = 0;
		every(ITIMER_PROF, 0);
	} else if (!strcmp(mode, "threads")) {
		for (long i = 0; i < n; i++) {
			pthread_t id[8];
			for (int t = 0; t < 8; t++)
				pthread_create(&id[t], NULL, lived, (void *)50);
			for (int t = 0; t < 8; t++)
				pthread_join(id[t], NULL);
		}
	}
	printf("bad=%ld", bad);
	for (int i = 0; i < 5; i++)
		printf(" %ld/%ld", (long)entered[i], (long)returned[i]);
	printf("\n");
	return bad != 0;
}
