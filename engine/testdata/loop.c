/* loop emulate|step N PROGRAM: the reference for the cost of a hit. A hand-written tracer counts the calls of the
 * function "work" of PROGRAM, which calls it N times, and prints how many nanoseconds a hit took. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

int main(int argc, char **argv)
{
	int step = !strcmp(argv[1], "step"), status;
	uint64_t at = strtoull(argv[4], NULL, 0), hits = 0, began = 0;
	pid_t pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execl(argv[3], argv[3], "work", argv[2], NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	uint8_t orig, int3 = 0xcc;
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/mem", pid);
	int mem = open(path, O_RDWR);
	if (pread(mem, &orig, 1, at) != 1 || pwrite(mem, &int3, 1, at) != 1)
		return 1;
	ptrace(PTRACE_CONT, pid, 0, 0);
	struct user_regs_struct regs;
	while (waitpid(pid, &status, __WALL) == pid && !WIFEXITED(status)) {
		if (!hits++)
			began = now();
		ptrace(PTRACE_GETREGS, pid, 0, &regs);
		if (!step) { /* the first instruction is lea 1(%rdi,%rdi,1),%rax */
			regs.rip = at + 5;
			regs.rax = regs.rdi * 2 + 1;
		} else {
			regs.rip = at;
			if (pwrite(mem, &orig, 1, at) != 1)
				return 1;
			ptrace(PTRACE_SETREGS, pid, 0, &regs);
			ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
			waitpid(pid, &status, __WALL);
			if (pwrite(mem, &int3, 1, at) != 1)
				return 1;
			ptrace(PTRACE_CONT, pid, 0, 0);
			continue;
		}
		ptrace(PTRACE_SETREGS, pid, 0, &regs);
		ptrace(PTRACE_CONT, pid, 0, 0);
	}
	printf("%.0f\n", (double)(now() - began) / hits);
	return 0;
}
