/* target MODE N: what the engine's tests probe. Every mode checks its own results and says so. */
#define _GNU_SOURCE
#include <dlfcn.h>
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
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "port.h"

#define FUNC __attribute__((noipa))
#define KEEP __asm__ volatile("" ::: "memory")

FUNC long work(long i) { KEEP; return i * 2 + 1; }
FUNC void copy(char *to, const char *from, long n) { COPY(to, from, n); }
FUNC long fact(long n) { long r = n <= 1 ? 1 : fact(n - 1); KEEP; return r * n; }
FUNC long inner(long n) { KEEP; return n * 3; }
FUNC long outer(long n) { return inner(n + 1); }
FUNC long pick(long n)
{
	switch (n) {
	case 0: return work(1);
	case 1: return work(2) + 1;
	case 2: return work(3) + 2;
	case 3: return work(4) + 3;
	case 4: return work(5) + 4;
	case 5: return work(6) + 5;
	}
	return -1;
}

static jmp_buf back;
FUNC long jumper(long n) { if (n & 1) longjmp(back, 1); KEEP; return n; }
FUNC long through(long n) { long r = jumper(n); KEEP; return r + 1; }

FUNC int touch(volatile long *p)
{
	STORE(touch_store, p);
	return 0;
}

FUNC long kernel(void)
{
	long r;
	CALL0(kernel_call, r, SYS_getppid);
	return r;
}

FUNC long nap(struct timespec *t)
{
	long r;
	CALL2(nap_call, r, SYS_nanosleep, t, 0);
	return r;
}

static volatile long count, bad, *page, endless;
FUNC void tick(int sig) { count++; (void)sig; }

static int run(long n)
{
	for (long i = 0; i < n; i++)
		bad += work(i) != i * 2 + 1;
	return bad == 0;
}
static void *runner(void *n)
{
	do
		run((long)n);
	while (endless);
	return NULL;
}

static void threads(int t, long n)
{
	pthread_t id[64];
	for (int i = 0; i < t; i++)
		pthread_create(&id[i], NULL, runner, (void *)n);
	for (int i = 0; i < t; i++)
		pthread_join(id[i], NULL);
}

static void faulted(int sig, siginfo_t *si, void *context)
{
	extern char touch_store[];
	unsigned long pc = PC(context);
	bad += sig != SIGSEGV || si->si_addr != (void *)page || pc != (unsigned long)touch_store;
	count++;
	mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
}

static void catch(int sig, void *handler, int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };
	sigaction(sig, &sa, NULL);
}

static void storm(long n)
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, off = { 0 };
	char from[64] = "0123456789012345678901234567890123456789", to[64];
	catch(SIGALRM, tick, SA_RESTART);
	setitimer(ITIMER_REAL, &every, NULL);
	for (long i = 0; count < n; i++) {
		bad += work(i) != i * 2 + 1;
		copy(to, from, 40);
		bad += memcmp(to, from, 40) != 0;
	}
	setitimer(ITIMER_REAL, &off, NULL);
	count = n;
}

/* sets errno when a wait was interrupted although nobody sent a signal */
/* returns when standard input ends */
static void *sleeper(void *arg)
{
	struct timespec t = { 0, 1000000 };
	char c;
	bad += nap(&t) != 0;
	bad += read(0, &c, 1) != 0;
	return arg;
}

static void child(long n, int how)
{
	int status;
	pid_t pid = how == 'v' ? vfork() : fork();
	if (!pid && how == 'f')
		_exit(run(n) ? 3 : 4);
	if (!pid) {
		char text[24];
		snprintf(text, sizeof text, "%ld", n);
		execl("/proc/self/exe", "target", "work", text, NULL);
		_exit(5);
	}
	bad += waitpid(pid, &status, 0) != pid || (status != (how == 'f' ? 3 << 8 : 0));
}

static void libraries(const char *path, long rounds)
{
	for (long r = 0; r < rounds; r++) {
		void *lib = dlopen(path, RTLD_NOW);
		int (*f)(int) = lib ? (int (*)(int))dlsym(lib, "late") : NULL;
		bad += !f || f(5) != 1005;
		if (lib)
			dlclose(lib);
	}
}

