/* signals MODE: handlers, masks and stacks of signals in unusual ways, and what runs other than by calls */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define FUNC __attribute__((noipa))
FUNC long work(long i) { __asm__ volatile("" ::: "memory"); return i * 7 + 1; }

/* a handler for SIGTRAP that is trapped itself, by instructions and by others */
static volatile int depth, deepest, count;
static void on_trap(int sig, siginfo_t *si, void *unused)
{
	(void)unused;
	count++;
	if (++depth > deepest)
		deepest = depth;
	if (depth < 6) {
		if (depth & 1)
			__asm__ volatile("int3");
		else
			raise(SIGTRAP);
	}
	work(si->si_code + sig);
	depth--;
}

static int nodefer(void)
{
	struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER }, old;
	sigaction(SIGTRAP, &sa, NULL);
	for (int i = 0; i < 5; i++) {
		raise(SIGTRAP);
		__asm__ volatile("int3");
		work(i);
	}
	sigaction(SIGTRAP, NULL, &old);
	printf("count %d deepest %d mine %d flags %#x\n", count, deepest, old.sa_sigaction == on_trap, old.sa_flags & (SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART));
	return 0;
}

/* threads that block all signals, and SIGTRAP with them, look at their masks, and have one pending */
static void *blocks(void *unused)
{
	sigset_t all, was, now, pending;
	long sum = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &was);
	for (long i = 0; i < 50; i++)
		sum += work(i);
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	pthread_kill(pthread_self(), SIGTRAP);
	sum += work(1);
	sigpending(&pending);
	printf("blocked %d before %d pending %d sum %ld\n", sigismember(&now, SIGTRAP), sigismember(&was, SIGTRAP), sigismember(&pending, SIGTRAP), sum);
	int sig = 0;
	sigset_t trap;
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	sigwait(&trap, &sig);
	sum += work(2);
	printf("waited for %d\n", sig);
	return unused;
}

static int blocked(void)
{
	for (int i = 0; i < 3; i++) {
		pthread_t id;
		pthread_create(&id, NULL, blocks, NULL);
		pthread_join(id, NULL);
	}
	return 0;
}

/* SIGTRAP blocked, and nothing else: so it stays, in a program that inherits that as well */
static int alone(const char *self, int first)
{
	sigset_t trap, now, pending;
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	if (first)
		sigprocmask(SIG_BLOCK, &trap, NULL);
	long sum = work(1);
	raise(SIGTRAP);
	sum += work(2);
	sigprocmask(SIG_BLOCK, NULL, &now);
	sigpending(&pending);
	printf("blocked %d pending %d sum %ld\n", sigismember(&now, SIGTRAP), sigismember(&pending, SIGTRAP), sum);
	int sig = 0;
	sigwait(&trap, &sig);
	printf("waited for %d\n", sig);
	if (first)
		execl(self, self, "inherits", NULL);
	return 0;
}

/* a thread that blocks all signals beside one that blocks none, both without pause: each finds its mask as it was */
static void *keeps(void *blocking)
{
	sigset_t all, now;
	long changed = 0;
	sigfillset(&all);
	if (blocking)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (long i = 0; i < 100; i++) {
		work(i);
		pthread_sigmask(SIG_BLOCK, NULL, &now);
		changed += sigismember(&now, SIGTRAP) != !!blocking;
	}
	return (void *)changed;
}

static int beside(void)
{
	pthread_t id[4];
	void *changed;
	for (long i = 0; i < 4; i++)
		pthread_create(&id[i], NULL, keeps, (void *)(i & 1));
	for (long i = 0; i < 4; i++) {
		pthread_join(id[i], &changed);
		printf("thread %ld: changed %ld\n", i, (long)changed);
	}
	return 0;
}

/* signals as they are read from a file */
static int from_file(void)
{
	sigset_t set;
	struct signalfd_siginfo si;
	sigemptyset(&set);
	for (int s = SIGRTMIN; s < SIGRTMIN + 4; s++)
		sigaddset(&set, s);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, 0);
	for (int i = 0; i < 20; i++) {
		work(i);
		if (i % 5 == 4)
			raise(SIGUSR1);
		else if (i % 7 == 6)
			raise(SIGTRAP);
		else
			sigqueue(getpid(), SIGRTMIN + i % 4, (union sigval){ .sival_int = i });
		work(i);
		if (read(fd, &si, sizeof si) != sizeof si)
			return 1;
		printf("signal %d code %d value %d mine %d\n", si.ssi_signo, si.ssi_code, si.ssi_int, si.ssi_pid == (uint32_t)getpid());
	}
	if (!fork())
		_exit(3);
	(void)!read(fd, &si, sizeof si);
	printf("signal %d status %d\n", si.ssi_signo, si.ssi_status);
	return 0;
}

/* contexts that give way to each other, on stacks as small as they can be */
static ucontext_t back, contexts[3];
static volatile long turns;
static void runs(int n)
{
	for (int i = 0; i < 10; i++) {
		turns += work(n) - 7 * n;
		swapcontext(&contexts[n], &contexts[(n + 1) % 3]);
	}
	setcontext(&back);
}

