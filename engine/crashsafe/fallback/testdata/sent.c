/* sent PAGE: installs the handler in the file PAGE, which begins at BASE, and sends itself SIGTRAP as it arrives when no tracer is there. Prints the checks that failed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define BASE 0x20000000
enum { CHAIN = 0x10, ACTION = 0x40, HANDLER = 0x100, SIZE = 1 << 20, MARK = 0x4000, NODEFER = 0x40000000 };

static volatile int caught, code;
static sigset_t trap;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	caught += sig == SIGTRAP;
	code = info->si_code;
	(void)context;
}

/* hands calls the handler as the kernel would. QEMU's user mode does not let a signal with such a si_code be sent. */
static void hands(int to)
{
	siginfo_t info;
	ucontext_t context;
	void (*handler)(int, siginfo_t *, void *) = (void (*)(int, siginfo_t *, void *))(BASE + HANDLER);
	memset(&info, 0, sizeof info);
	memset(&context, 0xff, sizeof context);
	sigdelset(&context.uc_sigmask, SIGTRAP);
	info.si_signo = SIGTRAP;
	info.si_code = to;
	handler(SIGTRAP, &info, &context);
}

/* mask sets what is blocked. The C library lets no program block all signals, which is no matter here. */
static void mask(int all, int traps)
{
	sigset_t set;
	sigemptyset(&set);
	if (all)
		sigfillset(&set);
	traps ? sigaddset(&set, SIGTRAP) : sigdelset(&set, SIGTRAP);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

static void check(int is, const char *what, const char *when)
{
	if (!is)
		printf("%s, %s: caught %d, code %d\n", what, when, caught, code);
}

/* pends checks that a signal is pending and blocked, and takes it away. */
static void pends(int expected, const char *what, const char *when)
{
	sigset_t set;
	siginfo_t info = { 0 };
	struct timespec none = { 0, 0 };
	check(caught == 0, what, when);
	sigprocmask(SIG_BLOCK, NULL, &set);
	check(sigismember(&set, SIGTRAP) == 1 && sigismember(&set, SIGHUP) == 1, "blocked", when);
	sigpending(&set);
	check(sigismember(&set, SIGTRAP) == 1, "pending", when);
	check(sigtimedwait(&trap, &info, &none) == SIGTRAP, "fetched", when);
	code = info.si_code;
	check(code == expected && info.si_pid == getpid(), "siginfo", when);
	check(sigtimedwait(&trap, &info, &none) < 0, "only once", when);
}

static void all(const char *when)
{
	mask(1, 0);
	caught = 0, raise(SIGTRAP);
	pends(SI_USER /* as sigtimedwait says */, "sent to the thread", when);
	mask(1, 0);
	caught = 0, kill(getpid(), SIGTRAP);
	pends(SI_USER, "sent to the process", when);
	caught = 0, hands(SI_QUEUE - MARK);
	check(caught == 1 && code == SI_QUEUE, "passed by the tracer", when);
	caught = 0, hands(-MARK);
	check(caught == 1 && code == SI_USER, "passed by the tracer", when);
	for (const int *other = (const int[]){ -0x100, -0x4100, -0x7000, 0 }; *other; other++) {
		caught = 0, hands(*other);
		check(caught == 1 && code == *other, "of a code that is not used", when);
	}
	mask(0, 0);
	caught = 0, raise(SIGTRAP);
	check(caught == 1 && code == SI_TKILL, "not blocked", when);
	mask(0, 1);
	caught = 0, raise(SIGTRAP);
	mask(0, 0);
	check(caught == 1 && code == SI_TKILL, "unblocked", when);
}

int main(int argc, char **argv)
{
	int f = open(argv[1], O_RDONLY);
	char *page = mmap((void *)BASE, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (argc != 2 || page != (char *)BASE || read(f, page, 4096) < 0x800)
		return 2;
	__builtin___clear_cache(page, page + 4096);
	*(void **)(page + CHAIN) = (void *)on_trap;
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	if (syscall(SYS_rt_sigaction, SIGTRAP, page + ACTION, NULL, 8))
		return 3;
	all("all signals blocked in the handler");
	memset(page + ACTION + 3 * sizeof(long), 0, 8);
	*(long *)(page + ACTION + sizeof(long)) |= NODEFER;
	if (syscall(SYS_rt_sigaction, SIGTRAP, page + ACTION, NULL, 8))
		return 4;
	all("none blocked");
	puts("done");
	return 0;
}
