/* signals MODE N: a program's own signals, which a tracer must neither lose, add, change nor reorder. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "port.h"

#define FUNC __attribute__((noipa))
static volatile long handled, traced, bad, wanted;
static char stack[65536];

FUNC long work(long i) { __asm__ volatile("" ::: "memory"); return i + 1; }

/* raises the program's own trap, of the program's own making */
FUNC void own_trap(void);
extern char the_trap[], after_trap[];
__asm__(".text\n.globl own_trap\n.type own_trap,%function\n" OWN_TRAP ".size own_trap,.-own_trap\n");

FUNC long divide(long a, long b)
{
	long q = a;
#ifdef __x86_64__
	__asm__ volatile(".globl the_division\n mov %1,%%rax\n cqo\n mov %2,%%rcx\nthe_division: idivq %%rcx\n mov %%rax,%0"
			 : "=m"(q) : "r"(a), "r"(b) : "rax", "rcx", "rdx", "cc", "memory");
#else /* ARM divides by zero without a signal */
	(void)b, handled++;
#endif
	return q;
}

/* sets the trap flag, which traps behind each of the instructions that follow, and behind each turn of the repeated one; they add 8 */
#ifdef __x86_64__
#define STEPS_ITSELF 10 /* add lea movsb movsb nop push pop pushf and popf */
#else
#define STEPS_ITSELF 0
#endif
FUNC long step_itself(long v)
{
#ifdef __x86_64__
	char from[2] = { 1, 1 }, to[2] = { 0 };
	__asm__ volatile("lea -256(%%rsp),%%rsp\n pushfq\n orl $0x100,(%%rsp)\n popfq\n"
			 "add $3,%0\n lea 3(%0),%0\n rep movsb\n nop\n push %0\n pop %0\n"
			 "pushfq\n andl $~0x100,(%%rsp)\n popfq\n lea 256(%%rsp),%%rsp" : "+&r"(v) : "S"(from), "D"(to), "c"(2L) : "cc", "memory");
	return v + to[0] + to[1];
#else
	return v + 8;
#endif
}

FUNC void illegal(void) { __asm__ volatile(".globl the_ud\nthe_ud: " ILLEGAL); }

FUNC void on(int sig, siginfo_t *si, void *context)
{
	extern char the_division[], the_ud[];
	char here;
	if (STEPPED(context) && si->si_code != TRAP_TRACE)
		bad++; /* somebody single-steps us, and shows */
#ifdef __x86_64__
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	if (sig == SIGFPE) {
		bad += si->si_code != FPE_INTDIV || si->si_addr != the_division || regs[REG_RIP] != (greg_t)the_division;
		regs[REG_RCX] = 1;
	} else
#endif
	if (sig == SIGILL) {
		bad += si->si_addr != the_ud || PC(context) != (unsigned long)the_ud;
		PC(context) += ILLEGAL_LENGTH;
	} else if (sig == SIGTRAP && si->si_code == TRAP_TRACE) {
		traced++;
	} else if (sig == SIGTRAP && si->si_code > 0) {
		bad += PC(context) != (unsigned long)(TRAP_BEHIND ? after_trap : the_trap);
		PC(context) = (unsigned long)after_trap;
	} else if (sig == SIGTRAP) {
		bad += si->si_code != SI_TKILL || si->si_pid != getpid();
	} else if (sig >= SIGRTMIN) {
		bad += si->si_code != SI_QUEUE || si->si_value.sival_int != wanted++ || si->si_pid != getpid();
	} else if (sig == SIGUSR2) {
		bad += &here < stack || &here >= stack + sizeof stack;
	}
	handled++;
	work(handled);
}

static void catch(int sig, int flags)
{
	struct sigaction sa = { .sa_sigaction = on, .sa_flags = SA_SIGINFO | flags };
	sigaction(sig, &sa, NULL);
}

/* adds up without pause while another thread sends it signals */
static volatile int stop;
/* sends as fast as signals are handled and no faster: a queue that only grows would keep main from ever running, probes or not */
static void *sender(void *to)
{
	while (!stop) {
		long before = handled;
		pthread_sigqueue(*(pthread_t *)to, SIGRTMIN, (union sigval){ .sival_int = (int)before });
		do
			usleep(300);
		while (!stop && handled == before);
	}
	return NULL;
}

