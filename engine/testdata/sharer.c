// Calls work() all the time. A letter on standard input makes it read or set its CPUs in one of the ways there are; it prints what it
// has read, or what the kernel says in /proc of a thread, child or program that it has created.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

__attribute__((noinline)) long work(long n) { __asm__ volatile("" : "+r"(n)); return n + 1; }

// allowed prints the CPUs of the calling thread, by the kernel's file about it.
static void allowed(void)
{
	char line[256];
	FILE *f = fopen("/proc/thread-self/status", "r");
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "Cpus_allowed_list:", 18))
			fputs(strrchr(line, '\t') + 1, stdout);
	fclose(f);
	fflush(stdout);
}

static void *thread(void *p) { allowed(); return p; }

static void spawn(void)
{
	char *argv[] = {"nproc", NULL};
	pid_t pid;
	if (posix_spawnp(&pid, "nproc", NULL, NULL, argv, environ) == 0)
		waitpid(pid, NULL, 0);
}

static void act(int c)
{
	cpu_set_t set;
	pthread_t t;
	pid_t pid;
	CPU_ZERO(&set);
	switch (c) {
	case 'r': sched_getaffinity(0, sizeof set, &set); printf("%d\n", CPU_COUNT(&set)); break;
	case 'p': pthread_getaffinity_np(pthread_self(), sizeof set, &set); printf("%d\n", CPU_COUNT(&set)); break;
	case 'y': syscall(SYS_sched_getaffinity, 0, sizeof set, &set); printf("%d\n", CPU_COUNT(&set)); break;
	case 'c': printf("%ld\n", sysconf(_SC_NPROCESSORS_ONLN)); break;
	case 'n': printf("%d\n", get_nprocs()); break;
	case 's': CPU_SET(0, &set); sched_setaffinity(0, sizeof set, &set); allowed(); break;
	case 't': pthread_create(&t, NULL, thread, NULL); pthread_join(t, NULL); break;
	case 'f':
		if ((pid = fork()) == 0) {
			allowed();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		break;
	case 'v': spawn(); break;
	case 'g': system("nproc"); break;
	case 'e': execlp("nproc", "nproc", NULL); break;
	case 'z': poll(&(struct pollfd){0, POLLIN, 0}, 1, -1); break;
	case 'x': printf("end\n"); exit(0);
	}
	fflush(stdout);
}

int main(void)
{
	char c;
	fcntl(0, F_SETFL, O_NONBLOCK);
	printf("begin\n");
	fflush(stdout);
	for (long n = 0;;) {
		for (int i = 0; i < 500; i++)
			n = work(n);
		if (read(0, &c, 1) == 1)
			act(c);
	}
}
