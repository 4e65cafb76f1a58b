// A program that makes children in every way, and threads, and says how all of them ended.
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

__attribute__((noinline)) int work(int a) { volatile int x = a; return x + 1; }

static void *run(void *p) {
	long sum = 0;
	for (int i = 0; i < 50; i++)
		sum += work(i);
	return (void *)sum;
}

static void ended(const char *how, pid_t p) {
	int status = -1;
	waitpid(p, &status, 0);
	printf("%s %x\n", how, status);
	fflush(stdout);
}

int main(int argc, char **argv) {
	char *shell[] = {"sh", "-c", "exit 5", 0};
	if (argc > 1 && argv[1][0] == 'w')
		return work(6);
	for (int i = 0; i < 3; i++) {
		pid_t p = fork();
		if (!p)
			_exit(work(i));
		ended("fork", p);
		work(i);
	}
	pid_t p;
	posix_spawn(&p, "/bin/sh", 0, 0, shell, environ);
	ended("spawn", p);
	if (!(p = vfork())) {
		work(1);
		_exit(9);
	}
	ended("vfork", p);
	work(100);
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], 0, run, 0);
	for (int i = 0; i < 4; i++) {
		void *sum;
		pthread_join(t[i], &sum);
		printf("thread %ld\n", (long)sum);
	}
	fflush(stdout);
	if (argc > 1)
		execl(argv[0], argv[0], "w", NULL);
	return work(7);
}
