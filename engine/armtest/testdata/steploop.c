/* steploop plain N: calls work N times and prints what a call took.
   steploop traced N: the same under a tracer that is written by hand, as debuggers are: a breakpoint at work; at each hit the instruction is put
   back and run alone, by a single step where the processor has one (AArch64), else (32-bit ARM) up to a second breakpoint behind it. */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__asm__(
	".text\n\t.balign 8\n\t.globl work\n\t.type work, %function\n"
#if defined(__aarch64__)
	"work:\tadd x0, x0, #1\n\tadd x0, x0, #1\n\tret\n"
#elif defined(__thumb__)
	"\t.thumb\n\t.thumb_func\nwork:\tadds r0, r0, #1\n\tadds r0, r0, #1\n\tbx lr\n"
#else
	"\t.arm\nwork:\tadd r0, r0, #1\n\tadd r0, r0, #1\n\tbx lr\n"
#endif
	"\t.size work, .-work\n");
long work(long);

#if defined(__thumb__)
enum { LENGTH = 2 };
static const unsigned TRAP = 0xde01;
#elif defined(__aarch64__)
enum { LENGTH = 4 };
static const unsigned TRAP = 0xd4200000;
#else
enum { LENGTH = 4 };
static const unsigned TRAP = 0xe7f001f0;
#endif

static void calls(long n)
{
	struct timespec a, b;
	long sum = 0;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (long i = 0; i < n; i++)
		sum = work(sum);
	clock_gettime(CLOCK_MONOTONIC, &b);
	double ns = (b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec);
	printf("%.0f ns a call%s\n", ns / n, sum == 2 * n ? "" : ", and wrong");
	fflush(stdout);
}

/* patch writes an instruction and returns the one that was there. mem is /proc/PID/mem. */
static unsigned patch(int mem, uintptr_t at, unsigned insn)
{
	unsigned old = 0;
	if (pread(mem, &old, LENGTH, at) != LENGTH || pwrite(mem, &insn, LENGTH, at) != LENGTH) {
		perror("cannot write code");
		exit(2);
	}
	return old;
}

static int next(pid_t pid, int request)
{
	int status;
	if (ptrace(request, pid, 0L, 0L) || waitpid(pid, &status, 0) != pid) {
		perror("cannot go on");
		exit(2);
	}
	return status;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 1000, hits = 0;
	uintptr_t at = (uintptr_t)work & ~1ul;
	if (argc < 2 || strcmp(argv[1], "traced")) {
		calls(n);
		return 0;
	}
	pid_t pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0L, 0L);
		raise(SIGSTOP);
		calls(n);
		_exit(0);
	}
	int status;
	char name[32];
	waitpid(pid, &status, 0);
	snprintf(name, sizeof name, "/proc/%d/mem", pid);
	int mem = open(name, O_RDWR);
	unsigned old = patch(mem, at, TRAP);
	for (status = next(pid, PTRACE_CONT); !WIFEXITED(status); status = next(pid, PTRACE_CONT)) {
		unsigned long regs[64];
		struct iovec io = { regs, sizeof regs };
		ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &io);
		hits++;
		patch(mem, at, old);
#if defined(__aarch64__)
		next(pid, PTRACE_SINGLESTEP);
#else
		unsigned behind = patch(mem, at + LENGTH, TRAP);
		next(pid, PTRACE_CONT);
		patch(mem, at + LENGTH, behind);
#endif
		patch(mem, at, TRAP);
	}
	printf("%ld hits\n", hits);
	return hits != n;
}
