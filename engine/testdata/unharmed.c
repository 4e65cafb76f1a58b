/*
 * unharmed MODE N [MORE]: what a program does that jumps in its code must not harm. Its functions count their own calls, in memory that
 * its children share. It checks what it computes, and prints "MODE calls=C bad=B" and what else the mode counts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define FUNC __attribute__((noipa))
#define KEEP __asm__ volatile("" ::: "memory")

static struct { long calls, sites, bad; } *shared;
static char **environment;

static void add(long *to, long n) { __atomic_fetch_add(to, n, __ATOMIC_RELAXED); }
static void check(int right) { if (!right) add(&shared->bad, 1); }

/* functions that are probed: each counts */
FUNC long hot(long i) { add(&shared->calls, 1); return i * 2 + 1; }
FUNC long leaf(long i)
{
	volatile long in[14]; /* below the stack pointer */
	add(&shared->calls, 1);
	for (int k = 0; k < 14; k++)
		in[k] = i + k;
	return in[0] + in[13];
}
FUNC long nested(long i)
{
	add(&shared->calls, 1);
	long a = hot(i), b = leaf(i + 1);
	KEEP;
	return a + b + i;
}

static void calls(long i)
{
	check(hot(i) == i * 2 + 1);
	check(leaf(i) == i * 2 + 13);
	check(nested(i) == i * 2 + 1 + (i + 1) * 2 + 13 + i);
}

/* signals: SIGPROF of the processor's time, and SIGALRM 100 us after the last one */
static volatile long ticks, samples, outside, jumps, in_loop;
static sigjmp_buf back;
extern char __executable_start[], etext[];

static void set(int which, long first, long every)
{
	struct itimerval t = { { 0, every }, { 0, first } };
	setitimer(which, &t, NULL);
}

static void calls_and_returns(int sig)
{
	int was = errno;
	calls(ticks);
	ticks++;
	samples += sig == SIGPROF;
	if (sig == SIGALRM)
		set(ITIMER_REAL, 100, 0);
	errno = was;
}

static void leaves(int sig, siginfo_t *si, void *context)
{
	char *pc = (char *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	if (!in_loop)
		return;
	in_loop = 0;
	jumps++;
	outside += pc < __executable_start || pc >= etext;
	siglongjmp(back, 1);
	(void)sig, (void)si;
}

static void catch(int sig, void *handler, int flags)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = flags | SA_RESTART };
	sigemptyset(&sa.sa_mask);
	sigaddset(&sa.sa_mask, SIGPROF);
	sigaddset(&sa.sa_mask, SIGALRM);
	sigaction(sig, &sa, NULL);
}

static int on_alternate_stack(void)
{
	static char stack[1 << 16];
	stack_t s = { .ss_sp = stack, .ss_size = sizeof stack };
	sigaltstack(&s, NULL);
	return SA_ONSTACK;
}

static void profiled(long n, int flags)
{
	catch(SIGPROF, calls_and_returns, flags);
	set(ITIMER_PROF, 100, 100);
	for (long i = 0; samples < 20; i++)
		calls(i);
	set(ITIMER_PROF, 0, 0);
	catch(SIGALRM, calls_and_returns, flags);
	set(ITIMER_REAL, 100, 0);
	for (long i = ticks; ticks < n + 20; i++)
		calls(i);
	set(ITIMER_REAL, 0, 0);
	catch(SIGALRM, SIG_IGN, 0);
}

/* handlers leave native code for good, n times */
static void jumped(long n, int flags)
{
	catch(SIGALRM, leaves, flags | SA_SIGINFO);
	while (outside < n && jumps < 10000 + 1000 * n) {
		if (sigsetjmp(back, 1))
			continue;
		in_loop = 1;
		set(ITIMER_REAL, 100, 0);
		for (long i = 0; in_loop; i++)
			check(hot(i) == i * 2 + 1);
	}
	printf("outside=%d jumps=%ld ", outside >= n, jumps);
}

/* coroutines: each yields in the middle of its calls */
enum { COROUTINES = 8 };
static ucontext_t routines[COROUTINES], home;
static void routine(int self, int n)
{
	for (long i = 0; i < n; i++) {
		check(hot(i) == i * 2 + 1);
		swapcontext(&routines[self], &routines[(self + 1) % COROUTINES]);
		calls(i + self);
	}
	setcontext(self + 1 < COROUTINES ? &routines[self + 1] : &home);
}
static void coroutines(long n)
{
	static char stacks[COROUTINES][1 << 16];
	for (int k = 0; k < COROUTINES; k++) {
		getcontext(&routines[k]);
		routines[k].uc_stack.ss_sp = stacks[k];
		routines[k].uc_stack.ss_size = sizeof stacks[k];
		makecontext(&routines[k], (void (*)(void))routine, 2, k, (int)n);
	}
	swapcontext(&home, &routines[0]);
}