static int context(void)
{
	static char stacks[3][8 << 10];
	volatile int rounds = 0;
	for (int i = 0; i < 3; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = sizeof stacks[i];
		makecontext(&contexts[i], (void (*)(void))runs, 1, i);
	}
	getcontext(&back);
	if (!rounds++)
		swapcontext(&back, &contexts[0]);
	printf("turns %ld rounds %d\n", turns, rounds);
	return 0;
}

/* a handler on another stack, which the program leaves by a jump, and which nests */
static sigjmp_buf away;
static char other[32 << 10];
static volatile int there, jumps;
static void on_stack(int sig)
{
	char here;
	there += &here >= other && &here < other + sizeof other;
	if (sig == SIGUSR1)
		raise(SIGUSR2);
	else if (++jumps % 3 == 0)
		siglongjmp(away, 1);
}

static int alternate(void)
{
	stack_t st = { .ss_sp = other, .ss_size = sizeof other }, now;
	struct sigaction sa = { .sa_handler = on_stack, .sa_flags = SA_ONSTACK };
	sigaltstack(&st, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	for (volatile int i = 0; i < 12; i++)
		if (!sigsetjmp(away, 1))
			raise(SIGUSR1);
	sigaltstack(NULL, &now);
	printf("there %d jumps %d flags %d\n", there, jumps, now.ss_flags);
	return 0;
}

/* a handler that is entered with the least stack there can be, just above memory that others write */
static struct { volatile long below[64]; char stack[6 << 10]; } tiny __attribute__((aligned(64)));
static volatile int stop;
static volatile long wrong;
static void *writes(void *unused)
{
	for (long n = 1; !stop; n++)
		for (int i = 0; i < 64; i++) {
			tiny.below[i] = n + i;
			if (tiny.below[i] != n + i)
				wrong++;
		}
	return unused;
}

static void on_tiny(void)
{
	for (int i = 0; i < 200; i++)
		turns += work(i) - 7 * i;
}

static int small(void)
{
	pthread_t id;
	pthread_create(&id, NULL, writes, NULL);
	for (int i = 0; i < 5; i++) {
		getcontext(&contexts[0]);
		contexts[0].uc_stack.ss_sp = tiny.stack;
		contexts[0].uc_stack.ss_size = 256;
		contexts[0].uc_link = &back;
		makecontext(&contexts[0], on_tiny, 0);
		swapcontext(&back, &contexts[0]);
	}
	stop = 1;
	pthread_join(id, NULL);
	printf("turns %ld wrong %ld\n", turns, wrong);
	return 0;
}

/* SIGTRAP without a handler, ignored, and with one that is set while it is blocked */
#if defined(__x86_64__) || defined(__i386__)
static void int1(void) { __asm__ volatile(".byte 0xf1"); }
#else
static void int1(void) { raise(SIGTRAP); }
#endif
static void int3(void) { __asm__ volatile("int3"); }
static void counts(int sig) { count += sig == SIGTRAP; }

static int status_of(void (*does)(void), void (*action)(int), int blocks)
{
	pid_t child = fork();
	if (child == 0) {
		sigset_t trap;
		sigemptyset(&trap);
		sigaddset(&trap, SIGTRAP);
		signal(SIGTRAP, action);
		if (blocks)
			sigprocmask(SIG_BLOCK, &trap, NULL);
		work(1);
		does();
		_exit((int)work(count) & 63);
	}
	int status = -1;
	waitpid(child, &status, 0);
	return status & 0xff7f;
}

static int defaults(void)
{
	void (*actions[])(int) = { SIG_DFL, SIG_IGN, counts };
	for (int i = 0; i < 6; i++)
		printf("action %d: int1 %x int3 %x\n", i, i > 3 ? 0 : status_of(int1, actions[i / 2], i & 1), status_of(int3, actions[i / 2], i & 1));
	sigset_t trap, pending;
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	sigprocmask(SIG_BLOCK, &trap, NULL);
	signal(SIGTRAP, counts);
	kill(getpid(), SIGTRAP);
	work(2);
	sigpending(&pending);
	printf("pending %d handled %d\n", sigismember(&pending, SIGTRAP), count);
	struct sigaction sa = { .sa_handler = counts }; /* once more, now that it is pending */
	sigaction(SIGTRAP, &sa, NULL);
	work(3);
	sigpending(&pending);
	printf("pending %d handled %d\n", sigismember(&pending, SIGTRAP), count);
	sigprocmask(SIG_UNBLOCK, &trap, NULL);
	work(4);
	printf("handled %d\n", count);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	setvbuf(stdout, NULL, _IOLBF, 0);
	return !strcmp(mode, "nodefer") ? nodefer() :
	       !strcmp(mode, "blocked") ? blocked() :
	       !strcmp(mode, "alone") ? alone(argv[0], 1) :
	       !strcmp(mode, "inherits") ? alone(argv[0], 0) :
	       !strcmp(mode, "beside") ? beside() :
	       !strcmp(mode, "file") ? from_file() :
	       !strcmp(mode, "context") ? context() :
	       !strcmp(mode, "alternate") ? alternate() :
	       !strcmp(mode, "small") ? small() :
	       !strcmp(mode, "defaults") ? defaults() : 2;
}
