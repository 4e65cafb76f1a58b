/* sections: is in sections that block all signals nearly all the time, until it is told to end, and checks all it does */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNC __attribute__((noipa))

static volatile long stop, ticks;
static long bad;
extern char **environ;

static void wrong(const char *what)
{
	fprintf(stderr, "sections: %s\n", what);
	__atomic_add_fetch(&bad, 1, __ATOMIC_SEQ_CST);
}

FUNC long work(long n) { __asm__ volatile("" : "+r"(n)); return n * 3 + 1; }

static void check(long n)
{
	char text[32];
	snprintf(text, sizeof text, "%ld", n);
	if (atol(text) != n || work(n) != 3 * n + 1)
		wrong("a sum");
}

static void tick(int sig) { ticks++; check(ticks); (void)sig; }

static void *once(void *n) { check((long)n); return (char *)n + 5; }

/* glibc blocks all signals in pthread_create, and the new thread unblocks them */
static void *creates(void *unused)
{
	for (long i = 0; !stop; i++) {
		pthread_t id;
		void *got;
		if (pthread_create(&id, NULL, once, (void *)i) || pthread_join(id, &got) || (long)got != i + 5)
			wrong("a thread");
	}
	return unused;
}

/* and for processes */
static void *forks(void *unused)
{
	char *argv[] = { "sh", "-c", "exit 3", NULL };
	for (long i = 0; !stop; i++) {
		int status = 0;
		pid_t pid = -1;
		if (i % 2) {
			if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ))
				wrong("posix_spawn");
		} else if (!(pid = fork())) {
			check(i);
			_exit(3);
		}
		if (waitpid(pid, &status, 0) != pid || status != 3 << 8)
			wrong(i % 2 ? "a spawned child" : "a forked child");
	}
	return unused;
}

/* so do programs, and they look at what they have set; a session that is killed leaves SIGTRAP unblocked for the rest of a section */
static void *blocks(void *unused)
{
	sigset_t all, before, now, after;
	for (long i = 0; !stop; i++) {
		sigfillset(&all);
		pthread_sigmask(SIG_BLOCK, &all, &before);
		check(i);
		pthread_sigmask(SIG_BLOCK, NULL, &now);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		pthread_sigmask(SIG_BLOCK, NULL, &after);
		for (int sig = 1; sig < 32; sig++)
			if (sig != SIGKILL && sig != SIGSTOP && sig != SIGTRAP && (!sigismember(&now, sig) || sigismember(&after, sig) != sigismember(&before, sig)))
				wrong("a mask");
	}
	return unused;
}

int main(int argc, char *argv[])
{
	void *(*all[])(void *) = { creates, blocks, forks };
	pthread_t id[3];
	struct sigaction sa = { .sa_handler = tick, .sa_flags = SA_RESTART };
	sigaction(SIGALRM, &sa, NULL);
	if (argc > 1 && *argv[1]) {
		struct itimerval every = { { 0, 2000 }, { 0, 2000 } };
		setitimer(ITIMER_REAL, &every, NULL);
	}
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < 3; i++)
		pthread_create(&id[i], NULL, all[i], NULL);
	char c;
	while (read(0, &c, 1) < 0)
		; /* a signal that came before its handler asked for restart */
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(id[i], NULL);
	printf("victim bad=%ld\n", bad);
	return 0;
}