/* a thousand places */
#define SITE(n) FUNC long site##n(long i) { add(&shared->sites, 1); return i + 1##n; }
#define TEN(n) SITE(n##0) SITE(n##1) SITE(n##2) SITE(n##3) SITE(n##4) SITE(n##5) SITE(n##6) SITE(n##7) SITE(n##8) SITE(n##9)
#define HUNDRED(n) TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
HUNDRED(0) HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4) HUNDRED(5) HUNDRED(6) HUNDRED(7) HUNDRED(8) HUNDRED(9)
#undef SITE
#define SITE(n) site##n,
static long (*const sites[])(long) = {
	HUNDRED(0) HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4) HUNDRED(5) HUNDRED(6) HUNDRED(7) HUNDRED(8) HUNDRED(9)
};

static volatile int over;
static void *walks(void *from)
{
	for (long i = (long)from; !over; i++)
		check(sites[i * 7 % 1000](i) == i + 1000 + i * 7 % 1000);
	return NULL;
}
/* until standard input ends */
static void threads(long n)
{
	pthread_t id[100];
	char c;
	for (long i = 0; i < n; i++)
		pthread_create(&id[i], NULL, walks, (void *)i);
	while (read(0, &c, 1) < 0 && errno == EINTR)
		;
	over = 1;
	for (long i = 0; i < n; i++)
		pthread_join(id[i], NULL);
	printf("sites=%ld ", shared->sites);
}

/* processes: each way to make one, and what they call */
static char *again[] = { "unharmed", "plain", "5", NULL };
static int cloned(void *none)
{
	calls(3);
	return (void)none, 7;
}
static void ended(pid_t pid, int status, long called)
{
	int is = -1;
	while (waitpid(pid, &is, __WALL) < 0 && errno == EINTR)
		;
	check(pid > 0 && is == status << 8);
	add(&shared->calls, called);
}
static void processes(long n, const char *library)
{
	static char stack[1 << 16];
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();
		if (!pid) {
			calls(i);
			_exit(3);
		}
		calls(i);
		ended(pid, 3, 0);
		if (!(pid = vfork())) {
			hot(i);
			execve("/proc/self/exe", again, environment);
			_exit(9);
		}
		ended(pid, 0, 25);
		check(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, again, environment) == 0);
		ended(pid, 0, 25);
		ended(clone(cloned, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL), 7, 0);
		if (!(pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))) {
			calls(i);
			_exit(4);
		}
		ended(pid, 4, 0);
		void *lib = dlopen(library, RTLD_NOW);
		int (*late)(int) = lib ? (int (*)(int))dlsym(lib, "late") : NULL;
		check(late && late(5) == 1005);
		check(lib && dlclose(lib) == 0);
		calls(i);
	}
}

/* the state of the processor */
__asm__(
	".globl zone\n.type zone,@function\nzone:\n"
	"	movq %rdi, -8(%rsp)\n"
	"	leaq 3(%rdi), %rax\n"
	"	movq %rax, -64(%rsp)\n"
	"	movq %rax, -128(%rsp)\n"
	"	cmpq $100, %rdi\n" /* the carry is used below */
	"	movq -8(%rsp), %rcx\n"
	"	movq -64(%rsp), %rdx\n"
	"	movq $0, -120(%rsp)\n"
	"	movq -128(%rsp), %rax\n"
	"	adcq -120(%rsp), %rax\n"
	"	leaq (%rax,%rcx), %rax\n"
	"	leaq (%rax,%rdx), %rax\n"
	"	ret\n.size zone,.-zone\n"
	".globl idle\n.type idle,@function\nidle:\n" /* changes nothing but counts */
	"	leaq 1(%r12), %r12\n"
	"	nopl 0(%rax)\n"
	"	ret\n.size idle,.-idle\n");
extern long zone(long);

struct state { unsigned char ymm[16][32]; double x87[3]; unsigned mxcsr; unsigned long flags, kept; } __attribute__((aligned(32)));

#define EACH16(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15)
#define LOAD(n) "vmovdqa " #n "*32(%0), %%ymm" #n "\n"
#define STORE(n) "vmovdqa %%ymm" #n ", " #n "*32(%1)\n"

