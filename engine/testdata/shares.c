/* shares MODE ROUNDS [FILE]: threads, handlers and children that call work() in every way that may confuse who counts. It prints how often
 * work was called, and the sum of its arguments, counted in memory that all of them share.
 *
 * born: threads that come and go, signal handlers in them, children of fork and vfork
 * raw: threads with the data of the thread that has created them, by clone with and without CLONE_SETTLS
 * late: threads of both kinds exist, and wait for FILE before they call work; one with the data of another sleeps until the others have begun
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALLS 200000L

static struct {
	_Atomic long calls, sum, running, begun;
} *all;

__attribute__((noipa)) void work(long n) { __asm__ volatile("" : : "r"(n) : "memory"); }

static void note(long calls, long sum)
{
	atomic_fetch_add(&all->calls, calls);
	atomic_fetch_add(&all->sum, sum);
}

static void repeat(long times)
{
	long sum = 0;
	for (long i = 0; i < times; i++) {
		work(i & 1023);
		sum += i & 1023;
	}
	note(times, sum);
}

static void handler(int sig)
{
	work(sig);
	note(1, sig);
}

static void *lives(void *arg)
{
	repeat((long)arg);
	return NULL;
}

/* a thread without the C library */
static char stacks[8][64 << 10];
static const char *file;
static int raw(void *arg)
{
	struct timespec t = { 0, 100000000 };
	while (file && !atomic_load(&all->begun))
		syscall(SYS_nanosleep, &t, NULL);
	repeat((long)arg);
	atomic_fetch_sub(&all->running, 1);
	syscall(SYS_exit, 0);
	return 0;
}

static void begin(int i, long times, int settls)
{
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	unsigned long base = 0;
	if (settls) {
		syscall(SYS_arch_prctl, ARCH_GET_FS, &base);
		flags |= CLONE_SETTLS;
	}
	atomic_fetch_add(&all->running, 1);
	if (clone(raw, stacks[i] + sizeof stacks[i], flags, (void *)times, NULL, (void *)base, NULL) < 0)
		abort();
}

static void *forks(void *arg)
{
	repeat((long)arg / 2);
	pid_t pid = fork();
	if (pid == 0) {
		repeat((long)arg);
		_exit(0);
	}
	repeat((long)arg);
	waitpid(pid, NULL, 0);
	if ((pid = vfork()) == 0) {
		repeat(100);
		_exit(0);
	}
	repeat((long)arg / 2);
	waitpid(pid, NULL, 0);
	return NULL;
}

static void *waits(void *arg)
{
	while (access(file, F_OK) != 0)
		usleep(1000);
	repeat((long)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *mode = argv[1];
	long rounds = atol(argv[2]);
	all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc > 3)
		file = argv[3];
	if (!strcmp(mode, "born")) {
		struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
		signal(SIGPROF, handler);
		setitimer(ITIMER_PROF, &often, NULL);
		for (long i = 0; i < rounds; i++) {
			pthread_t id[6];
			for (int t = 0; t < 6; t++)
				pthread_create(&id[t], NULL, t == 0 ? forks : lives, (void *)(CALLS >> t % 3));
			repeat(CALLS);
			for (int t = 0; t < 6; t++)
				pthread_join(id[t], NULL);
		}
		setitimer(ITIMER_PROF, &never, NULL);
	} else if (!strcmp(mode, "raw")) {
		for (long i = 0; i < rounds; i++) {
			repeat(CALLS);
			begin(0, CALLS, i % 2);
			begin(1, CALLS, i % 2);
			repeat(4 * CALLS);
			while (atomic_load(&all->running) > 0)
				repeat(1);
		}
	} else {
		pthread_t id[3];
		for (int t = 0; t < 3; t++)
			pthread_create(&id[t], NULL, waits, (void *)(rounds * CALLS));
		begin(0, rounds * CALLS, 0);
		puts("ready");
		fflush(stdout);
		while (access(file, F_OK) != 0)
			sched_yield();
		repeat(CALLS);
		all->begun = 1;
		repeat(rounds * CALLS);
		for (int t = 0; t < 3; t++)
			pthread_join(id[t], NULL);
		while (atomic_load(&all->running) > 0)
			usleep(1000);
	}
	printf("%ld %ld\n", (long)all->calls, (long)all->sum);
	return 0;
}
