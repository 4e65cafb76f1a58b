/* The reference of `gotap bench`: a hand-written ptrace loop, and the program that it and gotap trace.
 *
 *   reference target N      calls work N times and prints the nanoseconds a call took
 *   reference emulate N     the same in a child, with a breakpoint on work: count, emulate its first instruction, go on
 *   reference step N        the same, stepping over the instruction in place: restore, step, plant again
 *   reference both N        with breakpoints on its first instruction and on its return, both emulated
 *   reference threads T N   T threads that call work N times together; prints what a call took, by the wall's clock
 *   reference calls T N     the same after one call more; prints the processor time that a call took
 *   reference counted T N   the same with a counter in front of each call: a probe that is compiled into the program
 *   reference waits N       the same on one thread, by the wall's clock
 *   reference sleepers T    T threads that sleep
 *
 * The loops do the least that gives the right count; what gotap needs more than they do is its overhead. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef INSTRUMENTED /* for tracers that have the compiler insert calls */
__attribute__((noipa)) long work(long n) { return 2 * n + 1; }
#else
/* assembly, so that the first instruction is the same with every compiler: lea 1(%rdi,%rdi),%rax, five bytes */
long work(long n);
__asm__(".text\n.globl work\n.type work,@function\nwork:\n\tlea 1(%rdi,%rdi,1),%rax\n\tret\n.size work,.-work\n\t.p2align 4\n");
#endif
enum { FIRST = 5 };

/* what 10,000 probes are placed on */
__asm__(".globl many\n.type many,@function\nmany:\n\t.rept 9999\n\tnop\n\t.endr\n\tret\n.size many,.-many\n");

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int target(long n)
{
	double began = now();
	for (long i = 0; i < n; i++)
		if (work(i) != 2 * i + 1)
			return 1;
	printf("%.1f ns\n", (now() - began) / (n ? n : 1));
	return 0;
}

static long each;

static void *caller(void *bad)
{
	for (long i = 0; i < each; i++)
		if (work(i) != 2 * i + 1)
			return bad;
	return NULL;
}

static int threads(long t, long n)
{
	pthread_t id[64];
	double began = now();
	each = n / t;
	for (long i = 0; i < t; i++)
		pthread_create(&id[i], NULL, caller, &each);
	for (long i = 0; i < t; i++)
		pthread_join(id[i], NULL);
	printf("%.1f ns\n", (now() - began) / (each * t));
	return 0;
}

static long counter;

static void *counting(void *bad)
{
	for (long i = 0; i < each; i++) {
		__atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
		if (work(i) != 2 * i + 1)
			return bad;
	}
	return NULL;
}

static double used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int calls(long t, long n, void *(*caller)(void *))
{
	pthread_t id[64];
	double began;
	work(0); /* gotap prepares the process at the first hit */
	began = used();
	each = n / t;
	for (long i = 0; i < t; i++)
		pthread_create(&id[i], NULL, caller, &each);
	for (long i = 0; i < t; i++)
		pthread_join(id[i], NULL);
	printf("%.2f ns\n", (used() - began) / (each * t));
	return 0;
}

static int waits(long n)
{
	work(0);
	return target(n);
}

static void *sleeper(void *unused)
{
	pause();
	return unused;
}

static int sleepers(long t)
{
	pthread_attr_t small;
	pthread_t id;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (long i = 1; i < t; i++)
		if (pthread_create(&id, &small, sleeper, NULL))
			return 1;
	pause();
	return 0;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static long poke(pid_t child, unsigned long first)
{
	return ptrace(PTRACE_POKETEXT, child, work, first);
}

/* one hit by emulation */
static int emulate(pid_t child, struct user_regs_struct *r)
{
	r->rax = 2 * r->rdi + 1;
	r->rip = r->rip - 1 + FIRST;
	return ptrace(PTRACE_SETREGS, child, 0, r) || ptrace(PTRACE_CONT, child, 0, 0);
}

/* one hit by a step in place */
static int step(pid_t child, struct user_regs_struct *r, unsigned long original)
{
	int status;
	r->rip--;
	if (ptrace(PTRACE_SETREGS, child, 0, r) || poke(child, original) || ptrace(PTRACE_SINGLESTEP, child, 0, 0))
		return -1;
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		return -1;
	return poke(child, (original & ~0xffUL) | 0xcc) || ptrace(PTRACE_CONT, child, 0, 0);
}

/* one hit of the return, emulated */
static int leave(pid_t child, struct user_regs_struct *r)
{
	r->rip = ptrace(PTRACE_PEEKDATA, child, r->rsp, 0);
	r->rsp += 8;
	return ptrace(PTRACE_SETREGS, child, 0, r) || ptrace(PTRACE_CONT, child, 0, 0);
}

enum how { EMULATE, STEP, BOTH };

static int trace(long n, enum how how)
{
	int status;
	long count = 0;
	unsigned long original;
	struct user_regs_struct r;
	pid_t child = fork();

	if (!child) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			die("traceme");
		raise(SIGSTOP);
		_exit(target(n) || fflush(stdout));
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		die("child");
	memcpy(&original, (void *)work, sizeof original);
	unsigned long planted = (original & ~0xffUL) | 0xcc;
	if (how == BOTH)
		planted = (planted & ~(0xffUL << 8 * FIRST)) | 0xccUL << 8 * FIRST;
	if (poke(child, planted) || ptrace(PTRACE_CONT, child, 0, 0))
		die("plant");
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		if (ptrace(PTRACE_GETREGS, child, 0, &r))
			die("registers");
		if (WSTOPSIG(status) == SIGTRAP && how == BOTH && r.rip == (uintptr_t)work + FIRST + 1) {
			if (leave(child, &r))
				die("return");
			continue;
		}
		if (WSTOPSIG(status) != SIGTRAP || r.rip != (uintptr_t)work + 1)
			die("an unexpected stop");
		count++;
		if (how == STEP ? step(child, &r, original) : emulate(child, &r))
			die("go on");
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) || count != n) {
		fprintf(stderr, "%ld hits of %ld, status %x\n", count, n, status);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? strtol(argv[2], NULL, 0) : 0;
	if (argc > 2 && !strcmp(argv[1], "target"))
		return target(n);
	if (argc > 2 && !strcmp(argv[1], "waits"))
		return waits(n);
	if (argc > 2 && !strcmp(argv[1], "emulate"))
		return trace(n, EMULATE);
	if (argc > 2 && !strcmp(argv[1], "step"))
		return trace(n, STEP);
	if (argc > 2 && !strcmp(argv[1], "both"))
		return trace(n, BOTH);
	if (argc > 3 && !strcmp(argv[1], "threads"))
		return threads(n, strtol(argv[3], NULL, 0));
	if (argc > 3 && !strcmp(argv[1], "calls"))
		return calls(n, strtol(argv[3], NULL, 0), caller);
	if (argc > 3 && !strcmp(argv[1], "counted"))
		return calls(n, strtol(argv[3], NULL, 0), counting);
	if (argc > 2 && !strcmp(argv[1], "sleepers"))
		return sleepers(n);
	fprintf(stderr, "reference target|waits|emulate|step|both N, threads|calls|counted T N, sleepers T\n");
	return 2;
}
