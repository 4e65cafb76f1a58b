/* kernel MODE: what the kernel does with a process besides system calls: filters, rings, restartable sequences */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNC __attribute__((noipa))
FUNC long work(long i) { __asm__ volatile("" ::: "memory"); return i * 7 + 1; }
FUNC long sum(long n)
{
	long r = 0;
	for (long i = 0; i < n; i++)
		r += work(i);
	return r;
}

static void say(const char *what, long n)
{
	char line[80], digits[24];
	int at = 0, d = 0;
	while (*what)
		line[at++] = *what++;
	line[at++] = ' ';
	do
		digits[d++] = '0' + n % 10;
	while (n /= 10);
	while (d)
		line[at++] = digits[--d];
	line[at++] = '\n';
	(void)!write(1, line, at);
}

/* may read, write, end and return from handlers, and nothing else */
static int strict(void)
{
	int status;
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();
		if (!pid) {
			prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
			say("strict", sum(20));
			if (i == 2)
				getpid();
			syscall(SYS_exit, 3);
		}
		waitpid(pid, &status, 0);
		printf("status %#x\n", status);
	}
	return 0;
}

static volatile int trapped;
static void on_sys(int sig, siginfo_t *si, void *unused) { (void)unused; (void)sig; trapped += si->si_syscall; }

/* a filter: some calls are allowed, some fail, some raise SIGSYS, the rest end the process */
static void filtered(unsigned otherwise)
{
#define ALLOW(n, what) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1), BPF_STMT(BPF_RET | BPF_K, what)
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_write, SECCOMP_RET_ALLOW), ALLOW(SYS_exit_group, SECCOMP_RET_ALLOW), ALLOW(SYS_exit, SECCOMP_RET_ALLOW),
		ALLOW(SYS_rt_sigreturn, SECCOMP_RET_ALLOW), ALLOW(SYS_getppid, SECCOMP_RET_ERRNO | 99), ALLOW(SYS_getuid, SECCOMP_RET_TRAP),
#ifdef SYS_sigreturn
		ALLOW(SYS_sigreturn, SECCOMP_RET_ALLOW),
#endif
		BPF_STMT(BPF_RET | BPF_K, otherwise),
	};
	struct sock_fprog p = { sizeof f / sizeof f[0], f };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &p);
}

static void *other_thread(void *unused)
{
	for (int i = 0; i < 10; i++)
		sum(10);
	return unused;
}

static int filter(void)
{
	int status;
	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();
		if (!pid) {
			struct sigaction sa = { .sa_sigaction = on_sys, .sa_flags = SA_SIGINFO };
			pthread_t id;
			sigaction(SIGSYS, &sa, NULL);
			pthread_create(&id, NULL, other_thread, NULL);
			pthread_join(id, NULL);
			filtered(i & 1 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | 77);
			say("filtered", sum(20));
			say("failed", syscall(SYS_getppid) == -1 ? errno : 0);
			syscall(SYS_getuid);
			say("trapped", trapped == SYS_getuid);
			if (i > 1)
				say("another", syscall(SYS_sched_yield) == -1 ? errno : 0);
			_exit(5);
		}
		waitpid(pid, &status, 0);
		printf("status %#x\n", status);
	}
	return 0;
}

