/* readers HOW SIGNALS N: N times calls look with an address that is not readable any more; look never reads there, but probes do.
   HOW: unmap, protect, truncate; with "race-" in front, a thread makes the memory come and go meanwhile, for N ms.
   SIGNALS: none, handler, ignore, block; handler-rawblock, handler-rawall, none-rawall: bare system calls block them later.
   It prints how often look was called with readable memory, or in a race, at all. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define LEAST 2000 // reads, however little the thread runs
static volatile long looks;
__attribute__((noipa)) void look(const char *p)
{
	looks += p != 0;
	__asm__ volatile("" : : "r"(p) : "memory");
}

static const int faults[2] = { SIGSEGV, SIGBUS };
static volatile sig_atomic_t calls, own;
static sigjmp_buf back;
static char *page;
static int file, stop;
static volatile long bad;
static volatile long away_from = 8;

static void handler(int sig)
{
	(void)sig;
	if (own)
		siglongjmp(back, 1);
	if (++calls > 10)
		_exit(3);
}

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void away(const char *how)
{
	if (!strcmp(how, "unmap"))
		munmap(page, PAGE);
	else if (!strcmp(how, "protect"))
		mprotect(page, PAGE, PROT_NONE);
	else if (ftruncate(file, 0))
		bad++;
}

static void again(const char *how)
{
	static const char one[PAGE] = { 1 };
	if (!strcmp(how, "truncate")) {
		if (pwrite(file, one, PAGE, 0) != PAGE)
			bad++;
		return;
	}
	if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != page)
		bad++;
	page[0] = 1;
}

static void *toggle(void *how)
{
	for (int round = 0; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE); round++) {
		away(how);
		again(how);
		/* sometimes it stays for a whole call of look, however the threads are scheduled */
		for (long seen = looks; round % 16 == 0 && looks < seen + 2 && !__atomic_load_n(&stop, __ATOMIC_ACQUIRE);)
			sched_yield();
	}
	return 0;
}

static struct sigaction acts[2];
static sigset_t mask;

static void check(void)
{
	sigset_t now;
	sigprocmask(SIG_SETMASK, 0, &now);
	for (int i = 1; i < 65; i++)
		bad += sigismember(&now, i) != sigismember(&mask, i);
	for (int i = 0; i < 2; i++) {
		struct sigaction a;
		sigaction(faults[i], 0, &a);
		bad += a.sa_handler != acts[i].sa_handler || a.sa_flags != acts[i].sa_flags;
		bad += sigismember(&a.sa_mask, SIGUSR1) != sigismember(&acts[i].sa_mask, SIGUSR1);
	}
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	const char *how = argv[1], *signals = argv[2];
	int race = !strncmp(how, "race-", 5), rounds = atoi(argv[3]);
	how += race ? 5 : 0;
	file = memfd_create("page", 0);
	page = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	again(how);
	for (int i = 0; i < 2; i++) {
		if (!strcmp(signals, "ignore"))
			acts[i].sa_handler = SIG_IGN;
		if (!strncmp(signals, "handler", 7)) {
			acts[i].sa_handler = handler;
			acts[i].sa_flags = SA_NODEFER;
			sigaddset(&acts[i].sa_mask, SIGUSR1);
		}
		sigaction(faults[i], &acts[i], 0);
		sigaction(faults[i], 0, &acts[i]);
	}
	if (!strcmp(signals, "block")) {
		sigaddset(&mask, SIGSEGV);
		sigaddset(&mask, SIGBUS);
	}
	sigprocmask(SIG_SETMASK, &mask, 0);
	long readable = 0;
	if (race) {
		pthread_t t;
		pthread_create(&t, 0, toggle, (void *)how);
		for (long end = now() + rounds; now() < end || readable < LEAST; readable++)
			look(page);
		__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
		pthread_join(t, 0);
		check();
		rounds = 0;
	}
	for (int i = 0; i < rounds; i++) {
		for (long end = now() + 100, least = readable + LEAST; now() < end || readable < least; readable++)
			look(page);
		unsigned long set = strstr(signals, "rawall") ? ~0ul : strstr(signals, "rawblock") ? 1ul << (SIGSEGV - 1) | 1ul << (SIGBUS - 1) : 0;
		if (set) {
			syscall(SYS_rt_sigprocmask, SIG_SETMASK, &set, 0, 8);
			for (int i = 1; i < 65; i++)
				if (set >> (i - 1) & 1)
					sigaddset(&mask, i);
			sigdelset(&mask, SIGKILL);
			sigdelset(&mask, SIGSTOP);
			sigdelset(&mask, 32);
			sigdelset(&mask, 33);
		}
		away(how);
		look(page);
		again(how);
		if (set) {
			unsigned long have = 0, never = 1ul << (SIGKILL - 1) | 1ul << (SIGSTOP - 1);
			syscall(SYS_rt_sigprocmask, SIG_SETMASK, 0, &have, 8);
			if ((have | never | 1ul << (SIGTRAP - 1)) != (set | never | 1ul << (SIGTRAP - 1)))
				bad++;
			have = 0;
			syscall(SYS_rt_sigprocmask, SIG_SETMASK, &have, 0, 8);
			sigemptyset(&mask);
		}
		check();
	}
	bad += calls;
	if (!strncmp(signals, "handler", 7)) {
		own = 1;
		if (!sigsetjmp(back, 1)) {
			*(volatile char *)(uintptr_t)away_from;
			bad++;
		}
	}
	printf("readers %ld bad=%ld\n", readable, bad);
	return bad != 0;
}
