/* debugger fork|vfork N: has a child ask to be traced, as debuggers do, and goes through its stops; N times. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noipa)) long work(long n) { return n * 2 + 1; }

int main(int argc, char **argv)
{
	if (argc < 3)
		return work(3) != 7;
	int shares = !strcmp(argv[1], "vfork"), bad = 0;
	for (long i = 0, n = atol(argv[2]); i < n; i++) {
		work(i);
		pid_t child = shares ? vfork() : fork();
		if (child == 0) {
			if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
				_exit(9);
			work(1);
			execl("/proc/self/exe", "debugger", NULL);
			_exit(8);
		}
		int status = 0;
		bad += waitpid(child, &status, 0) != child || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP;
		bad += ptrace(PTRACE_CONT, child, 0, 0) != 0;
		bad += waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
		work(i);
	}
	printf("%s bad=%d\n", argv[1], bad);
	return bad != 0;
}