/* a ring: the kernel reads and writes memory of the program, also of its code */
static int ring(void)
{
	struct io_uring_params p = { 0 };
	char text[64] = { 0 };
	int fd = syscall(SYS_io_uring_setup, 8, &p), pipes[2];
	if (fd < 0)
		return puts("no rings"), 0;
	char *r = mmap(NULL, p.sq_off.array + p.sq_entries * 4 + 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQ_RING);
	char *c = p.features & IORING_FEAT_SINGLE_MMAP ? r : mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_CQ_RING);
	struct io_uring_sqe *s = mmap(NULL, p.sq_entries * sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQES);
	unsigned *tail = (unsigned *)(r + p.sq_off.tail), *array = (unsigned *)(r + p.sq_off.array), mask = *(unsigned *)(r + p.sq_off.ring_mask);
	unsigned *head = (unsigned *)(c + p.cq_off.head);
	(void)!pipe(pipes);
	for (int i = 0; i < 10; i++) {
		snprintf(text, sizeof text, "turn %ld", work(i));
		for (int half = 0; half < 2; half++) {
			unsigned at = *tail & mask;
			memset(&s[at], 0, sizeof s[at]);
			s[at].opcode = half ? IORING_OP_READ : IORING_OP_WRITE;
			s[at].fd = pipes[!half];
			s[at].addr = (uintptr_t)(half ? text + 32 : text);
			s[at].len = 16;
			s[at].off = -1;
			array[at] = at;
			__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
			long n = syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
			struct io_uring_cqe *e = (struct io_uring_cqe *)(c + p.cq_off.cqes) + (*head & *(unsigned *)(c + p.cq_off.ring_mask));
			printf("%ld %d ", n, e->res);
			__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
		}
		printf("%s\n", text + 32);
	}
	return 0;
}

/* a restartable sequence: it counts on the processor it is on, and begins anew when it was interrupted */
#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
static volatile long counts[1024];
FUNC int counted(struct rseq *area, unsigned cpu)
{
	int ok = 0;
	__asm__ volatile(
		".pushsection __rseq_cs,\"aw\"\n .balign 32\n 9: .long 0,0\n .quad 1f,2f-1f,4f\n .popsection\n"
		"lea 9b(%%rip),%%rax\n mov %%rax,%c3(%1)\n"
		".globl sequence\nsequence: 1: cmp %2,%c4(%1)\n jnz 5f\n addq $1,(%5)\n 2: mov $1,%0\n jmp 5f\n"
		".byte 0x0f,0xb9,0x3d\n .long 0x53053053\n 4: jmp 5f\n 5:\n"
		: "+r"(ok) : "r"(area), "r"(cpu), "i"(offsetof(struct rseq, rseq_cs)), "i"(offsetof(struct rseq, cpu_id)), "r"(&counts[cpu]) : "rax", "memory", "cc");
	return ok;
}

static int sequences(void)
{
	if (!__rseq_size)
		return puts("no sequences"), 0;
	struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	long all = 0;
	for (long i = 0; i < 100; i++)
		while (!counted(area, __atomic_load_n(&area->cpu_id_start, __ATOMIC_RELAXED)))
			;
	for (int i = 0; i < 1024; i++)
		all += counts[i];
	printf("counted %ld on a processor %d\n", all, sched_getcpu() >= 0);
	return 0;
}
#else
static int sequences(void) { return puts("no sequences"), 0; }
#endif

/* traces a child of its own, as a debugger does */
static int debugger(void)
{
	int status;
	long stops = 0, words = 0;
	pid_t pid = fork();
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0)) {
			printf("cannot be traced: %s\n", strerror(errno));
			_exit(1);
		}
		raise(SIGSTOP);
		_exit(sum(10) == 325 ? 4 : 5);
	}
	waitpid(pid, &status, 0);
	while (WIFSTOPPED(status)) {
		stops++;
		words += ptrace(PTRACE_PEEKTEXT, pid, work, 0) != -1;
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		waitpid(pid, &status, 0);
		if (stops > 20) {
			ptrace(PTRACE_DETACH, pid, 0, 0);
			waitpid(pid, &status, 0);
		}
	}
	printf("stops %ld words %ld status %#x\n", stops, words, status);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	setvbuf(stdout, NULL, _IOLBF, 0);
	return !strcmp(mode, "strict") ? strict() :
	       !strcmp(mode, "filter") ? filter() :
	       !strcmp(mode, "ring") ? ring() :
	       !strcmp(mode, "sequences") ? sequences() :
	       !strcmp(mode, "debugger") ? debugger() : 2;
}
