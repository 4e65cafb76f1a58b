/* left MODE N FILE: threads leave functions that are counted, or the code that counts, in the middle.
 *
 * escape: signal handlers leave work() by siglongjmp, N times. It prints how often that was, how often work() has returned, and the
 *         sum of its arguments. Then it calls exact().
 * exec:   the program executes itself N times, while three other threads call work(). It prints the same, with the
 *         number of threads that were ended for escapes.
 * again:  four threads call work() until FILE exists, and then exact(). The program ends when its input does.
 *
 * Of exact() it prints how often it was called, and the sum of its arguments. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#define CALLS 200000L

static struct {
	_Atomic long left, calls, sum, exact, exactSum;
} *all;

__attribute__((noipa)) void work(long n) { __asm__ volatile("" : : "r"(n) : "memory"); }
__attribute__((noipa)) void exact(long n) { __asm__ volatile("" : : "r"(n) : "memory"); }

static const char *file;

/* repeat calls exact(), and notes it. */
static void repeat(long times)
{
	long sum = 0;
	for (long i = 0; i < times; i++) {
		exact(i & 1023);
		sum += i & 1023;
	}
	atomic_fetch_add(&all->exact, times);
	atomic_fetch_add(&all->exactSum, sum);
}

/* once calls work(), and notes that it has returned. */
static void once(long n)
{
	work(n);
	atomic_fetch_add(&all->calls, 1);
	atomic_fetch_add(&all->sum, n);
}

static sigjmp_buf out;
static volatile int leaves;

static void escape(int sig)
{
	if (leaves) {
		all->left++;
		siglongjmp(out, sig);
	}
}

static void escapes(long n)
{
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	signal(SIGPROF, escape);
	setitimer(ITIMER_PROF, &often, NULL);
	while (all->left < n)
		if (sigsetjmp(out, 1) == 0) {
			leaves = 1;
			for (long i = 0;; i++)
				once(i & 1023);
		} else
			leaves = 0;
	setitimer(ITIMER_PROF, &never, NULL);
	repeat(CALLS);
}

static _Atomic int running;
static void *works(void *arg)
{
	running++;
	for (long i = 0;; i++)
		once(i & 1023);
	return arg;
}

static void executes(long n, char **argv)
{
	char rest[24], *again[] = { argv[0], argv[1], rest, argv[3], NULL };
	pthread_t id;
	repeat(CALLS / 100);
	if (n == 0)
		return;
	for (int t = 0; t < 3; t++)
		pthread_create(&id, NULL, works, NULL);
	while (running < 3)
		sched_yield();
	for (int i = 0; i < 1000; i++)
		once(i);
	all->left += 3;
	snprintf(rest, sizeof rest, "%ld", n - 1);
	execv("/proc/self/exe", again);
	abort();
}

static void *waits(void *arg)
{
	while (access(file, F_OK) != 0)
		for (long i = 0; i < 1000; i++)
			once(i);
	repeat(CALLS);
	return arg;
}

static void twice(void)
{
	pthread_t id[4];
	for (int t = 0; t < 4; t++)
		pthread_create(&id[t], NULL, waits, NULL);
	puts("ready");
	fflush(stdout);
	for (int t = 0; t < 4; t++)
		pthread_join(id[t], NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argv[1];
	long n = atol(argv[2]);
	int fd = -1;
	if (!strcmp(mode, "exec")) {
		fd = open(argv[3], O_RDWR | O_CREAT, 0600);
		if (ftruncate(fd, sizeof *all) != 0)
			abort();
	}
	all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	file = argc > 3 ? argv[3] : "";
	if (!strcmp(mode, "escape"))
		escapes(n);
	else if (!strcmp(mode, "exec"))
		executes(n, argv);
	else
		twice();
	printf("%ld %ld %ld %ld %ld\n", (long)all->left, (long)all->calls, (long)all->sum, (long)all->exact, (long)all->exactSum);
	fflush(stdout);
	if (!strcmp(mode, "again")) {
		char c;
		while (read(0, &c, 1) > 0 && c != 'x')
			;
		puts("again");
	}
	return 0;
}