/* keeps three numbered signals on their way */
static void *feeder(void *to)
{
	for (long sent = 0; !stop; usleep(100))
		while (!stop && sent - handled < 3)
			pthread_sigqueue(*(pthread_t *)to, SIGRTMIN, (union sigval){ .sival_int = (int)sent++ });
	return NULL;
}

static void on_any(int sig, siginfo_t *si, void *context)
{
	handled++;
	work(sig);
	(void)si, (void)context;
}

int main(int argc, char **argv)
{
	const char *mode = argv[1];
	long n = argc > 2 ? atol(argv[2]) : 10;

	if (!strcmp(mode, "queue")) {
		sigset_t rt, old;
		catch(SIGRTMIN, 0);
		sigemptyset(&rt);
		sigaddset(&rt, SIGRTMIN);
		for (long i = 0; i < n; i += 5) { /* five at once, in their order */
			sigprocmask(SIG_BLOCK, &rt, &old);
			for (int k = 0; k < 5; k++)
				sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = (int)i + k });
			sigprocmask(SIG_SETMASK, &old, NULL);
			work(i);
		}
		bad += handled != n;
	} else if (!strcmp(mode, "trap")) {
		catch(SIGTRAP, 0);
		for (long i = 0; i < n; i++) {
			raise(SIGTRAP);
			own_trap();
		}
		bad += handled != 2 * n;
	} else if (!strcmp(mode, "blocked")) { /* breakpoints while SIGTRAP is blocked, or ignored */
		sigset_t all, old, now;
		catch(SIGTRAP, 0);
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, &old);
		for (long i = 0; i < n; i++)
			work(i);
		sigprocmask(SIG_SETMASK, NULL, &now);
		bad += sigismember(&now, SIGTRAP) != 1;
		sigprocmask(SIG_SETMASK, &old, NULL);
		raise(SIGTRAP);
		bad += handled != 1;
	} else if (!strcmp(mode, "once")) { /* a handler for SIGTRAP that is called once, and then no more */
		for (long i = 0; i < n; i++) {
			struct sigaction now;
			catch(SIGTRAP, SA_RESETHAND);
			raise(SIGTRAP);
			sigaction(SIGTRAP, NULL, &now);
			bad += now.sa_handler != SIG_DFL || work(i) != i + 1;
		}
		bad += handled != n;
	} else if (!strcmp(mode, "pending")) { /* breakpoints while a SIGTRAP is pending, for the process or for the thread */
		sigset_t trap, now;
		sigemptyset(&trap);
		sigaddset(&trap, SIGTRAP);
		sigprocmask(SIG_BLOCK, &trap, NULL);
		for (long i = 0; i < n; i++) {
			int sig = 0;
			if (i & 1)
				raise(SIGTRAP);
			else
				kill(getpid(), SIGTRAP);
			bad += work(i) != i + 1;
			sigpending(&now);
			if (sigismember(&now, SIGTRAP) != 1)
				bad++;
			else if (sigwait(&trap, &sig) || sig != SIGTRAP)
				bad++;
		}
	} else if (!strcmp(mode, "itself")) { /* the program single-steps itself */
		long first = 0;
		catch(SIGTRAP, 0);
		for (long i = 0; i < n; i++) {
			long before = traced;
			bad += step_itself(i) != i + 8 || i > 0 && traced - before != first;
			first = traced - before; /* as many each time, and some */
			bad += first < STEPS_ITSELF;
		}
	} else if (!strcmp(mode, "divide")) {
		catch(SIGFPE, 0);
		for (long i = 0; i < n; i++)
			bad += divide(i, 0) != i;
		bad += handled != n;
	} else if (!strcmp(mode, "illegal")) {
		catch(SIGILL, 0);
		for (long i = 0; i < n; i++)
			illegal();
		bad += handled != n;
	} else if (!strcmp(mode, "alternate")) {
		stack_t ss = { .ss_sp = stack, .ss_size = sizeof stack };
		sigaltstack(&ss, NULL);
		catch(SIGUSR2, SA_ONSTACK);
		for (long i = 0; i < n; i++)
			raise(SIGUSR2);
		bad += handled != n;
	} else if (!strcmp(mode, "wait")) {
		sigset_t set;
		siginfo_t si;
		struct timespec second = { 5, 0 };
		sigemptyset(&set);
		sigaddset(&set, SIGRTMIN);
		sigprocmask(SIG_BLOCK, &set, NULL);
		for (long i = 0; i < n; i++) {
			sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = (int)i });
			work(i);
			bad += sigtimedwait(&set, &si, &second) != SIGRTMIN || si.si_value.sival_int != i;
		}
	} else if (!strcmp(mode, "interrupted")) { /* calls fail with EINTR when a handler has been called, and not otherwise */
		struct sigaction sa = { .sa_sigaction = on_any, .sa_flags = SA_SIGINFO };
		struct itimerval every = { { 0, 5000 }, { 0, 5000 } }, off = { 0 };
		struct epoll_event event;
		int epoll = epoll_create1(0);
		sigaction(SIGALRM, &sa, NULL);
		setitimer(ITIMER_REAL, &every, NULL);
		for (long i = 0; i < n; i++) {
			long before = handled;
			bad += epoll_wait(epoll, &event, 1, 20000) != -1 || errno != EINTR || handled == before || work(i) != i + 1;
			before = handled;
			bad += poll(NULL, 0, 20000) != -1 || errno != EINTR || handled == before || work(i) != i + 1;
		}
		setitimer(ITIMER_REAL, &off, NULL);
	} else if (!strcmp(mode, "timer")) { /* ten thousand signals a second; those that come before one is handled are counted in it */
		struct sigaction sa = { .sa_sigaction = on_any, .sa_flags = SA_SIGINFO | SA_RESTART };
		struct sigevent se = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
		struct itimerspec every = { { 0, 100000 }, { 0, 100000 } }, off = { 0 };
		timer_t id;
		sigaction(SIGRTMIN, &sa, NULL);
		timer_create(CLOCK_MONOTONIC, &se, &id);
		timer_settime(id, 0, &every, NULL);
		for (long i = 0; i < n; i++)
			bad += work(i) != i + 1;
		for (long i = 0; handled < 5; i++)
			bad += usleep(100) && i > 20000;
		timer_settime(id, 0, &off, NULL);
	} else if (!strcmp(mode, "storm") || !strcmp(mode, "answers")) { /* answers: without a timer, a signal for every one handled */
		pthread_t me = pthread_self(), id;
		struct sigaction sa = { .sa_sigaction = on_any, .sa_flags = SA_SIGINFO | SA_RESTART };
		struct itimerval every = { { 0, 700 }, { 0, 700 } }, off = { 0 };
		sigaction(SIGRTMIN, &sa, NULL);
		sigaction(SIGPROF, &sa, NULL);
		pthread_create(&id, NULL, sender, &me);
		if (mode[0] == 's')
			setitimer(ITIMER_PROF, &every, NULL);
		for (long i = 0; handled < n; i++)
			bad += work(i) != i + 1;
		stop = 1;
		setitimer(ITIMER_PROF, &off, NULL);
		pthread_join(id, NULL);
	} else if (!strcmp(mode, "order")) { /* signals in their order while libc, which nobody probes, is at work */
		pthread_t me = pthread_self(), id;
		char text[64];
		catch(SIGRTMIN, SA_RESTART);
		pthread_create(&id, NULL, feeder, &me);
		while (handled < n)
			bad += snprintf(text, sizeof text, "%ld", handled) < 1;
		stop = 1;
		pthread_join(id, NULL);
	} else if (!strcmp(mode, "parent")) { /* a child stops, is seen stopped, is continued, is seen going on */
		int status, stopped = 0, continued = 0, seen[2];
		char c;
		bad += pipe(seen) != 0;
		pid_t child = fork();
		if (!child) {
			work(1);
			raise(SIGSTOP);
			work(2);
			_exit(read(seen[0], &c, 1) == 1 ? 7 : 8); /* not before: its end would hide that it goes on */
		}
		while (waitpid(child, &status, WUNTRACED | WCONTINUED) == child) {
			if (WIFSTOPPED(status)) {
				stopped++;
				kill(child, SIGCONT);
			} else if (WIFCONTINUED(status)) {
				continued++;
				bad += write(seen[1], "x", 1) != 1;
			} else {
				bad += status != 7 << 8;
				break;
			}
		}
		bad += stopped != 1 || continued != 1;
	}
	printf("%s bad=%ld\n", mode, bad);
	return bad != 0;
}