/* a process that works, and two children that do the same, n generations deep; returns how many processes there were */
static long tree(long n)
{
	long all = 1;
	pid_t id[2];
	bad += work(n) != n * 2 + 1;
	for (int i = 0; n && i < 2; i++)
		if (!(id[i] = fork()))
			_exit(tree(n - 1));
	for (int i = 0; n && i < 2; i++) {
		int status = 0;
		bad += waitpid(id[i], &status, 0) != id[i] || !WIFEXITED(status);
		all += WEXITSTATUS(status);
	}
	return all;
}

int main(int argc, char **argv)
{
	const char *mode = argv[1];
	long n = argc > 2 ? atol(argv[2]) : 1;

	if (!strcmp(mode, "spin") || !strcmp(mode, "churn")) {
		puts("ready");
		fflush(stdout);
	}
	if (!strcmp(mode, "work")) {
		run(n);
	} else if (!strcmp(mode, "threads")) {
		threads(argc > 3 ? atoi(argv[3]) : 4, n);
	} else if (!strcmp(mode, "churn")) {
		struct pollfd in = { 0, POLLIN, 0 };
		while (poll(&in, 1, 0) == 0)
			threads(2, n);
	} else if (!strcmp(mode, "copy")) {
		char from[512], to[512];
		memset(from, 7, sizeof from);
		for (long i = 0; i < n; i++) {
			copy(to, from, i);
			bad += memcmp(to, from, i) != 0;
		}
	} else if (!strcmp(mode, "fact")) {
		bad += fact(n) == 0 && n < 20;
	} else if (!strcmp(mode, "tail")) {
		for (long i = 0; i < n; i++)
			bad += outer(i) != (i + 1) * 3;
	} else if (!strcmp(mode, "pick")) {
		for (long i = 0; i < n; i++)
			bad += pick(i % 6) != work(i % 6 + 1) + i % 6;
	} else if (!strcmp(mode, "jump")) {
		for (volatile long i = 0; i < n; i++)
			if (!setjmp(back))
				bad += through(i) != i + 1;
	} else if (!strcmp(mode, "fault")) {
		page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		catch(SIGSEGV, faulted, SA_SIGINFO);
		for (long i = 0; i < n; i++) {
			mprotect((void *)page, 4096, PROT_NONE);
			touch(page);
			bad += *page != 7;
		}
		bad += count != n;
	} else if (!strcmp(mode, "kernel")) {
		for (long i = 0; i < n; i++)
			bad += kernel() != getppid();
	} else if (!strcmp(mode, "nap")) {
		pthread_t id;
		pthread_create(&id, NULL, sleeper, NULL);
		for (long i = 0; i < n; i++)
			run(1);
		pthread_join(id, NULL);
	} else if (!strcmp(mode, "storm")) {
		storm(n);
	} else if (!strcmp(mode, "fork")) {
		child(n, 'f');
		run(n);
	} else if (!strcmp(mode, "tree")) {
		long all = tree(n);
		printf("tree %ld bad=%ld\n", all, bad);
		return bad != 0;
	} else if (!strcmp(mode, "vfork")) {
		child(n, 'v');
		run(n);
	} else if (!strcmp(mode, "exec")) {
		run(n);
		execl("/proc/self/exe", "target", "work", argv[2], NULL);
	} else if (!strcmp(mode, "library")) {
		libraries(argv[3], n);
	} else if (!strcmp(mode, "spin")) { /* until it is told to end, on n threads, in the middle of everything */
		pthread_t id[64];
		endless = 1;
		for (long i = 0; i < n; i++)
			pthread_create(&id[i], NULL, runner, (void *)1000000000L);
		char c;
		while (read(0, &c, 1) < 0 && errno == EINTR)
			bad++;
		printf("spin bad=%ld\n", bad);
		fflush(stdout);
		_exit(bad != 0);
	} else if (!strcmp(mode, "stop")) {
		run(n);
		raise(SIGSTOP);
		run(n);
	} else if (!strcmp(mode, "die")) {
		run(3);
		raise(n);
	}
	printf("%s bad=%ld\n", mode, bad);
	return bad != 0;
}
