/* spawns: a program that needs what the C library does with signals: it starts a thread and a process. */
#include <pthread.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/wait.h>

extern char **environ;

static void *run(void *unused) { return unused; }

int main(void)
{
	pthread_t thread;
	pid_t pid;
	char *argv[] = { "true", NULL };
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ);
	return waitpid(pid, NULL, 0) != pid;
}
