/* insection KIND PIPE: waits for a byte from PIPE, blocks all signals, and makes a child or a thread, or waits for another byte. Then it unblocks them, checks
   the child, and ends as the other victims do. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static sigset_t before;
static int bad;

__attribute__((noinline)) long work(long n) { __asm__ volatile("" : "+r"(n)); return n * 3 + 1; }

static void await(int from)
{
	char c;
	while (read(from, &c, 1) != 1)
		;
}

/* runs all the time, so that the session has a thread to install its handler with */
static void *runs(void *unused)
{
	for (;;)
		__asm__ volatile("");
	return unused;
}

/* what a child or a thread does: it leaves the section, like its creator */
static void live(void)
{
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (work(2) != 7)
		bad++;
}

static void *run(void *unused)
{
	live();
	return unused;
}

static pid_t make(const char *kind)
{
	char *argv[] = { "sh", "-c", "exit 3", NULL };
	pid_t pid = -1;
	if (!strcmp(kind, "spawn")) {
		posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
	} else if (!strcmp(kind, "vfork") || !strcmp(kind, "slow vfork")) {
		if (!(pid = vfork())) {
			if (*kind == 's')
				usleep(100000);
			_exit(3);
		}
	} else if (!(pid = fork())) {
		live();
		_exit(3);
	}
	return pid;
}

int main(int argc, char *argv[])
{
	const char *kind = argv[1];
	int from = open(argv[2], O_RDWR), status = 0;
	pthread_t runner;
	sigset_t all;
	sigfillset(&all);
	pthread_create(&runner, NULL, runs, NULL);
	puts("ready");
	fflush(stdout);
	await(from);
	sigprocmask(SIG_BLOCK, &all, &before);
	if (!strcmp(kind, "stay")) {
		await(from);
		live();
	} else if (!strcmp(kind, "thread")) {
		pthread_t id;
		pthread_create(&id, NULL, run, NULL);
		live();
		pthread_join(id, NULL);
	} else {
		pid_t pid = make(kind);
		live();
		if (waitpid(pid, &status, 0) != pid || status != 3 << 8) {
			fprintf(stderr, "insection: the child ended with status %#x\n", status);
			bad++;
		}
	}
	await(0);
	printf("victim bad=%d\n", bad);
	return 0;
}
