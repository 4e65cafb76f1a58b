/* sent tgkill|kill|timer|other caught|fetched once|always: blocks all signals, gets a SIGTRAP from itself, from a child, from a timer, or from a child for another thread that
 * waits for it, and checks that it stays pending until it is unblocked, or fetched. With "once" there is one round, in which it says when the signal is pending and
 * waits for a byte; otherwise rounds go on until there is one. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__i386__) /* <sys/syscall.h> is not always there for it */
enum { sigpending_number = 176, tgkill_number = 270, gettid_number = 224 };
#else
#include <sys/syscall.h>
enum { sigpending_number = SYS_rt_sigpending, tgkill_number = SYS_tgkill, gettid_number = SYS_gettid };
#endif

#define FUNC __attribute__((noipa))

static volatile int caught, code, sender;
static volatile long received;
static sigset_t trap;
static timer_t timer;
static int ask[2];

static void note(const siginfo_t *info)
{
	code = info->si_code;
	sender = info->si_code == SI_TIMER ? 0 : info->si_pid;
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	note(info);
	caught++;
	(void)sig, (void)context;
}

FUNC long work(long i) { __asm__ volatile("" ::: "memory"); return i * 2 + 1; }

/* The raw call: the functions of the C library that change masks have breakpoints. */
static int pending(void)
{
	unsigned long set[8 / sizeof(long)] = { 0 };
	syscall(sigpending_number, set, 8);
	return set[0] >> (SIGTRAP - 1) & 1;
}

static void *other(void *unused)
{
	siginfo_t info;
	while (sigwaitinfo(&trap, &info) == SIGTRAP) {
		note(&info);
		__atomic_add_fetch(&received, 1, __ATOMIC_SEQ_CST);
	}
	return unused;
}

static void send(const char *how)
{
	struct itimerspec soon = { .it_value = { 0, 1 } };
	if (!strcmp(how, "tgkill"))
		syscall(tgkill_number, getpid(), syscall(gettid_number), SIGTRAP);
	else if (!strcmp(how, "timer"))
		timer_settime(timer, 0, &soon, NULL);
	else
		write(ask[1], "x", 1);
}

static pid_t helper(void)
{
	char c;
	pid_t parent = getpid();
	pipe(ask);
	pid_t child = fork();
	if (child)
		return child;
	close(ask[1]);
	while (read(ask[0], &c, 1) == 1)
		kill(parent, SIGTRAP);
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *how = argv[1];
	int fetched = !strcmp(argv[2], "fetched"), once = !strcmp(argv[3], "once"), elsewhere = !strcmp(how, "other");
	struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTRAP };
	struct pollfd in = { 0, POLLIN, 0 };
	sigset_t all, before;
	long bad = 0;
	char c;
	if (!fetched && !elsewhere)
		sigaction(SIGTRAP, &sa, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	pid_t child = helper();
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	sigfillset(&all);
	if (elsewhere) {
		pthread_t id;
		pthread_sigmask(SIG_SETMASK, &all, NULL);
		pthread_create(&id, NULL, other, NULL);
	}
	puts("ready");
	fflush(stdout);
	read(0, &c, 1);
	for (long i = 0; !once && poll(&in, 1, 0) == 0 || once && i == 0; i++) {
		pthread_sigmask(SIG_SETMASK, &all, &before);
		bad += work(i) != i * 2 + 1;
		caught = 0;
		send(how);
		if (elsewhere) {
			while (received <= i)
				;
		} else {
			while (!pending() && !caught)
				;
			bad += (caught != 0) << 1;
			if (once) {
				write(1, "pending\n", 8);
				read(0, &c, 1);
			} else {
				bad += work(i) != i * 2 + 1;
			}
			siginfo_t info;
			struct timespec none = { 0, 0 };
			if (fetched) {
				bad += (sigtimedwait(&trap, &info, &none) != SIGTRAP) << 2;
				note(&info);
			} else {
				bad += (caught != 0) << 3;
				pthread_sigmask(SIG_SETMASK, &before, NULL);
				bad += (caught != 1) << 4;
			}
			bad += pending() << 5;
		}
		bad += (code != (!strcmp(how, "tgkill") ? fetched ? SI_USER /* as the C library says */ : SI_TKILL : !strcmp(how, "timer") ? SI_TIMER : SI_USER)) << 6;
		bad += (sender != (!strcmp(how, "tgkill") ? getpid() : !strcmp(how, "timer") ? 0 : child)) << 7;
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		bad += work(i) != i * 2 + 1;
	}
	printf("victim bad=%ld\n", bad);
	return bad != 0;
}