__attribute__((target("avx"), noipa)) static void through(const struct state *in, struct state *out)
{
	unsigned before;
	__asm__ volatile("stmxcsr %0" : "=m"(before));
	__asm__ volatile(
		EACH16(LOAD)
		"fninit; fldl 512(%0); fldl 520(%0); fldl 528(%0)\n"
		"ldmxcsr 536(%0)\n"
		"movq 552(%0), %%r12\n"
		"subq $256, %%rsp; pushq 544(%0); popfq\n"
		"call idle\n"
		"pushfq; popq 544(%1); cld; addq $256, %%rsp\n"
		"movq %%r12, 552(%1)\n"
		"stmxcsr 536(%1)\n"
		"fstpl 528(%1); fstpl 520(%1); fstpl 512(%1)\n"
		EACH16(STORE)
		"vzeroupper\n"
		:: "r"(in), "r"(out) : "r12", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
		"xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)");
	__asm__ volatile("ldmxcsr %0" :: "m"(before));
}

static void state(long n)
{
	static const unsigned long flags[] = { 0x202, 0x203, 0x206, 0x212, 0x242, 0x282, 0xa02, 0x602, 0xed7 };
	int avx = __builtin_cpu_supports("avx");
	for (long i = 0; i < n; i++) {
		check(zone(i) == 3 * i + 6 + (i < 100));
		if (!avx)
			continue;
		struct state in = { .x87 = { i * 0.5, i * 0.25, -i }, .mxcsr = i * 0x2b5f & 0xffff, .flags = flags[i % 9], .kept = i }, out = { 0 };
		for (unsigned k = 0; k < sizeof in.ymm; k++)
			in.ymm[k / 32][k % 32] = i * 31 + k;
		through(&in, &out);
		in.kept++;
		check(!memcmp(in.ymm, out.ymm, sizeof in.ymm) && !memcmp(in.x87, out.x87, sizeof in.x87));
		check(in.mxcsr == out.mxcsr && in.flags == out.flags && in.kept == out.kept);
	}
	printf("idle=%ld ", avx ? n : 0);
}

/* what a process may forbid itself */
static void filter(unsigned action)
{
	static const int forbidden[] = { SYS_mmap, SYS_socketpair, SYS_recvmsg, SYS_munmap, SYS_mprotect, SYS_memfd_create };
	struct sock_filter code[16] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	int n = 1;
	for (int i = 0; i < 6; i++)
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, forbidden[i], 6 - i, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	struct sock_fprog all = { n, code };
	check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) == 0);
}
static void limit(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	check(f && fscanf(f, "%ld", &pages) == 1);
	fclose(f);
	struct rlimit most = { pages * 4096 + 65536, pages * 4096 + 65536 };
	check(setrlimit(RLIMIT_AS, &most) == 0);
}

static void confined(long n, const char *by)
{
	enum { SET_MDWE = 65, REFUSE_EXEC_GAIN = 1 };
	if (!strcmp(by, "eperm"))
		filter(SECCOMP_RET_ERRNO | EPERM);
	else if (!strcmp(by, "kill"))
		filter(SECCOMP_RET_KILL_PROCESS);
	else if (!strcmp(by, "mdwe"))
		printf("mdwe=%d ", prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0));
	else if (!strcmp(by, "limit"))
		limit();
	else if (!strcmp(by, "locked"))
		check(mlockall(MCL_CURRENT | MCL_FUTURE) == 0);
	for (long i = 0; i < n; i++)
		calls(i);
}

int main(int argc, char **argv, char **env)
{
	static char buffer[4096];
	const char *mode = argv[1], *more = argc > 3 ? argv[3] : "";
	long n = atol(argv[2]);
	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	environment = env;
	if (!strcmp(mode, "plain")) { /* prints nothing: it is a child */
		for (long i = 0; i < n; i++)
			calls(i);
		return shared->bad != 0;
	}
	if (!strcmp(mode, "profiled"))
		profiled(n, *more ? on_alternate_stack() : 0);
	else if (!strcmp(mode, "jumped"))
		jumped(n, *more ? on_alternate_stack() : 0);
	else if (!strcmp(mode, "coroutines"))
		coroutines(n);
	else if (!strcmp(mode, "threads"))
		threads(n);
	else if (!strcmp(mode, "processes"))
		processes(n, more);
	else if (!strcmp(mode, "state"))
		state(n);
	else if (!strcmp(mode, "confined"))
		confined(n, more);
	printf("%s calls=%ld bad=%ld\n", mode, shared->calls, shared->bad);
	return shared->bad != 0;
}
