// Kills workers that make children all the time, each in the middle of what it does, and waits for all children that are left.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int *worked;

__attribute__((noinline)) void work(void) { __atomic_fetch_add(worked, 1, __ATOMIC_RELAXED); }

static void worker(void)
{
	for (;;) {
		pid_t child = fork();
		if (!child) {
			work();
			_exit(0);
		}
		waitpid(child, 0, 0);
	}
}

int main(int argc, char **argv)
{
	int rounds = atoi(argv[1]);
	worked = mmap(0, sizeof *worked, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc > 2) // otherwise somebody else gets the children that are left
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int i = 0; i < rounds; i++) {
		pid_t pid = fork();
		if (!pid)
			worker();
		usleep(rand() % 5000);
		kill(pid, SIGKILL);
		waitpid(pid, 0, 0);
	}
	while (wait(0) > 0)
		;
	printf("worked %d\n", *worked);
	return 0;
}
