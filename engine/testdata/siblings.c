/* siblings FILE: a process and a child that it has forked, both of which write a variable until there is a file of that name. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
long cell;
__attribute__((noipa)) void store(long n) { cell = n; }
int main(int argc, char **argv)
{
	if (argc < 2)
		return 1;
	pid_t child = fork();
	if (child == 0)
		for (long i = 0;; i++) {
			store(i);
			usleep(1000);
		}
	for (long i = 0; access(argv[1], F_OK) != 0; i++) {
		store(i);
		usleep(1000);
	}
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
	puts("siblings end");
	return 0;
}
